"""Decide what runs, with which seeds, in which order: a pure function of the checks and of what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from invcheck.canonical import digest
from invcheck.errors import InvcheckError, NothingSelected, UsageError
from invcheck.events import Listed, RunOptions, Started
from invcheck.expression import keyword
from invcheck.resolve import did_you_mean
from invcheck.suite.entries import FIRST
from invcheck.vocabulary import Json, Place, case_name

if TYPE_CHECKING:
    from invcheck.suite import Case, Check


_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Unit:
    """One case of one check with its runs: what a shard is made of, since runs are never split.

    ``n`` is its position in the whole plan; run i uses seed ``seed`` + i; ``complete`` says that claims across runs
    are judged, because at least as many runs are made as the check asks for.
    """

    n: int
    check: Check
    case: Case
    runs: int
    seed: int
    complete: bool

    @property
    def id(self) -> str:
        """The name that selects this unit: ``FILE::name[case]``."""
        return case_name(self.check.id, self.case.id)


@dataclass(frozen=True, slots=True)
class Plan:
    """The units of this shard, in order; ``total`` and ``digest`` speak of the whole plan, before it was split.

    ``problems`` are selectors that name nothing: they are reported, and the rest of the plan still runs.
    """

    units: tuple[Unit, ...]
    total: int
    digest: str
    seed: int
    shard: tuple[int, int] | None = None
    problems: tuple[InvcheckError, ...] = ()

    def started(self, layer: str, layer_reason: str | None = None) -> Started:
        """Give the event that opens a run of this plan under a layer of the gate."""
        trials = sum(unit.runs for unit in self.units)
        return Started(len(self.units), trials, self.seed, self.shard, self.total, self.digest, layer, layer_reason)

    def listed(self) -> tuple[Listed, ...]:
        """Give the units as a listing shows them."""
        return tuple(
            Listed(unit.check.id, unit.case.id, unit.case.place or unit.check.place, unit.runs, unit.check.tags) for unit in self.units
        )


def file_of(selector: str) -> str:
    """Give the file or folder of a selector, so that only what was asked for needs to be read.

    >>> file_of("checks/qa.yaml::a name: with [brackets]")
    'checks/qa.yaml'
    """
    return selector.split("::", 1)[0]


def files(selectors: Sequence[str]) -> tuple[str, ...]:
    """Give the files and folders that selectors name, each once, in order.

    >>> files(["checks/qa.yaml::a", "checks", "checks/qa.yaml::b"])
    ('checks/qa.yaml', 'checks')
    """
    return tuple(dict.fromkeys(map(file_of, selectors)))


def plan(checks: Sequence[Check], options: RunOptions, *, unread: Collection[str] = (), sources: Mapping[str, str] = _NONE) -> Plan:
    """Select cases, give them their seeds, and take the shard's part, in the order of ``checks``.

    ``unread`` are files that were reported already because they could not be loaded: a selector of one of them is no
    second problem. ``sources`` are the digests of Python files, whose claims stand in code: they enter the plan's.
    Raises UsageError for a keyword expression that cannot be read, and NothingSelected where nothing is left, unless
    ``options.allow_empty`` or a problem explains it. An empty shard of a plan that holds cases is fine.
    """
    named = [(check, case) for check in checks for case in check.cases]
    problems = tuple(_unknown(selector, named) for selector in options.paths if not _names_any(selector, named, unread))
    chosen = [pair for pair in named if _chosen(pair, options)]
    keep = list(_filters(options))
    chosen = [pair for pair in chosen if all(kept(pair) for _, kept in keep)]
    units = tuple(_unit(n, check, case, options) for n, (check, case) in enumerate(chosen))
    if not units and not problems and not unread and not options.allow_empty:
        raise _nothing(named, options)
    problems += tuple(_strange_tags(checks, options)) if units and not unread else ()
    mark = digest([[[unit.id, unit.runs, unit.seed, unit.case.input] for unit in units], _asked(units, sources)])
    own = tuple(unit for unit in units if options.shard is None or shard_of(unit.id, options.shard[1]) == options.shard[0])
    return Plan(own, len(units), mark, options.seed, options.shard, problems)


def _asked(units: Sequence[Unit], sources: Mapping[str, str]) -> dict[str, Json]:
    """Everything that the checks of a plan say, so that the shards of an older one are told from these; not where they stand."""
    checks = {unit.check.id: unit.check for unit in units}
    said = {name: replace(check, cases=(), claim_places=(), places={}, place=Place(check.file)).plain() for name, check in checks.items()}
    return {name: [plain, sources.get(checks[name].file)] for name, plain in said.items()}


def shard_of(name: str, shards: int) -> int:
    """Give the shard, from 1, that a case belongs to: by its own name alone, so that a new case moves only itself.

    >>> {shard_of("checks/qa.yaml::answers[refund]", 3) for _ in range(2)} < {1, 2, 3}
    True
    """
    return int.from_bytes(sha256(name.encode("utf-8", "backslashreplace")).digest()[:8], "big") % shards + 1


_Pair: TypeAlias = "tuple[Check, Case]"


def _unit(n: int, check: Check, case: Case, options: RunOptions) -> Unit:
    runs = options.runs if options.runs is not None else check.runs
    return Unit(n, check, case, runs, options.seed, complete=runs >= check.runs)


def _matches(selector: str, check: Check, case: Case) -> bool:
    where, colons, name = selector.partition("::")
    if not colons:
        return where in ("", ".") or check.file == where or check.file.startswith(where.rstrip("/") + "/")
    return check.file == where and name in (check.name, case_name(check.name, case.id))


def _names_any(selector: str, named: Sequence[_Pair], unread: Collection[str]) -> bool:
    where = file_of(selector)
    below = where.rstrip("/") + "/"
    return (
        any(_matches(selector, check, case) for check, case in named)
        or any(file == where or where in ("", ".") or file.startswith(below) for file in unread)
        or (where == selector and not named)  # a folder without checks is an empty selection, not a wrong name
    )


def _unknown(selector: str, named: Sequence[_Pair]) -> UsageError:
    names = {check.file for check, _ in named}
    if "::" in selector:
        names = {check.id for check, _ in named} | {case_name(check.id, case.id) for check, case in named}
    near = did_you_mean(selector, sorted(names), cutoff=0.5)
    what = "check or case" if "::" in selector else "check file"
    hint = f"did you mean {near!r}?" if near else "`invcheck list` shows every name"
    return UsageError(f"{selector!r} names no {what}", code="UNKNOWN_SELECTOR", hint=hint)


def _strange_tags(checks: Sequence[Check], options: RunOptions) -> Iterator[UsageError]:
    """Tell the tags that no check has; where single files are named, the others may have them."""
    known = sorted({tag for check in checks for tag in check.tags})
    if any("::" in path or path.endswith((".yaml", ".yml", ".py")) for path in options.paths):
        return
    for tag in options.tags:
        if tag not in known:
            near = did_you_mean(tag, known)
            hint = f"did you mean {near!r}?" if near else f"the tags here are {', '.join(known)}"
            yield UsageError(f"no check has the tag {tag!r}", code="UNKNOWN_TAG", hint=hint)


def _chosen(pair: _Pair, options: RunOptions) -> bool:
    return not options.paths or any(_matches(selector, *pair) for selector in options.paths)


def _filters(options: RunOptions) -> Iterator[tuple[str, Callable[[_Pair], bool]]]:
    """Give each further filter with the words in which it was asked for."""
    if options.keyword is not None:
        expression = keyword(options.keyword)
        yield f"-k {options.keyword!r}", lambda pair: expression(case_name(pair[0].id, pair[1].id))
    if options.tags:
        wanted = set(options.tags)
        yield f"--tag {', '.join(options.tags)}", lambda pair: bool(wanted & set(pair[0].tags))
    if options.last_failed is not None:
        failed = set(options.last_failed)
        yield "--last-failed", lambda pair: case_name(pair[0].id, pair[1].id) in failed


def _nothing(named: Sequence[_Pair], options: RunOptions) -> NothingSelected:
    asked = " and ".join(words for words, _ in _filters(options))
    if not named:
        return NothingSelected("there is no case to run", hint=f"checks stand in checks/**/*.yaml and checks/**/check_*.py; {FIRST}")
    hint = "`invcheck list` shows every name"
    tags = sorted({tag for check, _ in named for tag in check.tags})
    if options.tags and tags:
        hint = f"the tags here are {', '.join(tags)}"
    elif options.last_failed is not None and not options.last_failed:
        hint = "nothing failed in the last run"
    return NothingSelected(f"no case is left of {len(named)} after {asked}", hint=hint)
