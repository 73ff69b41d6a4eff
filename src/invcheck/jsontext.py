"""The one way in for JSON text: strict, and every defect has a name.

Refused although Python's own decoder takes it: duplicate keys, NaN and Infinity, numbers that overflow to infinity
(RFC 8259 §4, §6), lone surrogates (RFC 8259 §8.2), nesting too deep to read, text after the value.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from invcheck.errors import NotJson
from invcheck.show import show
from invcheck.vocabulary import DEEPEST, Json

_SURROGATE = re.compile("[\ud800-\udfff]")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_LONE = "a text holds half of a surrogate pair"
_NESTING = re.compile(r'"(?:[^"\\]|\\.?)*"?|[\[{]|[\]}]', re.DOTALL)


class _Defect(ValueError):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add gives None, which is what "not seen yet" needs
        raise _Defect("DUPLICATE_KEY", f"the key {json.dumps(twice, ensure_ascii=False)} stands twice in one object")
    return value


def _constant(text: str) -> NoReturn:
    raise _Defect("NOT_A_NUMBER", f"{text} is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Defect("NUMBER_OVERFLOW", f"{text[:40]} is too large for a number")
    return value


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)
_scan = _decoder.scan_once  # type: ignore[attr-defined]  # typeshed leaves it out; every version has it


def loads(text: str) -> Json:
    """Read one strict JSON value, or raise NotJson whose ``fields["defect"]`` names the fault and says where.

    Defects: EMPTY, SYNTAX, TRAILING_TEXT, DUPLICATE_KEY, NOT_A_NUMBER, NUMBER_OVERFLOW, LONE_SURROGATE, TOO_DEEP.

    >>> loads('{"a": 1}')
    {'a': 1}
    """
    if len(text) > 2 * DEEPEST and text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise NotJson(f"the value is nested deeper than {DEEPEST} levels", defect="TOO_DEEP")
    try:
        value, end = _scan(text, 0)
    except (ValueError, StopIteration):
        value = _carefully(text)  # blanks before the value, or a fault that wants its name
    else:
        if end != len(text) and text[end:].strip(" \t\r\n"):
            value = _carefully(text)
    if not text.isascii():
        _no_surrogate(text)
    if "\\" in text and _HALF.search(text) and _holds_surrogate(value):
        raise NotJson(_LONE, defect="LONE_SURROGATE")
    return value


def _carefully(text: str) -> Json:
    try:
        return _decoder.decode(text)
    except _Defect as defect:
        raise NotJson(str(defect), defect=defect.code) from None
    except json.JSONDecodeError as error:
        raise _syntax(text, error) from None
    except ValueError:  # an integer beyond the interpreter's limit of digits
        raise NotJson("a number has more digits than can be read", defect="NUMBER_OVERFLOW") from None


def _depth(text: str) -> int:
    """Count how deep brackets are nested outside of strings, whether or not the text is JSON."""
    depth = deepest = 0
    for token in _NESTING.finditer(text):
        mark = token.group()
        depth += 1 if mark in "[{" else -1 if mark in "]}" else 0
        deepest = max(deepest, depth)
    return deepest


def _syntax(text: str, error: json.JSONDecodeError) -> NotJson:
    if not text.strip():
        return NotJson("the text is empty", defect="EMPTY", line=1, column=1)
    # the decoder's own wording and column differ between Python versions, so only its first word is used
    trailing = error.msg.startswith("Extra data")
    what = "text stands after the value" if trailing else "this is no JSON"
    line, column = (error.lineno, error.colno) if trailing else _position(text)
    return NotJson(what, defect="TRAILING_TEXT" if trailing else "SYNTAX", line=line, column=column)


def _position(text: str) -> tuple[int | None, int | None]:
    """Where a scalar goes wrong is its own first character; inside of a container or a string, versions differ."""
    start = len(text) - len(text.lstrip(" \t\r\n"))
    if text[start] in '{["':
        return None, None
    return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)


def _no_surrogate(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJson(_LONE, defect="LONE_SURROGATE") from None


def _holds_surrogate(value: Json) -> bool:
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(map(_holds_surrogate, value)) or any(map(_holds_surrogate, value.values()))
    return isinstance(value, list) and any(map(_holds_surrogate, value))


def parse_output(document: dict[str, Json]) -> NotJson | None:
    """Put the value that ``$.output`` spells at ``$.output`` and the raw text at ``$.output_text``, in place.

    Gives None, or what is wrong with the text; then ``$.output`` is null. A second time changes nothing and says the same.

    >>> document = {"output": '{"n": 1}'}
    >>> parse_output(document), document
    (None, {'output': {'n': 1}, 'output_text': '{"n": 1}'})
    """
    raw = document.get("output")
    if "output_text" in document:
        if raw is not None:
            return None
        raw = document["output_text"]
    document["output_text"] = raw
    document["output"] = None
    if not isinstance(raw, str):
        return NotJson(f"the output is no text but {show(raw, 60)}", defect="NOT_TEXT")
    try:
        document["output"] = loads(raw)
    except NotJson as error:
        return error
    return None
