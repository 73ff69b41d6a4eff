"""How many, and how much: exactly so, or within ``{min, max}``; sums are exact, as decimals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from invcheck.assertions import bounds
from invcheck.assertions.breaks import Break, nothing, wrong_type
from invcheck.assertions.claim import invalid
from invcheck.assertions.fitting import fits
from invcheck.paths import Path, equal, kind, operand
from invcheck.show import show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from fractions import Fraction

NUMBERS = ("integer", "number")


def refuse(wanted: Json, what: str, field: str) -> None:
    """Refuse what is neither a number, nor ``{min, max}`` that some number keeps, nor a path to one number."""
    if isinstance(wanted, str) and wanted.startswith("$"):
        path = operand(wanted)
        if isinstance(path, Path) and not path.singular:
            raise invalid(f"{what}: {wanted} can select several values, and one number is compared", field)
        return
    ends = list(wanted.values()) if isinstance(wanted, Mapping) else [wanted]
    known = not isinstance(wanted, Mapping) or (wanted and wanted.keys() <= {"min", "max"})
    if not known or not all(fits("float", end) for end in ends):
        raise invalid(f"{what} needs a number or {{min, max}}, got {show(wanted)}", field)
    if isinstance(wanted, Mapping) and "min" in wanted and "max" in wanted and wanted["min"] > wanted["max"]:
        raise invalid(f"{what}: min {show(wanted['min'])} is above max {show(wanted['max'])}, which no number can keep", field)


def within(value: Any, wanted: Json) -> bool:
    """Tell whether a number is the wanted one, or in the wanted range, ends included.

    >>> within(3, 3), within(3, {"max": 2}), within(3, {"min": 3, "max": 4})
    (True, False, True)
    """
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    return ("min" not in wanted or value >= wanted["min"]) and ("max" not in wanted or value <= wanted["max"])


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
    place = next((place for place, (one, two) in enumerate(zip(wanted, found, strict=True)) if not equal(one, two)), None)
    if place is None:
        return None
    return Break(f"{at}[{place}]", f"{show(wanted[place])}, as in {show(list(wanted))}", f"{show(found[place])}, in {show(found)}")


def summed(at: str, wanted: Json, values: Sequence[float], document: Json) -> Break | None:
    """Compare the exact decimal sum of some numbers with a number, a range or the number at a path."""
    source = ""
    if isinstance(wanted, str):
        path = operand(wanted)
        found = path.values(document) if isinstance(path, Path) else []
        if isinstance(path, Path) and not found:
            return nothing(path, "a number to compare the sum with")
        wanted, source = found[0], f" (as {wanted})"
        if kind(wanted) not in NUMBERS:
            return wrong_type(source[5:-1], "number to compare the sum with", wanted)
    total = sum(map(_exact, values), _exact(0))
    ends = {name: _exact(end) for name, end in wanted.items()} if isinstance(wanted, Mapping) else _exact(wanted)
    if within(total, ends):
        return None
    return Break(at, f"{said(wanted)} in sum{source}", show(int(total) if total.denominator == 1 else float(total)))


def _exact(value: float) -> Fraction:
    from fractions import Fraction  # noqa: PLC0415  # it loads decimal, for sums only

    return Fraction(repr(value))


def fused(name: str, wanted: Json) -> str:
    """Give an expression that is true only where the integer ``name`` is within what is wanted."""
    if not isinstance(wanted, Mapping):
        return f"{name} == {int(wanted)}"
    tests = [f"{name} {'>=' if end == 'min' else '<='} {int(number)}" for end, number in wanted.items()]
    return " and ".join(tests)
