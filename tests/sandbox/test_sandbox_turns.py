"""Calls that overlap on a lane are found each time, and none that does not is taken for one (200 schedules each)."""

from __future__ import annotations

import asyncio
import selectors
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import pytest

from invcheck.arrivals import Arrivals
from invcheck.record import Record
from invcheck.sandbox import box, turns
from tests.sandbox.conftest import Schedules

SCHEDULES = 200

Ask = Callable[[], bool]
Schedule = Callable[["Lanes"], Any]


class Lanes:
    """What a double does with the turns of the trial in hand: it asks for its turn, then takes a step."""

    def __init__(self, record: Record) -> None:
        self._turns = record.turns
        self.served: list[tuple[str, bool]] = []

    def ask(self, who: str = "", lane: str = "only") -> None:
        """Call as a thread."""
        self.served.append((who, self._turns.taken(lane)))

    async def aask(self, who: str = "", lane: str = "only") -> None:
        """Call as a task."""
        self.served.append((who, await self._turns.ataken(lane)))

    @property
    def overlaps(self) -> list[bool]:
        """What each served call was told."""
        return [told for _, told in self.served]


Seen: TypeAlias = Callable[..., list[Lanes]]


@pytest.fixture
def seen(schedules: Schedules) -> Seen:
    """Runs a schedule of calls many times."""

    def run(schedule: Schedule, times: int = SCHEDULES) -> list[Lanes]:
        found: list[Lanes] = []

        def app(record: Record) -> None:
            found.append(Lanes(record))
            schedule(found[-1])

        schedules(app, times)
        return found

    return run


def together(*jobs: Callable[[], object]) -> None:
    """Run jobs in a thread each, all begun before the first is joined."""
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def works() -> None:
    """Take a little processor time."""
    sum(range(2_000))


# what overlaps


def two_threads(lanes: Lanes) -> None:
    together(lanes.ask, lanes.ask)


def two_threads_with_work(lanes: Lanes) -> None:
    together(lambda: (works(), lanes.ask()), lanes.ask)


def a_pool(lanes: Lanes) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lanes.ask, "ab"))


def main_beside_a_thread(lanes: Lanes) -> None:
    thread = threading.Thread(target=lanes.ask)
    thread.start()
    works()
    lanes.ask()
    thread.join()


def gathered_threads(lanes: Lanes) -> None:
    async def main() -> None:
        await asyncio.gather(asyncio.to_thread(lanes.ask), asyncio.to_thread(lanes.ask))

    asyncio.run(main())


def gathered_tasks(lanes: Lanes) -> None:
    async def main() -> None:
        await asyncio.gather(lanes.aask(), lanes.aask())

    asyncio.run(main())


def a_task_beside_a_thread(lanes: Lanes) -> None:
    async def main() -> None:
        await asyncio.gather(asyncio.to_thread(lanes.ask), lanes.aask())

    asyncio.run(main())


def tasks_some_turns_apart(lanes: Lanes) -> None:
    async def late() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        await lanes.aask()

    async def main() -> None:
        await asyncio.gather(lanes.aask(), late())

    asyncio.run(main())


def sleeps_that_end_together(lanes: Lanes) -> None:
    together(lambda: (time.sleep(1), lanes.ask()), lambda: (time.sleep(0.5), time.sleep(0.5), lanes.ask()))


@pytest.mark.parametrize(
    "schedule",
    [
        two_threads,
        two_threads_with_work,
        a_pool,
        main_beside_a_thread,
        gathered_threads,
        gathered_tasks,
        a_task_beside_a_thread,
        tasks_some_turns_apart,
        sleeps_that_end_together,
    ],
)
def test_calls_that_overlap_are_found(schedule: Schedule, seen: Seen) -> None:
    """Both are told, in every one of the schedules."""
    assert [lanes.overlaps for lanes in seen(schedule)] == [[True, True]] * SCHEDULES


def test_three_callers_overlap_as_two_do(seen: Seen) -> None:
    """Who is served last, when nobody is left to wait beside it, overlapped all the same."""
    assert [lanes.overlaps for lanes in seen(lambda lanes: together(*[lanes.ask] * 3))] == [[True] * 3] * SCHEDULES


# what does not


def sequential_threads(lanes: Lanes) -> None:
    for _ in range(2):
        together(lanes.ask)


def main_and_a_pool(lanes: Lanes) -> None:
    with ThreadPoolExecutor(2) as pool:
        lanes.ask()
        pool.submit(lanes.ask).result()
        lanes.ask()


def a_pool_of_one(lanes: Lanes) -> None:
    with ThreadPoolExecutor(1) as pool:
        list(pool.map(lanes.ask, "abc"))


def awaits(lanes: Lanes) -> None:
    async def main() -> None:
        await lanes.aask()
        await lanes.aask()

    asyncio.run(main())


def tasks_one_after_the_other(lanes: Lanes) -> None:
    async def main() -> None:
        for _ in range(2):
            await asyncio.create_task(lanes.aask())

    asyncio.run(main())


def to_thread_one_after_the_other(lanes: Lanes) -> None:
    async def main() -> None:
        for _ in range(2):
            await asyncio.to_thread(lanes.ask)

    asyncio.run(main())


def staggered_threads(lanes: Lanes) -> None:
    together(lambda: (time.sleep(1), lanes.ask()), lambda: (time.sleep(2), lanes.ask()))


def staggered_tasks(lanes: Lanes) -> None:
    async def after(seconds: float) -> None:
        await asyncio.sleep(seconds)
        await lanes.aask()

    async def main() -> None:
        await asyncio.gather(after(1), after(2))

    asyncio.run(main())


def cancelled_then_called(lanes: Lanes) -> None:
    async def main() -> None:
        task = asyncio.create_task(lanes.aask())
        await asyncio.sleep(0)
        task.cancel()
        await lanes.aask()

    asyncio.run(main())


def an_abandoned_stream(lanes: Lanes) -> None:
    async def chunks() -> Any:
        await lanes.aask()
        yield "a"
        yield "b"

    async def main() -> None:
        stream = chunks()
        async for _ in stream:
            break
        await lanes.aask()
        await stream.aclose()

    asyncio.run(main())


def a_busy_thread_beside(lanes: Lanes) -> None:
    together(works, lambda: (lanes.ask(), lanes.ask()))


def a_lock_around(lanes: Lanes) -> None:
    """The second is stuck in a lock, where nothing can be seen of it."""
    lock = threading.Lock()

    def locked() -> None:
        with lock:
            lanes.ask()

    together(locked, locked)


def two_lanes(lanes: Lanes) -> None:
    together(lambda: lanes.ask(lane="a"), lambda: lanes.ask(lane="b"))


@pytest.mark.parametrize(
    ("schedule", "times"),
    [
        (sequential_threads, SCHEDULES),
        (main_and_a_pool, SCHEDULES),
        (a_pool_of_one, SCHEDULES),
        (awaits, SCHEDULES),
        (tasks_one_after_the_other, SCHEDULES),
        (to_thread_one_after_the_other, SCHEDULES),
        (staggered_threads, SCHEDULES),
        (staggered_tasks, SCHEDULES),
        (cancelled_then_called, SCHEDULES),
        (an_abandoned_stream, SCHEDULES),
        (a_busy_thread_beside, SCHEDULES),
        (a_lock_around, 30),  # each takes its while
        (two_lanes, SCHEDULES),
    ],
)
def test_no_other_calls_are_taken_for_it(schedule: Schedule, times: int, seen: Seen) -> None:
    """Nobody is told of an overlap that there is not, in any of the schedules."""
    assert {told for lanes in seen(schedule, times) for told in lanes.overlaps} == {False}


# what follows


def test_threads_on_two_lanes_are_served_in_one_order(seen: Seen) -> None:
    """Whoever runs first: two agents of several calls each, with sleeps and work between, give one order of calls."""

    def agent(lanes: Lanes, lane: str) -> None:
        for n in range(3):
            works()
            lanes.ask(f"{lane}{n}", lane)
            time.sleep(1)

    orders = {tuple(lanes.served) for lanes in seen(lambda lanes: together(lambda: agent(lanes, "a"), lambda: agent(lanes, "b")), 300)}
    assert orders == {tuple((f"{lane}{n}", False) for n in range(3) for lane in "ab")}


def test_a_cancelled_call_takes_no_turn(seen: Seen) -> None:
    """A task that is cancelled while it waits for its turn never gets it."""

    def schedule(lanes: Lanes) -> None:
        async def main() -> None:
            task = asyncio.create_task(lanes.aask("cancelled"))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())

    assert [lanes.served for lanes in seen(schedule, 3)] == [[]] * 3


def test_a_call_is_served_before_time_moves(seen: Seen) -> None:
    """A timer does not overtake a call that was made before it."""

    def schedule(lanes: Lanes) -> None:
        async def main() -> None:
            await asyncio.wait_for(lanes.aask(), 0.001)

        asyncio.run(main())
        together(lambda: (lanes.ask("call"), time.sleep(1)), lambda: (time.sleep(1e-9), lanes.ask("later")))

    assert {tuple(lanes.served) for lanes in seen(schedule)} == {(("", False), ("call", False), ("later", False))}


def test_a_thread_alone_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """An app of one thread does not pay for the question; without a loop an async call is one of a thread."""
    record = Record()
    with box.trial(record):
        monkeypatch.setattr(turns, "other_threads", lambda: 0)
        monkeypatch.setattr(turns.scheduler, "current", None)
        assert record.turns.taken("only") is False
        with pytest.raises(StopIteration) as given:
            record.turns.ataken("only").send(None)  # type: ignore[attr-defined]  # a coroutine
        assert given.value.value is False


def test_a_foreign_loop_has_one_turn() -> None:
    """A loop over a selector of the app's own cannot say that all tasks wait: nothing hangs, and nothing is found."""
    made = asyncio.SelectorEventLoop(selectors.SelectSelector())
    record = Record()
    try:
        with box.trial(record):
            assert made.run_until_complete(record.turns.ataken("only")) is False
    finally:
        made.close()


def test_there_are_no_turns_with_a_real_clock() -> None:
    """Where waits are real nobody can say that all threads wait: only tasks are found."""
    record = Record()
    with box.trial(record, clock="real"):
        assert isinstance(record.turns, Arrivals)
