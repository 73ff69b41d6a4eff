"""The event stream: a call whose chunks are handed over one by one, and whose reply, or error, stays to be had.

`ReplyStream` runs the call itself, a piece at a time, whenever its reader asks: so nothing runs that nobody waits for, and
it needs no task of its own, in asyncio, in trio or without any event loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from functools import partial
from types import TracebackType, coroutine
from typing import Any, Self

from invcheck.double import Double, Hand, Items, gone
from invcheck.errors import CallCancelled, DoubleError
from invcheck.faces import pending
from invcheck.faces.call import waits_for_loop
from invcheck.handing import Render
from invcheck.request import Call, Handed

_OVER = object()
"""What a piece of a run gives where nothing more is handed over."""

Show = Callable[[Any], Any]
"""What a reader gets of a chunk; None where that is nothing."""


class _Result:
    """An awaitable for the end of a stream, which may be asked for and never awaited."""

    __slots__ = ("_stream",)

    def __init__(self, stream: ReplyStream) -> None:
        self._stream = stream

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._stream.afinal().__await__()


class ReplyStream:
    """A call that has arrived, as an iterator of its chunks and an awaitable ``result``; also synchronous, with `final`.

    The reply is had once all chunks were handed over, whether anybody iterated or not; both ways raise the same exception,
    and after a failure nothing succeeds. Who leaves before the last chunk has cancelled the call.

    >>> import invcheck
    >>> with invcheck.testing():
    ...     stream = invcheck.ScriptedModel("Hello, world", chunks="words").stream("hi")
    ...     [chunk.text for chunk in stream], stream.final().text
    (['Hello, ', 'world'], 'Hello, world')
    """

    def __init__(
        self,
        double: Double,
        call: Call,
        *,
        hand: Hand | None = None,
        items: Items | None = None,
        render: Render,
        shown: Show | None = None,
    ) -> None:
        call.streams = True
        self.call = call
        self._shown = shown
        self._run = double.answer(call, hand=hand, items=items, render=render, pause=partial(_pause, call))
        self._ahead: deque[Any] = deque()
        self._error: BaseException | None = None
        self._reply: Any = _OVER
        self._begun = False
        self._waiters: list[pending.Event] = []
        self._pulled = False
        self._note = double.handed

    @property
    def request_id(self) -> str:
        """The id of the request that every chunk carries."""
        return self.call.request.id

    @property
    def result(self) -> Awaitable[Any]:
        """The reply, to be awaited; it takes what chunks are left."""
        return _Result(self)

    def __aiter__(self) -> ReplyStream:
        return self

    async def __anext__(self) -> Any:
        item = await self._anext()
        if item is _OVER:
            raise StopAsyncIteration
        return item

    def __iter__(self) -> ReplyStream:
        return self

    def __next__(self) -> Any:
        item = self._next()
        if item is _OVER:
            raise StopIteration
        return item

    async def afinal(self) -> Any:
        """Take what is left, and give the reply; chunks that nobody has taken can still be iterated."""
        while self._reply is _OVER and self._error is None:
            item = await self._pull()
            if item is not _OVER:
                self._ahead.append(item)
        return self._ended()

    def final(self) -> Any:
        """Take what is left without an event loop, and give the reply."""
        while self._reply is _OVER and self._error is None:
            item = self._piece()
            if item is not _OVER:
                self._ahead.append(item)
        return self._ended()

    def _ended(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._reply

    async def _anext(self) -> Any:
        return self._known() if self._decided() else await self._pull()

    def _next(self) -> Any:
        return self._known() if self._decided() else self._piece()

    def _decided(self) -> bool:
        return self._error is not None or bool(self._ahead) or self._reply is not _OVER

    def _known(self) -> Any:
        """Give what is known to come next; after a failure nothing does."""
        if self._error is not None:
            raise self._error
        return self._ahead.popleft() if self._ahead else _OVER

    def _taken(self, met: Handed) -> Any:
        """Give what the reader gets of what is handed over, and enter it in the journal."""
        item = met.item if self._shown is None else self._shown(met.item)
        if item is not None:
            self._note(self.call, self.call.handed)
        return item

    async def _pull(self) -> Any:
        """Run the call to its next chunk; one reader at a time, the others wait for what it finds."""
        while self._pulled:
            waiter = pending.event()
            self._waiters.append(waiter)
            await waiter.wait()
            if self._decided():
                return self._known()
        self._pulled = self._begun = self.call.awaits = True
        try:
            return await pending.unless_aborted(self._apiece(), self.call)
        except BaseException as error:
            # another task that reads this was not cancelled itself
            self._error = self.call.left() if gone(error) else error
            raise
        finally:
            self._pulled = False
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                waiter.set()

    @coroutine
    def _apiece(self) -> Generator[Any, Any, Any]:
        """Run the call until it hands something over, and let the event loop have whatever else it waits for."""
        resume, given = self._run.send, None
        while True:
            try:
                met = resume(given)
            except StopIteration as done:
                self._reply = done.value
                return _OVER
            if type(met) is Handed:
                item = self._taken(met)
                if item is not None:
                    return item
                resume, given = self._run.send, None
                continue
            try:
                resume, given = self._run.send, (yield met)
            except BaseException as error:  # noqa: BLE001  # whatever it is goes into the call, which decides
                resume, given = self._run.throw, error

    def _piece(self) -> Any:
        """Run the call until it hands something over, without an event loop."""
        self._begun = True
        try:
            while True:
                met = self._run.send(None)
                if type(met) is not Handed:
                    waits_for_loop(self._run)
                item = self._taken(met)
                if item is not None:
                    return item
        except StopIteration as done:
            self._reply = done.value
            return _OVER
        except BaseException as error:
            self._error = error
            raise

    def close(self) -> None:
        """Leave the stream: the call is cancelled unless its last chunk was handed over."""
        if self._reply is not _OVER or self._error is not None:
            return
        if self.call.at_last and not self._ahead:
            try:
                self._run.send(None)
            except StopIteration as done:
                self._reply = done.value
                return
            except BaseException as error:
                self._error = error
                raise
        self._error = self.call.left()
        try:
            self._run.close()
        except RuntimeError:
            hint = "leave the stream with `async with`, or by aclose()"
            raise DoubleError("what answers this stream waits while it cleans up", code="STEP_WAITS", hint=hint) from None

    async def aclose(self) -> None:
        """Leave the stream, and wait until what answers it has cleaned up."""
        if self._reply is not _OVER or self._error is not None or not self._begun or self.call.at_last:
            self.close()
            return
        self._error = self.call.left()
        await _thrown(self._run, self._error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if self._reply is _OVER and self._error is None:
            self.call.ended = True  # cancelled, as it began
            if self._begun and self.call.awaits and pending.later(_thrown, self._run, self.call.left()):
                return  # what answers it may have to wait while it cleans up
            self._run.close()


async def _pause(call: Call) -> None:  # no method: a stream that its own run held would be a ring, which only the collector frees
    if call.awaits:
        await pending.turn()


async def _thrown(run: Any, left: CallCancelled) -> None:
    """Let a run end because its reader has left, and never mind what it makes of that."""
    with suppress(CallCancelled):
        await _thrown_into(run, left)


@coroutine
def _thrown_into(run: Any, left: CallCancelled) -> Generator[Any, Any, None]:
    """Let a run end because its reader has left, with whatever its cleaning up waits for; a GeneratorExit could not wait."""
    resume: Any = run.throw
    given: Any = left
    while True:
        try:
            met = resume(given)
        except StopIteration:
            return
        if type(met) is Handed:  # it swallowed the news and went on
            continue
        try:
            resume, given = run.send, (yield met)
        except BaseException as error:  # noqa: BLE001  # as above
            resume, given = run.throw, error
