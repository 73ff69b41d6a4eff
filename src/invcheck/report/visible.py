"""Make text of unknown origin safe to show: nothing in it can move the cursor, hide itself or end its line."""

from __future__ import annotations

import re
import shlex

# C0 and C1 controls, line and paragraph separators, bidirectional controls, halves of surrogate pairs, no characters
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_NOT_XML = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    r"""Give the text with every control character spelled out, on one line.

    >>> visible("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    return _UNSEEN.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    sign = match[0]
    return _SHORT.get(sign) or (f"\\x{ord(sign):02x}" if sign.isascii() else f"\\u{ord(sign):04x}")


def quoted(text: str) -> str:
    r"""Give the text as one word of a shell, on one line whatever it holds.

    >>> print(quoted("it's two"), quoted("a\nb"))
    'it'"'"'s two' $'a\nb'
    """
    if _UNSEEN.search(text) is None:
        return shlex.quote(text)
    return "$'" + visible(text.replace("\\", r"\\").replace("'", r"\'")) + "'"


def visible_xml(text: str) -> str:
    r"""Give the text with every character that XML 1.0 §2.2 refuses, changes or discourages spelled as ``#x1B``.

    >>> visible_xml("a\x1bb\n")
    'a#x1Bb\n'
    """
    return _NOT_XML.sub(lambda match: f"#x{ord(match[0]):02X}", text)


def cut(text: str, limit: int) -> str:
    """Give the text, or its two ends with a note of its length where it is longer than ``limit`` code points.

    >>> cut("abcdefghij", 6)
    'abc ... hij (10 characters)'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} ... {text[-half:]} ({len(text)} characters)"
