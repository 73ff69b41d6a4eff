"""A model that is silent for 8.7 hours: every way to ask it comes to the end of that in virtual time, and a limit ends it before."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import anyio
import openai
import pytest
import trio

from invcheck import Fault, ScriptedModel
from invcheck.faults import ModelTimeout
from invcheck.record import Record
from invcheck.sandbox import box, clock

pytestmark = pytest.mark.usefixtures("trio_threads")

NIGHT = 31_320.0
"""8.7 hours in seconds."""

ASKED: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
AsyncApp = Callable[[Any], Awaitable[Any]]


def on_asyncio(app: AsyncApp, model: Any) -> Any:
    return asyncio.run(app(model))  # type: ignore[arg-type]  # a coroutine


def on_trio(app: AsyncApp, model: Any) -> Any:
    return trio.run(app, model)


def on_anyio(app: AsyncApp, model: Any) -> Any:
    return anyio.run(app, model)


def on_anyio_over_trio(app: AsyncApp, model: Any) -> Any:
    return anyio.run(app, model, backend="trio")


async def asks(model: Any) -> None:
    await model.acomplete(prompt="hi")


async def reads(model: Any) -> None:
    async for _ in model.stream(prompt="hi"):
        pass


async def asks_openai(model: Any) -> None:
    await model.async_openai(max_retries=0, timeout=2 * NIGHT).chat.completions.create(**ASKED)


async def reads_openai(model: Any) -> None:
    async for _ in await model.async_openai(max_retries=0, timeout=2 * NIGHT).chat.completions.create(**ASKED, stream=True):
        pass


async def asks_anthropic(model: Any) -> None:
    await model.async_anthropic(max_retries=0, timeout=2 * NIGHT).messages.create(**ASKED, max_tokens=5)


async def reads_anthropic(model: Any) -> None:
    async for _ in await model.async_anthropic(max_retries=0, timeout=2 * NIGHT).messages.create(**ASKED, max_tokens=5, stream=True):
        pass


LOOPS = [on_asyncio, on_trio, on_anyio, on_anyio_over_trio]
APPS = [asks, reads, asks_openai, reads_openai, asks_anthropic, reads_anthropic]
SYNC: list[Callable[[Any], object]] = [
    lambda model: model(prompt="hi"),
    lambda model: list(model.stream(prompt="hi")),
    lambda model: model.openai(max_retries=0, timeout=2 * NIGHT).chat.completions.create(**ASKED),
    lambda model: list(model.openai(max_retries=0, timeout=2 * NIGHT).chat.completions.create(**ASKED, stream=True)),
    lambda model: model.anthropic(max_retries=0, timeout=2 * NIGHT).messages.create(**ASKED, max_tokens=5),
]
# a client whose own limit is longer sees the server end the connection
ENDS = (ModelTimeout, openai.APIConnectionError, anthropic.APIConnectionError)


def stalled(app: Callable[[Any], object]) -> float:
    """Give how long a trial lasts whose model is silent for the night, which must end in the model's error."""
    record = Record()
    began = clock.real_monotonic()
    with box.trial(record):
        with pytest.raises(ENDS):
            app(ScriptedModel(Fault("stall", seconds=NIGHT)))
        assert isinstance(record.clock, clock.VirtualClock)
        lasted = record.clock.elapsed
    assert clock.real_monotonic() - began < 10  # milliseconds, but for the import of a client
    assert record.waits == []
    return lasted


@pytest.mark.parametrize("app", SYNC, ids=["call", "stream", "openai", "openai-stream", "anthropic"])
def test_a_night_of_silence_passes_at_once(app: Callable[[Any], object]) -> None:
    """31,320 s, and none of them is a wait of the app's."""
    assert stalled(app) == NIGHT


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("app", APPS)
def test_a_night_of_silence_passes_at_once_in_every_loop(app: AsyncApp, loop: Callable[[AsyncApp, Any], object]) -> None:
    """The same of a call, a stream and the providers' clients in asyncio, trio and anyio on both."""
    assert stalled(lambda model: loop(app, model)) == NIGHT


@pytest.mark.parametrize("app", [asks, reads, asks_openai])
def test_a_limit_of_the_apps_ends_the_silence(app: AsyncApp) -> None:
    """Thirty seconds are over after thirty seconds, in each loop by its own means."""

    async def in_asyncio(model: Any) -> None:
        async with asyncio.timeout(30):
            await app(model)

    async def in_trio(model: Any) -> None:
        with trio.fail_after(30):
            await app(model)

    async def in_anyio(model: Any) -> None:
        with anyio.fail_after(30):
            await app(model)

    for loop, limited in ((on_asyncio, in_asyncio), (on_trio, in_trio), (on_anyio, in_anyio), (on_anyio_over_trio, in_anyio)):
        record = Record()
        with box.trial(record):
            with contextlib.suppress(TimeoutError, trio.TooSlowError):
                loop(limited, ScriptedModel(Fault("stall", seconds=NIGHT)))
                pytest.fail("the limit did not come")
            assert isinstance(record.clock, clock.VirtualClock)
            assert record.clock.elapsed == 30
        assert len(record.calls) == 1
