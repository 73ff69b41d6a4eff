"""A trial that waits for ever is ended and told, where it is sure; where anything may still come, nothing is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from invcheck.sandbox import forever, serving
from invcheck.sandbox.waiters import Call, Wait

APPS = """
import asyncio, os, queue, signal, socket, threading
from concurrent.futures import Future, ThreadPoolExecutor

def event():
    threading.Event().wait()

def a_queue():
    queue.Queue().get()

def condition():
    held = threading.Condition()
    with held:
        held.wait()

def simple():
    queue.SimpleQueue().get()

def a_join():
    stuck = threading.Thread(target=event, name="stuck-1")
    stuck.start()
    stuck.join()

def crossed():
    one, other = threading.Event(), threading.Event()
    def waits():
        one.wait()
        other.set()
    threading.Thread(target=waits, daemon=True).start()
    other.wait()
    one.set()

def a_pool():
    with ThreadPoolExecutor(2) as pool:
        pool.submit(abs, -1).result()
        Future().result()

def future():
    async def waits_for_it():
        await asyncio.get_running_loop().create_future()
    async def main():
        await asyncio.gather(waits_for_it(), asyncio.sleep(5))
    asyncio.run(main())

def swallowed():
    try:
        event()
    except BaseException:
        pass
    return "went on"

def a_trio():
    import trio
    trio.run(trio.sleep_forever)

def nursery():
    import trio
    async def child():
        await trio.Event().wait()
    async def main():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(child)
    trio.run(main)

def thread_of_trio():
    import trio
    trio.run(trio.to_thread.run_sync, event)

# what ends by something that is no thread of the app's

def an_alarm():
    rings = threading.Event()
    before = signal.signal(signal.SIGALRM, lambda *_: rings.set())
    signal.setitimer(signal.ITIMER_REAL, 0.4)
    try:
        rings.wait()
    finally:
        signal.signal(signal.SIGALRM, before)

def a_handler():
    heard = threading.Event()
    before = signal.signal(signal.SIGUSR2, lambda *_: heard.set())
    child = os.fork()
    if not child:
        import time
        from invcheck.sandbox import clock
        clock.real_sleep(0.4)
        os.kill(os.getppid(), signal.SIGUSR2)
        os._exit(0)
    try:
        heard.wait()
    finally:
        signal.signal(signal.SIGUSR2, before)
        os.waitpid(child, 0)

def out_of_sight():
    reads, writes = os.pipe()
    done = threading.Event()
    def works():
        os.read(reads, 1)
        done.set()
    def feeds():
        from invcheck.sandbox import clock
        clock.real_sleep(0.4)
        os.write(writes, b"x")
    threading.Thread(target=works).start()
    threading.Thread(target=feeds).start()
    done.wait()

def a_socket():
    left, right = socket.socketpair()
    child = os.fork()
    if not child:
        from invcheck.sandbox import clock
        clock.real_sleep(0.4)
        right.send(b"x")
        os._exit(0)
    async def main():
        left.setblocking(False)
        return await asyncio.get_running_loop().sock_recv(left, 1)
    asyncio.run(main())
    os.waitpid(child, 0)
    left.close(); right.close()

def a_signal_of_the_loop():
    child = os.fork()
    if not child:
        from invcheck.sandbox import clock
        clock.real_sleep(0.4)
        os.kill(os.getppid(), signal.SIGTERM)
        os._exit(0)
    async def main():
        over = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
        await over.wait()
    asyncio.run(main())
    os.waitpid(child, 0)
"""

MAIN = """
import json, os, sys
os.chdir(sys.argv[1]); sys.path.insert(0, sys.argv[1])
from invcheck.record import Record
from invcheck.sandbox import box
box.install(sys.argv[1], armed=False)
import apps
told = {}
for name in sys.argv[2:]:
    record = Record()
    with box.trial(record):
        try:
            error = getattr(apps, name)()
        except BaseException as raised:
            error = type(raised).__name__
    told[name] = [error, [[latched.code, str(latched.verdict), latched.got] for latched in record.latches]]
print(json.dumps(told), flush=True)
os._exit(0)  # some of their threads wait for ever
"""

APP = "the app's own thread in apps.py"
TRIOS = "event from trio.to_thread.run_sync in apps.py:event (Event.wait)"
FOR_EVER = {
    "event": ["WaitsForEver", f"{APP}:event (Event.wait)"],
    "a_queue": ["WaitsForEver", f"{APP}:a_queue (Queue.get)"],
    "condition": ["WaitsForEver", f"{APP}:condition (Condition.wait)"],
    "simple": ["WaitsForEver", f"{APP}:simple (SimpleQueue.get)"],
    "future": ["WaitsForEver", f"{APP}:main; {APP}:waits_for_it"],
    "swallowed": ["went on", f"{APP}:event (Event.wait)"],
    "a_trio": ["WaitsForEver", f"{APP}:a_trio (run)"],
    "nursery": ["BaseExceptionGroup", f"{APP}:child; {APP}:main"],
    "a_pool": ["WaitsForEver", f"{APP}:a_pool (Future.result)"],
    # from here on threads stay behind, which are waited for as well
    "crossed": ["WaitsForEver", f"{APP}:crossed (Event.wait); Thread-N (waits) in apps.py:waits (Event.wait)"],
    "a_join": [
        "WaitsForEver",
        f"Thread-N (waits) in apps.py:waits (Event.wait); {APP}:a_join (Thread.join); stuck-N in apps.py:event (Event.wait)",
    ],
    "thread_of_trio": [
        "WaitsForEver",
        f"Thread-N (waits) in apps.py:waits (Event.wait); stuck-N in apps.py:event (Event.wait); {APP}:thread_of_trio (run); {TRIOS}",
    ],
}
ENDED = ["an_alarm", "a_handler", "out_of_sight", "a_socket", "a_signal_of_the_loop"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a process of its own tells of all the apps: a runner's threads would make nothing sure."""
    folder = tmp_path_factory.mktemp("forever")
    (folder / "apps.py").write_text(APPS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", MAIN, str(folder), *ENDED, *FOR_EVER], capture_output=True, text=True, check=False, cwd=Path.cwd()
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", FOR_EVER)
def test_a_wait_that_nothing_ends_is_ended_and_told(name: str, told: Any) -> None:
    """The trial is errored once, and names who waits where for what; the wait itself is left by an error."""
    error, got = FOR_EVER[name]
    parts = sorted(got.split("; "))
    [[code, verdict, said]] = told[name][1]
    assert (told[name][0], code, verdict) == (error, "WAITS_FOR_EVER", "errored")
    assert sorted(said.split("; ")) == parts


@pytest.mark.parametrize("name", ENDED)
def test_what_something_else_ends_is_not_told(name: str, told: Any) -> None:
    """A timer's signal, another process, a thread out of sight: the wait goes on until it is over."""
    assert told[name] == [None, []]


def test_it_is_sure_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same waits must stand for a tenth of a second, and anything else makes it unsure again."""
    monkeypatch.setattr(forever, "_outside", lambda _: False)
    times = iter([5.0, 5.05, 5.2, 6.0, 6.05, 6.2])
    monkeypatch.setattr(forever.clock, "real_monotonic", lambda: next(times))
    known, wait, another = forever.Forever(), Wait(patient=True), Wait(patient=True)
    seen = [known.sure([(1, wait)], {1}) for _ in range(3)]
    assert known.sure([(1, wait)], {1, 2}) is False
    seen += [known.sure([(1, another)], {1}) for _ in range(3)]
    assert seen == [False, False, True, False, False, True]


def test_nobody_is_named_where_no_code_of_the_projects_waits() -> None:
    """The finding says as much."""
    error = forever.tell([(-1, Wait(patient=True))])
    assert str(error) == "the app waits for ever: no thread of it goes on"


@pytest.mark.parametrize(
    ("wait", "closed"),
    [(Wait(patient=True), True), (Wait(), False), (Wait(patient=True, calls=[Call("lane")]), False)],
)
def test_only_a_wait_of_the_standard_library_without_a_limit_is_closed(wait: Wait, closed: bool) -> None:
    """One that waits for a turn, as a call of a double, goes on by itself; so does one with a limit."""
    assert forever._closed(wait) is closed
    wait.deadline = 5
    assert forever._closed(wait) is False


def test_what_may_come_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that Python does not know, or a server of ours; without the module for signals nothing handles one."""
    monkeypatch.setattr(forever, "_list", lambda _: ["1", "2"])
    assert forever._outside([1]) is True
    monkeypatch.setitem(sys.modules, "signal", None)  # as if it was never imported
    assert forever._outside([1, 2]) is False
    with serving.held():
        assert forever._outside([1, 2]) is True
