"""Calls in flight at once, where no sandbox holds."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
import trio

from invcheck.arrivals import Arrivals, turn


async def both(arrivals: Arrivals, first: object, second: object) -> list[bool]:
    """Two tasks of asyncio call at once."""
    return await asyncio.gather(arrivals.ataken(first), arrivals.ataken(second))


async def all_of(arrivals: Arrivals, lanes: list[object]) -> list[bool]:
    """As many tasks of trio call at once."""
    told = []

    async def call(lane: object) -> None:
        told.append(await arrivals.ataken(lane))

    async with trio.open_nursery() as nursery:
        for lane in lanes:
            nursery.start_soon(call, lane)
    return told


def test_two_tasks_on_one_lane_overlap() -> None:
    """Both are told, under asyncio and trio, whichever arrived first."""
    for _ in range(200):
        assert asyncio.run(both(Arrivals(), "a", "a")) == [True, True]
        assert trio.run(all_of, Arrivals(), ["a", "a"]) == [True, True]


def test_two_tasks_on_two_lanes_do_not() -> None:
    """Only calls of one lane wait for one another."""
    assert asyncio.run(both(Arrivals(), "a", "b")) == [False, False]
    assert trio.run(all_of, Arrivals(), ["a", "b"]) == [False, False]


def test_calls_one_after_the_other_do_not_overlap() -> None:
    """Nor do those after a call that was cancelled, which leaves nothing behind."""
    arrivals = Arrivals()

    async def main() -> list[bool]:
        task = asyncio.create_task(arrivals.ataken("a"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return [await arrivals.ataken("a"), await arrivals.ataken("a")]

    assert asyncio.run(main()) == [False, False]


def test_threads_are_not_seen() -> None:
    """Whether two threads meet is chance, so it is never told."""
    arrivals, told = Arrivals(), []
    threads = [threading.Thread(target=lambda: told.append(arrivals.taken("a"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [False, False]


def test_without_a_loop_there_is_no_turn_to_give() -> None:
    """A call that is driven by hand goes straight on."""
    driven: list[Any] = [turn(), Arrivals().ataken("a")]
    for call in driven:
        with pytest.raises(StopIteration):
            call.send(None)
