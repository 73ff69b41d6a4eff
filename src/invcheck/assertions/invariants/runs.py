"""Claims over all runs of one case: what may not differ between seeds, and what must."""

from __future__ import annotations

import json
from collections.abc import Sequence

from invcheck.assertions.breaks import Break, nothing
from invcheck.assertions.claim import Claim, Selector, invalid
from invcheck.assertions.difference import difference
from invcheck.canonical import canonical, digest
from invcheck.paths import Path
from invcheck.show import show
from invcheck.vocabulary import Json

_SHORT = 400
"""Code points up to which the values of a run are kept whole, so that the place of a difference can be told."""


def _undecided(path: Path, taken: Sequence[tuple[int, Json]], *, allow_empty: bool) -> Break | None:
    """Why runs cannot be compared: nothing was selected in one of them, or there is only one."""
    hollow = next((seed for seed, what in taken if what is None), None)
    if hollow is not None and not allow_empty:
        broken = nothing(path)
        broken.got += f" (seed {hollow})"
        return broken
    if len(taken) < 2:  # noqa: PLR2004  # one run is always like itself
        return Break(path.text, "at least two runs to compare", str(len(taken)), decided=False, code="TOO_FEW_RUNS")
    return None


class SameAcrossRuns(Claim):
    """What ``of`` selects is byte for byte the same in every run of a case, whatever the seed: 1 is not 1.0 here.

    >>> claim = SameAcrossRuns("$.ledger")
    >>> broken = claim.across([(seed, claim.take({"ledger": [{"tokens": seed}]})) for seed in (7, 8)])
    >>> broken.path, broken.expected, broken.got
    ('$.ledger[0].tokens', '7 in every run, as with seed 7', '8 with seed 8')
    """

    key = "same-across-runs"
    arity = "across"
    shorthand = "of"
    of: Selector
    allow_empty: bool = False

    def least_runs(self) -> int:
        """Two can differ."""
        return 2

    def take(self, document: Json) -> Json:
        """The canonical text where it is short, else its digest and its ends."""
        found = {match.path: match.value for match in self.path().find(document)}
        text = canonical(found).decode() if found else None
        return text if text is None or len(text) <= _SHORT else [digest(found), show(found)]

    def across(self, taken: Sequence[tuple[int, Json]]) -> Break | None:
        """Compare every run with the first."""
        if (undecided := _undecided(self.path(), taken, allow_empty=self.allow_empty)) is not None:
            return undecided
        (seed, first), *others = taken
        other = next(((seed, what) for seed, what in others if what != first), None)
        if other is None:
            return None
        where, one, two = _difference(first, other[1]) or (self.path().text, _text(first), _text(other[1]))
        return Break(where, f"{one} in every run, as with seed {seed}", f"{two} with seed {other[0]}")


def _difference(one: Json, two: Json) -> tuple[str, str, str] | None:
    if not isinstance(one, str) or not isinstance(two, str):
        return None
    old, new = json.loads(one), json.loads(two)
    for where in (*old, *(where for where in new if where not in old)):
        if where not in old or where not in new:
            return where, *(show(each[where]) if where in each else "nothing" for each in (old, new))
        if (found := difference(old[where], new[where], where)) is not None:
            return found
    return None


def _text(what: Json) -> str:
    return "nothing" if what is None else what if isinstance(what, str) else what[1]


class Distinct(Claim):
    """What ``of`` selects differs between runs: there are ``at_least`` so many different values among the runs of a case.

    >>> claim = Distinct("$.output", at_least=2)
    >>> claim.across([(seed, claim.take({"output": "same"})) for seed in (0, 1, 2)]).got
    '1 distinct value in 3 runs'
    """

    key = "distinct"
    arity = "across"
    of: Selector
    at_least: int
    allow_empty: bool = False

    def check(self) -> None:
        """One value is always there."""
        if self.at_least < 2:  # noqa: PLR2004  # the smallest claim that can be broken
            raise invalid(f"distinct: at-least must be 2 or more, got {self.at_least}", "at_least")

    def least_runs(self) -> int:
        """As many as there must be different values."""
        return self.at_least

    def take(self, document: Json) -> Json:
        """The digest of what is selected."""
        found = {match.path: match.value for match in self.path().find(document)}
        return digest(found) if found else None

    def across(self, taken: Sequence[tuple[int, Json]]) -> Break | None:
        """Count the different digests; a run in which nothing was selected adds none."""
        if (undecided := _undecided(self.path(), taken, allow_empty=self.allow_empty)) is not None:
            return undecided
        count = len({what for _, what in taken if what is not None})
        if count >= self.at_least:
            return None
        values = "1 distinct value" if count == 1 else f"{count} distinct values"
        return Break(self.path().text, f"at least {self.at_least} distinct values", f"{values} in {len(taken)} runs")
