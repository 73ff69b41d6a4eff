"""The ends of a range: a number, a path to one, or the length of what stands at a path; refused where nothing fits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from invcheck.assertions.breaks import Break, nothing, wrong_type
from invcheck.assertions.claim import invalid
from invcheck.assertions.lowered import TYPE_TESTS
from invcheck.errors import UsageError
from invcheck.paths import Literal, Path, compile_path
from invcheck.show import show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.fuse import Fuser

__all__ = ["Limit", "Side", "chain", "counted", "ends", "is_number", "limit", "paths_of", "phrase", "refuse", "within"]

Side: TypeAlias = Path | Literal | None
"""One end as a claim holds it: None where it is open."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One end as one observation has it: its number, and the words for where that number stands, empty for a literal."""

    number: int | float
    source: str = ""


def is_number(value: object) -> bool:
    """Tell whether a value is a JSON number: a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def refuse(key: str, sides: Mapping[str, Side], *, whole: bool, floor: bool) -> None:
    """Refuse a range that is open on both sides, crossed, of other things than numbers, or that everything is in.

    With ``whole`` literal ends are whole numbers; with ``floor`` what is measured is never below 0, and so are they.
    """
    given = {name: side for name, side in sides.items() if side is not None}
    if not given:
        raise invalid(f"{key}: say {' or '.join(sides)}", next(iter(sides)))
    for name, side in given.items():
        _refuse_side(key, name, side, whole=whole, floor=floor)
    low, high = _literal(given.get("min")), _literal(given.get("max"))
    if low is not None and high is not None and low > high:
        raise invalid(f"{key}: min {show(low)} is above max {show(high)}, so nothing fits", "min")
    if floor and low == 0 and given.keys() == {"min"}:
        raise invalid(f"{key}: at least 0 is always so", "min", hint="say max, or a min above 0")


def _refuse_side(key: str, name: str, side: Path | Literal, *, whole: bool, floor: bool) -> None:
    try:
        path = side if isinstance(side, Path) else _length_of(side)
    except UsageError as error:
        error.fields["field"] = name
        raise
    if path is not None:
        if not path.singular:
            raise invalid(f"{key}: {name} is one number, {path} may be many values", name, hint="name one, or the list for length-of")
        return
    value: Json = side.value if isinstance(side, Literal) else None
    if not is_number(value) or not math.isfinite(value):
        raise invalid(f"{key}: {name} must be a number, a path or {{length-of: path}}, got {show(value)}", name)
    if (whole and not isinstance(value, int)) or (floor and value < 0):
        raise invalid(f"{key}: {name} must be a {'whole ' if whole else ''}number from 0, got {show(value)}", name)


def _length_of(side: Literal) -> Path | None:
    if not isinstance(side.value, Mapping) or side.value.keys() != {"length-of"}:
        return None
    return compile_path(side.value["length-of"])


def _literal(side: Side) -> int | float | None:
    return side.value if isinstance(side, Literal) and is_number(side.value) else None


def paths_of(*sides: Side) -> tuple[Path, ...]:
    """Give the paths that ends look at."""
    found = (side if isinstance(side, Path) else _length_of(side) for side in sides if side is not None)
    return tuple(path for path in found if path is not None)


def limit(side: Side, document: Json) -> Limit | Break | None:
    """Give an end as this observation has it, None where it is open, or the break of a path that leads to no number."""
    if side is None:
        return None
    if isinstance(side, Path):
        return _number_at(side, document)
    path = _length_of(side)
    return Limit(side.value) if path is None else _length_at(path, document)


def _number_at(path: Path, document: Json) -> Limit | Break:
    found = path.find(document)
    if not found:
        return nothing(path, "a number")
    return Limit(found[0].value, path.text) if is_number(found[0].value) else wrong_type(found[0].path, "a number", found[0].value)


def _length_at(path: Path, document: Json) -> Limit | Break:
    found = path.find(document)
    if not found:
        return nothing(path, "a text or an array")
    if not isinstance(found[0].value, str | list):
        return wrong_type(found[0].path, "a text or an array", found[0].value)
    return Limit(len(found[0].value), f"the length of {path}")


def ends(low: Side, high: Side, document: Json) -> tuple[Limit | None, Limit | None] | Break:
    """Give both ends as this observation has them, or the first break."""
    first, last = limit(low, document), limit(high, document)
    if isinstance(first, Break):
        return first
    return last if isinstance(last, Break) else (first, last)


def chain(fuser: Fuser, low: Side, high: Side, measured: str) -> str:
    """Give an expression of generated code that is true where what ``measured`` says lies in the range."""
    return " <= ".join(part for part in (_written(fuser, low), measured, _written(fuser, high)) if part is not None)


def within(number: float, low: Limit | None, high: Limit | None) -> bool:
    """Tell whether a number lies between two ends, which belong to the range."""
    return (low is None or low.number <= number) and (high is None or number <= high.number)


def phrase(low: Limit | None, high: Limit | None, unit: str = "") -> str:
    """Say a range in words.

    >>> phrase(Limit(10), Limit(200), "code points"), phrase(None, Limit(3, "the length of $.ids"), "items")
    ('between 10 and 200 code points', 'at most 3 items (the length of $.ids)')
    """
    numbers = [end.number for end in (low, high) if end is not None]
    if len(numbers) == 1:
        words = f"{'at most' if low is None else 'at least'} {counted(numbers[0], unit)}"
    elif numbers[0] == numbers[1]:
        words = f"exactly {counted(numbers[0], unit)}"
    else:
        words = f"between {show(numbers[0])} and {counted(numbers[1], unit)}"
    sources = dict.fromkeys(end.source for end in (low, high) if end is not None and end.source)
    return f"{words} ({', '.join(sources)})" if sources else words


def counted(number: float, unit: str) -> str:
    """Give a number with its unit.

    >>> counted(1, "items"), counted(2, "items"), counted(0.5, "")
    ('1 item', '2 items', '0.5')
    """
    return f"{show(number)} {unit.removesuffix('s') if number == 1 else unit}".rstrip()


def _written(fuser: Fuser, side: Side) -> str | None:
    """Give an end as an expression, None where it is open; its path selects one value, so it always has one."""
    if side is None:
        return None
    if isinstance(side, Path):
        name = fuser.value(side)
        fuser.require(TYPE_TESTS["number"].format(name))
        return name
    path = _length_of(side)
    if path is None:
        return repr(side.value) if isinstance(side.value, int) else fuser.const(side.value)
    name = fuser.value(path)
    fuser.require(f"type({name}) is list or type({name}) is str")
    return f"len({name})"
