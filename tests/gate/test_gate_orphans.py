"""Children that come to a process when whoever started them has ended."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from invcheck.gate import orphans

ADOPTS = """
    import ctypes, os, time
    from invcheck.gate import orphans

    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    print(orphans.any_child(), orphans.children())
    heard, says = os.pipe()
    kept = os.fork()
    if kept == 0:
        time.sleep(3600)
    started = os.fork()
    if started == 0:
        if os.fork():
            os._exit(0)
        os.setsid()
        os.write(says, str(os.getpid()).encode())
        time.sleep(3600)
    os.waitpid(started, 0)
    orphan = int(os.read(heard, 32))
    print(orphans.children() == {kept, orphan})
    orphans.end(but={kept})
    print(orphans.children() == {kept})
    orphans.end()
    print(orphans.any_child(), orphans.children())
"""


def test_orphans_are_found_and_ended_but_those_that_are_kept() -> None:
    """One that left session, group and parent comes back as a child; it is gone, and waited for, when `end` returns."""
    code = textwrap.dedent(ADOPTS)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["False set()", "True", "True", "False set()"]


def test_a_child_that_nobody_has_waited_for_is_one() -> None:
    """Dead or alive; looking at it does not wait for it."""
    with subprocess.Popen(["true"]) as child:
        assert orphans.any_child()
        assert child.pid in orphans.children()
        assert child.wait() == 0
