"""Calls that overlap on one lane, in a run: found each time, whatever makes them overlap, and never where they do not."""

from __future__ import annotations

import asyncio
import random
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from invcheck import Reply, ScriptedModel, Text
from invcheck.record import Record
from invcheck.sandbox import box
from invcheck.snapshot import snapshot

SCHEDULES = 100
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def sandbox() -> Iterator[None]:
    """The sandbox of a worker, without its gate; as everywhere in a test process it is this project's."""
    box.install(ROOT, armed=False)
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def schedule(n: int) -> None:
    """Another way for threads to come one after the other: the interpreter's own interval, drawn by a seed."""
    sys.setswitchinterval(random.Random(n).choice([1e-6, 1e-5, 1e-4, 5e-3]))


def codes(app: Callable[[ScriptedModel], object], *, steps: int = 4, **options: Any) -> list[str]:
    """What a trial of an app latches."""
    record = Record()
    with box.trial(record):
        app(ScriptedModel(*["answer"] * steps, **options))
    return [finding.code for finding in record.latches]


def threads(model: ScriptedModel) -> None:
    both = [threading.Thread(target=model, args=(name,)) for name in "xy"]
    for each in both:
        each.start()
    for each in both:
        each.join()


def pool(model: ScriptedModel) -> None:
    with ThreadPoolExecutor(2) as workers:
        list(workers.map(model, "xy"))


def gathered(model: ScriptedModel) -> None:
    async def app() -> None:
        await asyncio.gather(model.acomplete("x"), model.acomplete("y"))

    asyncio.run(app())


def in_threads(model: ScriptedModel) -> None:
    async def app() -> None:
        await asyncio.gather(asyncio.to_thread(model, "x"), asyncio.to_thread(model, "y"))

    asyncio.run(app())


def streamed(model: ScriptedModel) -> None:
    async def read(prompt: str) -> None:
        async for _ in model.stream(prompt):
            pass

    async def app() -> None:
        await asyncio.gather(read("x"), read("y"))

    asyncio.run(app())


@pytest.mark.parametrize("app", [threads, pool, gathered, in_threads, streamed])
def test_overlapping_calls_are_found_each_time(app: Callable[[ScriptedModel], object]) -> None:
    """Two callers that wait on one lane at once are LANE_OVERLAP, in every schedule."""
    for n in range(SCHEDULES):
        schedule(n)
        assert codes(app) == ["LANE_OVERLAP"], n


def one_after_the_other(model: ScriptedModel) -> None:
    for name in "xy":
        thread = threading.Thread(target=model, args=(name,))
        thread.start()
        thread.join()


def awaited(model: ScriptedModel) -> None:
    async def app() -> None:
        await model.acomplete("x")
        await asyncio.create_task(model.acomplete("y"))
        await asyncio.to_thread(model, "z")

    asyncio.run(app())


def staggered(model: ScriptedModel) -> None:
    async def later(seconds: float) -> None:
        await asyncio.sleep(seconds)
        await model.acomplete("x")

    async def app() -> None:
        await asyncio.gather(later(1), later(2))

    asyncio.run(app())


def left(model: ScriptedModel) -> None:
    async def app() -> None:
        stream = model.stream("x")
        await anext(stream)
        await model.acomplete("y")
        await stream.aclose()

    asyncio.run(app())


def cancelled(model: ScriptedModel) -> None:
    async def app() -> None:
        task = asyncio.create_task(model.acomplete("x"))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await model.acomplete("y")

    asyncio.run(app())


@pytest.mark.parametrize("app", [one_after_the_other, awaited, staggered, left, cancelled])
def test_calls_that_do_not_overlap_are_never_found(app: Callable[[ScriptedModel], object]) -> None:
    """One after the other, staggered, a stream that was left, a call that was cancelled: no false alarm in any schedule."""
    for n in range(SCHEDULES):
        schedule(n)
        assert [code for code in codes(app) if code != "SCRIPT_UNUSED"] == [], n


def test_a_drifting_double_is_asked_by_anybody_at_once() -> None:
    """What answers by the request has no order to lose; a lane for each caller has none either."""
    from invcheck import DriftingModel  # noqa: PLC0415  # beside its one use

    record = Record()
    with box.trial(record):
        model = DriftingModel(lambda request: request.last_user)
        threads(model)  # type: ignore[arg-type]  # it is asked the same way
        apart = ScriptedModel(lanes={"x": ["one"], "y": ["two"]}, lane_by="prompt")
        threads(apart)
    assert record.latches == []


async def _once() -> AsyncIterator[Any]:
    yield "one"
    await asyncio.sleep(0)
    yield Reply((Text("one"),))


def test_a_reused_iterator_wins_over_the_overlap() -> None:
    """Two concurrent calls that share one iterator are told of that, which is what has to be mended first."""
    for n in range(SCHEDULES):
        schedule(n)
        record, shared = Record(), _once()
        with box.trial(record):
            model = ScriptedModel(shared, shared)

            async def app(model: ScriptedModel = model) -> list[Any]:
                return await asyncio.gather(model.acomplete("x"), model.acomplete("y"), return_exceptions=True)

            asyncio.run(app())
        assert [finding.code for finding in record.latches] == ["SCRIPT_ITERATOR_REUSED"], n


def _agents(model: ScriptedModel, out: list[Any], *, tasks: bool) -> None:
    """Two agents that each ask twice, with a wait between, on a lane of their own."""

    def agent(lane: str) -> None:
        import time  # noqa: PLC0415  # after the sandbox has replaced it

        first = model.lane(lane)(f"{lane} asks").text
        time.sleep(1 if lane == "writer" else 1.5)
        out.append([lane, first, model.lane(lane)(f"{lane} asks again").text])

    async def async_agent(lane: str) -> None:
        first = (await model.lane(lane).acomplete(f"{lane} asks")).text
        await asyncio.sleep(1 if lane == "writer" else 1.5)
        out.append([lane, first, (await model.lane(lane).acomplete(f"{lane} asks again")).text])

    async def both() -> None:
        await asyncio.gather(async_agent("critic"), async_agent("writer"))

    if tasks:
        asyncio.run(both())
        return
    running = [threading.Thread(target=agent, args=(lane,)) for lane in ("critic", "writer")]
    for each in running:
        each.start()
    for each in running:
        each.join()


@pytest.mark.parametrize("tasks", [True, False], ids=["tasks", "threads"])
def test_two_agents_on_two_lanes_give_one_result(tasks: bool) -> None:
    """300 schedules: one order of effects, one record, one clock."""
    seen = set()
    for n in range(300):
        schedule(n)
        record, out = Record(), []  # type: ignore[var-annotated]  # rows of text
        with box.trial(record):
            model = ScriptedModel(lanes={"critic": ["no", "better"], "writer": ["draft", "final"]})
            _agents(model, out, tasks=tasks)
            elapsed = record.clock.elapsed  # type: ignore[union-attr]  # the box has set it
        assert record.latches == []
        seen.add(repr(snapshot([out, record.calls, record.journal, record.waits, elapsed])))
    assert len(seen) == 1
    told = seen.pop()
    assert "[['writer', 'draft', 'final'], ['critic', 'no', 'better']]" in told
    assert told.endswith("1.5]")
