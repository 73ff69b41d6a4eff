"""How a reply is cut into the chunks of a stream, and whether chunks join to their reply. All of it is pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256

from invcheck.errors import DoubleError, NotJson, ScriptedModelError
from invcheck.jsontext import loads
from invcheck.replies import arguments_text
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Chunk, Chunking, Delivery, Fault, Reply, Text, Thinking, ToolCall, ToolPart

CHUNKINGS = ("whole", "words", "keyed")
_WORDS = re.compile(r"\s*\S+\s*|\s+")
_LARGEST = 8
"""The largest chunk that "keyed" makes, in code points: providers send a few tokens at a time."""

_FIRST = 0xC0
"""The least byte that begins a character of several (RFC 3629 §3)."""

_SILENCE = 600.0
"""Seconds that a stall lasts where it does not say: the time-out that the providers' own clients begin with."""


def complaint(delivery: Delivery, reply: Reply | None = None) -> str | None:
    """Say what is wrong with a way to hand a reply over, or None; parts that are given must join to the reply's text.

    >>> complaint(Delivery(("Hel", "lo")), Reply((Text("Hello!"),)))
    'the chunks join to "Hello", but the text is "Hello!"'
    """
    for name in ("latency", "pace"):
        seconds = getattr(delivery, name)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
            return f"{name} is a number of seconds from 0, got {seconds!r}"
    return _chunking_complaint(delivery.chunking, reply)


def _chunking_complaint(chunking: Chunking | None, reply: Reply | None) -> str | None:
    if isinstance(chunking, tuple):
        if not all(isinstance(part, str) for part in chunking):
            return "chunks is a list of texts"
        if reply is None:
            return "chunks that are given belong to one reply; a double has whole, words, keyed or a number of code points"
        joined = "".join(chunking)
        return None if joined == reply.text else f"the chunks join to {show(joined)}, but the text is {show(reply.text)}"
    if isinstance(chunking, bool) or (isinstance(chunking, int) and chunking < 1):
        return f"chunks of {chunking!r} code points are none"
    if chunking is not None and not isinstance(chunking, int) and chunking not in CHUNKINGS:
        return f"chunks is {', '.join(CHUNKINGS)}, a number of code points or a list of texts, got {chunking!r}"
    return None


def of(chunks: Chunking | Sequence[str] | None, latency: float, pace: float, reply: Reply | None = None) -> Delivery | None:
    """Give the way to hand over one reply, or a double's replies; None where nothing is said, DoubleError where it is wrong."""
    if chunks is None and not latency and not pace:
        return None
    made = Delivery(tuple(chunks) if isinstance(chunks, list) else chunks, latency, pace)  # type: ignore[arg-type]  # checked below
    wrong = complaint(made, reply)
    if wrong:
        raise DoubleError(wrong)
    return made


def merged(own: Delivery | None, default: Delivery | None) -> Delivery:
    """Give a reply's own delivery, completed by the double's."""
    if own is None or default is None:
        return own or default or Delivery()
    return Delivery(default.chunking if own.chunking is None else own.chunking, own.latency or default.latency, own.pace or default.pace)


def chunks(reply: Reply, request_id: str, chunking: Chunking | None) -> Iterator[Chunk]:
    """Cut a reply whose tool calls have ids, block by block; the chunks always join to it.

    A tool call is one chunk when chunks are whole, else its arguments come in parts, the first of which names it.

    >>> [chunk.text for chunk in chunks(Reply((Text("Hello, world"),)), "req", "words")]
    ['Hello, ', 'world']
    """
    given = list(chunking) if isinstance(chunking, tuple) else None
    ordinal = 0
    for index, block in enumerate(reply.blocks):
        key = f"{request_id}/{index}"
        if isinstance(block, ToolCall):
            yield from _tool(block, ordinal, request_id, chunking, key)
            ordinal += 1
        elif isinstance(block, Text):
            cut = _given(given, block.text) if given is not None else pieces(block.text, chunking, key)
            yield from (Chunk(request_id, text) for text in cut)
        elif isinstance(block, Thinking):
            yield from (Chunk(request_id, thinking=text) for text in pieces(block.text, chunking, key))
        else:
            yield from (Chunk(request_id, refusal=text) for text in pieces(block.text, chunking, key))


def _tool(call: ToolCall, ordinal: int, request_id: str, chunking: Chunking | None, key: str) -> Iterator[Chunk]:
    if chunking in (None, "whole"):
        yield Chunk(request_id, tool_call=call)
        return
    yield Chunk(request_id, part=ToolPart(ordinal, "", call.name, call.id))
    for text in pieces(arguments_text(call.arguments), chunking, key):
        yield Chunk(request_id, part=ToolPart(ordinal, text))


def _given(parts: list[str], text: str) -> Iterator[str]:
    """Hand out given parts until they make up a block's text; one that reaches into the next block is cut there."""
    while text:
        part = parts.pop(0)
        if len(part) > len(text):
            parts.insert(0, part[len(text) :])
            part = text
        text = text[len(part) :]
        yield part


def pieces(text: str, chunking: Chunking | None, key: str = "") -> list[str]:
    """Cut a text; the pieces are never empty and join to it. What parts were given for another text leave it whole.

    >>> pieces("Hello", 2), pieces("", 2)
    (['He', 'll', 'o'], [])
    """
    if isinstance(chunking, int):
        return [text[start : start + chunking] for start in range(0, len(text), chunking)]
    if chunking == "words":
        return _WORDS.findall(text)
    if chunking == "keyed":
        return list(_keyed(text, key))
    return [text] if text else []


def _keyed(text: str, key: str) -> Iterator[str]:
    """Cut into sizes that the request and the block decide: they differ between calls and are the same in every run."""
    start = turn = 0
    while start < len(text):
        for byte in sha256(f"{key}/{turn}".encode()).digest():
            size = 1 + byte % _LARGEST
            if start < len(text):
                yield text[start : start + size]
            start += size
        turn += 1


def differs(parts: Sequence[Chunk], reply: Reply) -> str | None:
    """Say how the chunks that a factory yielded differ from its reply, or None: each kind of block joins to the whole."""
    for kind in ("text", "thinking", "refusal"):
        joined = "".join([getattr(chunk, kind) for chunk in parts])
        if joined != getattr(reply, kind) and (kind == "text" or joined):
            return f"join to {show(joined)}, but the reply's {kind} is {show(getattr(reply, kind))}"
    if not any(chunk.tool_call is not None or chunk.part is not None for chunk in parts):
        return None
    try:
        calls = _tools(parts)
    except (NotJson, ValueError) as error:
        return f"make no tool call: {error}"
    if [(call.name, call.arguments) for call in calls] != [(call.name, snapshot(call.arguments)) for call in reply.tool_calls]:
        return "call other tools than the reply"
    ids = [(call.id, own.id) for call, own in zip(calls, reply.tool_calls, strict=True)]
    return next((f"give a tool call the id {a!r}, the reply gives it {b!r}" for a, b in ids if b is not None and a != b), None)


def unsaid(parts: Sequence[Chunk], reply: Reply, request_id: str) -> Iterator[Chunk]:
    """Give the chunks of what a factory left out of its stream and has in its reply: a kind of block of which it said nothing."""
    said = {kind: any(getattr(chunk, kind) for chunk in parts) for kind in ("text", "thinking", "refusal")}
    tools = any(chunk.tool_call is not None or chunk.part is not None for chunk in parts)
    for chunk in chunks(reply, request_id, None):
        kind = next((kind for kind in said if getattr(chunk, kind)), None)
        if not (tools if kind is None else said[kind]):
            yield chunk


def _tools(parts: Sequence[Chunk]) -> list[ToolCall]:
    named: list[ToolCall] = []
    texts: dict[int, str] = {}
    for chunk in parts:
        if chunk.tool_call is not None:
            named.append(replace(chunk.tool_call, arguments=snapshot(chunk.tool_call.arguments)))
        elif chunk.part is not None:
            part = chunk.part
            if part.name is not None:
                named.append(ToolCall(part.name, {}, part.id))
            if part.index != len(named) - 1:
                raise ValueError(f"a part of tool call {part.index + 1} came while {len(named)} had begun")
            texts[part.index] = texts.get(part.index, "") + part.arguments
    for index, text in texts.items():
        arguments = loads(text or "{}")
        if not isinstance(arguments, dict):
            raise NotJson(f"the arguments of {named[index].name} are {show(text, 40)}, which is no object")
        named[index] = replace(named[index], arguments=arguments)
    return named


def broken(fault: Fault, request_id: str, default: Delivery | None) -> tuple[list[Chunk], Reply]:
    """Give what arrives in process of the reply that a fault of delivery breaks: its chunks, and the reply that they make.

    ``after`` counts bytes of the text; without it a half arrives, and nothing where the fault is a stall.
    """
    reply = fault.reply or Reply((Text(""),))
    text = reply.text.encode("utf-8", "backslashreplace")
    if fault.kind == "truncated" and isinstance(fault.after, int) and fault.after >= len(text):
        raise unreached(fault, len(text), "in process after counts bytes of the text")
    kept = text[: cut_at(fault, text)].decode("utf-8", "ignore")
    part = Reply((Text(kept),) if kept else (), None, reply.usage)
    chunking = merged(reply.delivery, default).chunking
    return list(chunks(part, request_id, None if isinstance(chunking, tuple) else chunking)), part


def unreached(fault: Fault, size: int, hint: str) -> ScriptedModelError:
    """Give the error of a fault that comes behind the end: it would break nothing, and the app be judged for nothing."""
    after = f"{fault.after} bytes" if isinstance(fault.after, int) else fault.after
    return ScriptedModelError(
        f"a fault {fault.kind} after {after} breaks nothing: there are {size} bytes",
        code="FAULT_UNREACHED",
        expected=f"after less than {size} bytes",
        got=str(fault.after),
        hint=hint,
    )


def cut_at(fault: Fault, body: bytes) -> int:
    """Give how many bytes of ``body`` arrive before a fault of delivery breaks it.

    >>> cut_at(Fault("cut", after="character"), "né".encode()), cut_at(Fault("cut"), b"abcd")
    (2, 2)
    """
    if fault.after == "character":
        place = next((place + 1 for place, byte in enumerate(body) if byte >= _FIRST), None)
        if place is None:
            raise unreached(fault, len(body), "there is no character of several bytes")
        return place
    if isinstance(fault.after, int):
        return min(fault.after, len(body))
    return 0 if fault.kind == "stall" else len(body) // 2


def silence(fault: Fault) -> float:
    """Give how many seconds a stall lasts."""
    return _SILENCE if fault.seconds is None else fault.seconds
