"""What of a request no double can do as asked, whichever dialect it is in."""

from __future__ import annotations

from collections.abc import Mapping

from invcheck.show import show
from invcheck.vocabulary import Json

_CHOICES = ("n", "best_of")


def odd(body: Mapping[str, Json]) -> str | None:
    """Say which field of a body is none that a double could follow, or None.

    >>> odd({"model": "m", "n": 3})
    'n is 1 where it is said, since a double has one choice; got 3'
    """
    for name in _CHOICES:
        value = body.get(name)
        if value is not None and (isinstance(value, bool) or value != 1):
            return f"{name} is 1 where it is said, since a double has one choice; got {show(value, 40)}"
    streams, options = body.get("stream"), body.get("stream_options")
    if streams is not None and not isinstance(streams, bool):
        return f"stream is true or false, got {show(streams, 40)}"
    if options is not None and not isinstance(options, Mapping):
        return f"stream_options is an object, got {show(options, 40)}"
    return None
