"""Handing replies over: the time that they take, what a cache has of them, and what a fault breaks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from invcheck import Counts, Fault, Framing, Reply, ScriptedModel, ScriptedModelError, Text, Usage, Verdict, testing
from invcheck.canonical import canonical
from invcheck.errors import DoubleError
from invcheck.faults import ModelConnectionError, ModelFault, ModelTimeout
from invcheck.record import Record, opened
from invcheck.sandbox.clock import VirtualClock
from invcheck.sources import fail, reply, tool_call


def clocked() -> tuple[Record, VirtualClock]:
    """A record with a virtual clock."""
    record = Record()
    record.clock = clock = VirtualClock(record)
    return record, clock


def test_a_reply_takes_its_time_and_no_wait_of_the_app() -> None:
    """Whole, a reply arrives when its last chunk would: latency and one pace for each chunk after the first."""
    record, clock = clocked()
    with opened(record):
        model = ScriptedModel(reply("one two three", chunks="words", latency=2.0, pace=0.5))
        model("hi")
    assert clock.elapsed == 3.0
    assert record.waits == []


def test_a_stream_takes_its_time_chunk_by_chunk() -> None:
    """The first chunk comes after the latency, each other one after a pace more; the double's own way is the default."""
    record, clock = clocked()
    with opened(record):
        stream = ScriptedModel("one two three", chunks="words", latency=2.0, pace=0.5).stream("hi")
        assert [(chunk.text, clock.elapsed) for chunk in stream] == [("one ", 2.0), ("two ", 2.5), ("three", 3.0)]


def test_without_a_clock_a_latency_takes_no_time() -> None:
    """In a test without a sandbox nothing sleeps."""
    with testing():
        assert ScriptedModel(reply("a", latency=1e9))("hi").text == "a"


def test_a_streamed_factory_takes_no_latency_of_its_own() -> None:
    """What a factory streams comes when the factory says; whole, the double's pace counts its chunks."""

    async def factory(request: Any, signal: Any) -> Any:
        yield "a"
        yield "b"
        yield reply("ab")

    record, clock = clocked()
    with opened(record):
        model = ScriptedModel(factory, factory, pace=1.0)
        model("hi")
        assert clock.elapsed == 1.0
        assert model.stream("hi").final().text == "ab"
        assert clock.elapsed == 1.0


def test_an_async_call_takes_its_time_in_the_loop() -> None:
    """A time-out that is shorter than the latency comes first, and the call is cancelled."""

    async def app() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await model.acomplete("hi")

    record, _ = clocked()
    with opened(record):
        model = ScriptedModel(reply("a", latency=30.0))
        asyncio.run(app())
    assert model.counts == Counts(cancelled=1)


def test_counted_usage_tells_what_came_from_the_cache() -> None:
    """The bytes that a request begins with as the one before it on its lane, in whole tokens; the rest is written to it."""
    first, second = {"messages": ["hello"]}, {"messages": ["hello", "world"]}
    shared = len(b'{"messages":["hello"')
    assert canonical(first)[:shared] == canonical(second)[:shared] != canonical(first)[: shared + 1]
    with testing():
        model = ScriptedModel("abcd", "abcd", reply("a", usage={"input_tokens": 1}), cached=True)
        # 22 and 30 bytes of canonical JSON are 6 and 8 tokens; 20 shared bytes are 5
        assert (len(canonical(first)), len(canonical(second)), shared) == (22, 30, 20)
        assert model(first).usage == Usage(6, 1, 0, 6)
        assert model(second).usage == Usage(8, 1, 5, 3)
        assert model(second).usage == Usage(1)


def test_lanes_have_caches_of_their_own() -> None:
    """What another lane was asked is in no cache of this one."""
    with testing():
        model = ScriptedModel(lanes={"a": ["x", "x"], "b": ["x"]}, cached=True)
        for lane in "aba":
            usage = model.lane(lane)({"messages": ["hello"]}).usage
            assert usage is not None
        assert [call.outcome.usage.cache_read_input_tokens for call in model.calls] == [0, 0, 5]  # type: ignore[union-attr]  # replies


def _kept(stream: Any) -> tuple[list[str], BaseException | Reply]:
    texts: list[str] = []
    try:
        for chunk in stream:
            texts.append(chunk.text)  # noqa: PERF401  # what came before the error is the point
        return texts, stream.final()
    except ModelFault as error:
        return texts, error


@pytest.mark.parametrize(
    ("kind", "error"), [("cut", ModelConnectionError), ("stall", ModelTimeout), ("stream-error", ModelFault), ("truncated", None)]
)
def test_a_fault_of_delivery_breaks_a_reply_in_the_middle(kind: str, error: type[BaseException] | None) -> None:
    """In process a stream hands over what arrived and then fails, and a whole call fails; a silent end raises nothing at all."""
    record, clock = clocked()
    with opened(record):
        broken = fail(kind, reply="one two three", after=8)
        model = ScriptedModel(broken, broken, chunks="words")
        texts, end = _kept(model.stream("hi"))
        assert texts == ["one ", "two "]
        if error is None:
            assert isinstance(end, Reply)
            assert (end.text, end.finish) == ("one two ", None)
            assert model("hi").text == "one two "
        else:
            assert type(end) is error
            with pytest.raises(error):
                model("hi")
        assert model.counts == Counts(failed=2)
        assert record.calls[0]["outcome"]["fault"] == kind
        assert clock.elapsed == (1200.0 if kind == "stall" else 0.0)


@pytest.mark.parametrize(
    ("fault", "lasts"), [(Fault("timeout"), 0.0), (Fault("timeout", seconds=30), 30.0), (Fault("stall", seconds=5), 5.0)]
)
def test_a_silence_takes_its_time(fault: Fault, lasts: float) -> None:
    """A time-out comes after the seconds that it names, a stall without a reply as well."""
    record, clock = clocked()
    with opened(record):
        model = ScriptedModel(fault)
        with pytest.raises(ModelTimeout):
            model("hi")
    assert clock.elapsed == lasts


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("kind", ["cut", "truncated", "stall"])
def test_a_fault_behind_the_end_of_a_body_is_a_mistake(kind: str, streams: bool) -> None:
    """On the wire it would break nothing, and the app be called robust for nothing: the call fails, and the trial is errored."""
    record = Record()
    with opened(record):
        client = ScriptedModel(fail(kind, reply="hi", after=100_000)).openai(max_retries=5)
        with pytest.raises(Exception, match="breaks nothing: there are"):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], stream=streams)
    assert [finding.code for finding in record.findings()] == ["FAULT_UNREACHED"]


def test_a_fault_of_delivery_breaks_a_whole_reply() -> None:
    """The fault in the record carries the reply as it would have been: with usage and ids."""
    with testing():
        model = ScriptedModel(fail("cut", reply=reply("a", tool_calls=[tool_call("f")])))
        with pytest.raises(ModelConnectionError):
            model("hi")
        outcome = model.calls[0].outcome
        assert isinstance(outcome, Fault)
        assert outcome.reply is not None
        assert outcome.reply.usage is not None
        assert outcome.reply.tool_calls[0].id


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"kind": "server", "after": 3}, "after belongs to a fault of delivery"),
        ({"kind": "server", "reply": Reply()}, "reply belongs to"),
        ({"kind": "cut", "after": -1}, "after is a number of bytes from 0"),
        ({"kind": "cut", "after": True}, "after is a number of bytes"),
        ({"kind": "cut", "body": "x"}, "no body of its own"),
        ({"kind": "cut", "reply": 3}, "reply is a Reply, got int"),
        ({"kind": "stall", "seconds": -1}, "seconds is a number from 0"),
        ({"kind": "timeout", "seconds": True}, "seconds is a number from 0"),
        ({"kind": "server", "seconds": 1}, "seconds belongs to"),
        ({"kind": "server", "body": 3}, "body is text, got int"),
        ({"kind": "server", "headers": {"a": 1}}, "the header a cannot hold 1"),
        ({"kind": "server", "headers": {"a b": "1"}}, "'a b' is no name of a header"),
        ({"kind": "server", "headers": {"a": "1\r\nb: 2"}}, "the header a cannot hold"),
        ({"kind": "cut"}, "breaks a reply that has begun: say which one"),
        ({"kind": "server", "status": 100}, "200 to 599"),
    ],
)
def test_a_fault_that_cannot_be_is_refused_when_it_is_queued(fields: dict[str, Any], says: str) -> None:
    """What it breaks, after how much, and what it sends are checked with index and reason."""
    with testing(), pytest.raises(DoubleError, match=says):
        ScriptedModel(Fault(**fields))


def test_what_a_reply_says_of_its_parts_is_checked_when_it_is_queued() -> None:
    """Parts that do not join are refused with the step's index."""
    from invcheck.vocabulary import Delivery  # noqa: PLC0415  # only the mistake needs it

    with testing(), pytest.raises(DoubleError, match=r"step 1 .* join to"):
        ScriptedModel(Reply((Text("abc"),), delivery=Delivery(("a",))))
    with testing(), pytest.raises(DoubleError, match=r"step 1 .* the header x cannot hold"):
        ScriptedModel(Reply((Text("abc"),), framing=Framing(headers={"x": "a\nb"})))


@pytest.mark.parametrize("streams", [True, False])
def test_a_broken_reply_takes_its_time_too(streams: bool) -> None:
    """Latency and pace pass up to where the fault breaks the reply, whole or streamed."""
    record, clock = clocked()
    with opened(record):
        model = ScriptedModel(fail("cut", reply=reply("abcdef", chunks=2, pace=1.0, latency=5.0), after=4))
        with pytest.raises(ModelConnectionError):
            model.stream("x").final() if streams else model("x")
    assert clock.elapsed == 6.0


def test_a_fault_that_breaks_nothing_is_told_where_a_function_gives_it() -> None:
    """A cut needs a reply, or chunks that came before it; a silent end behind the end of the text is none."""
    record = Record()
    with opened(record):
        model = ScriptedModel(lambda _: Fault("cut"), fail("truncated", reply="hello", after=5))
        for code in ("REPLY_INVALID", "FAULT_UNREACHED"):
            with pytest.raises(ScriptedModelError) as caught:
                model("x")
            assert caught.value.code == code
    assert [finding.verdict for finding in record.findings()] == [Verdict.ERRORED] * 2


def test_what_a_factory_leaves_out_of_its_stream_comes_at_its_end() -> None:
    """A reply's thinking and tools reach the reader although only the text was streamed: a stream is its whole twin."""

    async def text_only(request: Any, signal: Any) -> Any:
        yield "By mail."
        yield reply("By mail.", thinking="Hm.", tool_calls=[tool_call("f", {"a": 1}, id="c")])

    with testing():
        stream = ScriptedModel(text_only).stream("x")
        assert [chunk.text or chunk.thinking or chunk.tool_call.id for chunk in stream] == ["By mail.", "Hm.", "c"]
        assert stream.final().thinking == "Hm."
