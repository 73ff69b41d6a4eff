"""Two sides, each a path or a literal, compared as sets.

A path that can select one value only (``$.input.doc_ids``) stands for the items of the array there, or for the one
other value; a path with ``[*]`` for what it selects. How often a value stands there does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from invcheck import paths
from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import Claim, Operand, invalid
from invcheck.assertions.fuse import Fuser
from invcheck.assertions.selection import empty, fused_side, identity, selected
from invcheck.paths import Match
from invcheck.show import listed, show
from invcheck.vocabulary import Json


class _Relation(Claim):
    """Two sides, each a path or a literal, compared as sets."""

    of: Operand
    in_: Operand
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse sides that are no set, or that make the claim the same in every trial."""
        for name, side in (("of", self.of), ("in_", self.in_)):
            if isinstance(side, paths.Literal) and side.value == []:
                raise invalid(f"{self.key}: {name.rstrip('_')} is an empty list, so the claim says nothing of what happened", name)
            if isinstance(side, paths.Literal) and isinstance(side.value, Mapping):
                raise invalid(f"{self.key}: a side is a path or a list of values, got {show(side.value)}", name)
        if isinstance(self.of, paths.Literal) and isinstance(self.in_, paths.Literal):
            raise invalid(f"{self.key}: both sides are literals, so the claim says nothing of what happened", "of")
        if self.of == self.in_:
            raise invalid(f"{self.key}: both sides are {self.of}, so the claim is the same in every trial", "in_")

    def each(self, document: Json) -> Break | None:
        """Judge one observation; a side without values breaks the claim unless ``allow_empty`` says that it may."""
        of, in_ = selected(self.of, document), selected(self.in_, document)
        for side, found in ((self.of, of), (self.in_, in_)):
            if not found and not self.allow_empty:
                return empty(side, document)
        return self.compare(of, in_)

    def compare(self, of: list[Match], in_: list[Match]) -> Break | None:
        """Compare two sides that may be compared."""
        raise NotImplementedError

    def fused(self, fuser: Fuser, small: Operand, large: Operand, test: str) -> bool:
        """Write ``test`` over two sides, of which ``small`` must be text only: text is never another type's equal."""
        names = fused_side(fuser, small), fused_side(fuser, large)
        if None in names:
            return False
        fuser.texts(str(names[0]))
        if not self.allow_empty:
            fuser.require(str(names[0]))
            fuser.require(str(names[1]))
        fuser.require(test.format(*names))
        return True


def _outside(found: list[Match], of: list[Match]) -> Iterator[Match]:
    known = {identity(match.value) for match in of}
    return (match for match in found if identity(match.value) not in known)


def _values(found: list[Match]) -> str:
    return listed(match.value for match in found)


def _foreign(found: list[Match], of: list[Match], sign: str) -> Break | None:
    """The first of ``found`` that ``of`` does not hold."""
    match = next(_outside(found, of), None)
    return None if match is None else Break(match.path or None, f"{sign} {_values(of)}", show(match.value))


def _lacking(found: list[Match], wanted: list[Match], side: Operand, sign: str) -> Break | None:
    """The first of ``wanted`` that ``found`` does not hold."""
    match = next(_outside(wanted, found), None)
    where = side.text if isinstance(side, paths.Path) else None
    return None if match is None else Break(where, f"{sign} {_values(wanted)}", f"{_values(found)}, which lacks {show(match.value)}")


class Subset(_Relation):
    """Every value of ``of`` stands in ``in_``; the finding names the first that does not.

    >>> Subset("$.cites[*]", "$.known[*]").each({"cites": ["d1"], "known": ["d1", "d2"]}) is None
    True
    >>> broken = Subset("$.cites[*]", "$.known[*]").each({"cites": ["d1", "d9"], "known": ["d1", "d2"]})
    >>> broken.path, broken.expected, broken.got
    ('$.cites[1]', '⊆ ["d1", "d2"]', '"d9"')
    """

    key = "subset"

    def compare(self, of: list[Match], in_: list[Match]) -> Break | None:
        """Find the first foreign value."""
        return _foreign(of, in_, "⊆")

    def fuse(self, fuser: Fuser) -> bool:
        """Over text only."""
        return self.fused(fuser, self.of, self.in_, "set({1}).issuperset({0})")


class Superset(_Relation):
    """Every value of ``in_`` stands in ``of``; the finding names the first that is lacking.

    >>> Superset("$.cites", ["d1"]).each({"cites": ["d1", "d2"]}) is None
    True
    """

    key = "superset"

    def compare(self, of: list[Match], in_: list[Match]) -> Break | None:
        """Find the first value that is lacking."""
        return _lacking(of, in_, self.of, "⊇")

    def fuse(self, fuser: Fuser) -> bool:
        """Over text only."""
        return self.fused(fuser, self.in_, self.of, "set({1}).issuperset({0})")


class SameSet(_Relation):
    """Both sides hold the same values, in any order, however often.

    >>> SameSet("$.tags[*]", ["a", "b"]).each({"tags": ["b", "a", "b"]}) is None
    True
    """

    key = "same-set"

    def compare(self, of: list[Match], in_: list[Match]) -> Break | None:
        """Find the first foreign value, else the first that is lacking."""
        return _foreign(of, in_, "the same set as") or _lacking(of, in_, self.of, "the same set as")

    def fuse(self, fuser: Fuser) -> bool:
        """Over text only."""
        return self.fused(fuser, self.of, self.in_, "set({0}) == set({1})")


class Disjoint(_Relation):
    """No value of ``of`` stands in ``in_``.

    >>> Disjoint("$.cites[*]", "$.withdrawn[*]").each({"cites": ["d1"], "withdrawn": ["d7"]}) is None
    True
    """

    key = "disjoint"

    def compare(self, of: list[Match], in_: list[Match]) -> Break | None:
        """Find the first value that both hold."""
        known = {identity(match.value) for match in in_}
        match = next((match for match in of if identity(match.value) in known), None)
        return None if match is None else Break(match.path or None, f"none of {_values(in_)}", show(match.value))

    def fuse(self, fuser: Fuser) -> bool:
        """Over text only."""
        return self.fused(fuser, self.of, self.in_, "set({0}).isdisjoint({1})")
