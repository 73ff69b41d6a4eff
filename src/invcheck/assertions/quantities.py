"""How many, and how much: exactly so, or within ``{min, max}``; sums are exact, as decimals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from invcheck.assertions import bounds
from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import invalid
from invcheck.assertions.difference import difference
from invcheck.errors import UsageError
from invcheck.paths import operand
from invcheck.show import show
from invcheck.vocabulary import Json

NUMBERS = ("integer", "number")


def refuse(wanted: Json, what: str, field: str) -> None:
    """Refuse what is neither a number, nor ``{min, max}`` that some number keeps, nor a path to one number."""
    if isinstance(wanted, Mapping) and (not wanted or wanted.keys() - {"min", "max"}):
        raise invalid(f"{what} needs a number or {{min, max}}, got {show(wanted)}", field)
    low, high = _sides(wanted)
    try:
        bounds.refuse(what, {"min": low, "max": high} if isinstance(wanted, Mapping) else {"it": low}, whole=False, floor=False)
    except UsageError as error:
        error.fields["field"] = field
        raise


def within(value: Any, wanted: Json) -> bool:
    """Tell whether a number is the wanted one, or in the wanted range, ends included.

    >>> within(3, 3), within(3, {"max": 2}), within(3, {"min": 3, "max": 4})
    (True, False, True)
    """
    low, high = (wanted.get("min"), wanted.get("max")) if isinstance(wanted, Mapping) else (wanted, wanted)
    return bounds.within(value, *(None if end is None else bounds.Limit(end) for end in (low, high)))


def most(wanted: Json) -> int | None:
    """Give the largest number that is wanted, or None where there is no upper end."""
    end: int | None = wanted.get("max") if isinstance(wanted, Mapping) else wanted
    return end


def said(wanted: Json) -> str:
    """Say how much is wanted.

    >>> said(3), said({"min": 1}), said({"max": 2}), said({"min": 1, "max": 2})
    ('3', 'at least 1', 'at most 2', '1 to 2')
    """
    if not isinstance(wanted, Mapping):
        return show(wanted)
    if len(wanted) == 1:
        return " ".join(f"{'at least' if name == 'min' else 'at most'} {show(end)}" for name, end in wanted.items())
    return f"{show(wanted['min'])} to {show(wanted['max'])}"


def counted(at: str, what: str, wanted: Json, found: Sequence[Json]) -> Break | None:
    """Compare how many there are; the break shows them."""
    if wanted is None or within(len(found), wanted):
        return None
    unit = what if isinstance(wanted, Mapping) or wanted != 1 else what.removesuffix("s")
    got = bounds.counted(len(found), what)
    return Break(at, f"{said(wanted)} {unit}", f"{got}: {show(list(found))}" if found else got)


def same_list(at: str, wanted: Sequence[Json] | None, found: list[Json]) -> Break | None:
    """Compare two lists item by item: the break names the first that differs, or shows both where their lengths do."""
    if wanted is None:
        return None
    if len(wanted) != len(found):
        return Break(at, show(list(wanted)), show(found))
    first = difference(list(wanted), found, at)
    return first and Break(first[0], f"{first[1]}, as in {show(list(wanted))}", f"{first[2]}, in {show(found)}")


def summed(at: str, wanted: Json, values: Sequence[float], document: Json) -> Break | None:
    """Compare the exact decimal sum of some numbers with a number, a range or the number at a path."""
    from invcheck.assertions.exact import judged, spelled, total  # noqa: PLC0415  # it loads decimal, for sums only

    ends = bounds.ends(*_sides(wanted), document)
    if isinstance(ends, Break):
        return ends
    came_to = total(values)
    broken = judged(came_to, *ends, at, "", spelled(came_to))
    if broken is not None:
        broken.expected += " in sum"
    return broken


def _sides(wanted: Json) -> tuple[bounds.Side, bounds.Side]:
    """Give what is wanted as two ends; where one value is wanted both are the same."""
    low, high = (wanted.get("min"), wanted.get("max")) if isinstance(wanted, Mapping) else (wanted, wanted)
    return (None if low is None else operand(low), None if high is None else operand(high))


def fused(name: str, wanted: Json) -> str:
    """Give an expression that is true only where the integer ``name`` is within what is wanted."""
    if not isinstance(wanted, Mapping):
        return f"{name} == {int(wanted)}"
    tests = [f"{name} {'>=' if end == 'min' else '<='} {int(number)}" for end, number in wanted.items()]
    return " and ".join(tests)
