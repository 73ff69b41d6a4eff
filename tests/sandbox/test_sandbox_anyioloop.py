"""anyio in virtual time, on asyncio and on trio."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from invcheck.record import Record
from invcheck.sandbox import anyioloop, box

pytestmark = pytest.mark.usefixtures("trio_threads")

Main = Callable[[], Awaitable[Any]]
Run = Callable[[Main], tuple[Any, Record]]


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    """One of the two."""
    return str(request.param)


@pytest.fixture
def run(backend: str) -> Run:
    """Runs an async function in a trial, on one backend."""

    def runs(main: Main) -> tuple[Any, Record]:
        record = Record()
        with box.trial(record):
            return anyio.run(main, backend=backend), record

    return runs


def elapsed(record: Record) -> float:
    assert record.clock is not None
    return record.clock.elapsed  # type: ignore[attr-defined, no-any-return]  # the trial's clock has it


def test_sleeps_are_noted_and_all_clocks_agree(run: Run) -> None:
    """Half a second and a quarter: anyio's clock shows 1,000.75, as the monotonic one does."""

    async def main() -> tuple[float, float]:
        await anyio.sleep(0.5)
        await anyio.sleep(0)  # noqa: ASYNC115  # the habit that is no wait
        await anyio.sleep_until(anyio.current_time() + 0.25)
        return anyio.current_time(), time.monotonic()

    seen, record = run(main)
    assert seen == (1000.75, 1000.75)
    assert record.waits == [0.5, 0.25]


def test_limits_come_in_virtual_time(run: Run) -> None:
    """8.7 hours of waiting for ever, then three days and a half, at once and not a nanosecond more."""

    async def main() -> tuple[bool, float]:
        with anyio.move_on_after(31_320) as scope:
            await anyio.sleep_forever()
        with pytest.raises(TimeoutError), anyio.fail_after(302_400):
            await anyio.Event().wait()
        return scope.cancelled_caught, anyio.current_time()

    seen, record = run(main)
    assert seen == (True, 1000 + 31_320 + 302_400)
    assert record.waits == []


def test_a_stream_between_tasks_keeps_its_limit(run: Run) -> None:
    """Three items two seconds apart fit into six and a half seconds."""

    async def main() -> list[int]:
        send, receive = anyio.create_memory_object_stream[int](1)

        async def gives() -> None:
            async with send:
                for item in range(3):
                    await anyio.sleep(2)
                    await send.send(item)

        async with anyio.create_task_group() as group, receive:
            group.start_soon(gives)
            with anyio.fail_after(6.5):
                return [item async for item in receive]

    seen, record = run(main)
    assert seen == [0, 1, 2]
    assert elapsed(record) == 6


def test_limiter_lock_condition_and_event_wait_in_virtual_time(run: Run) -> None:
    """Sleeps of 3, 1 and 2 s, two at a time, then one second each one after the other: 5 s."""

    async def main() -> int:
        lock, condition, limiter, begun = anyio.Lock(), anyio.Condition(), anyio.CapacityLimiter(2), anyio.Event()
        done: list[int] = []

        async def works(seconds: int) -> None:
            await begun.wait()
            async with limiter:
                await anyio.sleep(seconds)
            async with lock:
                await anyio.sleep(1)
            async with condition:
                done.append(seconds)
                condition.notify_all()

        async with anyio.create_task_group() as group:
            for seconds in (3, 1, 2):
                group.start_soon(works, seconds)
            begun.set()
            async with condition:
                while len(done) < 3:
                    await condition.wait()
        return sum(done)

    seen, record = run(main)
    assert seen == 6
    # both orders in which two waiters may get the limiter take as long: 1+3 or 1+2 beside it, and a lock held for the rest
    assert 4 <= elapsed(record) <= 6


def test_threads_and_their_way_back(run: Run) -> None:
    """A sleep in a thread and one that it asks its loop for pass in virtual time, within the limit."""

    async def main() -> float:
        def works() -> float:
            time.sleep(2)
            anyio.from_thread.run(anyio.sleep, 4)
            return float(anyio.from_thread.run_sync(anyio.current_time))

        with anyio.fail_after(6.5):
            return await anyio.to_thread.run_sync(works)

    seen, record = run(main)
    assert seen == 1006
    assert record.waits == [2, 4]


def test_no_false_limit_over_a_thread_that_works_out_of_sight(run: Run, answering: tuple[int, int]) -> None:
    """A thread that reads what another program writes has a millisecond, in which nothing of it times out."""
    asks, reads = answering

    def works() -> bytes:
        os.write(asks, b"x")
        return os.read(reads, 1)

    async def main() -> tuple[bytes, float]:
        with anyio.fail_after(0.001):
            return await anyio.to_thread.run_sync(works), anyio.current_time()

    assert run(main)[0] == (b"x", 1000)


def test_no_false_limit_over_a_lookup(run: Run, answering: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that takes its real time to look up is found within a limit of a millisecond."""
    asks, reads = answering
    answer: Any = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]

    def looks_up(_host: object, _port: object, *_rest: object, **_named: object) -> Any:
        if threading.current_thread() is threading.main_thread():  # trio asks whether it is a number first
            raise socket.gaierror(socket.EAI_NONAME, "no number")
        os.write(asks, b"x")
        os.read(reads, 1)
        return answer

    async def main() -> tuple[Any, float]:
        with anyio.fail_after(0.001):
            return await anyio.getaddrinfo("localhost", 80), anyio.current_time()

    monkeypatch.setattr(socket, "getaddrinfo", looks_up)
    found, at = run(main)[0]
    assert (found[0][4], at) == (("127.0.0.1", 80), 1000)


def test_a_job_that_was_cancelled_before_it_began_holds_nothing(run: Run) -> None:
    """No thread will do it, so that time moves as if it had not been asked for."""

    async def main() -> float:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await anyio.to_thread.run_sync(time.sleep, 9, abandon_on_cancel=True)
        await anyio.sleep(3)
        return anyio.current_time()

    assert run(main)[0] == 1003


def test_no_false_limit_over_a_program(run: Run) -> None:
    """Time stands still while a program is at work."""

    async def main() -> tuple[bytes, float]:
        with anyio.fail_after(0.001):
            done = await anyio.run_process([sys.executable, "-c", "print('done')"])
        await anyio.sleep(1)
        return done.stdout, anyio.current_time()

    assert run(main)[0] == (b"done\n", 1001)


def test_a_portal_shares_the_time(backend: str) -> None:
    """A loop in a thread of its own, asked from outside, sleeps in the trial's time."""
    record = Record()
    with box.trial(record):
        with anyio.from_thread.start_blocking_portal(backend) as portal:
            portal.call(anyio.sleep, 5)
            late = portal.start_task_soon(anyio.sleep, 7)
            late.result(timeout=8)
        assert time.monotonic() == 1012
    assert record.waits == [5, 7]


def test_a_job_in_a_loop_that_is_not_ours_is_left_alone() -> None:
    """It goes through as it is."""
    seen: list[Any] = []

    async def given(_cls: object, *args: Any, **options: Any) -> str:
        seen.append((args, options))
        return "given"

    watched = anyioloop._watched(given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anyioloop.asyncio, "get_running_loop", object)
        with pytest.raises(StopIteration, match="given"):
            watched(None, abs, (1,), True, limiter=None).send(None)
    assert seen == [((abs, (1,), True), {"limiter": None})]
