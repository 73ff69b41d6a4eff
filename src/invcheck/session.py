"""Where the test in hand is another runner's, such as pytest's: how a record is opened once a double asks for one.

It imports nothing: a suite that merely has invcheck installed loads this module with the plugin.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HINT = "build it in a check, or inside `with invcheck.testing():`"

ISOLATED = "INVCHECK_ISOLATED"
"""The variable that tells a runner's process which tier of the gate it was started in, such as "K1"."""

_FILTERED = "Seccomp:\t2"  # proc(5)

_opens: Callable[[], object] | None = None
_hint = HINT


def hosted(opens: Callable[[], object] | None, hint: str = HINT) -> tuple[Callable[[], object] | None, str]:
    """Say how the test in hand opens a record, or None where none may be; gives what was said before, to be said again."""
    global _opens, _hint  # one test in hand per process
    before = _opens, _hint
    _opens, _hint = opens, hint
    return before


def ask() -> None:
    """Let the test in hand, if there is one, open its record."""
    if _opens is not None:
        _opens()


def hint() -> str:
    """Give the way in for who builds a double where none may be."""
    return _hint


def isolated() -> str | None:
    """Give the tier that the kernel holds around this process, None where it was not started so.

    The variable alone proves nothing, as anybody may set it: the kernel must say that this process is filtered.

    >>> isolated() is None
    True
    """
    tier = os.environ.get(ISOLATED)
    if tier is None:
        return None
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:  # noqa: PTH123  # pathlib is not loaded for this
            return tier if _FILTERED in status.read() else None
    except OSError:  # another system
        return None
