"""Mail to a team. Its waits are written out on the spot: a mail relay needs no policy."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 3


def notify(team: str, text: str, post: Callable[[str, str], object]) -> int:
    """Post the text and give the number of tries; a ConnectionError of the last one leaves as it is."""
    for tried in range(1, TRIES):
        try:
            post(team, text)
        except ConnectionError:
            time.sleep(2.0 * tried)
        else:
            return tried
    post(team, text)
    return TRIES
