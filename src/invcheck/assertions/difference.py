"""Where two values differ first: the one place that a finding names."""

from __future__ import annotations

from collections.abc import Sequence

from invcheck.paths import below, equal
from invcheck.show import show
from invcheck.vocabulary import Json


def difference(want: Json, got: Json, at: str = "$") -> tuple[str, str, str] | None:
    """Give the first place where two values differ, in their own order, and what stands there in each; None for the same.

    >>> difference({"a": [1, 2]}, {"a": [1, 3]})
    ('$.a[1]', '2', '3')
    """
    if isinstance(want, dict) and isinstance(got, dict):
        return _first_of(want, got, [*want, *(key for key in got if key not in want)], at, "field")
    if isinstance(want, list) and isinstance(got, list):
        wants, gots = dict(enumerate(want)), dict(enumerate(got))
        return _first_of(wants, gots, range(max(len(want), len(got))), at, "item")
    return None if equal(want, got) else (at, show(want), show(got))


def _first_of(want: Json, got: Json, steps: Sequence[str | int], at: str, word: str) -> tuple[str, str, str] | None:
    for step in steps:
        here = below(at, step)
        if step not in got:
            return here, show(want[step]), f"no such {word}"
        if step not in want:
            return here, f"no such {word}", show(got[step])
        if found := difference(want[step], got[step], here):
            return found
    return None
