"""What a claim about several values looks at: the values that a path selects, or the items of the one array it selects."""

from __future__ import annotations

from collections.abc import Hashable

from invcheck.assertions.breaks import Break, nothing, wrong_type
from invcheck.assertions.fuse import Fuser
from invcheck.paths import Literal, Match, Path, below
from invcheck.vocabulary import Json


def selected(operand: Path | Literal, document: Json) -> list[Match]:
    """Give the values that one side of a relation stands for, each with its place (of a literal, an empty text).

    A path that can select one value only stands for the items of the array there, or for the one other value.

    >>> from invcheck.paths import operand
    >>> [match.path for match in selected(operand("$.cites"), {"cites": ["d1", "d2"]})]
    ['$.cites[0]', '$.cites[1]']
    """
    if isinstance(operand, Literal):
        return [Match("", value) for value in (operand.value if isinstance(operand.value, list) else [operand.value])]
    found = operand.find(document)
    if operand.singular and found and isinstance(found[0].value, list):
        return [Match(below(found[0].path, index), value) for index, value in enumerate(found[0].value)]
    return found


def empty(path: Path, document: Json) -> Break:
    """The break of a side without values, which tells an empty array from a path that matches nothing."""
    broken = nothing(path)
    if path.singular and path.find(document):
        broken.got = "nothing: the array is empty"
    return broken


def items(path: Path, document: Json, *, allow_empty: bool) -> list[Match] | Break:
    """Give the items that a claim goes through: what the path selects, or the items of the one array that it can select."""
    whole = path.find(document) if path.singular else []
    if whole and not isinstance(whole[0].value, list):
        return wrong_type(whole[0].path, "array", whole[0].value)
    found = selected(path, document)
    return found if found or allow_empty else empty(path, document)


def identity(value: Json) -> Hashable:
    """Give what two values share exactly when they are the same JSON: a boolean is no number, 1 equals 1.0.

    >>> identity(1) == identity(1.0), identity(1) == identity(True), identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})
    (True, False, True)
    """
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, list):
        return ("array", *map(identity, value))
    if isinstance(value, dict):
        return ("object", frozenset((key, identity(item)) for key, item in value.items()))
    return value  # type: ignore[no-any-return]  # text, a number or null, which are told apart by Python too


def fused_items(fuser: Fuser, path: Path) -> str | None:
    """Give the name of the list that holds a claim's items in generated code, else None."""
    if not path.singular:
        return fuser.values(path)
    name = fuser.lookup(path.steps or ())  # a singular path has steps
    fuser.require(f"type({name}) is list")
    return name


def fused_side(fuser: Fuser, side: Path | Literal) -> str | None:
    """Give the name of the list of one side of a relation in generated code, else None; a literal must be all text."""
    if isinstance(side, Literal):
        values = side.value if isinstance(side.value, list) else [side.value]
        return fuser.const(values) if all(type(value) is str for value in values) else None
    if not side.singular:
        return fuser.values(side)
    one, name = fuser.lookup(side.steps or ()), fuser.fresh()  # a singular path has steps
    fuser.line(f"{name} = {one} if type({one}) is list else [{one}]")
    return name
