"""Claims that judge several values one by one: all must keep the claim, and under ``not-`` none may."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from invcheck import paths
from invcheck.assertions.breaks import Break, chosen, nothing
from invcheck.assertions.claim import Claim
from invcheck.vocabulary import Json

Judged: TypeAlias = Sequence[tuple[str | None, Break | None]]
"""What came of each value, with its place."""


def over(path: paths.Path, document: Json, judge: Callable[[paths.Match], Break | None], *, allow_empty: bool) -> Judged | Break:
    """Judge each value that ``path`` selects, or give the break of a path that selects none."""
    matches = path.find(document)
    return [(match.path, judge(match)) for match in matches] if matches or allow_empty else nothing(path)


def all_keep(judged: Judged | Break) -> Break | None:
    """Give the break that speaks for all values: one that could not be decided before the others, else the first."""
    return judged if isinstance(judged, Break) else chosen(broken for _, broken in judged)


def none_keeps(judged: Judged | Break, holds: Callable[[str | None], Break]) -> Break | None:
    """Give the break of the opposite: a value that could not be decided, else the first that keeps the claim."""
    if isinstance(judged, Break):
        return None if judged.decided else judged
    undecided = chosen(broken for _, broken in judged if broken is not None and not broken.decided)
    return undecided or next((holds(at) for at, broken in judged if broken is None), None)


class Values(Claim):
    """A claim about each of several values."""

    def judged(self, document: Json) -> Judged | Break:
        """Judge each value, or give the break that leaves none to be judged; no value at all is kept, and its opposite too."""
        raise NotImplementedError

    def each(self, document: Json) -> Break | None:
        """Kept where every value keeps the claim."""
        return all_keep(self.judged(document))

    def opposite(self, document: Json) -> Break | None:
        """Kept where every value breaks the claim and could be decided."""
        return none_keeps(self.judged(document), self.holds)
