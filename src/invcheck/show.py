"""Values as people read them: on one line, cut where they are long, with nothing in it that moves a cursor."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from invcheck.snapshot import class_name, snapshot
from invcheck.vocabulary import Json

_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# what JSONEncoder(ensure_ascii=False, ...) makes anew for each text, made once
_encoder: Callable[..., Callable[[Json, int], tuple[str, ...]]] = vars(json.encoder)["c_make_encoder"]
_spell = _encoder(None, class_name, vars(json.encoder)["encode_basestring"], None, ": ", ", ", False, False, True)


def show(value: Json, limit: int = 120) -> str:
    """Give a short text for people, on one line: JSON in the order given, cut in the middle beyond ``limit`` code points.

    What would break the line or move the cursor is escaped. It never raises.

    >>> show({"a": [1, "x"]})
    '{"a": [1, "x"]}'
    """
    try:
        text = "".join(_spell(value, 0))
    except (ValueError, TypeError, RecursionError):
        text = "".join(_spell(snapshot(value), 0))
    if not text.isprintable():
        text = _UNSEEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]} ... {text[-(limit // 4) :]} ({len(text)} characters)"


def one_line(text: str) -> str:
    """Give the text with its line breaks as single blanks.

    >>> one_line("first\\n  second")
    'first second'
    """
    return text.strip() if text.isprintable() else " ".join(part.strip() for part in text.splitlines())


def listed(items: Iterable[Json], limit: int = 12) -> str:
    """Give the items as one short JSON array text, with a count of what was left out.

    >>> listed(["a", "b", "c"], limit=2)
    '["a", "b"] and 1 more'
    """
    rows = list(items)
    return show(rows) if len(rows) <= limit else f"{show(rows[:limit])} and {len(rows) - limit} more"
