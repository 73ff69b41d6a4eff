"""Where a stuck worker stands, read from a dump of its threads."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
from pathlib import Path

from invcheck.engines import stuck
from invcheck.sandbox import ambient

DUMP = """\
Thread 0x01 (most recent call first):
  File "{root}/other.py", line 3 in waits
Current thread 0x02 (most recent call first):
  File "/usr/lib/python3.11/socket.py", line 5 in recv
  File "{root}/shop/qa.py", line 7 in answer
  File "{root}/shop/main.py", line 9 in run
"""


def test_the_current_threads_innermost_frame_of_the_project_counts(tmp_path: Path) -> None:
    """Frames of libraries are passed over; another thread speaks only where the current one has none of the project."""
    root = ambient._root
    try:
        dump = DUMP.format(root=tmp_path)
        assert stuck.innermost(dump, str(tmp_path)) == "shop/qa.py:answer, line 7"
        assert stuck.innermost("\n".join(dump.splitlines()[:4]), str(tmp_path)) == "other.py:waits, line 3"
        assert stuck.innermost("", str(tmp_path)) is None
    finally:
        if root:
            ambient.install(root)


def test_a_task_that_waits_shows_what_it_waits_for() -> None:
    """The frames of its coroutines, innermost first, as a dump of threads spells them; no loop is no task."""

    async def inner() -> None:
        await asyncio.Event().wait()

    async def looks() -> str:
        waiting = asyncio.create_task(inner())
        await asyncio.sleep(0)
        told = stuck.coroutines()
        waiting.cancel()
        return told

    lines = asyncio.run(looks()).splitlines()
    places = [line.rpartition(" in ")[2] for line in lines]
    assert places.index("wait") < places.index("inner")
    assert stuck.coroutines() == ""


def test_a_worker_that_is_asked_adds_what_its_coroutines_wait_for() -> None:
    """Beside the dump of the C level; one that is to be deaf is asked in vain, and neither ends it."""
    before = signal.getsignal(signal.SIGUSR1)
    written: list[tuple[int, bytes]] = []

    async def waits_here() -> None:
        await asyncio.sleep(0)
        signal.raise_signal(signal.SIGUSR1)

    with tempfile.TemporaryFile() as frames:
        listen = stuck.listener(frames.fileno(), lambda descriptor, data: written.append((descriptor, data)))
        try:
            listen(True)
            asyncio.run(waits_here())
            listen(False)
            signal.raise_signal(signal.SIGUSR1)
        finally:
            signal.signal(signal.SIGUSR1, before)
        frames.seek(0)
        dump = frames.read().decode()
        assert [descriptor for descriptor, _ in written] == [frames.fileno()]
    assert written[0][1].decode().splitlines()[-1].endswith("in waits_here")
    assert dump.count("Current thread") == 1


def test_who_takes_too_much_meanwhile_is_not_waited_for() -> None:
    """No answer, and not two seconds spent on it, where what goes on is not bearable."""
    asked: list[bool] = []
    frames = os.memfd_create("frames")
    with subprocess.Popen(["sleep", "3600"], start_new_session=True) as other:
        assert stuck.ask(other.pid, frames, "/", lambda: bool(asked.append(True))) is None
        assert other.wait() == -signal.SIGUSR1
    os.close(frames)
    assert asked == [True]
