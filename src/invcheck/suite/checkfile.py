"""One YAML check file: read whole, checked whole, so that every mistake in it is told at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import chdir
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from invcheck import allowance, assertions, paths
from invcheck.audits.accepting import accepted
from invcheck.errors import CheckFileError, DoubleError, PathError, UsageError
from invcheck.resolve import is_reference
from invcheck.suite.cases import cases
from invcheck.suite.enough import too_few
from invcheck.suite.entries import Check
from invcheck.suite.mistakes import At, Mistakes
from invcheck.vocabulary import Json, Place
from invcheck.yamltext import decode, read

if TYPE_CHECKING:
    from invcheck.assertions.claim import Claim

_NOT_YET = {
    "drill": "there is no command that reads it yet",
    "prompts": "there is no command that reads it yet",
}
_SECTIONS = {"model": ("models", "AnyModel"), "ledger": ("probespecs", "AnyProbe"), "probes": ("probespecs", "Probes")}
"""Keys whose shape is loaded only where they stand: module and name."""
_ELSEWHERE = "smoke"
"""The key of files that ask a real upstream: they belong to another command, and are never collected."""


def read_file(root: Path, file: str) -> tuple[list[Check], list[CheckFileError]]:
    """Read the check file ``file`` of the project at ``root``: its sound checks, and everything that is wrong with it.

    A file whose one key is ``smoke`` holds no checks. Nothing of the user's code is imported.
    """
    try:
        text = decode((root / file).read_bytes(), file)
        value, places = read(text, file)
    except CheckFileError as error:
        return [], [error]
    except OSError as error:
        return [], [CheckFileError(f"this file cannot be read: {error.strerror}", code="UNREADABLE_FILE", place=Place(file))]
    mistakes = Mistakes(file, text, places)
    checks: list[Check] = []
    for spec, at in _entries(value, mistakes):
        before = len(mistakes.found)
        with chdir(root):  # an assertion seeks its schema's file from the project, wherever the command was called
            check = _check(spec, at, Path(), mistakes)
        if check is not None and len(mistakes.found) == before:
            checks.append(check)
    _unique(value, mistakes)
    twice = {error.fields.get("name") for error in mistakes.found}
    return [check for check in checks if check.name not in twice], sorted(mistakes.found, key=_position)


def _position(error: CheckFileError) -> tuple[str, int, int]:
    place = error.place or Place("")
    return place.file, place.line or 0, place.column or 0


def _entries(value: Json, mistakes: Mistakes) -> list[tuple[Json, At]]:
    """The mappings of the file that each are a check."""
    if value is None:
        mistakes.add("NO_CHECK", "the file holds no check", (), hint="begin with `check: what must hold`")
        return []
    if not isinstance(value, Mapping):
        mistakes.add("WRONG_TYPE", f"expected a mapping that begins with `check:`, got {paths.kind(value)}", ())
        return []
    if set(value) == {_ELSEWHERE}:
        return []
    if "checks" not in value:
        return [(value, ())]
    for key in value:
        if key != "checks":
            mistakes.add("UNKNOWN_KEY", f"the key {key!r} beside `checks`", (key,), key=True, hint="move it into each check")
    entries = value["checks"]
    if not isinstance(entries, list) or not entries:
        got = "an empty list" if entries == [] else paths.kind(entries)
        mistakes.add("NO_CHECK" if entries == [] else "WRONG_TYPE", f"expected a list of checks, got {got}", ("checks",))
        return []
    return [(entry, ("checks", index)) for index, entry in enumerate(entries)]


def _unique(value: Json, mistakes: Mistakes) -> None:
    """Names are unique in their file, also where one of the checks is wrong in another way."""
    entries = value.get("checks") if isinstance(value, Mapping) else None
    first: dict[str, Place] = {}
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        name, at = entry.get("check") if isinstance(entry, Mapping) else None, ("checks", index, "check")
        if not isinstance(name, str):
            continue
        if name in first:
            message = f"the name {name!r} stands twice: first in line {first[name].line}"
            hint = "each check of a file needs a name of its own"
            mistakes.found.append(CheckFileError(message, code="DUPLICATE_NAME", place=mistakes.place(at), hint=hint, name=name))
        first.setdefault(name, mistakes.place(at))


def _nothing(spec: Mapping[str, Json], at: At, mistakes: Mistakes, hints: AbstractSet[str | None]) -> None:
    """A check without a case or an assertion is a mistake of its own, unless the key was only misspelt."""
    if "cases" not in spec and "did you mean 'cases'?" not in hints:
        mistakes.add("NO_CASE", "the check has no case", at, hint="give it `cases`, such as `cases: [{id: first, input: ...}]`")
    if spec.get("expect", []) in ([], None) and "did you mean 'expect'?" not in hints:
        where = (*at, "expect") if "expect" in spec else at
        mistakes.add("NO_ASSERTION", "the check has no assertion", where, hint="give it `expect`, a list such as `expect: [{calls: 1}]`")


def _check(spec: Json, at: At, root: Path, mistakes: Mistakes) -> Check | None:
    if not isinstance(spec, Mapping):
        mistakes.add("WRONG_TYPE", f"expected a check, which is a mapping, got {paths.kind(spec)}", at)
        return None
    spec = _without_early_keys(spec, at, mistakes)
    before = len(mistakes.found)
    shape = {"cases": [], "expect": [], **spec}
    shape["expect"] = shape["expect"] or []
    _structure(shape, at, mistakes)
    _nothing(spec, at, mistakes, {error.hint for error in mistakes.found[before:]})
    _drift(spec.get("model"), (*at, "model"), mistakes)
    wrong = {error.place for error in mistakes.found[before:]}
    claims, claim_places = _claims(shape["expect"], (*at, "expect"), mistakes)
    if type(runs := spec.get("runs", 1)) is int and runs > 0:
        for claim, place in zip(claims, claim_places, strict=True):
            if (wrong_runs := too_few(claim, runs)) is not None:
                mistakes.found.append(CheckFileError(wrong_runs[0], code="TOO_FEW_RUNS", place=place, hint=wrong_runs[1]))
    allow = _allowed(spec.get("allow"), (*at, "allow"), mistakes)
    accepts = _accepted(spec.get("audit"), (*at, "audit", "ignore"), mistakes)
    found = () if "cases" not in spec or _touched(mistakes, (*at, "cases"), wrong) else cases(spec["cases"], (*at, "cases"), root, mistakes)
    if len(mistakes.found) > before:
        return None
    return Check(
        name=spec["check"],
        file=mistakes.file,
        place=mistakes.place((*at, "check"), key=True),
        cases=found,
        app=spec["app"],
        runs=spec.get("runs", 1),
        tags=tuple(spec.get("tags") or ()),
        claims=claims,
        claim_places=claim_places,
        parse=spec.get("parse"),
        model=spec.get("model"),
        ledger=spec.get("ledger"),
        probes=spec.get("probes") or {},
        setup=spec.get("setup"),
        clock=spec.get("clock"),
        allow=allow,
        accepts=accepts,
        places={key: mistakes.place((*at, key)) for key in spec} | dict(_loaded(spec, at, mistakes)),
    )


def _allowed(texts: Json, at: At, mistakes: Mistakes) -> tuple[str, ...]:
    """What a check may reach; of a list that holds anything else than texts its shape has said so."""
    sound: list[str] = []
    for index, text in enumerate(texts if isinstance(texts, list) else []):
        try:
            sound += allowance.canonical([text]) if isinstance(text, str) else []
        except UsageError as error:
            mistakes.raised(error, (*at, index))
    return allowance.canonical(sound)


def _accepted(audit: Json, at: At, mistakes: Mistakes) -> tuple[str, ...]:
    """What may differ in an audit; of what is no list of texts its shape has said so."""
    texts = audit.get("ignore") if isinstance(audit, Mapping) else None
    sound: list[str] = []
    for index, text in enumerate(texts if isinstance(texts, list) else []):
        try:
            sound += [accepted(text).text] if isinstance(text, str) else []
        except PathError as error:
            mistakes.raised(error, (*at, index))
    return tuple(sound)


def _loaded(spec: Mapping[str, Json], at: At, mistakes: Mistakes) -> Iterator[tuple[str, Place]]:
    """Where that stands which only a worker can read: the fields of a section, and references at any depth."""
    for section in _SECTIONS:
        fields = spec.get(section)
        for key, value in fields.items() if isinstance(fields, Mapping) else ():
            yield f"{section}.{key}", mistakes.place((*at, section, key))
            yield from _references(value, (*at, section, key), f"{section}.{key}", mistakes)


def _references(value: Json, at: At, path: str, mistakes: Mistakes) -> Iterator[tuple[str, Place]]:
    if isinstance(value, str) and is_reference(value):
        yield path, mistakes.place(at)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _references(item, (*at, key), f"{path}.{key}", mistakes)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references(item, (*at, index), f"{path}[{index}]", mistakes)


def _without_early_keys(spec: Mapping[str, Json], at: At, mistakes: Mistakes) -> dict[str, Json]:
    for key, reason in _NOT_YET.items():
        if key in spec:
            mistakes.add("KEY_NOT_YET", f"the key {key!r} is not supported yet: {reason}", (*at, key), key=True)
    return {key: value for key, value in spec.items() if key not in _NOT_YET}


def _touched(mistakes: Mistakes, at: At, wrong: set[Place | None]) -> bool:
    """Whether a mistake was already found at or below a path."""
    return any(place in wrong for path, place in mistakes.places.items() if path[: len(at)] == at)


def _structure(spec: Mapping[str, Json], at: At, mistakes: Mistakes) -> None:
    _shaped("specs", "CheckSpec", spec, at, mistakes)
    for key, (module, name) in _SECTIONS.items():
        if spec.get(key) is not None:
            _shaped(module, name, spec[key], (*at, key), mistakes)


def _shaped(module: str, name: str, value: Json, at: At, mistakes: Mistakes) -> None:
    from invcheck.suite.shaped import wrong  # noqa: PLC0415  # pydantic's 90 ms, that only a YAML file pays

    error = wrong(module, name, value)
    if error is not None:
        mistakes.structure(error, value, at)


def _drift(model: Json, at: At, mistakes: Mistakes) -> None:
    """A drifting double's schema holds only what it can make values of."""
    drifting = model.get("drifting") if isinstance(model, Mapping) else None
    schema = drifting.get("schema") if isinstance(drifting, Mapping) else None
    if not isinstance(schema, Mapping):
        return
    from invcheck.sources.schema import supported  # noqa: PLC0415  # few files have one

    try:
        supported(schema)
    except DoubleError as error:
        steps = re.findall(r"\.([^.\[]+)|\[(\d+)\]", str(error.fields["path"]))
        inner = tuple(int(index) if index else name for name, index in steps)
        mistakes.add(error.code, error.message, (*at, "drifting", "schema", *inner), key=True, hint=error.hint)


def _claims(expect: Json, at: At, mistakes: Mistakes) -> tuple[tuple[Claim, ...], tuple[Place, ...]]:
    found: list[Claim] = []
    places: list[Place] = []
    for index, plain in enumerate(expect if isinstance(expect, list) else []):
        claim = _claim(plain, (*at, index), mistakes)
        if claim is not None:
            found.append(claim)
            places.append(mistakes.place((*at, index)))
    return tuple(found), tuple(places)


def _claim(plain: Json, at: At, mistakes: Mistakes) -> Claim | None:
    """Build one assertion; an unknown key is told and left out, so that what stands beside it is looked at too."""
    rest, sound = deepcopy(plain), True
    while True:
        try:
            claim = assertions.build(rest)
        except UsageError as error:
            inner = tuple(error.fields.get("at", ()))
            if sound or error.code != "MISSING_KEY":  # a key that seems missing beside an unknown one is the same mistake
                mistakes.raised(error, (*at, *inner))
            sound = False
            if error.code != "UNKNOWN_KEY" or not _removed(rest, inner):
                return None
        else:
            return claim if sound else None


def _removed(value: Any, at: At) -> bool:
    """Take out the entry at a path; False where there is none."""
    for part in at[:-1]:
        value = value[part]
    return bool(at) and isinstance(value, dict) and value.pop(at[-1], at) is not at
