"""How much there may be of each: numbers, lengths, words; and how many: counts.

An end of a range belongs to it. It is a number, a path to one, or ``{length-of: path}``, the length of the text or
array there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from invcheck import paths
from invcheck.assertions import bounds
from invcheck.assertions.bounds import Limit, is_number
from invcheck.assertions.breaks import Break, wrong_type
from invcheck.assertions.claim import Claim, Operand, Selector, invalid
from invcheck.assertions.lowered import TYPE_TESTS, require_each
from invcheck.assertions.values import Judged, Values, over
from invcheck.paths import Match
from invcheck.show import listed, show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.fuse import Fuser


class Range(Values):
    """What is measured of each selected value lies between two ends; a subclass says what is measured."""

    of: Selector
    min: Operand = None
    max: Operand = None
    allow_empty: bool = False

    needs: ClassVar[str]
    measured: ClassVar[str]
    whole: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse a range that is open, crossed, or in which everything lies."""
        bounds.refuse(self.key, {"min": self.min, "max": self.max}, whole=self.whole, floor=self.whole)

    def judged(self, document: Json) -> Judged | Break:
        """Measure every selected value."""
        ends = bounds.ends(self.min, self.max, document)
        if isinstance(ends, Break):
            return ends
        return over(self.path(), document, lambda match: self._judge(match, *ends), allow_empty=self.allow_empty)

    def reads(self) -> tuple[paths.Path, ...]:
        """What is measured, and what the ends are taken from."""
        return (self.path(), *bounds.paths_of(self.min, self.max))

    def fuse(self, fuser: Fuser) -> bool:
        """Compare in the generated code; ``measured`` is the test of the type, then what is measured."""
        kinds, _, size = self.measured.partition(" -> ")
        chain = bounds.chain(fuser, self.min, self.max, size)
        return require_each(fuser, self.path(), f"({kinds}) and {chain}", allow_empty=self.allow_empty)

    def size(self, value: Json) -> tuple[int | float, str] | None:
        """Give the number and its unit, or None for a value of which nothing can be measured."""
        raise NotImplementedError

    def _judge(self, match: Match, low: Limit | None, high: Limit | None) -> Break | None:
        sized = self.size(match.value)
        if sized is None:
            return wrong_type(match.path, self.needs, match.value)
        number, unit = sized
        if bounds.within(number, low, high):
            return None
        return Break(
            match.path,
            bounds.phrase(low, high, unit),
            f"{bounds.counted(number, unit)}: {show(match.value)}" if unit else show(match.value),
        )


class Between(Range):
    """Each selected number lies between ``min`` and ``max``, both of which belong to the range; one of them is enough.

    A boolean is no number. A value that is none breaks the claim, also under ``not-``.

    >>> Between("$.score", 0, 1).each({"score": 0.5}) is None
    True
    >>> broken = Between("$.score", 0, 1).each({"score": 1.5})
    >>> broken.expected, broken.got
    ('between 0 and 1', '1.5')
    """

    key = "between"
    needs = "a number"
    measured = f"{TYPE_TESTS['number']} -> {{0}}"
    whole = False

    def size(self, value: Json) -> tuple[int | float, str] | None:
        """The number itself."""
        return (value, "") if is_number(value) else None


class Length(Range):
    """Each selected text has between ``min`` and ``max`` code points, each selected array as many items.

    A value that is neither breaks the claim, also under ``not-``.

    >>> Length("$.answer", min=10, max=200).each({"answer": "In 14 days."}) is None
    True
    >>> broken = Length("$.answer", min=10, max=200).each({"answer": "In a week"})
    >>> broken.expected, broken.got
    ('between 10 and 200 code points', '9 code points: "In a week"')
    """

    key = "length"
    needs = "a text or an array"
    measured = "type({0}) is str or type({0}) is list -> len({0})"

    def size(self, value: Json) -> tuple[int | float, str] | None:
        """Code points or items."""
        if isinstance(value, str):
            return len(value), "code points"
        return (len(value), "items") if isinstance(value, list) else None


class Words(Range):
    """Each selected text has between ``min`` and ``max`` words; a word is what stands between white space, no more.

    Languages that write without spaces have few words by this count: use ``length`` there. A value that is no text
    breaks the claim, also under ``not-``.

    >>> Words("$.answer", max=5).each({"answer": "In 14 days."}) is None
    True
    >>> Words("$.answer", max=2).each({"answer": "In 14 days."}).got
    '3 words: "In 14 days."'
    """

    key = "words"
    needs = "a text"
    measured = "type({0}) is str -> len({0}.split())"

    def size(self, value: Json) -> tuple[int | float, str] | None:
        """What ``str.split`` gives."""
        return (len(value.split()), "words") if isinstance(value, str) else None


class Count(Claim):
    """The path selects so many values: ``exactly``, or between ``min`` and ``max``; 0 is a number like any other.

    So ``not-count: {min: 1}`` is kept where the path selects nothing.

    It counts what the path selects, not what stands in it: the items of a list are ``$.output.cites[*]``.

    >>> Count("$.cites[*]", min=1, max=3).each({"cites": ["d1"]}) is None
    True
    >>> Count("$.cites[*]", exactly=1).each({"cites": ["d1", "d2"]}).got
    '2 values: ["d1", "d2"]'
    """

    key = "count"
    of: Selector
    exactly: Operand = None
    min: Operand = None
    max: Operand = None

    def check(self) -> None:
        """Refuse a range that is open, crossed, or always or never so; a path to one value has a count of 0 or 1."""
        if self.exactly is not None and (self.min is not None or self.max is not None):
            raise invalid("count: say exactly, or min and max, not both", "exactly")
        sides = {"min": self.min, "max": self.max} if self.exactly is None else {"exactly": self.exactly}
        bounds.refuse(self.key, sides, whole=True, floor=True)
        if self.path().singular:
            self._refuse_one(sides)

    def _refuse_one(self, sides: dict[str, bounds.Side]) -> None:
        hint = f"count the items with {self.path()}[*]"
        ends = {name: side.value for name, side in sides.items() if isinstance(side, paths.Literal) and is_number(side.value)}
        name = next((name for name in ("exactly", "min") if ends.get(name, 0) > 1), None)
        if name:
            raise invalid(f"count: {self.path()} is one value at most, never {ends[name]}", name, hint=hint)
        if ends.get("max", 0) > 0 and not ends.get("min", 0 if self.min is None else 1):
            raise invalid(f"count: {self.path()} is one value at most, so at most {ends['max']} is always so", "max", hint=hint)

    def each(self, document: Json) -> Break | None:
        """Kept where the number of selected values lies in the range."""
        ends = bounds.ends(*self._ends, document)
        if isinstance(ends, Break):
            return ends
        found = self.path().values(document)
        if bounds.within(len(found), *ends):
            return None
        return Break(
            self.path().text, bounds.phrase(*ends, "values"), bounds.counted(len(found), "values") + (f": {listed(found)}" if found else "")
        )

    def reads(self) -> tuple[paths.Path, ...]:
        """What is counted, and what the ends are taken from."""
        return (self.path(), *bounds.paths_of(self.exactly, self.min, self.max))

    def fuse(self, fuser: Fuser) -> bool:
        """Measure the list of a path that ends in its only ``[*]``."""
        name = fuser.values(self.path())
        if name is None:
            return False
        fuser.require(bounds.chain(fuser, *self._ends, f"len({name})"))
        return True

    @property
    def _ends(self) -> tuple[bounds.Side, bounds.Side]:
        return (self.min, self.max) if self.exactly is None else (self.exactly, self.exactly)
