"""Agents that ask doubles side by side, in the sandbox: one result however they are scheduled, or an error that says so."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import invcheck
from invcheck.canonical import canonical
from invcheck.record import Record
from tests.sandbox.conftest import Schedules

SCRIPT = {"a": ["1", "2", "3"], "b": ["x", "y", "z"]}


def in_threads(model: Any, said: list[object]) -> None:
    """Two agents in a thread each, which sleep between their calls."""

    def agent(lane: str) -> None:
        for n in range(3):
            said.append([lane, model.lane(lane)(f"question {n}").text])
            time.sleep(0.5)

    threads = [threading.Thread(target=agent, args=(lane,)) for lane in SCRIPT]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_a_pool(model: Any, said: list[object]) -> None:
    """Two agents in a pool, which do not sleep at all."""

    def agent(lane: str) -> None:
        said.extend([lane, model.lane(lane)(f"question {n}").text] for n in range(3))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(agent, SCRIPT))


def in_tasks(model: Any, said: list[object]) -> None:
    """Two agents in a task each, one of which works in threads too."""

    async def agent(lane: str) -> None:
        for n in range(3):
            ask = model.lane(lane)
            reply = await (ask.acomplete(f"question {n}") if lane == "a" else asyncio.to_thread(ask, f"question {n}"))
            said.append([lane, reply.text])
            await asyncio.sleep(0.5)

    async def main() -> None:
        await asyncio.gather(*map(agent, SCRIPT))

    asyncio.run(main())


@pytest.mark.parametrize("agents", [in_threads, in_a_pool, in_tasks])
def test_two_agents_on_two_lanes_give_one_result(agents: Callable[[Any, list[object]], None], schedules: Schedules) -> None:
    """300 schedules, one record: replies, calls, waits, journal and findings, to the byte."""

    def app(_record: Record) -> list[object]:
        said: list[object] = []
        agents(invcheck.ScriptedModel(lanes=SCRIPT), said)
        return said

    seen = {
        canonical([said, record.calls, record.waits, record.journal, [found.code for found in record.findings()]])
        for said, record in schedules(app, 300)
    }
    assert len(seen) == 1
    (said, record), *_ = schedules(app, 1)
    assert sorted(said) == [[lane, text] for lane, texts in SCRIPT.items() for text in texts]  # type: ignore[call-overload]  # a list of lists
    assert record.findings() == []


def test_two_agents_on_one_lane_are_an_error(schedules: Schedules) -> None:
    """Which of them gets which reply is chance, so nothing is judged: errored, with the way out, every time."""

    def app(_record: Record) -> None:
        model = invcheck.ScriptedModel("1", "2")

        threads = [threading.Thread(target=model, args=("question",)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    for _, record in schedules(app, 200):
        assert {found.code for found in record.latches} == {"LANE_OVERLAP"}
        assert {str(found.verdict) for found in record.latches} == {"errored"}
        assert "lane" in str(record.latches[0].hint)
