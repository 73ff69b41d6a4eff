"""The law of the waist: one semantics for every source, whatever face asks it, sync and async alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Protocol

import pytest

from invcheck import Chunk, DriftingModel, Fault, Reply, ScriptedModel, Text, Usage, testing
from invcheck.double import Double
from invcheck.errors import InvcheckError, ScriptedModelError
from invcheck.faults import ModelFault
from invcheck.record import Record
from invcheck.request import AbortSignal

MESSAGES = [{"role": "user", "content": "How do I get a refund?"}]


class Chat(Protocol):
    """An app's own port, sync and async, whole and streamed."""

    def whole(self, messages: list[dict[str, str]]) -> str: ...
    async def awhole(self, messages: list[dict[str, str]]) -> str: ...
    def stream(self, messages: list[dict[str, str]]) -> Iterator[str]: ...
    def astream(self, messages: list[dict[str, str]]) -> AsyncIterator[str]: ...


async def _joined(items: AsyncIterator[str]) -> str:
    return "".join([item async for item in items])


FACES: dict[str, Callable[[Any, Any], str]] = {
    "call": lambda model, messages: model({"messages": messages}).text,
    "complete": lambda model, messages: model.complete(messages=messages).text,
    "acomplete": lambda model, messages: asyncio.run(model.acomplete(messages=messages)).text,
    "port": lambda model, messages: model.port(Chat).whole(messages),
    "async port": lambda model, messages: asyncio.run(model.port(Chat).awhole(messages)),
    "streaming port": lambda model, messages: "".join(model.port(Chat).stream(messages)),
    "async streaming port": lambda model, messages: asyncio.run(_joined(model.port(Chat).astream(messages))),
}


async def factory(request: Any, signal: AbortSignal) -> AsyncIterator[Any]:
    """A response factory that speaks in three chunks."""
    assert not signal.aborted
    yield "By "
    yield Chunk(request.id, "mail")
    yield "."
    yield Reply((Text("By mail."),))


async def afunction(request: Any) -> str:
    """An async function of the request."""
    return f"{'By mail' if 'refund' in request.last_user else 'No idea'}."


def pieces(_request: Any) -> Iterator[Any]:
    """A plain generator that ends in its reply."""
    yield "By mail"
    yield "."
    yield Reply((Text("By mail."),))


SOURCES: dict[str, Callable[[], Double]] = {
    "text": lambda: ScriptedModel("By mail."),
    "reply": lambda: ScriptedModel(Reply((Text("By "), Text("mail.")))),
    "function": lambda: ScriptedModel(lambda request: f"{'By mail' if 'refund' in request.last_user else 'No idea'}."),
    "async function": lambda: ScriptedModel(afunction),
    "factory": lambda: ScriptedModel(factory),
    "generator": lambda: ScriptedModel(pieces),
    "always": lambda: ScriptedModel().then_always("By mail."),
    "drifting": lambda: DriftingModel(lambda rng, request: "By mail." if rng.random() < 2 and request.last_user else ""),
    "drifting async": lambda: DriftingModel(afunction),
    "drifting factory": lambda: DriftingModel(lambda _rng, request: factory(request, AbortSignal())),
    "drifting schema": lambda: DriftingModel({"const": "By mail."}, returns=lambda reply: Reply((Text(json.loads(reply.text)),))),
}

both = pytest.mark.parametrize("face", FACES)
every = pytest.mark.parametrize("source", [name for name in SOURCES if name != "drifting schema"])


@both
@every
def test_every_face_gives_the_same_reply_of_a_source(source: str, face: str) -> None:
    """A stream and its whole twin give the same reply, sync equals async, and chunks join to the whole."""
    with testing():
        assert FACES[face](SOURCES[source](), MESSAGES) == "By mail."


@both
@every
def test_every_call_leaves_the_same_entry(source: str, face: str) -> None:
    """What a call leaves in the record does not depend on how it was asked, but for the method's name."""
    with testing() as record:
        double = SOURCES[source]()
        FACES[face](double, MESSAGES)
        method = {"port": "whole", "async port": "awhole", "streaming port": "stream", "async streaming port": "astream"}.get(face)
        # 65 bytes of canonical request and 8 of text are 17 and 2 tokens
        assert len(b'{"messages":[{"content":"How do I get a refund?","role":"user"}]}') == 65
        assert record.calls == [
            {
                "n": 0, "lane": None, "method": method, "attempt": 0, "request": {"messages": MESSAGES}, "state": "served", "error": None,
                "outcome": {"text": "By mail.", "finish": "stop", "usage": {"input_tokens": 17, "output_tokens": 2}, "tool_calls": []},
            }
        ]  # fmt: skip
        assert [entry for entry in record.journal if entry["kind"] != "chunk"] == [{"kind": "call", "n": 0, "lane": None}]
        assert (double.counts.served, double.counts.attempted) == (1, 1)
        assert double.calls[0].outcome is not None
        assert double.pending == 0


@both
@every
def test_a_request_is_a_detached_frozen_snapshot(source: str, face: str) -> None:
    """What the app changes after the call changes no record of it, and nobody can change the record."""
    with testing() as record:
        double = SOURCES[source]()
        mine = [dict(MESSAGES[0])]
        FACES[face](double, mine)
        mine[0]["content"] = "changed"
        mine.append({"role": "user", "content": "more"})
        assert double.requests[0]["messages"] == MESSAGES == record.calls[0]["request"]["messages"]
        with pytest.raises(TypeError, match="frozen"):
            double.requests[0]["messages"][0]["content"] = "mine"
        with pytest.raises(TypeError, match="frozen"):
            double.requests[0]["messages"].append(1)


@both
def test_a_call_beyond_the_script_is_refused_recorded_and_latched(face: str) -> None:
    """Exhaustion raises now, with the call's ordinal, and stays a finding; the extra request is recorded all the same."""
    record = Record()
    from invcheck.record import opened  # noqa: PLC0415  # beside its one use: testing() would raise at its end

    with opened(record):
        double = ScriptedModel("By mail.")
        FACES[face](double, MESSAGES)
        with pytest.raises(ScriptedModelError, match="call 2 of 1") as caught:
            FACES[face](double, [{"role": "user", "content": "And now?"}])
    assert caught.value.code == "SCRIPT_EXHAUSTED"
    assert caught.value.fields["length"] == 1
    assert not isinstance(caught.value, TimeoutError | ConnectionError | OSError)
    assert double.requests[1]["messages"][0]["content"] == "And now?"
    assert (double.counts.served, double.counts.refused) == (1, 1)
    assert [call["state"] for call in record.calls] == ["served", "refused"]
    assert [(finding.code, finding.call) for finding in record.findings()] == [("SCRIPT_EXHAUSTED", "call 2 of 1")]


@both
@pytest.mark.parametrize("made", ["scripted", "function", "drifting", "factory"])
def test_a_fault_is_data_that_every_face_raises(face: str, made: str) -> None:
    """A fault counts as failed and stands in the record as data; the app gets an exception with its fields."""

    async def failing(_request: object, _signal: object) -> AsyncIterator[object]:
        yield "half an ans"
        yield fault

    fault = Fault("rate-limit", "slow down", retry_after=2.0)
    doubles: dict[str, Callable[[], Double]] = {
        "scripted": lambda: ScriptedModel(fault),
        "function": lambda: ScriptedModel(lambda: fault),
        "drifting": lambda: DriftingModel(lambda _rng, _request: fault),
        "factory": lambda: ScriptedModel(failing),
    }
    with testing() as record:
        double = doubles[made]()
        with pytest.raises(ModelFault, match="slow down") as caught:
            FACES[face](double, MESSAGES)
        assert (caught.value.kind, caught.value.status, caught.value.retry_after) == ("rate-limit", 429, 2.0)
        assert double.counts.failed == 1
        assert record.calls[0]["outcome"] == {"fault": "rate-limit", "message": "slow down", "status": 429}
        assert (record.calls[0]["state"], record.calls[0]["error"]) == ("failed", "ModelFault")
        assert double.calls[0].outcome == Fault("rate-limit", "slow down", 429, 2.0)


@both
@pytest.mark.parametrize("made", ["instance", "class", "function", "async function", "factory", "drifting"])
def test_a_raising_step_is_spent_and_its_own_exception_reaches_the_app(face: str, made: str) -> None:
    """A step that raises is taken, counted as failed, and its exception arrives as it is."""

    class Own(Exception):  # the app's own name
        pass

    def raising(*_args: object) -> str:
        raise Own

    async def araising(_request: object) -> str:
        raise Own

    async def half(_request: object, _signal: object) -> AsyncIterator[object]:
        yield "half"
        raise Own

    steps = {"instance": Own("x"), "class": Own, "function": lambda _: raising(), "async function": araising, "factory": half}
    with testing() as record:
        double = DriftingModel(lambda _rng, _request: raising()) if made == "drifting" else ScriptedModel(steps[made], "next")
        with pytest.raises(Own):
            FACES[face](double, MESSAGES)
        assert double.counts.failed == 1
        assert record.calls[0]["outcome"] == {"raised": "Own"}
        if made != "drifting":
            assert double.pending == 1
            assert FACES[face](double, MESSAGES) == "next"


@pytest.mark.parametrize("how", ["call", "complete", "acomplete", "port", "async port"])
def test_an_aborted_signal_keeps_the_step(how: str) -> None:
    """A call whose signal is aborted is recorded as cancelled, and the step goes to the next call."""

    class Signalled(Protocol):
        def ask(self, prompt: str, *, signal: AbortSignal | None = None) -> str: ...
        async def aask(self, prompt: str, *, signal: AbortSignal | None = None) -> str: ...

    signal = AbortSignal()
    signal.abort()
    with testing() as record:
        double = ScriptedModel("first")
        asked: dict[str, Callable[[], object]] = {
            "call": lambda: double("hi", signal=signal),
            "complete": lambda: double.complete("hi", signal=signal),
            "acomplete": lambda: asyncio.run(double.acomplete("hi", signal=signal)),
            "port": lambda: double.port(Signalled).ask("hi", signal=signal),
            "async port": lambda: asyncio.run(double.port(Signalled).aask("hi", signal=signal)),
        }
        with pytest.raises(InvcheckError) as caught:
            asked[how]()
        assert caught.value.code == "CANCELLED"
        assert double.counts.cancelled == 1
        assert double.pending == 1
        assert (record.calls[0]["state"], record.calls[0]["outcome"]) == ("cancelled", None)
        assert double("hi").text == "first"


@pytest.mark.parametrize("how", ["acomplete", "async port"])
def test_a_cancelled_task_keeps_the_step(how: str) -> None:
    """A task that is cancelled while its call waits takes no step: the next call gets it."""

    async def drive(double: ScriptedModel) -> str:
        ask = double.port(Chat).awhole if how == "async port" else double.acomplete
        task = asyncio.ensure_future(ask(MESSAGES))  # type: ignore[operator,arg-type]  # either face takes it
        await asyncio.sleep(0)
        assert double.counts.attempted == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert double.counts.cancelled == 1
        return (await double.acomplete(messages=MESSAGES)).text

    with testing():
        double = ScriptedModel("first")
        assert asyncio.run(drive(double)) == "first"
        assert double.counts.served == 1


@pytest.mark.parametrize("source", ["drifting", "drifting async", "drifting factory"])
def test_what_never_comes_back_was_cancelled(source: str) -> None:
    """The four counts always add up to what was attempted, also for a coroutine that nobody finished."""
    with testing():
        double: Any = SOURCES[source]()
        asking = double.acomplete(messages=MESSAGES)
        asking.close()
        assert double.counts.attempted == 0

        async def begin() -> None:
            other = double.acomplete(messages=MESSAGES)
            other.send(None)
            assert double.counts.cancelled == double.counts.attempted == 1
            other.close()

        asyncio.run(begin())
        assert double.counts.cancelled == double.counts.attempted == 1


@both
def test_usage_is_given_or_the_doubles_default_or_counted(face: str) -> None:
    """A step's own usage goes first, then the double's, and an empty one stays empty where a test wants that."""
    with testing() as record:
        double = ScriptedModel("a", Reply((Text("b"),), usage=Usage(7, 8)), Reply((Text("c"),), usage=Usage()), usage={"input_tokens": 100})
        for _ in range(3):
            FACES[face](double, MESSAGES)
        assert [call["outcome"]["usage"] for call in record.calls] == [{"input_tokens": 100}, {"input_tokens": 7, "output_tokens": 8}, None]
