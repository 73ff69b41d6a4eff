"""`@check(...)`: a function that drives the app becomes a check, and stays an ordinary function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from opcode import opmap
from pathlib import Path
from types import CodeType
from typing import Any, Never, TypeVar

from invcheck import allowance
from invcheck.assertions.claim import Claim
from invcheck.assertions.registry import KEYS
from invcheck.audits.accepting import accepted
from invcheck.errors import CheckFileError, NotJson, PathError, UsageError
from invcheck.snapshot import snapshot
from invcheck.suite.enough import too_few
from invcheck.suite.entries import ROW, Case, Check, stranger
from invcheck.vocabulary import Json, Place

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK = "__invcheck__"
CLAIMLESS = "give it `expect=[...]`, or a plain `assert` in the function itself"
_OMITTED: Any = object()
_BARE: Any = object()
_registered: list[tuple[Check, tuple[CheckFileError, ...]]] = []
"""Every check so far; a module's names are not asked, since a second function of the same name replaces the first."""


def check(
    *bare: Never,
    name: str | None = None,
    runs: int = 1,
    cases: Iterable[Json | Case] = _OMITTED,
    expect: Sequence[Claim] = (),
    tags: Sequence[str] = (),
    model: Json = None,
    ledger: Any = None,
    probes: Mapping[str, Any] | None = None,
    parse: str | None = None,
    setup: Any = None,
    clock: Json = None,
    allow: Sequence[str] = (),
    audit: Mapping[str, Sequence[str]] | None = None,
) -> Callable[[Function], Function]:
    """Make a function of the trial a check: it drives the app and returns its output, on which ``expect`` is judged.

    A case is a `Case`, a mapping with ``id`` and ``input``, or any other plain value, which is an input whose id is its
    number from 1. Without ``cases`` there is one case, ``default``, whose input is null; an empty list is an error.
    A plain ``assert`` inside the function is a claim too; a check with neither is an error. Whether a trial reaches the
    assert is not known: a check whose asserts hang on a condition needs ``expect`` for what must be so in any case.
    ``allow`` names what its trials may reach of this machine, such as ``"tcp:127.0.0.1:5432"``. ``audit`` says what
    `run --audit` leaves aside: ``{"ignore": ["$.ledger[*].created_at"]}``.

    What is wrong is reported when the file is collected, with file and line, so that one mistake hides no other.

    >>> from invcheck.suite import check, declared
    >>> @check(runs=3, cases=["a"])
    ... def echoes(trial):
    ...     assert trial.input == "a"
    >>> declared(echoes)[0].cases
    (Case(id='1', input='a', place=None),)
    """
    if bare and isinstance(getattr(bare[0], "__code__", None), CodeType):  # `@check` without its parentheses
        return check(expect=_BARE)(bare[0])

    given = _Given(bare, name, runs, cases, expect, tags, model, ledger, probes, parse, setup, clock, allow, audit)
    return given.mark


def declared(function: object) -> tuple[Check, tuple[CheckFileError, ...]] | None:
    """Give what `check` attached to a function: the check and what is wrong with it; None for any other object."""
    marked: tuple[Check, tuple[CheckFileError, ...]] | None = getattr(function, _MARK, None)
    return marked


def registered(file: Path) -> list[tuple[Check, tuple[CheckFileError, ...]]]:
    """Give every check that was declared in a file, with what is wrong with it, in the order of their lines."""
    return sorted((each for each in _registered if each[0].file == str(file)), key=lambda each: each[0].place.line or 0)


def forget(file: Path) -> None:
    """Drop what a file declared before it failed to load."""
    _registered[:] = [each for each in _registered if each[0].file != str(file)]


@dataclass(frozen=True, slots=True)
class _Given:
    """What stands in the parentheses of `check`, before it is read."""

    bare: tuple[Any, ...]
    name: Any
    runs: Any
    cases: Any
    expect: Any
    tags: Any
    model: Json
    ledger: Any
    probes: Any
    parse: Any
    setup: Any
    clock: Json
    allow: Any
    audit: Any

    def mark(self, function: Function) -> Function:
        """Attach the check to the function, with what is wrong with it, and enter it."""
        code = getattr(function, "__code__", None)
        if not isinstance(code, CodeType):
            raise UsageError(f"@check stands above a function, got {type(function).__name__}", code="WRONG_TYPE")
        mistakes = _Mistakes(Place(code.co_filename, code.co_firstlineno))
        made = self._made(function, code, mistakes)
        marked = (made, tuple(mistakes.found))
        setattr(function, _MARK, marked)
        _registered.append(marked)
        return function

    def _made(self, function: Callable[..., Any], code: CodeType, mistakes: _Mistakes) -> Check:
        place, bare = mistakes.place, self.bare
        if bare:
            hint = f"write @check(name={bare[0]!r}, ...)" if isinstance(bare[0], str) else "write @check(name=..., expect=[...])"
            mistakes.add("WRONG_TYPE", f"check takes its values by name, got {bare[0]!r}", hint)
        made = Check(
            name=_name(self.name, mistakes) or function.__name__,
            file=place.file,
            place=place,
            cases=_cases(self.cases, mistakes),
            function=function,
            runs=_runs(self.runs, mistakes),
            tags=_tags(self.tags, mistakes),
            claims=_claims(self.expect, code, mistakes),
            claim_places=(place,) * len(self.expect if isinstance(self.expect, list | tuple) else ()),
            parse=self.parse,
            model=self.model,
            ledger=self.ledger,
            probes=_probes(self.probes, mistakes),
            setup=self.setup,
            clock=self.clock,
            allow=_allowed(self.allow, mistakes),
            accepts=_accepted(self.audit, mistakes),
        )
        for hopeless in filter(None, (too_few(claim, made.runs) for claim in made.claims if made.runs == self.runs)):
            mistakes.add("TOO_FEW_RUNS", *hopeless)
        if self.parse not in (None, "json"):
            mistakes.add("WRONG_TYPE", f"parse must be 'json' or None, got {self.parse!r}")
        return made


class _Mistakes:
    def __init__(self, place: Place) -> None:
        self.place = place
        self.found: list[CheckFileError] = []

    def add(self, code: str, message: str, hint: str | None = None) -> None:
        self.found.append(CheckFileError(message, code=code, place=self.place, hint=hint))


def _cases(given: Iterable[Json | Case], mistakes: _Mistakes) -> tuple[Case, ...]:
    if given is _OMITTED:
        return (Case("default"),)
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        mistakes.add("WRONG_TYPE", f"cases must be a list of cases, got {type(given).__name__}")
        return ()
    made: list[Case] = []
    for number, item in enumerate(given, 1):
        case = _case(item, number, mistakes)
        try:
            made.append(Case(case.id, snapshot(case.input, strict=True), case.place))
        except NotJson as error:
            mistakes.add("ROW_INVALID", f"case {case.id}: the input is no plain JSON: {error.message}", error.hint)
    for fault in filter(None, (case.fault for case in made)):
        mistakes.add("WRONG_TYPE", fault, "leave it out where its number will do")
    for twice in sorted({case.id for case in made if sum(other.id == case.id for other in made) > 1}):
        mistakes.add("DUPLICATE_NAME", f"two cases have the id {twice!r}", "give each case an id of its own")
    if not made and not mistakes.found:
        mistakes.add("NO_CASE", "the check has no case: cases is empty", "leave `cases` out where the check needs no input")
    return tuple(made)


def _case(item: Json | Case, number: int, mistakes: _Mistakes) -> Case:
    if isinstance(item, Case):
        return item
    if isinstance(item, Mapping) and (strange := stranger(item)) is not None:
        mistakes.add("UNKNOWN_KEY", f"case {item['id']}: unknown key {strange!r}", ROW)
    if isinstance(item, Mapping) and set(item) <= {"id", "input"} and "input" in item:
        return Case(str(item.get("id", number)), item["input"])
    return Case(str(number), item)


def _runs(runs: int, mistakes: _Mistakes) -> int:
    if type(runs) is not int or runs < 1:
        mistakes.add("WRONG_TYPE", f"runs must be a whole number from 1, got {runs!r}")
        return 1
    return runs


def _name(name: str | None, mistakes: _Mistakes) -> str | None:
    if name is None or (isinstance(name, str) and name and "\n" not in name):
        return name
    mistakes.add("WRONG_TYPE", f"name must be a text of one line, got {name!r}")
    return None


def _probes(probes: Mapping[str, Any] | None, mistakes: _Mistakes) -> dict[str, Any]:
    if probes is not None and not isinstance(probes, Mapping):
        mistakes.add("WRONG_TYPE", f"probes must be a mapping, got {type(probes).__name__}", "such as probes={'quota': read_quota}")
        return {}
    return dict(probes or {})


def _tags(tags: Sequence[str], mistakes: _Mistakes) -> tuple[str, ...]:
    if not isinstance(tags, list | tuple | set | frozenset) or not all(isinstance(tag, str) for tag in tags):
        mistakes.add("WRONG_TYPE", f"tags must be a list of texts, got {tags!r}")
        return ()
    return tuple(tags)


def _allowed(allow: Sequence[str], mistakes: _Mistakes) -> tuple[str, ...]:
    if not isinstance(allow, list | tuple | set | frozenset) or not all(isinstance(text, str) for text in allow):
        mistakes.add("WRONG_TYPE", f"allow must be a list of texts, got {allow!r}", "such as allow=['tcp:127.0.0.1:5432']")
        return ()
    sound: list[str] = []
    for text in allow:
        try:
            sound += allowance.canonical([text])
        except UsageError as error:
            mistakes.add(error.code, error.message, error.hint)
    return allowance.canonical(sound)


def _accepted(audit: Any, mistakes: _Mistakes) -> tuple[str, ...]:
    texts = audit.get("ignore") if isinstance(audit, Mapping) and set(audit) == {"ignore"} else audit
    if texts is None:
        return ()
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts) or texts is audit:
        mistakes.add("WRONG_TYPE", f"audit must be a mapping with a list, got {audit!r}", "such as audit={'ignore': ['$.ledger[*].at']}")
        return ()
    sound: list[str] = []
    for text in texts:
        try:
            sound.append(accepted(text).text)
        except PathError as error:
            mistakes.add(error.code, error.message, error.hint)
    return tuple(sound)


def _claims(expect: Sequence[Claim], code: CodeType, mistakes: _Mistakes) -> tuple[Claim, ...]:
    if expect is _BARE:
        mistakes.add("BARE_CHECK", "@check stands here without its parentheses", "write @check(...), such as @check(expect=[Calls(1)])")
        return ()
    if not isinstance(expect, list | tuple):
        wrapped = f"write expect=[{type(expect).__name__}(...)]" if isinstance(expect, Claim) else "such as expect=[Calls(1)]"
        mistakes.add("WRONG_TYPE", f"expect must be a list of assertions, got {type(expect).__name__}", wrapped)
        return ()
    for index, claim in enumerate(expect):
        if not isinstance(claim, Claim):
            mistakes.add(
                "UNKNOWN_ASSERTION",
                f"expect[{index}] is {type(claim).__name__} {claim!r}, not an assertion",
                _instead(claim),
            )
    if not expect and not _asserts(code):
        mistakes.add("NO_ASSERTION", "the check has no assertion", CLAIMLESS)
    return tuple(claim for claim in expect if isinstance(claim, Claim))


def _instead(claim: object) -> str:
    """How a Python check spells what somebody wrote as a check file does."""
    key = claim if isinstance(claim, str) else next(iter(claim), None) if isinstance(claim, Mapping) else None
    name = KEYS[key][1] if isinstance(key, str) and key in KEYS else None
    return f"from invcheck import {name}, and write {name}(...)" if name else "assertions are classes of invcheck, such as Calls(1)"


def asserts(function: Callable[..., object]) -> bool:
    """Tell whether a function's own code, inner functions included, holds an assert that this interpreter will run."""
    return _asserts(function.__code__)


def _asserts(code: CodeType) -> bool:
    if opmap["LOAD_ASSERTION_ERROR"] in code.co_code[::2] or "AssertionError" in code.co_names:
        return True
    return any(_asserts(inner) for inner in code.co_consts if isinstance(inner, CodeType))
