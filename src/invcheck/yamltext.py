"""The one way in for YAML text: YAML 1.2 core schema, nothing else, and every value has a place.

What differs between readers is refused instead of guessed at: duplicate keys, anchors and aliases, tags, merge keys,
directives, tabs, keys that are no text, several documents, and numbers that JSON does not have. The composer is PyYAML's on
libyaml, or its pure Python twin where no C extension is built; scalars are ours, by YAML 1.2.2 §10.3.2, since PyYAML
reads YAML 1.1 (``no`` is a text here, ``012`` is twelve). The few forms on which the two composers disagree (tabs, a
question mark in an unquoted text inside braces, a pair inside brackets, a glued colon or comment) are refused as well.
"""

from __future__ import annotations

import math
import re
from typing import Any, NoReturn, TypeAlias

from invcheck.errors import CheckFileError
from invcheck.vocabulary import Json, Place

KEY = -1
"""Appended to a path, it asks the table of places where the key itself stands, not its value."""

Places: TypeAlias = dict[tuple[str | int, ...], Place]

_DEPTH = 100
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_PATH_IN_FLOW = re.compile(r"""[{\[,:]\s*(\$[^\s,{}"']*\[[^\]]*\][^\s,{}\]"']*)""")
_GLUED_COLON = re.compile(r":[^\s]")
_GLUED_COMMENT = re.compile(r"[|>][-+0-9]*#")
_SURROGATE = re.compile("[\ud800-\udfff]")

_PLAIN, _TEXT = "plain", "text"


def read(text: str, file: str, *, pure: bool = False) -> tuple[Json, Places]:
    """Read one YAML document as plain JSON and a table from each value's path to its place.

    An empty document is null. A fault raises CheckFileError with line and column from 1 and one of the codes
    YAML_SYNTAX, TAB, DUPLICATE_KEY, ALIAS, TAG, MERGE_KEY, KEY_NOT_TEXT, SEVERAL_DOCUMENTS, DIRECTIVE, NOT_A_NUMBER, TOO_DEEP.
    ``pure`` asks for the composer that is written in Python; both give the same.

    >>> value, places = read("on: [no, 012]", "checks/a.yaml")
    >>> value
    {'on': ['no', 12]}
    >>> str(places["on", 1])
    'checks/a.yaml:1:10'
    """
    text = text.removeprefix("\ufeff")
    reader = _Reader(text, file)
    node = reader.compose(pure=pure)
    if node is None:
        return None, {(): Place(file, 1, 1)}
    value = reader.value(node, ())
    return value, reader.places


def decode(data: bytes, file: str) -> str:
    """Give the text of a file's bytes, a byte order mark left out; bytes that are no UTF-8 raise NOT_UTF8 with their place.

    >>> decode(b"\\xef\\xbb\\xbfcheck: a", "a.yaml")
    'check: a'
    """
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        place = Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise CheckFileError(
            f"byte 0x{data[error.start]:02x} is no UTF-8", code="NOT_UTF8", place=place, hint="save the file as UTF-8"
        ) from None


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.places: Places = {}
        self.flow = False

    def compose(self, *, pure: bool) -> Any:
        import yaml  # noqa: PLC0415  # 32 ms that a Python check does not pay

        if "\t" in self.text:
            self._tab()
        try:
            # an anchor that nobody uses and a bare ! leave no trace in the composed document, so the events are asked
            if any(mark in self.text for mark in "&%!"):
                self._events(yaml.parse(self.text, _loader(pure=pure)))
            return yaml.compose(self.text, _loader(pure=pure))
        except yaml.YAMLError as error:
            self._syntax(error)
        except RecursionError:
            self._deep(Place(self.file, 1, 1))

    def _events(self, events: Any) -> None:
        documents = 0
        for event in events:
            kind = type(event).__name__
            documents += kind == "DocumentStartEvent"
            if documents > 1:
                return
            if kind == "DocumentStartEvent" and (event.version or event.tags):
                self._refuse("DIRECTIVE", "a % directive is not read here", event, "delete the line: check files are YAML 1.2")
            if getattr(event, "anchor", None):
                what = "alias" if kind == "AliasEvent" else "anchor"
                self._refuse("ALIAS", f"the {what} {event.anchor!r} is not read here", event, "write the value out where it is needed")
            if getattr(event, "tag", None):
                tag = event.tag.replace("tag:yaml.org,2002:", "!!")
                self._refuse("TAG", f"the tag {tag} is not read here", event, "write the plain value; quotes make it a text")

    def value(self, node: Any, path: tuple[str | int, ...]) -> Json:
        """Turn a node into plain JSON and enter its place."""
        place = self.places[path] = self._place(node)
        if len(path) > _DEPTH:
            self._deep(place)
        if node.id == "scalar":
            return self._scalar(node)
        outside, self.flow = self.flow, self.flow or node.flow_style
        try:
            if node.id == "sequence":
                return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
            return self._mapping(node, path)
        finally:
            self.flow = outside

    def _mapping(self, node: Any, path: tuple[str | int, ...]) -> Json:
        out: dict[str, Json] = {}
        if node.flow_style and node.value and node.value[0][0].start_mark.index == node.start_mark.index:
            self._refuse("YAML_SYNTAX", "a pair stands in [] without braces", node, "write {key: value}, or quote the text")
        for key_node, item in node.value:
            key = self._key(key_node)
            if key in out:
                first = self.places[(*path, key, KEY)]
                self._refuse("DUPLICATE_KEY", f"the key {key!r} stands twice: first in line {first.line}", key_node, "keep one of the two")
            at = self.places[(*path, key, KEY)] = self._place(key_node)
            out[key] = self.value(item, (*path, key))
            if item.id == "scalar" and item.tag == _PLAIN and not item.value:
                self.places[(*path, key)] = at  # the two composers put a value that is not there at different places
            if self.flow and key_node.tag == _PLAIN and _GLUED_COLON.match(self.text, key_node.end_mark.index):
                self._refuse("YAML_SYNTAX", "a colon without a blank", key_node, "write a blank after the colon")
        return out

    def _key(self, node: Any) -> str:
        if node.id != "scalar":
            self._refuse("KEY_NOT_TEXT", f"a {node.id} cannot be a key", node, "keys are text")
        if node.value == "<<" and node.tag == _PLAIN:
            self._refuse("MERGE_KEY", "the merge key << is not read here", node, "write the keys out where they are needed")
        value = self._scalar(node)
        if not isinstance(value, str):
            self._refuse("KEY_NOT_TEXT", f"the key {node.value or 'null'} is no text", node, f"quote it: '{node.value}'")
        return value

    def _scalar(self, node: Any) -> Json:
        text: str = node.value
        if node.tag == _TEXT:
            if node.style in ("|", ">") and _GLUED_COMMENT.match(self.text, node.start_mark.index):
                self._refuse("YAML_SYNTAX", "a comment without a blank", node, f"write a blank after the {node.style}")
            if _SURROGATE.search(text):
                self._refuse("YAML_SYNTAX", "a text holds half of a surrogate pair", node, "write the character itself")
            return text
        if self.flow and "?" in text:
            self._refuse("YAML_SYNTAX", "an unquoted text inside {} or [] holds a question mark", node, f"quote it: '{text}'")
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if text[0] in "-+.0123456789":
            return self._number(text, node)
        return text

    def _number(self, text: str, node: Any) -> Json:
        if _INTEGER.fullmatch(text):
            base = {"0o": 8, "0x": 16}.get(text[:2], 10)
            try:
                number = int(text[2:] if base != 10 else text, base)  # noqa: PLR2004  # ten is the base of decimal numbers
                str(number)  # hexadecimal and octal ones are read without a limit, and could not be written
            except ValueError:
                self._refuse("NOT_A_NUMBER", "a number has more digits than can be read", node, "quote it where it is a text")
            return number
        if _NO_NUMBER.fullmatch(text):
            self._refuse("NOT_A_NUMBER", f"{text} is no number in JSON", node, f"quote it where it is a text: '{text}'")
        if not _FLOAT.fullmatch(text):
            return text
        value = float(text)
        if math.isinf(value):
            self._refuse("NOT_A_NUMBER", f"{text[:40]} is too large for a number", node, "quote it where it is a text")
        return value

    # refusals

    def _place(self, node: Any) -> Place:
        mark = node.start_mark
        return Place(self.file, mark.line + 1, mark.column + 1)

    def _refuse(self, code: str, message: str, node: Any, hint: str) -> NoReturn:
        raise CheckFileError(message, code=code, place=self._place(node), hint=hint)

    def _tab(self) -> NoReturn:
        """Tabs are refused everywhere: the two composers disagree on where YAML allows them."""
        line = self.text.count("\n", 0, self.text.index("\t"))
        column = self.text.split("\n")[line].index("\t")
        place = Place(self.file, line + 1, column + 1)
        raise CheckFileError("a tab stands here", code="TAB", place=place, hint='use blanks; inside "double quotes" a tab is \\t')

    def _deep(self, place: Place) -> NoReturn:
        raise CheckFileError(f"the document is nested deeper than {_DEPTH} levels", code="TOO_DEEP", place=place, hint="flatten it")

    def _syntax(self, error: Any) -> NoReturn:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or f"a character that YAML does not allow, #x{_character(error):04x}"
        place = Place(self.file, mark.line + 1, mark.column + 1) if mark else self._position(error)
        if "another document" in problem:
            raise CheckFileError("a second document begins here", code="SEVERAL_DOCUMENTS", place=place, hint="keep one document in a file")
        if "alias" in problem:
            raise CheckFileError("an alias is not read here", code="ALIAS", place=place, hint="quote a text that begins with *")
        if "nesting depth" in problem:
            self._deep(place)
        context = f" ({error.context})" if getattr(error, "context", None) else ""
        raise CheckFileError(f"this is no YAML: {problem}{context}", code="YAML_SYNTAX", place=place, hint=self._hint(place, error))

    def _position(self, error: Any) -> Place:
        """The reader's own errors come without a mark: find the character in the text."""
        index = max(self.text.find(chr(_character(error))), 0)
        return Place(self.file, self.text.count("\n", 0, index) + 1, index - self.text.rfind("\n", 0, index))

    def _hint(self, place: Place, error: Any) -> str | None:
        lines = self.text.split("\n")
        line = lines[min((place.line or 1), len(lines)) - 1]
        unquoted = _PATH_IN_FLOW.search(line)
        if unquoted:
            return f"quote a path inside {{}} or []: '{unquoted[1]}'"
        rest = line[(place.column or 1) - 1 :]
        if rest[:1] in "@`%*&!" and rest:
            return f"quote a text that begins with {rest[0]}"
        if "mapping values" in (getattr(error, "problem", None) or ""):
            return "quote a text that holds a colon and a blank"
        return None


def _character(error: Any) -> int:
    found = getattr(error, "character", 0)
    return found if isinstance(found, int) else ord(found)


_loaders: dict[bool, Any] = {}


def _loader(*, pure: bool) -> Any:
    """Give PyYAML's loader without its own reading of scalars: a node's tag only says whether it was quoted."""
    if pure not in _loaders:
        import yaml  # noqa: PLC0415  # 32 ms that a Python check does not pay

        above = yaml.SafeLoader if pure else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        _loaders[pure] = type("Loader", (above,), {"resolve": _resolve})
    return _loaders[pure]


def _resolve(_loader: Any, kind: Any, _value: Any, implicit: Any) -> str:
    return _PLAIN if kind.id == "scalar" and implicit[0] else _TEXT
