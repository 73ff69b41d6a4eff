"""The law over sources and faces: sync or async, streamed or whole, in process or on the wire, it is the same reply.

Usage and counts too. What a wire cannot carry (a finish of the test's own in Anthropic's words, say) is no part of it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import anthropic
import anyio
import httpx
import openai
import pytest

from invcheck import Chunk, Counts, DriftingModel, Fault, Reply, ScriptedModel, partial, testing
from invcheck.faces.call import Plain
from invcheck.faces.surfaces import Surfaces
from invcheck.faults import ModelFault
from invcheck.sources import reply, tool_call
from invcheck.sources.replay import ReplayModel
from invcheck.vocabulary import Refusal, Text, Thinking, ToolPart, Usage

USAGE = {"input_tokens": 9, "output_tokens": 4, "cache_read_input_tokens": 2}
MESSAGES = [{"role": "user", "content": "How do I get a refund?"}]
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]


@dataclass(frozen=True)
class Told:
    """What a face tells of a reply: text, tool calls as name and arguments, finish, and the tokens in and out."""

    text: str
    tools: tuple[tuple[str, str], ...]
    finish: str | None
    tokens: tuple[int, int]


def told(answer: Reply) -> Told:
    assert answer.usage is not None
    tools = tuple((call.name, json.dumps(dict(call.arguments))) for call in answer.tool_calls)
    return Told(answer.text, tools, answer.finish, (answer.usage.input_tokens or 0, answer.usage.output_tokens or 0))


async def factory(request: Any, _signal: Any) -> AsyncIterator[Any]:
    yield Chunk(request.id, thinking="Hm.")
    yield "By "
    yield "mail."
    yield Chunk(request.id, part=ToolPart(0, "", "search"))
    yield Chunk(request.id, part=ToolPart(0, '{"q": '))
    yield Chunk(request.id, part=ToolPart(0, '"refund"}'))
    yield WHOLE


async def text_alone(request: Any, _signal: Any) -> AsyncIterator[Any]:
    yield "By "
    yield "mail."
    yield WHOLE


WHOLE = reply("By mail.", thinking="Hm.", tool_calls=[tool_call("search", {"q": "refund"})], usage=USAGE)
TEXT = reply("By mail.", usage=USAGE)
LONG = reply("By mail, or", finish="length", usage=USAGE)
BLOCKS = Reply((Thinking("Hm."), Text("By "), Text("mail.")), "stop", Usage(9, 4))
LINE = json.dumps(
    {"invcheck": 1, "provenance": {"kind": "hand-written"}, "reply": {"text": "By mail.", "usage": {"input_tokens": 9, "output_tokens": 4}}}
)

SOURCES: dict[str, tuple[Callable[[], Any], Reply]] = {
    "text": (lambda: ScriptedModel("By mail.", usage=USAGE), TEXT),
    "reply": (lambda: ScriptedModel(TEXT), TEXT),
    "words": (lambda: ScriptedModel(TEXT, chunks="words"), TEXT),
    "code points": (lambda: ScriptedModel(WHOLE, chunks=3), WHOLE),
    "keyed": (lambda: ScriptedModel(WHOLE, chunks="keyed"), WHOLE),
    "tools": (lambda: ScriptedModel(WHOLE), WHOLE),
    "cut off": (lambda: ScriptedModel(LONG), LONG),
    "blocks": (lambda: ScriptedModel(BLOCKS), BLOCKS),
    "function": (lambda: ScriptedModel(lambda request: WHOLE), WHOLE),
    "factory": (lambda: ScriptedModel(factory), WHOLE),
    "factory of text alone": (lambda: ScriptedModel(text_alone), WHOLE),
    "always": (lambda: ScriptedModel().then_always(TEXT), TEXT),
    "drifting": (lambda: DriftingModel(lambda rng, request: WHOLE if rng.random() < 2 else TEXT), WHOLE),
    "drifting factory": (lambda: DriftingModel(lambda rng, request: factory(request, None)), WHOLE),
    "drifting schema": (lambda: DriftingModel({"const": 7}, usage=USAGE), reply("7", usage=USAGE)),
    "replay": (lambda: ReplayModel(LINE), TEXT),
}


class Port(Protocol):
    """An app's own port."""

    def whole(self, messages: list[Any]) -> Reply: ...
    async def awhole(self, messages: list[Any]) -> Reply: ...


def ran(backend: str) -> Callable[[Callable[[Any], Awaitable[Reply]]], Callable[[Any], Reply]]:
    def wrap(ask: Callable[[Any], Awaitable[Reply]]) -> Callable[[Any], Reply]:
        return lambda model: anyio.run(ask, model, backend=backend)

    return wrap


def streamed(model: Any) -> Reply:
    """The reply of a stream that was read to its end, whose chunks are held against it."""
    stream = model.stream(messages=MESSAGES)
    chunks = list(stream)
    final: Reply = stream.final()
    _joins(chunks, final)
    return final


async def astreamed(model: Any) -> Reply:
    """The same, awaited."""
    stream = model.stream(messages=MESSAGES)
    chunks = [chunk async for chunk in stream]
    final: Reply = await stream.result
    _joins(chunks, final)
    return final


def _joins(chunks: list[Chunk], final: Reply) -> None:
    for kind in ("text", "thinking", "refusal"):
        assert "".join(getattr(chunk, kind) for chunk in chunks) == getattr(final, kind)
    parts = [chunk.part.name for chunk in chunks if chunk.part and chunk.part.name]
    named = [chunk.tool_call.name for chunk in chunks if chunk.tool_call] + parts
    assert named == [call.name for call in final.tool_calls]


def _chat(message: Any, finish: str | None, usage: Any) -> Reply:
    tools = [tool_call(call.function.name, json.loads(call.function.arguments), id=call.id) for call in message.tool_calls or ()]
    blocks = ([Text(message.content)] if message.content else []) + tools
    return Reply(tuple(blocks), finish, Usage(usage.prompt_tokens, usage.completion_tokens))


_ASK: dict[str, Any] = {"model": "m", "messages": MESSAGES, "tools": TOOLS}


def openai_whole(model: Any) -> Reply:
    made = model.openai().chat.completions.create(**_ASK)
    return _chat(made.choices[0].message, made.choices[0].finish_reason, made.usage)


async def openai_awhole(model: Any) -> Reply:
    made = await model.async_openai().chat.completions.create(**_ASK)
    return _chat(made.choices[0].message, made.choices[0].finish_reason, made.usage)


def openai_streamed(model: Any) -> Reply:
    with model.openai().chat.completions.stream(**_ASK, stream_options={"include_usage": True}) as stream:
        for _ in stream:
            pass
        snapshot = stream.current_completion_snapshot
    return _chat(snapshot.choices[0].message, snapshot.choices[0].finish_reason, snapshot.usage)


def openai_raw(chunks: Any) -> Iterator[Reply]:
    """Join the deltas of a chat stream by hand, a chunk at a time."""
    text, tools, finish, usage = "", {}, None, None  # type: ignore[var-annotated]  # filled below
    for chunk in chunks:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or ():
                named = tools.setdefault(call.index, [call.id, call.function.name, ""])
                named[2] += call.function.arguments or ""
    assert usage is not None
    made = [tool_call(name, json.loads(arguments), id=own) for own, name, arguments in tools.values()]
    yield Reply((*([Text(text)] if text else []), *made), finish, Usage(usage.prompt_tokens, usage.completion_tokens))


def openai_by_hand(model: Any) -> Reply:
    return next(openai_raw(model.openai().chat.completions.create(**_ASK, stream=True, stream_options={"include_usage": True})))


async def openai_aby_hand(model: Any) -> Reply:
    stream = await model.async_openai().chat.completions.create(**_ASK, stream=True, stream_options={"include_usage": True})
    return next(openai_raw([chunk async for chunk in stream]))


def _response(made: Any) -> Reply:
    blocks: list[Any] = []
    for item in made.output:
        if item.type == "message":
            blocks += [Text(part.text) for part in item.content if part.type == "output_text"]
        elif item.type == "function_call":
            blocks.append(tool_call(item.name, json.loads(item.arguments), id=item.call_id))
    length = made.incomplete_details is not None and made.incomplete_details.reason == "max_output_tokens"
    finish = "length" if length else "tool_calls" if any(item.type == "function_call" for item in made.output) else "stop"
    return Reply(tuple(blocks), finish, Usage(made.usage.input_tokens, made.usage.output_tokens))


_TOOL = {"type": "function", "name": "search", "parameters": {}, "strict": False}
_RESPOND: dict[str, Any] = {"model": "m", "input": "How do I get a refund?", "tools": [_TOOL]}


def responses_whole(model: Any) -> Reply:
    return _response(model.openai().responses.create(**_RESPOND))


async def responses_astreamed(model: Any) -> Reply:
    async for event in await model.async_openai().responses.create(**_RESPOND, stream=True):
        if event.type in ("response.completed", "response.incomplete"):
            return _response(event.response)
    raise AssertionError


_SEARCH = {"name": "search", "input_schema": {"type": "object"}}
_MESSAGE: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": MESSAGES, "tools": [_SEARCH]}
_STOP = {"end_turn": "stop", "max_tokens": "length", "tool_use": "tool_calls"}


def _message(made: Any) -> Reply:
    blocks: list[Any] = []
    for block in made.content:
        if block.type == "text":
            blocks.append(Text(block.text))
        elif block.type == "tool_use":
            blocks.append(tool_call(block.name, block.input, id=block.id))
    usage = made.usage
    given = usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return Reply(tuple(blocks), _STOP[made.stop_reason], Usage(given, usage.output_tokens))


def anthropic_whole(model: Any) -> Reply:
    return _message(model.anthropic().messages.create(**_MESSAGE))


async def anthropic_awhole(model: Any) -> Reply:
    return _message(await model.async_anthropic().messages.create(**_MESSAGE))


def anthropic_streamed(model: Any) -> Reply:
    with model.anthropic().messages.stream(**_MESSAGE) as stream:
        return _message(stream.get_final_message())


async def anthropic_astreamed(model: Any) -> Reply:
    async with model.async_anthropic().messages.stream(**_MESSAGE) as stream:
        return _message(await stream.get_final_message())


class Real:
    """An app's own client, one method of which a double answers."""

    def ask(self, messages: list[Any]) -> Reply:
        raise OSError("no network")


class Streams(Protocol):
    """A port that streams."""

    def read(self, messages: list[Any]) -> Iterator[Chunk]: ...


def ported(model: Any) -> Reply:
    """The reply that a port's stream was, whose chunks are held against it."""
    chunks = list(model.port(Streams).read(MESSAGES))
    final = model.calls[0].outcome
    assert isinstance(final, Reply)
    _joins(chunks, final)
    return final


def legacy(model: Any) -> Reply:
    """The chat completion of a client over the older HTTP library."""
    with httpx.Client(transport=model.transport(module=httpx)) as client:
        made = openai.OpenAI(api_key="k", base_url="http://double.invalid/v1", http_client=client).chat.completions.create(**_ASK)  # type: ignore[arg-type]  # it takes both
    return _chat(made.choices[0].message, made.choices[0].finish_reason, made.usage)


def served(model: Any) -> Reply:
    """The chat completion that came over a socket, in chunks."""
    with model.serve() as server, openai.OpenAI(base_url=server.openai, api_key="k", max_retries=0) as client:
        return next(openai_raw(client.chat.completions.create(**_ASK, stream=True, stream_options={"include_usage": True})))


def served_message(model: Any) -> Reply:
    """The message that came over a socket, whole."""
    with model.serve() as server, anthropic.Anthropic(base_url=server.anthropic, api_key="k", max_retries=0) as client:
        return _message(client.messages.create(**_MESSAGE))


FACES: dict[str, Callable[[Any], Reply]] = {
    "call": lambda model: model({"messages": MESSAGES}),
    "complete": lambda model: model.complete(messages=MESSAGES),
    "acomplete, asyncio": ran("asyncio")(lambda model: model.acomplete(messages=MESSAGES)),
    "acomplete, trio": ran("trio")(lambda model: model.acomplete(messages=MESSAGES)),
    "stream": streamed,
    "stream, asyncio": ran("asyncio")(astreamed),
    "stream, trio": ran("trio")(astreamed),
    "port": lambda model: model.port(Port).whole(MESSAGES),
    "port, async": ran("asyncio")(lambda model: model.port(Port).awhole(MESSAGES)),
    "openai chat": openai_whole,
    "openai chat, async": ran("asyncio")(openai_awhole),
    "openai chat, streamed": openai_streamed,
    "openai chat, deltas": openai_by_hand,
    "openai chat, deltas, async": ran("asyncio")(openai_aby_hand),
    "openai responses": responses_whole,
    "openai responses, streamed, async": ran("asyncio")(responses_astreamed),
    "anthropic": anthropic_whole,
    "anthropic, async": ran("asyncio")(anthropic_awhole),
    "anthropic, streamed": anthropic_streamed,
    "anthropic, streamed, async": ran("asyncio")(anthropic_astreamed),
    "port, streamed": ported,
    "partial": lambda model: partial(Real(), ask=model).ask(MESSAGES),
    "openai chat, httpx": legacy,
    "served, openai chat, deltas": served,
    "served, anthropic": served_message,
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("source", SOURCES)
def test_every_face_gives_the_same_reply_usage_and_counts(source: str, face: str) -> None:
    """Whoever asks, and however: one reply, one usage, one call that was served."""
    build, expected = SOURCES[source]
    with testing() as record:
        model = build()
        assert told(FACES[face](model)) == told(expected)
        assert model.counts == Counts(served=1)
        assert [(call["state"], call["error"]) for call in record.calls] == [("served", None)]
        usage = record.calls[0]["outcome"]["usage"]
        assert (usage["input_tokens"], usage["output_tokens"]) == (9, 4)
        outcome = record.calls[0]["outcome"]
        assert (outcome["text"], outcome.get("thinking", "")) == (expected.text, expected.thinking)
        assert [call["name"] for call in outcome["tool_calls"]] == [call.name for call in expected.tool_calls]
        assert not record.latches


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("kind", ["bad-request", "unauthorized", "rate-limit", "server"])
def test_every_face_renders_the_same_fault(kind: str, face: str) -> None:
    """A fault is an error with its status, counted as failed: in process our own, from an SDK its own, without a retry."""
    with testing() as record:
        model = ScriptedModel(Fault(kind, headers={"x-should-retry": "false"}))
        with pytest.raises(Exception, match=r".+") as caught:
            FACES[face](model)
        status = getattr(caught.value, "status", None) or getattr(caught.value, "status_code", None)
        assert status == {"bad-request": 400, "unauthorized": 401, "rate-limit": 429, "server": 500}[kind]
        assert isinstance(caught.value, ModelFault) or type(caught.value).__module__.startswith(("openai", "anthropic"))
        assert model.counts == Counts(failed=1)
        assert record.calls[0]["outcome"]["fault"] == kind
        assert not record.latches


@pytest.mark.parametrize("face", FACES)
def test_a_refusal_reaches_whoever_asks(face: str) -> None:
    """The block is no text of the reply; on the wire it stands where each provider puts it, and the record is the same."""
    with testing() as record:
        model = ScriptedModel(Reply((Refusal("I cannot."),), "content_filter", Usage(9, 4)))
        with pytest.raises(KeyError, match="refusal") if "anthropic" in face else nullcontext():  # what Anthropic stops with
            FACES[face](model)
        assert record.calls[0]["outcome"]["refusal"] == "I cannot."
        assert record.calls[0]["state"] == "served"


def test_the_law_is_as_wide_as_it_says() -> None:
    """Every way in that a double has is one of the faces, and there are 16 sources."""
    public = {name for kind in (Plain, Surfaces) for name, way in vars(kind).items() if callable(way) and not name.startswith("_")}
    assert public | {"__call__"} == set(_WAYS)
    for way, face in _WAYS.items():
        assert face in FACES, way
    assert (len(SOURCES), len(FACES)) == (16, 25)


_WAYS = {
    "__call__": "call",
    "complete": "complete",
    "acomplete": "acomplete, trio",
    "stream": "stream, trio",
    "port": "port, async",
    "openai": "openai chat",
    "async_openai": "openai chat, async",
    "anthropic": "anthropic",
    "async_anthropic": "anthropic, async",
    "transport": "openai chat, httpx",
    "serve": "served, anthropic",
}


@pytest.mark.parametrize("face", ["call", "complete", "acomplete, asyncio", "acomplete, trio", "stream", "stream, trio", "port", "partial"])
def test_counted_usage_is_the_same_however_a_double_is_asked(face: str) -> None:
    """65 bytes of canonical request and 8 of text are 17 and 2 tokens."""
    with testing():
        model = ScriptedModel("By mail.")
        assert told(FACES[face](model)).tokens == (17, 2)
