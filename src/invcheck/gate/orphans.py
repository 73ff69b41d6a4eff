"""The children of this process, those included that come to it when whoever started them has ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection

# held on to, since an app may replace what it finds in os
_kill, _list, _look, _open, _wait = os.kill, os.listdir, os.waitid, open, os.waitpid


def any_child() -> bool:
    """Say whether there is a child that nobody has waited for, dead or alive."""
    try:
        _look(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def children() -> set[int]:
    """Give the children that nobody has waited for, dead or alive (proc(5))."""
    found = set[int]()
    if any_child():
        for thread in _list("/proc/self/task"):
            with _open(f"/proc/self/task/{thread}/children", "rb") as file:
                found.update(map(int, file.read().split()))
    return found


def end(*, but: Collection[int] = ()) -> None:
    """End every child ``but`` some, and the orphans that come of it, until there are none."""
    while left := children().difference(but):
        for child in left:
            _kill(child, signal.SIGKILL)
        for child in left:
            _wait(child, 0)
