"""The formats of JSON Schema that are judged: those that need no further package to be judged rightly."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from jsonschema import FormatChecker

_JSONSCHEMAS = ("date", "email", "ipv4", "ipv6", "regex", "uuid")
FORMATS = frozenset([*_JSONSCHEMAS, "date-time", "uri"])
"""What a schema may name as a ``format``; a value that is no text has every format, as JSON Schema has it."""

_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


@cache
def checker() -> FormatChecker:
    """Give what jsonschema asks about formats; which optional packages are there makes no difference."""
    from jsonschema import FormatChecker  # noqa: PLC0415  # slow to import, and few checks need it

    formats = FormatChecker(_JSONSCHEMAS)
    formats.checks("date-time", raises=ValueError)(_is_date_time)
    formats.checks("uri", raises=ValueError)(_is_uri)
    return formats


def _is_date_time(value: object) -> bool:
    """RFC 3339, section 5.6, without leap seconds."""
    if not isinstance(value, str):
        return True
    return _DATE_TIME.fullmatch(value) is not None and datetime.fromisoformat(re.sub(r"\.\d+", "", value.upper())).tzinfo is not None


def _is_uri(value: object) -> bool:
    """RFC 3986: a scheme, and the characters that may follow it."""
    return not isinstance(value, str) or (_URI.fullmatch(value) is not None and urlsplit(value).scheme != "")
