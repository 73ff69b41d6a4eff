"""Where a stuck worker stands: it is asked by a signal, which its C-level handler answers even inside a C call."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from select import poll
from typing import Any

from invcheck.sandbox import ambient

_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')
_TRIES, _PAUSE = 100, 20  # milliseconds; a busy machine may take its time to answer


def ask(pid: int, frames: int, root: str, bearable: Callable[[], bool] = lambda: True) -> str | None:
    """Give ``relative/path.py:function, line n`` of the innermost project frame, or None without an answer.

    It is waited for two seconds, as long as what goes on meanwhile is ``bearable``.
    """
    try:
        os.killpg(pid, signal.SIGUSR1)  # the worker and the child in which it runs a case
    except ProcessLookupError:
        return None
    for _ in range(_TRIES):
        poll().poll(_PAUSE)
        size = os.fstat(frames).st_size
        if size and (site := innermost(os.pread(frames, size, 0).decode("utf-8", "replace"), root)):
            return site
        if not bearable():
            break
    return None


def listener(frames: int, write: Callable[[int, bytes], object] = os.write) -> Callable[[bool], None]:
    """Give what makes this process answer `ask` into ``frames``, or be deaf to it: two dumps at once into one file are none."""
    import faulthandler  # noqa: PLC0415  # a worker's, not the supervisor's

    def waiting(_number: int, _frame: object) -> None:
        write(frames, coroutines().encode("utf-8", "replace"))

    def listen(wanted: bool) -> None:
        if not wanted:
            faulthandler.unregister(signal.SIGUSR1)
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            return
        # the C-level answer comes from inside C code too, and knows no coroutine that waits: the interpreter's own is added to it
        signal.signal(signal.SIGUSR1, waiting)
        faulthandler.register(signal.SIGUSR1, file=frames, all_threads=True, chain=True)

    return listen


def coroutines() -> str:
    """Give where the tasks of the running loop wait, the newest task first, as a dump of threads spells frames."""
    asyncio = sys.modules.get("asyncio")
    try:
        waiting = asyncio.all_tasks() if asyncio else ()
    except RuntimeError:  # no loop runs here
        return ""
    newest = sorted(waiting, key=lambda task: (len(task.get_name()), task.get_name()), reverse=True)
    return "".join(line for task in newest for line in reversed(list(_awaited(task.get_coro()))))


def _awaited(one: Any) -> Iterator[str]:
    """Give the frames from a coroutine down to what it waits for."""
    while one is not None:
        kind = next((kind for kind in ("cr", "ag", "gi") if hasattr(one, f"{kind}_frame")), None)
        frame = getattr(one, f"{kind}_frame", None)
        if frame is not None:
            yield f'  File "{frame.f_code.co_filename}", line {frame.f_lineno} in {frame.f_code.co_name}\n'
        one = getattr(one, "gi_yieldfrom" if kind == "gi" else f"{kind}_await", None)


def innermost(dump: str, root: str) -> str | None:
    """Read a dump of all threads: the first project frame of the current thread, else of any."""
    ambient.install(root)
    current, others = None, None
    inside = False
    for line in dump.splitlines():
        if line.startswith(("Current thread", "Thread")):
            inside = line.startswith("Current")
        found = _FRAME.match(line)
        file = ambient.relative(found["file"]) if found else None
        if found and file:
            site = f"{file}:{found['function']}, line {found['line']}"
            current, others = (current or site, others) if inside else (current, others or site)
    return current or others
