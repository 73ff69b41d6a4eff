"""The JSONPath subset that is guaranteed, read strictly: RFC 9535 spelling, and nothing that engines disagree on.

Everything else is refused with the column, a caret line and a hint. A path of names, single indices and wildcards is
read into steps, which are evaluated by plain lookups; whatever else the subset holds stays text for jsonpath-ng.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, NoReturn, TypeAlias

from invcheck.errors import PathError

LONGEST = 500
"""Code points that a path may have."""

_DEEPEST = 20
_MOST_SEGMENTS = 60

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # the engine's lexer knows ASCII names only, so the rest is quoted
_STRING = re.compile(r"'((?:[^'\\\x00-\x1f]|\\['\\])*)'|\"((?:[^\"\\\x00-\x1f]|\\[\"\\])*)\"")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?![0-9])")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?(?![0-9.eE])")
_COMPARISON = re.compile(r"==|!=|<=|>=|<|>")
_CONSTANT = re.compile(r"(?:true|false|null)(?![A-Za-z0-9_])")
_ESCAPED = re.compile(r"\\(.)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x80-\x9f\u2028\u2029\ud800-\udfff]")
_OPERATORS = frozenset({"where", "wherenot"})  # bare, jsonpath-ng reads them as its own operators

_QUOTE_IT = "quote it: $['my key'] (needed for blanks, '-', '@' and everything beyond ASCII)"


class Star(Enum):
    """The wildcard step, ``[*]`` or ``.*``."""

    STAR = "*"


STAR: Final = Star.STAR

Step: TypeAlias = str | int | Star


@dataclass(frozen=True, slots=True)
class Other:
    """A segment that is evaluated by jsonpath-ng: a union, slice, filter or descendant, as its text."""

    text: str
    descends: bool = False


Segment: TypeAlias = Step | Other


def read(text: str) -> tuple[tuple[Segment, ...], str]:
    """Give a path's segments and its text as jsonpath-ng may be given it, or raise PathError with column and hint.

    >>> read("$.cites[*]['doc id']")[0]
    ('cites', <Star.STAR: '*'>, 'doc id')
    """
    reader = _Reader(text)
    if len(text) > LONGEST:
        reader.at = LONGEST
        reader.refuse(f"a path has at most {LONGEST} characters, this one has {len(text)}")
    if not reader.eat("$"):
        reader.refuse("a path starts with $", "$ is the whole observation: $.output, $.input.doc_ids[*]")
    reader.segments()
    if reader.at != len(text):
        reader.refuse(f"unexpected {text[reader.at]!r}", "a step is .name, ['name'], [0], [*] or ..name")
    if len(reader.found) > _MOST_SEGMENTS and any(isinstance(segment, Other) for segment in reader.found):
        reader.refuse(f"a path with filters, slices or descendants has at most {_MOST_SEGMENTS} steps")
    return tuple(reader.found), "$" + "".join(reader.texts)


class _Reader:
    """Reads one path from left to right; ``found`` and ``texts`` grow by one segment at a time."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.found: list[Segment] = []
        self.texts: list[str] = []

    def refuse(self, why: str, hint: str | None = None) -> NoReturn:
        shown, caret = _window(self.text, self.at)
        message = f"JSONPath not supported at column {self.at + 1}: {why}\n  {shown}\n  {' ' * caret}^"
        raise PathError(message, hint=hint, column=self.at + 1, path=self.text)

    def eat(self, text: str) -> bool:
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def sees(self, characters: str) -> bool:
        return self.at < len(self.text) and self.text[self.at] in characters

    def blanks(self) -> None:
        while self.eat(" "):
            pass

    def segments(self) -> None:
        while self.sees(".["):
            start = self.at
            segment = self.segment()
            text = self.text[start : self.at]
            self.found.append(Other(text, segment.descends) if isinstance(segment, Other) else segment)
            self.texts.append(f"['{segment}']" if text[1:] in _OPERATORS else text)

    def segment(self) -> Segment:
        if self.eat(".."):
            if not self.eat("*"):
                self.bracket() if self.sees("[") else self.name()
            return Other("", descends=True)
        if self.eat("."):
            return STAR if self.eat("*") else self.name(bare=True)
        return self.bracket()

    def name(self, *, bare: bool = False) -> str:
        match = self.match(_NAME)
        if match is None:
            self.refuse("expected a plain ASCII name", _QUOTE_IT)
        if not bare and match.group() in _OPERATORS:
            self.at = match.start()
            self.refuse(f"{match.group()!r} is an operator here", f"quote it: ['{match.group()}']")
        return match.group()

    def bracket(self) -> Segment:
        self.at += 1
        segment = self.selector()
        if not self.eat("]"):
            self.refuse("expected ]")
        return segment

    def selector(self) -> Segment:
        if self.eat("*"):
            return STAR
        if self.eat("?"):
            self.either()
            return Other("")
        if self.sees("'\""):
            name, more = self.string(), self.more(self.string)
            return Other("") if more else name
        index = self.integer()
        if self.eat(":"):
            self.integer()
            if self.eat(":"):
                self.integer()
            return Other("")
        if index is None:
            self.refuse("expected a quoted name, an index, a slice, * or a ?filter", "names in brackets are quoted: ['name']")
        return Other("") if self.more(self.index) else index

    def more(self, item: object) -> bool:
        found = False
        while self.eat(","):
            found = True
            self.eat(" ")
            item()  # type: ignore[operator]  # one of this reader's own methods
        return found

    def integer(self) -> int | None:
        match = self.match(_INTEGER)
        if match is None:
            return None
        if match.group() == "-0":
            self.at = match.start()
            self.refuse("-0 is no index", "write 0")
        return int(match.group())

    def index(self) -> int:
        index = self.integer()
        if index is None:
            self.refuse("expected an index", "names and indices cannot be mixed in one [...]")
        return index

    def string(self) -> str:
        match = self.match(_STRING)
        if match is None:
            self.refuse("expected a quoted text", "the escapes are \\\\ \\' and \\\"; write any other character itself")
        return _ESCAPED.sub(r"\1", match.group(1) if match.group(1) is not None else match.group(2))

    # filters: existence, comparisons of singular @ paths, && || ! and parentheses

    def either(self) -> None:
        self.both()
        while self.eat("||"):
            self.both()

    def both(self) -> None:
        self.term()
        self.blanks()
        while self.eat("&&"):
            self.term()
            self.blanks()

    def term(self) -> None:
        self.blanks()
        if self.eat("("):
            self.group()
        elif self.eat("!"):
            if not self.sees("@"):
                self.refuse("! stands only before an @ path", "rewrite !(@.a == 1) as @.a != 1")
            if not self.relative():
                self.refuse("!@ is always false")
        else:
            self.comparison()

    def group(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.refuse(f"parentheses are nested deeper than {_DEEPEST}")
        self.either()
        self.depth -= 1
        if not self.eat(")"):
            self.refuse("expected )")

    def comparison(self) -> None:
        if not self.sees("@"):
            self.refuse("a filter's operand starts with @", "functions (length, count, match, search, value) are not supported")
        selects = self.relative()
        self.blanks()
        if not self.match(_COMPARISON):
            if not selects:
                self.refuse("@ alone is always true (engines disagree on it)", "compare it, @ == 1, or ask for a member, @.name")
            return
        self.blanks()
        if self.sees("@"):
            self.relative()
        elif self.sees("'\""):
            self.string()
        elif not self.match(_CONSTANT) and not self.match(_NUMBER):
            self.refuse("expected a number, a quoted text, true, false, null or an @ path", "texts are quoted: == 'x'")

    def relative(self) -> bool:
        self.at += 1
        start = self.at
        while self.sees(".["):
            here = self.at
            if self.eat("..") or self.eat(".*") or self.eat("[*") or self.eat("[?"):
                self.at = here
                self.refuse("an @ path holds names and single indices only")
            if self.eat("."):
                self.name()
            elif isinstance(self.bracket(), Other):
                self.at = here
                self.refuse("an @ path holds names and single indices only")
        return self.at > start


def _window(text: str, at: int) -> tuple[str, int]:
    """Cut a long path down to the part around the caret, and keep it on one line."""
    cut = len(text) > LONGEST // 5
    start, end = (max(0, at - 60), at + 40) if cut else (0, None)
    head = "..." if start else ""
    return head + _CONTROL.sub("\ufffd", text[start:end]), at - start + len(head)
