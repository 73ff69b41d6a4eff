"""Claims about the items of one list: each of them, all of them, the order they stand in."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from invcheck.assertions.breaks import Break, chosen, wrong_type
from invcheck.assertions.claim import Claim, Claims, Selector, inner
from invcheck.assertions.fuse import Fuser
from invcheck.assertions.selection import fused_items, identity, items
from invcheck.assertions.values import Judged, Values
from invcheck.paths import kind
from invcheck.show import show
from invcheck.vocabulary import Json


class Unique(Claim):
    """No value stands twice in what ``of`` selects.

    >>> broken = Unique("$.ids").each({"ids": ["a", "b", "a"]})
    >>> broken.path, broken.got
    ('$.ids[2]', '"a", which stands at $.ids[0] too')
    """

    key = "unique"
    shorthand = "of"
    of: Selector
    allow_empty: bool = False

    def each(self, document: Json) -> Break | None:
        """Find the first value that stood before."""
        found = items(self.path(), document, allow_empty=self.allow_empty)
        if isinstance(found, Break):
            return found
        seen: dict[object, str] = {}
        for match in found:
            before = seen.setdefault(identity(match.value), match.path)
            if before != match.path:
                return Break(match.path, "no value twice", f"{show(match.value)}, which stands at {before} too")
        return None

    def fuse(self, fuser: Fuser) -> bool:
        """Values that Python's own sets tell apart are different JSON too."""
        name = fused_items(fuser, self.path())
        if name is None:
            return False
        fuser.require(f"len(set({name})) == len({name})" + ("" if self.allow_empty else f" and {name}"))
        return True


class Sorted(Claim):
    """What ``of`` selects stands in order, equal neighbours allowed: numbers by size, text by code points.

    >>> Sorted("$.scores[*]", order="desc").each({"scores": [3, 2.5, 2.5]}) is None
    True
    """

    key = "sorted"
    shorthand = "of"
    of: Selector
    order: Literal["asc", "desc"] = "asc"
    allow_empty: bool = False

    def each(self, document: Json) -> Break | None:
        """Find the first value that stands before its place; values must all be numbers or all be text."""
        found = items(self.path(), document, allow_empty=self.allow_empty)
        if isinstance(found, Break):
            return found
        wanted = "text" if found and isinstance(found[0].value, str) else "number"
        for match in found:
            if (kind(match.value) == "string") is not (wanted == "text") or kind(match.value) not in _ORDERED:
                return wrong_type(match.path, f"{wanted}, as all values must be of one ordered type", match.value)
        for before, match in pairwise(found):
            if match.value < before.value if self.order == "asc" else match.value > before.value:
                sign = "≥" if self.order == "asc" else "≤"
                return Break(match.path, f"{sign} {show(before.value)} ({before.path})", show(match.value))
        return None


_ORDERED = frozenset(["string", "integer", "number"])


class Each(Values):
    """Every item of ``of`` keeps the claims of ``expect``, in which ``$`` is the item.

    >>> inner = Unique("$.cites")
    >>> Each("$.answers", [inner]).each({"answers": [{"cites": ["d1"]}, {"cites": ["d2", "d2"]}]}).path
    '$.answers[1].cites[1]'
    """

    key = "each"
    of: Selector
    expect: Claims
    allow_empty: bool = False

    def judged(self, document: Json) -> Judged | Break:
        """Judge the items in order; a place in an item is told from the observation's root."""
        found = items(self.path(), document, allow_empty=self.allow_empty)
        if isinstance(found, Break):
            return found
        claims = inner(self.expect)
        return [(match.path, chosen(_moved(claim.each(match.value), match.path) for claim in claims)) for match in found]

    def fuse(self, fuser: Fuser) -> bool:
        """A loop, with the inner claims about its item."""
        opened = fuser.each(self.path(), allow_empty=self.allow_empty)
        if opened is None:
            return False
        body, name = opened
        if self.path().singular:
            body = body.items(name, allow_empty=self.allow_empty)
        elif name != body.document:
            return False
        return all(body.claim(claim) for claim in inner(self.expect))


def _moved(broken: Break | None, at: str) -> Break | None:
    if broken is not None:
        broken.path = at + (broken.path or "$")[1:]
    return broken
