"""What a value must be: the same JSON as another, or a text that holds or begins with something."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from invcheck.assertions import lowered
from invcheck.assertions.bounds import counted
from invcheck.assertions.breaks import Break, nothing, wrong_type
from invcheck.assertions.claim import Operand, Selector, invalid
from invcheck.assertions.difference import difference
from invcheck.assertions.idle import refuse_idle
from invcheck.assertions.schemas import plainly
from invcheck.assertions.values import Judged, Values, over
from invcheck.errors import UsageError
from invcheck.freeze import frozen
from invcheck.paths import Literal, Match, Path
from invcheck.show import show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.fuse import Fuser


class Equals(Values):
    """Each selected value is the same JSON as ``to``; the finding names the first place that differs.

    A boolean is no number, 1 equals 1.0, the order of keys is free. Where ``to`` is a path it selects one value, or,
    when both paths may select many, the two lists are compared item by item.

    >>> Equals("$.calls", 1).each({"calls": 1.0}) is None
    True
    >>> broken = Equals("$.a", {"b": [1, 2]}).each({"a": {"b": [1, True]}})
    >>> broken.path, broken.expected, broken.got
    ('$.a.b[1]', '2', 'true')
    """

    key = "equals"
    of: Selector
    to: Operand
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse a value compared with itself, and one value compared with many."""
        if isinstance(self.to, Literal):
            object.__setattr__(self, "to", Literal(frozen(plainly(self.to.value, "equals: to", "to"))))
        elif self.to == self.path():
            raise invalid(f"equals: {self.to} always equals itself", "to")
        elif self.path().singular and not self.to.singular:
            raise invalid(f"equals: {self.of} is one value, {self.to} may be many", "to", hint="compare with the list itself")

    def judged(self, document: Json) -> Judged | Break:
        """Compare every selected value, or two lists as one."""
        if isinstance(self.to, Literal):
            return over(self.path(), document, lambda match: _differs(self.to.value, match), allow_empty=self.allow_empty)
        wanted = self.to.values(document)
        if not wanted and not self.allow_empty:
            return nothing(self.to)
        if self.to.singular and wanted:
            return over(self.path(), document, lambda match: _differs(wanted[0], match, self.to), allow_empty=self.allow_empty)
        return [(self.path().text, self._pairwise(wanted, self.path().find(document)))]

    def fuse(self, fuser: Fuser) -> bool:
        """Compare scalars."""
        if isinstance(self.to, Literal):
            if isinstance(self.to.value, dict | list):
                return False
            test = lowered.scalar_test(fuser, "{0}", self.to.value)
            return lowered.require_each(fuser, self.path(), test, allow_empty=self.allow_empty)
        other = fuser.value(self.to)
        if other is None:
            return False
        scalars = fuser.const(frozenset([str, int, float, bool, type(None)]))
        test = f"type({{0}}) is type({other}) and type({other}) in {scalars} and {{0}} == {other}"
        return lowered.require_each(fuser, self.path(), test, allow_empty=self.allow_empty)

    def _pairwise(self, wanted: list[Json], matches: list[Match]) -> Break | None:
        if not matches and not self.allow_empty:
            return nothing(self.path())
        for value, match in zip(wanted, matches, strict=False):
            if broken := _differs(value, match, self.to):
                return broken
        if len(wanted) == len(matches):
            return None
        return Break(self.path().text, f"{counted(len(wanted), 'values')}, as at {self.to}", counted(len(matches), "values"))


class Regex(Values):
    """In each selected text the pattern is found somewhere, as by Python's ``re.search``.

    Anchor it with ``\\A`` and ``\\Z`` to mean the whole text. Python's engine has no limit of time: avoid nested
    repeats such as ``(a+)+``. A value that is no text breaks the claim, also under ``not-``.

    >>> Regex("$.id", "^d[0-9]+$").each({"id": "d17"}) is None
    True
    >>> Regex("$.id", "^d[0-9]+$").each({"id": "x"}).got
    '"x"'
    """

    key = "regex"
    of: Selector
    pattern: str
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse a pattern that does not compile, or that every text holds."""
        if not self.pattern:
            raise invalid("regex: every text holds the empty pattern", "pattern")
        try:
            re.compile(self.pattern)
        except re.error as error:
            at = "" if error.pos is None else f" at position {error.pos + 1}"
            what = f"regex: {show(self.pattern)} is no pattern: {error.msg}{at}"
            raise UsageError(what, code="BAD_PATTERN", field="pattern", column=(error.pos or 0) + 1) from None
        refuse_idle("regex", self.pattern)

    def judged(self, document: Json) -> Judged | Break:
        """Search every selected text."""
        return over(self.path(), document, self._judge, allow_empty=self.allow_empty)

    def fuse(self, fuser: Fuser) -> bool:
        """Search in the generated code."""
        search = fuser.const(self._search)
        return lowered.require_each(fuser, self.path(), f"type({{0}}) is str and {search}({{0}})", allow_empty=self.allow_empty)

    def _judge(self, match: Match) -> Break | None:
        if not isinstance(match.value, str):
            return wrong_type(match.path, "a text", match.value)
        if self._search(match.value):
            return None
        return Break(match.path, f"a text in which {self.pattern} is found", show(match.value))

    @cached_property
    def _search(self) -> Callable[[str], re.Match[str] | None]:
        return re.compile(self.pattern).search


class StartsWith(Values):
    """Each selected text begins with ``text``, which may be a path to a text.

    A value that is no text breaks the claim, also under ``not-``.

    >>> StartsWith("$.output", "Dear ").each({"output": "Dear Ada"}) is None
    True
    >>> StartsWith("$.output", "Dear ").each({"output": "Hi Ada"}).got
    '"Hi Ada"'
    """

    key = "starts-with"
    of: Selector
    text: Operand
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse what is no text, and the empty text, with which every text begins."""
        if isinstance(self.text, Path):
            if not self.text.singular:
                raise invalid(f"starts-with: {self.text} may be many texts", "text", hint="name one, such as $.input.name")
        elif not isinstance(self.text.value, str) or not self.text.value:
            raise invalid(f"starts-with: text must be a text that is not empty, got {show(self.text.value)}", "text")

    def judged(self, document: Json) -> Judged | Break:
        """Look at the beginning of every selected text."""
        if isinstance(self.text, Literal):
            return over(self.path(), document, lambda match: _begins(match, self.text.value), allow_empty=self.allow_empty)
        found = self.text.find(document)
        if not found:
            return nothing(self.text, "a text")
        if not isinstance(found[0].value, str):
            return wrong_type(found[0].path, "a text", found[0].value)
        return over(self.path(), document, lambda match: _begins(match, found[0].value), allow_empty=self.allow_empty)

    def fuse(self, fuser: Fuser) -> bool:
        """Compare in the generated code."""
        text = fuser.value(self.text) if isinstance(self.text, Path) else fuser.const(self.text.value)
        fuser.require(f"type({text}) is str")
        return lowered.require_each(fuser, self.path(), f"type({{0}}) is str and {{0}}.startswith({text})", allow_empty=self.allow_empty)


def _differs(want: Json, match: Match, source: Path | None = None) -> Break | None:
    found = difference(want, match.value, match.path)
    if found is None:
        return None
    at, expected, got = found
    return Break(at, f"{expected}, as at {source}" if source else expected, got)


def _begins(match: Match, text: str) -> Break | None:
    if not isinstance(match.value, str):
        return wrong_type(match.path, "a text", match.value)
    return None if match.value.startswith(text) else Break(match.path, f"a text that begins with {show(text)}", show(match.value))
