"""Partial matching: a pattern says what must stand in a value and leaves the rest of it free.

- an object matches an object that has at least these members, each matching; an array matches item by item, of equal
  length; every other value matches the same JSON (a boolean is no number, 1 equals 1.0);
- ``{contains: text}`` matches a text that holds it;
- a text that begins with ``$`` is a path into the observation, whose one value must stand there;
- ``{literal: value}`` is that value, exactly, whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Mapping

from invcheck.assertions.breaks import Break, chosen, nothing, wrong_type
from invcheck.assertions.claim import invalid
from invcheck.assertions.fuse import Fuser
from invcheck.assertions.lowered import Unlowerable, scalar_test
from invcheck.errors import UsageError
from invcheck.paths import Path, below, compile_path, equal, kind, operand
from invcheck.show import show
from invcheck.vocabulary import Json


def refuse(pattern: Json, field: str) -> None:
    """Refuse a pattern that matches everything or cannot be read, with UsageError."""
    if pattern == {} or not isinstance(pattern, Mapping):
        raise invalid(f"{field} must be a mapping of what must stand there, got {show(pattern)}", field)
    try:
        _refuse(pattern, field)
    except UsageError as error:
        error.fields.setdefault("field", field)
        raise


def _refuse(pattern: Json, field: str) -> None:
    if isinstance(pattern, str) and pattern.startswith("$"):
        path = operand(pattern)
        if isinstance(path, Path) and not path.singular:
            raise invalid(f"{field}: {pattern} can select several values, and one is compared", field, hint="take one index, such as [0]")
    elif isinstance(pattern, list):
        for item in pattern:
            _refuse(item, field)
    elif isinstance(pattern, Mapping) and pattern.keys() == {"contains"}:
        if not isinstance(pattern["contains"], str) or not pattern["contains"]:
            raise invalid(f"{field}: contains needs a text that is not empty, got {show(pattern['contains'])}", field)
        _refuse(pattern["contains"], field)
    elif isinstance(pattern, Mapping) and pattern.keys() != {"literal"}:
        for item in pattern.values():
            _refuse(item, field)


def mismatch(pattern: Json, value: Json, at: str, document: Json) -> Break | None:
    """Compare the value at ``at`` with a pattern; None when it matches, else where it first does not, and why."""
    if isinstance(pattern, str) and pattern.startswith("$"):
        return _same(pattern, value, at, document)
    if isinstance(pattern, list):
        return _array(pattern, value, at, document)
    if not isinstance(pattern, Mapping):
        return None if equal(pattern, value) else differs(at, pattern, value)
    if pattern.keys() == {"literal"}:
        return None if equal(pattern["literal"], value) else differs(at, pattern["literal"], value)
    if pattern.keys() == {"contains"}:
        return _contains(pattern["contains"], value, at, document)
    return _object(pattern, value, at, document)


def differs(at: str, wanted: Json, value: Json) -> Break:
    """The break of a value that is not the wanted one; where the types differ, the type found is named."""
    return Break(at, show(wanted), show(value) if kind(wanted) == kind(value) else f"{kind(value)} {show(value)}")


def _one(text: str, document: Json) -> Json | Break:
    found = compile_path(text).find(document)
    return found[0].value if found else nothing(compile_path(text), "one value to compare with")


def _same(text: str, value: Json, at: str, document: Json) -> Break | None:
    wanted = _one(text, document)
    if isinstance(wanted, Break):
        return wanted
    if equal(wanted, value):
        return None
    broken = differs(at, wanted, value)
    broken.expected += f" (as {text})"
    return broken


def _contains(needle: str, value: Json, at: str, document: Json) -> Break | None:
    wanted = _one(needle, document) if needle.startswith("$") else needle
    if isinstance(wanted, Break):
        return wanted
    if not isinstance(wanted, str) or not wanted:
        return wrong_type(needle, "text that is not empty", wanted)
    if not isinstance(value, str):
        return wrong_type(at, f"text that contains {show(wanted)}", value)
    return None if wanted in value else Break(at, f"text that contains {show(wanted)}", show(value))


def _array(pattern: list[Json], value: Json, at: str, document: Json) -> Break | None:
    if not isinstance(value, list):
        return wrong_type(at, f"array of {len(pattern)}", value)
    if len(value) != len(pattern):
        return Break(at, f"array of {len(pattern)}", f"array of {len(value)}: {show(value)}")
    return chosen(mismatch(wanted, item, below(at, i), document) for i, (wanted, item) in enumerate(zip(pattern, value, strict=True)))


def _object(pattern: Mapping[str, Json], value: Json, at: str, document: Json) -> Break | None:
    if not isinstance(value, dict):
        return wrong_type(at, f"object with {', '.join(pattern) or 'any members'}", value)
    missing = next((name for name in pattern if name not in value), None)
    if missing is not None:
        has = f"which has {', '.join(value)}" if value else "which is empty"
        return Break(at, f"a member {missing!r}", f"an object without it, {has}", decided=False, code="EMPTY_SELECTION")
    return chosen(mismatch(wanted, value[name], below(at, name), document) for name, wanted in pattern.items())


def fused(fuser: Fuser, pattern: Mapping[str, Json]) -> bool:
    """Write lines that let through only what surely matches a pattern of plain members; False when there are others."""
    try:
        for test in _tests(fuser, pattern, fuser.document):
            fuser.require(test)
    except Unlowerable:
        return False
    return True


def _tests(fuser: Fuser, pattern: Json, name: str) -> list[str]:
    """What must be true of ``name``: a missing member raises in the generated code, which makes the answer False."""
    if isinstance(pattern, Mapping):
        if pattern.keys() & {"literal", "contains"} or not pattern:
            raise Unlowerable
        return [
            f"type({name}) is dict",
            *(test for key, item in pattern.items() for test in _tests(fuser, item, f"{name}[{fuser.const(key)}]")),
        ]
    if isinstance(pattern, str) and pattern.startswith("$"):
        raise Unlowerable
    return [scalar_test(fuser, name, pattern)]
