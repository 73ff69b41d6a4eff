"""What a text holds, and what it must not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from invcheck.assertions.breaks import Break, wrong_type
from invcheck.assertions.claim import Operand, Selector, invalid
from invcheck.assertions.fuse import Fuser
from invcheck.assertions.idle import refuse_idle
from invcheck.assertions.lowered import require_each
from invcheck.assertions.selection import empty, selected
from invcheck.assertions.values import Judged, Values, over
from invcheck.errors import UsageError
from invcheck.paths import Literal, Match, Path, below, equal
from invcheck.show import listed, show
from invcheck.vocabulary import Json

_SHORT = 120


class _Search(Values):
    """Looks for needles, which are literals or stand at a path, and for a regular expression (``re.search``)."""

    regex: ClassVar[re.Pattern[str] | None] = None

    def prepare(self, pattern: str | None, needles: Mapping[str, Operand]) -> None:
        """Compile the pattern and refuse what is found in every text, or nothing at all."""
        given = {name: side for name, side in needles.items() if side is not None}
        if not given and pattern is None:
            raise invalid(f"{self.key}: say what is looked for: {', '.join(needles)} or pattern", "pattern")
        for name, side in given.items():
            if isinstance(side, Literal) and (side.value == [] or any(match.value == "" for match in selected(side, None))):
                raise invalid(f"{self.key}: {name} needs text that is not empty: the empty text stands in every text", name)
        object.__setattr__(self, "regex", None if pattern is None else _compiled(self.key, pattern))

    def needles(self, side: Operand, document: Json) -> list[Json] | Break:
        """Give what is looked for: from the check, or from the observation."""
        if side is None:
            return []
        found = selected(side, document)
        if not found:
            return empty(side, document)
        hollow = next((match for match in found if match.value == ""), None)
        return [match.value for match in found] if hollow is None else wrong_type(hollow.path, "text that is not empty", "")

    def fused(self, fuser: Fuser, path: Path, needles: Mapping[str, Operand], test: str, match: str, allow_empty: bool) -> bool:
        """Write ``test`` of a needle and a text, for each text that ``path`` selects."""
        tests = ["type({0}) is str"]
        for joint, side in needles.items():
            words = [] if side is None else _words(side)
            if words is None:
                return False
            if words:
                tests.append(f"({joint.join(test.format(fuser.const(word)) for word in words)})")
        if self.regex is not None:
            tests.append(f"{fuser.const(self.regex.search)}({{0}}) {match}")
        return require_each(fuser, path, " and ".join(tests), allow_empty=allow_empty)


def _words(side: Operand) -> list[str] | None:
    """The needles that stand in the check itself, where all are text."""
    if not isinstance(side, Literal):
        return None
    words = [match.value for match in selected(side, None)]
    return words if all(type(word) is str for word in words) else None


def _compiled(key: str, pattern: str) -> re.Pattern[str]:
    try:
        regex = re.compile(pattern)
    except re.error as error:
        message = f"{key}: the pattern is no regular expression: {error.msg} at position {error.pos}"
        raise UsageError(message, code="BAD_PATTERN", field="pattern") from None
    refuse_idle(key, pattern)
    return regex


def _holds(value: Json, needle: Json) -> bool:
    return needle in value if isinstance(value, str) else any(equal(item, needle) for item in value)


def _around(text: str, start: int, length: int) -> str:
    """What was found, with a little of what stands around it."""
    return show(text if len(text) <= _SHORT else f"...{text[max(0, start - 30) : start + min(length, 60) + 30]}...")


def _texts(match: Match) -> Iterator[tuple[str, str]]:
    """Every text at or below a value, with its place; the name of a member stands where its value does."""
    value = match.value
    if isinstance(value, str):
        yield match.path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(Match(below(match.path, index), item))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield below(match.path, name), name
            yield from _texts(Match(below(match.path, name), item))


class Contains(_Search):
    """The text at ``in_`` holds ``all`` of these, one of ``any``, and a match of ``pattern``: whichever is given.

    An array is asked for its items instead: a needle is one of them, and one of them matches the pattern; where none
    does, an item that is no text breaks the claim, also under ``not-``. Of several values that ``in_`` selects, each must
    hold what is looked for.

    >>> Contains("$.answer", any=["refund", "money back"]).each({"answer": "A refund takes 3 days."}) is None
    True
    """

    key = "contains"
    in_: Selector
    all: Operand = None
    any: Operand = None
    pattern: str | None = None
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse needles that stand in every text."""
        self.prepare(self.pattern, {"all": self.all, "any": self.any})

    def judged(self, document: Json) -> Judged | Break:
        """Look into each value that is selected."""
        wanted, one_of = self.needles(self.all, document), self.needles(self.any, document)
        if isinstance(wanted, Break) or isinstance(one_of, Break):
            return wanted if isinstance(wanted, Break) else one_of
        return over(self.path("in_"), document, lambda match: self._look(match, wanted, one_of), allow_empty=self.allow_empty)

    def _look(self, match: Match, wanted: list[Json], one_of: list[Json]) -> Break | None:
        value = match.value
        if not isinstance(value, str | list):
            return wrong_type(match.path, "text or array", value)
        if value == [] and not self.allow_empty:
            return Break(match.path, "at least one item", "an empty array", decided=False, code="EMPTY_SELECTION")
        strange = [needle for needle in (*wanted, *one_of) if not isinstance(needle, str)]
        if isinstance(value, str) and strange:
            return wrong_type(match.path, f"array, since {show(strange[0])} is no text", value)
        missing = [needle for needle in wanted if not _holds(value, needle)]
        if missing:
            return Break(match.path, f"contains {show(missing[0])}", show(value))
        if one_of and not [needle for needle in one_of if _holds(value, needle)]:
            return Break(match.path, f"contains one of {listed(one_of)}", show(value))
        return None if self.regex is None else self._search(self.regex, match)

    def _search(self, regex: re.Pattern[str], match: Match) -> Break | None:
        """Search a text, or the items of an array; without a match, an item that is no text leaves it undecided."""
        items = [match] if isinstance(match.value, str) else selected(Literal(match.value), None)
        if any(isinstance(item.value, str) and regex.search(item.value) for item in items):
            return None
        strange = next((place for place, item in enumerate(items) if not isinstance(item.value, str)), None)
        if strange is not None:
            return wrong_type(below(match.path, strange), "text to search", items[strange].value)
        return Break(match.path, f"contains a match of {self.pattern}", show(match.value))

    def fuse(self, fuser: Fuser) -> bool:
        """Over text, with needles that stand in the check."""
        return self.fused(fuser, self.path("in_"), {" and ": self.all, " or ": self.any}, "{} in {{0}}", "is not None", self.allow_empty)


class Absent(_Search):
    """No text at or below ``from_`` holds one of ``any`` or a match of ``pattern``, names of members included.

    >>> broken = Absent("$.output", any=["sk-"]).each({"output": {"answer": "ok", "notes": ["key: sk-1"]}})
    >>> broken.path, broken.expected, broken.got
    ('$.output.notes[0]', 'no "sk-"', '"key: sk-1"')
    """

    key = "absent"
    from_: Selector
    any: Operand = None
    pattern: str | None = None
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse needles that stand in every text, or in none."""
        self.prepare(self.pattern, {"any": self.any})
        if isinstance(self.any, Literal) and (strange := [m.value for m in selected(self.any, None) if not isinstance(m.value, str)]):
            raise invalid(f"absent: any looks for text, got {show(strange[0])}", "any", hint="disjoint compares whole values")

    def judged(self, document: Json) -> Judged | Break:
        """Search each value that is selected, through and through."""
        needles = self.needles(self.any, document)
        if isinstance(needles, Break):
            return needles
        if strange := [needle for needle in needles if not isinstance(needle, str)]:
            return wrong_type(self.any.text, "text to look for", strange[0])
        return over(self.path("from_"), document, lambda match: self._look(match, needles), allow_empty=self.allow_empty)

    def _look(self, match: Match, needles: list[str]) -> Break | None:
        found = list(_texts(match))
        if not isinstance(match.value, str | list | dict):
            return wrong_type(match.path, "text, or something that holds text", match.value)
        for place, text in found:
            for needle in needles:
                if needle in text:
                    return Break(place, f"no {show(needle)}", _around(text, text.index(needle), len(needle)))
            if self.regex is not None and (hit := self.regex.search(text)):
                return Break(place, f"no match of {self.pattern}", _around(text, hit.start(), len(hit.group())))
        if not found and not self.allow_empty:
            return Break(match.path, "at least one text", f"none in {show(match.value)}", decided=False, code="EMPTY_SELECTION")
        return None

    def fuse(self, fuser: Fuser) -> bool:
        """Over text, with needles that stand in the check."""
        return self.fused(fuser, self.path("from_"), {" and ": self.any}, "{} not in {{0}}", "is None", self.allow_empty)
