"""How many columns a text takes on a terminal: a small rule of our own, so that tables are the same everywhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_JOINER, _AS_EMOJI = "\u200d", "\ufe0f"


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """Give what stands in one place together, with its columns: wide East Asian signs and emoji take two (UAX #11).

    Marks, joiners and variation selectors belong to the sign before them; an emoji after a joiner does too.

    >>> [width for _, width in clusters("e\u0301表👩\u200d🚀")]
    [1, 2, 2]
    """
    held, width, joined = "", 0, False
    for sign in text:
        if held and (_attached(sign) or (joined and unicodedata.category(sign) == "So")):
            held += sign
            width = 2 if sign == _AS_EMOJI else width
        else:
            if held:
                yield held, width
            held, width = sign, 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        joined = sign == _JOINER
    if held:
        yield held, width


def _attached(sign: str) -> bool:
    return unicodedata.category(sign) in ("Mn", "Me", "Cf") or "\U0001f3fb" <= sign <= "\U0001f3ff"
