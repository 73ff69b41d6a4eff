"""trio in virtual time."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
import trio
import trio.testing
from trio._core import _run, _thread_cache

from invcheck.errors import NetworkBlocked
from invcheck.record import Record
from invcheck.sandbox import box, clock, scheduler, trioloop
from tests.sandbox.conftest import Schedules

HERE = "tests/sandbox/test_sandbox_trioloop.py"

pytestmark = pytest.mark.usefixtures("trio_threads")

Main = Callable[[], Awaitable[Any]]


def run(main: Main, record: Record | None = None) -> tuple[Any, Record]:
    """Run an async function in a trial."""
    record = record or Record()
    with box.trial(record):
        return trio.run(main), record


def elapsed(record: Record) -> float:
    assert record.clock is not None
    return record.clock.elapsed  # type: ignore[attr-defined, no-any-return]  # the trial's clock has it


def test_sleeps_are_noted_and_all_clocks_agree() -> None:
    """1.1 s of sleeps: trio's clock and the monotonic one show 1,001.1, the wall its start and as much."""

    async def main() -> tuple[float, ...]:
        await trio.sleep(0.3)
        await trio.sleep(0)  # noqa: ASYNC115  # the habit that is no wait
        await trio.sleep_until(trio.current_time() + 0.8)
        return trio.current_time(), time.monotonic(), time.time()

    seen, record = run(main)
    assert seen == (1001.1, 1001.1, 1_893_456_001.1)
    assert record.waits == [0.3, 0.8]


def test_limits_come_in_virtual_time() -> None:
    """A limit of 8.7 hours ends at once at 31,320 s, one of three days and a half after that, and nothing is noted as a wait."""

    async def main() -> tuple[bool, float]:
        with trio.move_on_after(31_320) as scope:
            await trio.sleep_forever()
        with trio.CancelScope(deadline=trio.current_time() + 10):
            await trio.Event().wait()
        with pytest.raises(trio.TooSlowError), trio.fail_after(302_400):
            await trio.sleep(float("inf"))
        return scope.cancelled_caught, trio.current_time()

    seen, record = run(main)
    assert seen == (True, 1000 + 31_320 + 10 + 302_400)
    assert record.waits == []


def test_a_deadline_between_two_nanoseconds_comes() -> None:
    """Time is whole nanoseconds and deadlines are floats: 1,000.3 + 0.1 comes after exactly 0.1 s, without a turn too many."""

    async def main() -> float:
        await trio.sleep(0.3)
        with trio.move_on_at(trio.current_time() + 0.1 + 2e-13):
            await trio.sleep_forever()
        return trio.current_time()

    assert run(main)[0] == 1000.4


def test_tasks_side_by_side_take_the_longest(schedules: Schedules) -> None:
    """Tasks, a thread's sleep and one that a thread asks its run for overlap, the same each time."""

    async def main() -> list[str]:
        done: list[str] = []

        async def after(seconds: float, name: str, sleep: Callable[..., Awaitable[Any]], *args: Any) -> None:
            await sleep(*args, seconds)
            done.append(name)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(after, 3, "task", trio.sleep)
            nursery.start_soon(after, 2, "thread", trio.to_thread.run_sync, time.sleep)
            nursery.start_soon(after, 4, "back", trio.to_thread.run_sync, trio.from_thread.run, trio.sleep)
        return done

    for result, record in schedules(lambda _: trio.run(main), 50):
        assert result == ["thread", "task", "back"]
        assert elapsed(record) == 4
        assert sorted(record.waits) == [2, 3, 4]


def test_the_order_of_tasks_is_the_seeds() -> None:
    """Tasks that are ready at once go on in an order that a seed gives each time, and another seed gives another."""

    async def main() -> tuple[int, ...]:
        order: list[int] = []

        async def steps(name: int) -> None:
            for _ in range(3):
                await trio.lowlevel.checkpoint()
                order.append(name)

        async with trio.open_nursery() as nursery:
            for name in range(4):
                nursery.start_soon(steps, name)
        return tuple(order)

    orders = [[run(main, Record(seed))[0] for seed in range(5)] for _ in range(3)]
    assert orders[0] == orders[1] == orders[2]
    assert len(set(orders[0])) > 1


def test_no_false_limit_over_a_thread_that_works_out_of_sight(answering: tuple[int, int]) -> None:
    """A thread that reads what another program writes has a limit of a millisecond, in which nothing of it times out."""
    asks, reads = answering

    def works() -> bytes:
        os.write(asks, b"x")
        return os.read(reads, 1)

    async def main() -> tuple[bytes, float]:
        with trio.fail_after(0.001):
            return await trio.to_thread.run_sync(works), trio.current_time()

    assert run(main)[0] == (b"x", 1000)


def test_no_false_limit_over_a_program() -> None:
    """Time stands still while a program is at work, and passes while it waits to be fed."""

    async def main() -> tuple[bytes, bytes, float]:
        with trio.fail_after(0.001):
            done = await trio.run_process([sys.executable, "-c", "print('done')"], capture_stdout=True)
        async with trio.open_nursery() as nursery:
            echo = "import sys\nfor line in sys.stdin: print(line.strip() * 2, flush=True)"
            served = await nursery.start(
                lambda task_status: trio.run_process(  # noqa: ASYNC105  # the nursery awaits it
                    [sys.executable, "-c", echo],
                    stdin=-1,
                    stdout=-1,
                    task_status=task_status,  # PIPE
                )
            )
            await trio.sleep(30_000)
            with trio.fail_after(0.001):
                await served.stdin.send_all(b"ab\n")
                answer = await served.stdout.receive_some(5)
            await served.stdin.aclose()
        return done.stdout, answer, trio.current_time()

    assert run(main)[0] == (b"done\n", b"abab\n", 31_000)


def test_a_lookup_names_who_asked() -> None:
    """trio looks names up in a thread; the gate is asked before, in the frame of the app."""
    record = Record()

    async def dial() -> None:
        await trio.open_tcp_stream("model.invalid", 443)

    with pytest.raises(NetworkBlocked, match=r"model\.invalid:443"):
        run(dial, record)
    assert record.breaches[0]["where"] == f"{HERE}:dial"


def test_sockets_within_the_process_are_served_before_time_moves() -> None:
    """What is ready is handled first: an echo over a socket pair beats a limit."""

    async def main() -> tuple[bytes, float]:
        left, right = trio.socket.socketpair()
        with left, right, trio.fail_after(0.001):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(right.send, b"ping")
                return await left.recv(4), trio.current_time()

    assert run(main)[0] == (b"ping", 1000)


def test_two_calls_on_one_lane_overlap(schedules: Schedules) -> None:
    """A call of a double waits until every task and thread waits: two tasks that call at once are always found, in threads too."""

    async def main() -> list[bool]:
        record = box.records.current()
        assert record is not None
        met: list[bool] = []

        async def calls(before: Callable[[], Awaitable[Any]]) -> None:
            await before()
            met.append(await record.turns.ataken("lane"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(calls, trio.lowlevel.checkpoint)
            nursery.start_soon(calls, lambda: trio.to_thread.run_sync(sum, range(1000)))
        met.append(await record.turns.ataken("lane"))
        return met

    for result, _ in schedules(lambda _: trio.run(main), 50):
        assert result == [True, True, False]


def test_a_call_that_is_cancelled_while_it_waits_is_gone() -> None:
    """It is out of line then, and the next call overlaps with none."""

    async def main() -> bool:
        record = box.records.current()
        assert record is not None
        with trio.CancelScope() as scope:
            scope.cancel()
            await record.turns.ataken("lane")
        return await record.turns.ataken("lane")

    assert run(main)[0] is False


def test_what_a_double_takes_is_no_wait_of_the_app() -> None:
    """A stall of 8.7 hours passes at once, other tasks go on meanwhile, and a limit of the app's own ends it."""

    async def main() -> tuple[list[float], bool]:
        time = clock.virtual()
        assert time is not None
        ticks: list[float] = []

        async def ticking() -> None:
            while True:
                await trio.sleep(10_000)
                ticks.append(trio.current_time())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ticking)
            await time.alet(0)
            await time.alet(31_320)
            nursery.cancel_scope.cancel()
        with trio.move_on_after(30) as scope:
            await time.alet(31_320)
        return ticks, scope.cancelled_caught

    seen, record = run(main)
    assert seen == ([11_000, 21_000, 31_000], True)
    assert elapsed(record) == 31_350


def test_in_real_time_a_double_takes_real_time() -> None:
    """`clock: real` sleeps in trio as well, and the wait is trio's own."""
    record = Record()

    async def main() -> float:
        before = trio.current_time()
        assert record.clock is not None
        await record.clock.alet(0.002)  # type: ignore[attr-defined]  # a clock has it
        await trio.sleep(0.001)
        return trio.current_time() - before

    with box.trial(record, clock="real"):
        assert trio.run(main) >= 0.003
    assert record.waits == [0.001]


def test_outside_of_a_trial_trio_is_real() -> None:
    """Its sleeps take real time, its threads do their jobs, and an idle one serves the next trial."""

    async def main() -> float:
        before = trio.current_time()
        await trio.sleep(0.002)
        assert await trio.to_thread.run_sync(sum, [1, 2]) == 3
        return trio.current_time() - before

    assert 0.002 <= trio.run(main) < 5

    async def sleeps() -> float:
        await trio.to_thread.run_sync(time.sleep, 5)
        return trio.current_time()

    assert run(sleeps)[0] == 1005
    assert trio.run(main) >= 0.002


def test_a_clock_of_the_apps_own_is_left_to_it() -> None:
    """A run under trio's mock clock keeps that clock's time."""

    async def main() -> float:
        before = trio.current_time()
        await trio.sleep(100)
        return trio.current_time() - before

    with box.trial(Record()):
        assert trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0)) == 100


def test_all_tasks_blocked_is_seen() -> None:
    """trio.testing works: without a cushion no time passes, with one as much."""

    async def main() -> list[float]:
        seen = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 7)
            for cushion in (0.0, 0.5):
                await trio.testing.wait_all_tasks_blocked(cushion)
                seen.append(trio.current_time())
        return seen

    assert run(main)[0] == [1000, 1000.5]


def test_a_guest_run_keeps_the_time_of_its_host() -> None:
    """trio within asyncio: the sleeps of both overlap in one virtual time."""

    async def guest() -> float:
        await trio.sleep(5)
        return trio.current_time()

    async def host() -> tuple[float, float]:
        running = asyncio.get_running_loop()
        over: asyncio.Future[Any] = running.create_future()
        trio.lowlevel.start_guest_run(guest, run_sync_soon_threadsafe=running.call_soon_threadsafe, done_callback=over.set_result)
        await asyncio.sleep(3)
        at = running.time()
        return at, (await over).unwrap()

    record = Record()
    with box.trial(record):
        assert asyncio.run(host()) == (1003, 1005)
    assert record.waits == [3, 5]


def test_a_thread_of_its_own_asks_by_token() -> None:
    """A thread that the app made reaches the run by its token, and waits in virtual time for the answer."""

    async def main() -> list[float]:
        token, seen = trio.lowlevel.current_trio_token(), []
        over = trio.Event()

        def asks() -> None:
            trio.from_thread.run(trio.sleep, 2, trio_token=token)
            seen.append(trio.from_thread.run_sync(trio.current_time, trio_token=token))
            trio.from_thread.run_sync(over.set, trio_token=token)

        threading.Thread(target=asks).start()
        with trio.fail_after(5):
            await over.wait()
        return seen

    assert run(main)[0] == [1002]


def test_a_poll_of_none_of_ours_has_no_turns() -> None:
    """Outside of a run there is nothing of ours to poll with."""
    assert trioloop.current() is None


def test_jobs_and_programs_outside_of_a_run_are_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that no run gave is done as trio does it; a program that no run started is not waited for."""
    done = threading.Event()
    _thread_cache.start_thread_soon(lambda: 3, lambda _: done.set())
    assert done.wait(10)
    known = trioloop._known(lambda *_: None)
    known(SimpleNamespace(), SimpleNamespace(pid=1, returncode=None))


def test_the_latch_is_a_lock() -> None:
    """It can be held for a block, and is open once it is released."""
    latch = trioloop.Latch()
    with latch as held:
        assert held is True
        assert latch._open is False
    assert latch._open is True


def test_what_is_replaced_is_there() -> None:
    """What of trio is replaced has the names that we know, in the version that is installed."""
    assert _run.TheIOManager is trioloop.Manager
    assert _run.SystemClock is trioloop.Clock
    assert _thread_cache.Lock is trioloop.Latch
    assert scheduler.current() is None
