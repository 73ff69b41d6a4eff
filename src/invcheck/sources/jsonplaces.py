"""Where everything stands in a JSON text, and where a text stops to be JSON: what a person needs who has written one."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from itertools import count
from typing import NoReturn

from invcheck.vocabulary import DEEPEST, Place
from invcheck.yamltext import KEY, Places

_BLANKS = (" ", "\t", "\r", "\n")
_TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORD = re.compile("true|false|null")
_SURROGATE = re.compile("[\ud800-\udfff]")


def scan(text: str, file: str) -> tuple[Places, tuple[Place, str] | None]:
    """Give a table from each value's path to its place, and the first fault of the text with its place, None for JSON.

    A fault is whatever `invcheck.jsontext.loads` refuses; the table then holds what stands before it.

    >>> places, fault = scan('{"a": [1,\\n2}', "a.json")
    >>> str(places["a", 0]), str(fault[0]), fault[1]
    ('a.json:1:8', 'a.json:2:2', 'a comma or ] is needed here')
    """
    scanner = _Scanner(text, file)
    try:
        scanner.value(())
        if scanner.peek():
            scanner.refuse("text stands after the value")
    except _Fault as fault:
        return scanner.places, (scanner.place(fault.at), fault.reason)
    return scanner.places, None


class _Fault(Exception):
    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at, self.reason = at, reason


class _Scanner:
    def __init__(self, text: str, file: str) -> None:
        self.text, self.file, self.at = text, file, 0
        self.places: Places = {}
        self._lines = [-1, *(found.start() for found in re.finditer("\n", text))]

    def place(self, at: int) -> Place:
        """Give the place of a character."""
        from bisect import bisect_left  # noqa: PLC0415  # few files are JSON

        line = bisect_left(self._lines, at)
        return Place(self.file, line, at - self._lines[line - 1])

    def peek(self) -> str:
        """Go to what is no blank, and give its first character, "" at the end."""
        while self.text[self.at : self.at + 1] in _BLANKS:
            self.at += 1
        return self.text[self.at : self.at + 1]

    def refuse(self, reason: str, at: int | None = None) -> NoReturn:
        """Say what is wrong."""
        raise _Fault(self.at if at is None else at, reason)

    def needs(self, what: str) -> NoReturn:
        """Say what is not there."""
        self.refuse(f"{what} is needed here" if self.peek() else f"the text ends, and {what} is needed")

    def value(self, path: tuple[str | int, ...]) -> None:
        """Read one value."""
        mark = self.peek()
        self.places[path] = self.place(self.at)
        if mark and mark in "[{":
            if len(path) >= DEEPEST:
                self.refuse(f"the value is nested deeper than {DEEPEST} levels")
            self.at += 1
            (self.items if mark == "[" else self.fields)(path)
        elif mark == '"':
            self.string()
        elif (found := _NUMBER.match(self.text, self.at)) is not None:
            self.number(found.group())
            self.at = found.end()
        elif (found := _WORD.match(self.text, self.at)) is not None:
            self.at = found.end()
        else:
            self.needs("a value")

    def items(self, path: tuple[str | int, ...]) -> None:
        """Read the rest of an array."""
        if self.ended("]"):
            return
        indices = count()
        while True:
            self.value((*path, next(indices)))
            if self.ended("]"):
                return
            self.comma("]")

    def fields(self, path: tuple[str | int, ...]) -> None:
        """Read the rest of an object."""
        if self.ended("}"):
            return
        while True:
            if self.peek() != '"':
                self.needs("a key in double quotes")
            start = self.at
            key = self.string()
            if (first := self.places.get((*path, key, KEY))) is not None:
                self.refuse(f"the key {json.dumps(key, ensure_ascii=False)} stands twice in one object: first in line {first.line}", start)
            self.places[*path, key, KEY] = self.place(start)
            if self.peek() != ":":
                self.needs("a colon")
            self.at += 1
            self.value((*path, key))
            if self.ended("}"):
                return
            self.comma("}")

    def ended(self, mark: str) -> bool:
        """Whether this is the end of a container, which is then left."""
        if self.peek() != mark:
            return False
        self.at += 1
        return True

    def comma(self, end: str) -> None:
        """Leave the comma before what follows."""
        if self.peek() != ",":
            self.needs(f"a comma or {end}")
        self.at += 1

    def string(self) -> str:
        """Read a text."""
        found = _TEXT.match(self.text, self.at)
        if found is None:
            self.refuse("a text begins here that does not end in its line, or has an escape or a character that JSON has not")
        said: str = json.loads(found.group())
        if _SURROGATE.search(said):
            self.refuse("a text holds half of a surrogate pair")
        self.at = found.end()
        return said

    def number(self, text: str) -> None:
        """Refuse a number that Python cannot hold."""
        if not {".", "e", "E"}.isdisjoint(text):
            if math.isinf(float(text)):
                self.refuse(f"{text[:40]} is too large for a number")
            return
        with suppress(ValueError):
            int(text)
            return
        self.refuse("a number has more digits than can be read")
