"""The event stream, point by point; everything that waits runs under asyncio and under trio."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from invcheck import Chunk, Counts, Reply, ScriptedModel, ScriptedModelError, Text, ToolCall, Usage, testing
from invcheck.errors import CallCancelled, ScriptInvalid
from invcheck.record import Record, opened
from invcheck.request import AbortSignal
from invcheck.sources import reply, tool_call

runtimes = pytest.mark.parametrize("runtime", ["asyncio", "trio"])


def run(runtime: str, app: Callable[[], Awaitable[Any]]) -> Any:
    """Run an app in an event loop of its own."""
    return anyio.run(app, backend=runtime)


def spoken(*texts: str, last: Reply | None = None) -> Any:
    """A response factory that says some texts, one chunk each."""

    async def factory(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        for text in texts:
            yield Chunk(request.id, text)
        yield last or Reply((Text("".join(texts)),))

    return factory


async def read(stream: Any) -> list[Any]:
    """Every chunk of a stream."""
    return [chunk async for chunk in stream]


async def failure(pending: Awaitable[Any]) -> BaseException:
    """The error of something that must fail."""
    try:
        await pending
    except Exception as error:  # noqa: BLE001  # whatever it is, it is what the test compares
        return error
    pytest.fail("it did not fail")


class Waiting:
    """A factory whose second step never ends, and what became of it."""

    def __init__(self) -> None:
        self.closed = self.began = False
        self.met: BaseException | None = None

    async def __call__(self, request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        try:
            yield Chunk(request.id, "one")
            self.began = True
            await anyio.sleep_forever()
        except BaseException as error:
            self.met = error
            raise
        finally:
            self.closed = True


@runtimes
def test_a_request_is_captured_before_anything_waits(runtime: str) -> None:
    """The stream is there at once; the request is recorded and counted by then, and later changes of it change nothing."""

    async def app() -> None:
        asked = {"messages": [{"role": "user", "content": "first"}]}
        stream = model.stream(asked)
        assert not hasattr(stream, "__await__")
        assert (model.counts.attempted, len(record.calls)) == (1, 1)
        asked["messages"][0]["content"] = "changed"
        asked["messages"].append({"role": "user", "content": "more"})
        assert model.requests[0]["messages"] == [{"role": "user", "content": "first"}]
        assert (await stream.result).text == "asked: first"
        assert type(model.requests) is tuple
        for change in (
            lambda: model.requests[0].update(x=1),
            lambda: model.requests[0]["messages"].append(1),
            model.requests[0]["messages"][0].clear,
        ):
            with pytest.raises(TypeError, match="frozen"):
                change()

    with testing() as record:
        model = ScriptedModel(lambda request: f"asked: {request.last_user}")
        run(runtime, app)


@runtimes
def test_factories_of_a_queue_read_the_request_in_hand(runtime: str) -> None:
    """Each step answers the request that takes it, first in, first out."""

    async def echo(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        yield Chunk(request.id, request.last_user)
        yield Reply((Text(request.last_user),))

    async def app() -> list[str]:
        return [(await model.stream(prompt).result).text for prompt in ("a", "b", "c")]

    with testing():
        model = ScriptedModel(echo, echo, lambda request: request.last_user.upper())
        assert run(runtime, app) == ["a", "b", "C"]


@runtimes
def test_chunks_come_in_the_order_of_the_factory_and_belong_to_the_request(runtime: str) -> None:
    """Text and tool calls arrive as they were yielded, each with this request's id; the tool call has the reply's id."""

    async def mixed(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        yield "Let me "
        yield Chunk(request.id, tool_call=tool_call("search", {"q": "refund"}))
        yield Chunk(request.id, "look.")
        yield reply("Let me look.", tool_calls=[tool_call("search", {"q": "refund"})])

    async def app() -> None:
        stream = model.stream("hi")
        chunks = await read(stream)
        assert [chunk.text or chunk.tool_call.name for chunk in chunks] == ["Let me ", "search", "look."]
        assert {chunk.request_id for chunk in chunks} == {model.requests[0].id, stream.request_id}
        final = await stream.result
        assert chunks[1].tool_call == final.tool_calls[0]
        assert final.tool_calls[0].id

    with testing():
        model = ScriptedModel(mixed)
        run(runtime, app)


@runtimes
def test_a_chunk_of_another_request_is_a_mismatch(runtime: str) -> None:
    """REQUEST_MISMATCH on the iterator and on the result, as one and the same error; it stays a finding."""

    async def foreign(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        yield "mine"
        yield Chunk("req_other", "yours")
        yield reply("mineyours")

    async def app() -> None:
        stream = model.stream("hi")
        assert (await anext(stream)).text == "mine"
        raised = await failure(anext(stream))
        assert isinstance(raised, ScriptedModelError)
        assert raised.code == "REQUEST_MISMATCH"
        assert await failure(stream.result) is raised

    record = Record()
    with opened(record):
        model = ScriptedModel(foreign)
        run(runtime, app)
    assert [finding.code for finding in record.findings()] == ["REQUEST_MISMATCH"]


@runtimes
def test_the_final_reply_is_frozen_and_agrees_with_its_blocks(runtime: str) -> None:
    """What is handed out cannot be changed; a finish that its blocks contradict, or wrong usage, is an error on both ends."""

    async def app() -> None:
        final = await model.stream("hi").result
        with pytest.raises(AttributeError):
            final.finish = "length"
        with pytest.raises(TypeError, match="frozen"):
            final.tool_calls[0].arguments["q"] = 1
        assert final.finish == "tool_calls"
        assert final.usage == Usage(3, 4)
        for wrong in ("finish", "usage"):
            stream = model.stream("hi")
            raised = await failure(read(stream))
            assert getattr(raised, "code", "") == "REPLY_INVALID"
            assert wrong in str(raised)
            assert await failure(stream.result) is raised

    record = Record()
    with opened(record):
        model = ScriptedModel(
            reply(tool_calls=[tool_call("f", {"q": 2})], usage={"input_tokens": 3, "output_tokens": 4}),
            lambda _: Reply((ToolCall("f", {}),), finish="stop"),
            lambda _: Reply((Text("a"),), usage=Usage(-1, 2)),
        )
        run(runtime, app)


@runtimes
def test_cancelled_before_the_step_is_taken(runtime: str) -> None:
    """Point one: recorded, counted as cancelled, and the step goes to the next call."""

    async def app() -> None:
        signal = AbortSignal()
        stream = model.stream("hi", signal=signal)
        signal.abort()
        raised = await failure(read(stream))
        assert isinstance(raised, CallCancelled)
        assert raised.code == "CANCELLED"
        assert await failure(stream.result) is raised
        assert model.pending == 1
        assert (await model.stream("again").result).text == "kept"

    with testing() as record:
        model = ScriptedModel("kept")
        run(runtime, app)
        assert model.counts == Counts(served=1, cancelled=1)
        assert [record.calls[0][key] for key in ("state", "outcome", "error")] == ["cancelled", None, None]


@runtimes
def test_cancelled_between_the_steps_of_the_iterator(runtime: str) -> None:
    """Point two: what is pending is interrupted without polling, the generator is closed, and nothing ends cleanly."""
    factory = Waiting()

    async def app() -> None:
        signal = AbortSignal()
        stream = model.stream("hi", signal=signal)
        assert (await anext(stream)).text == "one"

        async def abort() -> None:
            while not factory.began:
                await anyio.lowlevel.checkpoint()
            signal.abort()

        async with anyio.create_task_group() as group:
            group.start_soon(abort)
            raised = await failure(anext(stream))
        assert getattr(raised, "code", "") == "CANCELLED"
        assert await failure(stream.result) is raised
        assert factory.closed
        assert isinstance(factory.met, anyio.get_cancelled_exc_class())

    with testing():
        model = ScriptedModel(factory)
        run(runtime, app)
        assert model.counts == Counts(cancelled=1)
        assert model.pending == 0


@runtimes
def test_cancelled_before_a_chunk_is_emitted(runtime: str) -> None:
    """Point three: what the factory yields after the signal is handed to nobody; the step is spent."""
    signal = AbortSignal()

    async def aborts(request: Any, own: AbortSignal) -> AsyncIterator[Any]:
        assert own is signal
        yield "one"
        signal.abort()
        yield "two"
        yield reply("onetwo")

    async def app() -> None:
        stream = model.stream("hi", signal=signal)
        assert (await anext(stream)).text == "one"
        raised = await failure(anext(stream))
        assert getattr(raised, "code", "") == "CANCELLED"
        assert await failure(stream.result) is raised

    with testing():
        model = ScriptedModel(aborts)
        run(runtime, app)
        assert model.counts == Counts(cancelled=1)
        assert model.pending == 0


@runtimes
@pytest.mark.parametrize("plain", [True, False])
def test_cancelled_before_the_final_reply_is_accepted(runtime: str, plain: bool) -> None:
    """Point four: every chunk was handed over, and still there is no clean end."""

    async def app() -> None:
        signal = AbortSignal()
        stream = model.stream("hi", signal=signal)
        assert [(await anext(stream)).text for _ in range(2)] == ["one ", "two"]
        signal.abort()
        raised = await failure(stream.result)
        assert getattr(raised, "code", "") == "CANCELLED"
        assert await failure(anext(stream)) is raised

    with testing():
        model = ScriptedModel(reply("one two", chunks="words") if plain else spoken("one ", "two"))
        run(runtime, app)
        assert model.counts == Counts(cancelled=1)
        assert model.pending == 0


@runtimes
@pytest.mark.parametrize("how", ["signal", "task"])
def test_both_ways_to_cancel_leave_the_same_record(runtime: str, how: str) -> None:
    """A signal ends with CANCELLED, a task's own cancellation is the runtime's own exception; the record is the same."""
    factory = Waiting()

    async def app() -> BaseException | None:
        signal = AbortSignal()
        stream = model.stream("hi", signal=signal if how == "signal" else None)
        caught: list[BaseException] = []

        async def reads() -> None:
            try:
                await read(stream)
            except BaseException as error:
                caught.append(error)
                raise

        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(_until, lambda: factory.began, signal.abort if how == "signal" else scope.cancel)
                if how == "task":
                    await reads()
                else:
                    with pytest.raises(CallCancelled):
                        await reads()
        kind = CallCancelled if how == "signal" else anyio.get_cancelled_exc_class()
        assert isinstance(caught[0], kind)
        return None

    with testing() as record:
        model = ScriptedModel(factory)
        run(runtime, app)
        assert factory.closed
        entry = {"n": 0, "lane": None, "method": None, "attempt": 0, "request": {"prompt": "hi"}}
        assert record.calls == [{**entry, "outcome": None, "state": "cancelled", "error": None}]


async def _until(met: Callable[[], bool], act: Callable[[], object]) -> None:
    while not met():
        await anyio.lowlevel.checkpoint()
    act()


@runtimes
def test_a_failing_close_does_not_replace_the_first_error(runtime: str) -> None:
    """The first error is the one that arrives; the other is a note of it."""

    async def fails(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        try:
            yield "one"
            yield Chunk("other", "x")
        finally:
            raise ValueError("while closing")

    async def app() -> None:
        stream = model.stream("hi")
        raised = await failure(read(stream))
        assert getattr(raised, "code", "") == "REQUEST_MISMATCH"
        assert any("ValueError" in note for note in raised.__notes__)
        assert await failure(stream.result) is raised

    with opened(Record()):
        model = ScriptedModel(fails)
        run(runtime, app)


@runtimes
def test_a_script_that_is_over_tells_so_on_iterator_and_result(runtime: str) -> None:
    """SCRIPT_EXHAUSTED is one error on both, with the call kept in the record."""

    async def app() -> None:
        await model.stream("one").result
        stream = model.stream("two")
        raised = await failure(anext(stream))
        assert getattr(raised, "code", "") == "SCRIPT_EXHAUSTED"
        assert await failure(stream.result) is raised
        assert model.requests[1]["prompt"] == "two"

    with opened(Record()):
        model = ScriptedModel("only")
        run(runtime, app)
        assert model.counts == Counts(served=1, refused=1)


@runtimes
@pytest.mark.parametrize("how", ["sequential", "concurrent", "two doubles"])
def test_one_iterator_answers_once(runtime: str, how: str) -> None:
    """SCRIPT_ITERATOR_REUSED for a second use of one iterator, one after the other, at once, or by another double."""

    async def items() -> AsyncIterator[Any]:
        yield "one"
        await anyio.lowlevel.checkpoint()
        yield reply("one")

    async def app() -> list[str]:
        shared = items()
        first = ScriptedModel(shared, shared)
        second = ScriptedModel(shared) if how == "two doubles" else first
        codes: list[str] = []

        async def ask(model: ScriptedModel) -> None:
            try:
                codes.append((await model.stream("hi").result).text)
            except ScriptedModelError as error:
                codes.append(error.code)

        if how == "concurrent":
            async with anyio.create_task_group() as group:
                group.start_soon(ask, first)
                group.start_soon(ask, second)
        else:
            await ask(first)
            await ask(second)
        return sorted(codes)

    record = Record()
    with opened(record):
        assert run(runtime, app) == ["SCRIPT_ITERATOR_REUSED", "one"]
    assert "SCRIPT_ITERATOR_REUSED" in [finding.code for finding in record.latches]


@runtimes
def test_an_iterable_that_makes_a_new_iterator_each_time_is_fine(runtime: str) -> None:
    """What is used again is the iterable, not the iterator."""

    class Fresh:
        def __aiter__(self) -> AsyncIterator[Any]:
            return self.items()

        async def items(self) -> AsyncIterator[Any]:
            yield "a"
            yield reply("a")

    async def app() -> list[str]:
        return [(await model.stream("hi").result).text for _ in range(2)]

    fresh = Fresh()
    with testing():
        model = ScriptedModel(fresh, fresh)
        assert run(runtime, app) == ["a", "a"]


@pytest.mark.parametrize("wrong", [["a", None, "b"], ["a", Reply((Text("x"),), finish="tool_calls")], ["a", 3]])
def test_an_invalid_replacement_leaves_the_queue_as_it_was(wrong: list[Any]) -> None:
    """A list with a hole, or with what is no step, is refused whole, with its index."""
    with testing():
        model = ScriptedModel("first", "second")
        with pytest.raises(ScriptInvalid) as caught:
            model.set_responses(wrong)
        assert caught.value.fields["index"] == 1
        assert model.pending == 2
        assert [model("a").text, model("b").text] == ["first", "second"]


async def _none(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
    yield "a"


async def _two(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
    yield reply("a")
    yield reply("a")


async def _after(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
    yield "a"
    yield reply("ab")
    yield "b"


@runtimes
@pytest.mark.parametrize(("factory", "code"), [(_none, "FACTORY_NO_REPLY"), (_two, "FACTORY_TWO_REPLIES"), (_after, "FACTORY_AFTER_REPLY")])
def test_what_is_wrong_with_a_factory_is_named(runtime: str, factory: Any, code: str) -> None:
    """No final reply, two, or chunks after it: each has its own code, on iterator and result."""

    async def app() -> None:
        stream = model.stream("hi")
        raised = await failure(read(stream))
        assert getattr(raised, "code", "") == code
        assert await failure(stream.result) is raised

    record = Record()
    with opened(record):
        model = ScriptedModel(factory)
        run(runtime, app)
    assert [finding.code for finding in record.findings()] == [code]


@runtimes
def test_a_factory_that_raises_keeps_its_exception(runtime: str) -> None:
    """The very exception arrives, on both ends, and the step is spent."""
    own = KeyError("own")

    async def raises(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        yield "a"
        raise own

    async def app() -> None:
        stream = model.stream("hi")
        assert await failure(read(stream)) is own
        assert await failure(stream.result) is own

    with testing():
        model = ScriptedModel(raises)
        run(runtime, app)
        assert (model.counts, model.pending) == (Counts(failed=1), 0)


@runtimes
def test_the_result_can_be_had_without_iterating_and_the_chunks_after_it(runtime: str) -> None:
    """Whoever awaits the result first loses no chunk; asking twice gives the same reply."""

    async def app() -> None:
        stream = model.stream("hi")
        final = await stream.result
        assert await stream.result is final
        assert [chunk.text for chunk in await read(stream)] == ["a", "b"]
        assert await read(stream) == []

    with testing():
        model = ScriptedModel(spoken("a", "b"))
        run(runtime, app)


@runtimes
def test_two_readers_share_one_stream(runtime: str) -> None:
    """One iterates while the other awaits the result: the call runs once, no chunk is lost or doubled."""

    async def slow(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        for text in "abc":
            await anyio.lowlevel.checkpoint()
            yield text
        yield reply("abc")

    async def app() -> None:
        stream = model.stream("hi")
        seen: list[str] = []

        async def reads() -> None:
            seen.extend([chunk.text async for chunk in stream])

        async def waits() -> None:
            seen.append((await stream.result).text.upper())

        async with anyio.create_task_group() as group:
            group.start_soon(reads)
            group.start_soon(waits)
            group.start_soon(waits)
        assert sorted(seen) == ["ABC", "ABC", "a", "b", "c"]

    with testing():
        model = ScriptedModel(slow)
        run(runtime, app)
        assert model.counts == Counts(served=1)


@runtimes
def test_a_reader_that_waits_for_another_learns_of_its_failure(runtime: str) -> None:
    """The one that was waiting raises the same error as the one that met it."""
    own = KeyError("own")

    async def fails(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        await anyio.lowlevel.checkpoint()
        raise own
        yield

    async def app() -> None:
        stream = model.stream("hi")
        met: list[BaseException] = []

        async def waits() -> None:
            met.append(await failure(stream.result))

        async with anyio.create_task_group() as group:
            group.start_soon(waits)
            group.start_soon(waits)
        assert [error is own for error in met] == [True, True]

    with testing():
        model = ScriptedModel(fails)
        run(runtime, app)


@runtimes
def test_a_stream_that_is_left_closes_its_factory(runtime: str) -> None:
    """`aclose` waits for the factory to clean up; the call is cancelled, and nothing can be had any more."""
    cleaned: list[str] = []

    async def cleans(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        try:
            yield "a"
            yield "b"
        finally:
            await anyio.lowlevel.checkpoint()
            cleaned.append("yes")

    async def app() -> None:
        async with model.stream("hi") as stream:
            assert (await anext(stream)).text == "a"
        raised = await failure(stream.result)
        assert getattr(raised, "code", "") == "CANCELLED"
        assert await failure(anext(stream)) is raised
        await stream.aclose()

    with testing():
        model = ScriptedModel(cleans)
        run(runtime, app)
        assert cleaned == ["yes"]
        assert model.counts == Counts(cancelled=1)


def test_a_stream_works_without_any_event_loop() -> None:
    """Iterated and finished synchronously; who leaves after the last chunk had it whole."""
    with testing() as record:
        model = ScriptedModel(spoken("a", "b"), reply("one two", chunks="words"), "x", "left")
        stream = model.stream("hi")
        assert [chunk.text for chunk in stream] == ["a", "b"]
        assert stream.final().text == "ab"
        with model.stream("hi") as left:
            assert [next(left).text, next(left).text] == ["one ", "two"]
        assert left.final().text == "one two"
        assert next(model.stream("hi")).text == "x"
        with model.stream("hi", chunks=2) as begun:
            pass
        with pytest.raises(CallCancelled, match="left by its reader"):
            begun.final()
        gc.collect()
        assert model.counts == Counts(served=2, cancelled=2)
        assert model("again").text == "left"
        kinds = [(entry["kind"], entry["n"], entry.get("i")) for entry in record.journal]
        assert kinds[:3] == [("call", 0, None), ("chunk", 0, 0), ("chunk", 0, 1)]


def test_a_step_that_waits_for_a_loop_is_told_so_where_there_is_none() -> None:
    """A synchronous reader of a factory that awaits gets an error that stays, not a hang."""
    record = Record()
    with opened(record):
        model = ScriptedModel(Waiting())
        stream = model.stream("hi")
        assert next(stream).text == "one"
        import asyncio  # noqa: PLC0415  # what it waits for needs one

        async def inside() -> None:
            with pytest.raises(Exception, match="waits for an event loop"):
                next(stream)

        asyncio.run(inside())
        with pytest.raises(Exception, match="waits for an event loop"):
            stream.final()
    assert [finding.code for finding in record.latches] == ["STEP_WAITS"]


@runtimes
def test_an_abort_also_ends_a_step_that_is_awaited_whole(runtime: str) -> None:
    """`acomplete` with a signal is interrupted as a stream is: at once, with CANCELLED."""
    factory = Waiting()

    async def app() -> None:
        signal = AbortSignal()
        async with anyio.create_task_group() as group:
            group.start_soon(_until, lambda: factory.began, signal.abort)
            raised = await failure(model.acomplete("hi", signal=signal))
        assert getattr(raised, "code", "") == "CANCELLED"
        await anyio.lowlevel.checkpoint()  # nothing of the cancellation is left behind in this task

    with testing():
        model = ScriptedModel(factory)
        run(runtime, app)
        assert model.counts == Counts(cancelled=1)


@runtimes
def test_an_abort_from_another_thread_ends_what_waits(runtime: str) -> None:
    """The signal may be aborted from anywhere."""
    factory = Waiting()

    async def app() -> None:
        signal = AbortSignal()
        async with anyio.create_task_group() as group:

            async def abort() -> None:
                while not factory.began:
                    await anyio.lowlevel.checkpoint()
                await anyio.to_thread.run_sync(signal.abort)

            group.start_soon(abort)
            raised = await failure(model.stream("hi", signal=signal).result)
        assert getattr(raised, "code", "") == "CANCELLED"

    with testing():
        model = ScriptedModel(factory)
        run(runtime, app)
        assert model.counts == Counts(cancelled=1)


@runtimes
def test_nothing_succeeds_after_a_failure(runtime: str) -> None:
    """Whoever learned of the failure first: chunks that came before it are not handed out behind it."""
    own = ValueError("own")

    async def fails(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        yield "a"
        raise own

    async def app() -> None:
        stream = model.stream("hi")
        assert await failure(stream.result) is own
        assert await failure(anext(stream)) is own

    with testing():
        model = ScriptedModel(fails)
        run(runtime, app)


@runtimes
def test_a_reader_is_not_cancelled_with_another(runtime: str) -> None:
    """The task that pulled is cancelled, and so is the call; another reader is told so by an error of ours."""
    factory = Waiting()

    async def app() -> None:
        stream = model.stream("hi")
        met: list[BaseException] = []

        async def waits() -> None:
            while not factory.began:
                await anyio.lowlevel.checkpoint()
            met.append(await failure(stream.result))

        async with anyio.create_task_group() as group:
            group.start_soon(waits)
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as inner:
                    inner.start_soon(read, stream)
                    inner.start_soon(_until, lambda: factory.began and bool(stream._waiters), scope.cancel)
        assert [getattr(error, "code", "") for error in met] == ["CANCELLED"]

    with testing():
        model = ScriptedModel(factory)
        run(runtime, app)
        assert model.counts == Counts(cancelled=1)


@runtimes
def test_an_abort_is_taken_back_although_the_factory_makes_another_error_of_it(runtime: str) -> None:
    """A deadline around the stream is still a deadline, and ends nothing twice."""
    began: list[bool] = []

    async def turns(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        try:
            yield "a"
            began.append(True)
            await anyio.sleep_forever()
        finally:
            raise KeyError("in finally")

    async def app() -> None:
        signal = AbortSignal()
        async with anyio.create_task_group() as group:
            group.start_soon(_until, lambda: bool(began), signal.abort)
            assert isinstance(await failure(read(model.stream("x", signal=signal))), KeyError)
        with anyio.move_on_after(0.01) as scope:
            await anyio.sleep_forever()
        assert scope.cancelled_caught

    with testing():
        model = ScriptedModel(turns)
        run(runtime, app)


@runtimes
def test_a_stream_that_nobody_holds_cleans_up_in_the_loop(runtime: str) -> None:
    """A factory that waits while it cleans up can do so, though its reader is gone; the call is cancelled."""
    cleaned: list[str] = []

    async def cleans(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
        try:
            yield "a"
            yield "b"
        finally:
            await anyio.lowlevel.checkpoint()
            cleaned.append("yes")

    async def app() -> None:
        stream = model.stream("x")
        assert (await anext(stream)).text == "a"
        del stream
        gc.collect()
        while not cleaned:
            await anyio.lowlevel.checkpoint()

    with testing():
        model = ScriptedModel(cleans)
        run(runtime, app)
        assert model.counts == Counts(cancelled=1)


def test_a_signal_that_is_none_is_a_field_of_the_request() -> None:
    """An app that has a word of that name of its own keeps it."""
    with testing():
        model = ScriptedModel("a")
        model(prompt="hi", signal="SIGTERM")  # type: ignore[arg-type]  # a request's own field
        assert model.requests[0] == {"prompt": "hi", "signal": "SIGTERM"}
