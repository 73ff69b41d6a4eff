"""When a stream counts as served."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, Protocol

from invcheck import Chunk, Reply, ScriptedModel, Text, testing
from invcheck.vocabulary import Counts


class Streams(Protocol):
    """An app's own Protocol, with streams."""

    def stream(self, prompt: str) -> Iterator[str]:
        """Ask."""

    def astream(self, prompt: str) -> AsyncIterator[str]:
        """Ask."""


def _chunks(*texts: str) -> Any:
    async def factory(request: Any) -> AsyncIterator[Any]:
        for text in texts:
            yield Chunk(request.id, text)
        yield Reply((Text("".join(texts)),))

    return factory


def test_a_stream_is_served_when_it_was_handed_over_whole() -> None:
    """A stream that is left after one item is cancelled, as is one that nobody begins, which takes no step."""
    with testing() as record:
        model = ScriptedModel(_chunks("a", "b"), _chunks("a", "b"))
        asked = model.port(Streams)
        assert list(asked.stream("whole")) == ["a", "b"]
        for item in asked.stream("left"):
            assert item == "a"
            break
        asked.stream("never begun")
        assert model.counts == Counts(served=1, cancelled=2)
        assert [call.outcome is None for call in model.calls] == [False, True, True]
        assert [call["outcome"] is None for call in record.calls] == [False, True, True]


def test_an_async_stream_is_served_when_it_was_handed_over_whole() -> None:
    """As the other one."""
    with testing():
        model = ScriptedModel(_chunks("a", "b"), _chunks("a", "b"))

        async def app() -> None:
            asked = model.port(Streams)
            assert [item async for item in asked.astream("whole")] == ["a", "b"]
            left = asked.astream("left")
            assert await anext(left) == "a"
            await left.aclose()

        asyncio.run(app())
        assert model.counts == Counts(served=1, cancelled=1)
