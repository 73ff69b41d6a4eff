"""Exact sums: integers as integers, other numbers as decimals, by the shortest decimal text of each.

That text is the one that stands in JSON, so 0.1 and 0.2 make 0.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal, Inexact

from invcheck.assertions import bounds
from invcheck.assertions.bounds import Limit
from invcheck.assertions.breaks import Break

EXACT = Context(prec=10_000, traps=[Inexact])


def exact(number: float | Decimal) -> Decimal:
    """Give a number as the decimal that its shortest text spells.

    >>> exact(0.1)
    Decimal('0.1')
    """
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def total(numbers: Iterable[int | float | Decimal]) -> int | Decimal:
    """Add numbers exactly; integers alone give an integer.

    >>> total([0.1, 0.2]), total([2**60, 1])
    (Decimal('0.3'), 1152921504606846977)
    """
    rows = list(numbers)
    if all(isinstance(number, int) for number in rows):
        return sum(rows)  # type: ignore[arg-type]  # integers, as was just seen
    result = Decimal(0)
    for number in rows:
        result = EXACT.add(result, exact(number))
    return result


def spelled(number: int | Decimal) -> str:
    """Give an exact number as plain digits."""
    return f"{number.normalize(EXACT):f}" if isinstance(number, Decimal) else str(number)


def judged(number: int | Decimal, low: Limit | None, high: Limit | None, at: str, unit: str, got: str) -> Break | None:
    """Hold an exact number against two ends; the break says the range, and what was found."""
    value = exact(number)
    if (low is None or exact(low.number) <= value) and (high is None or value <= exact(high.number)):
        return None
    return Break(at, bounds.phrase(low, high, unit), got)
