"""What a reply must be, and what is derived where it does not say: ids and counted usage. All of it is pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from hashlib import sha256

from invcheck.canonical import canonical
from invcheck.errors import DoubleError
from invcheck.freeze import FrozenDict, frozen
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Block, Delivery, Fault, Json, Outcome, Refusal, Reply, Text, Thinking, ToolCall, Usage

MOST = 2**53 - 1
"""The largest number of tokens: the largest integer that every JSON reader keeps exactly (RFC 8259 §6)."""

USAGE_NAMES = tuple(field.name for field in fields(Usage))


def usage_of(value: Usage | Mapping[str, int | None] | None) -> Usage | None:
    """Give a default for usage as a `Usage`; a mapping has the names of `Usage`. DoubleError says what is wrong.

    >>> usage_of({"input_tokens": 100, "output_tokens": 20})
    Usage(input_tokens=100, output_tokens=20, cache_read_input_tokens=None, cache_creation_input_tokens=None, reasoning_output_tokens=None)
    """
    if value is None:
        return None
    if isinstance(value, Mapping):
        unknown = [str(name) for name in value if name not in USAGE_NAMES]
        if unknown:
            raise DoubleError(f"usage has no {unknown[0]!r}", hint=f"its names are {', '.join(USAGE_NAMES)}")
        value = Usage(**value)
    if not isinstance(value, Usage):
        raise DoubleError(f"usage is a mapping or a Usage, got {type(value).__name__}")
    wrong = _usage_complaint(value)
    if wrong:
        raise DoubleError(wrong)
    return value


def complaint(reply: Reply) -> str | None:  # noqa: PLR0911  # one return per rule
    """Say what no provider could have answered so, or None: finish against content, usage, blocks, ids.

    >>> complaint(Reply((ToolCall("search", {}),), finish="stop"))
    'finish is "stop", but the reply calls a tool (search)'
    """
    if type(reply.blocks) is not tuple:
        return f"blocks is a tuple, got {type(reply.blocks).__name__}"
    calls: list[ToolCall] = []
    for block in reply.blocks:
        if type(block) is ToolCall:
            calls.append(block)
        wrong = _block_complaint(block)
        if wrong:
            return wrong
    if reply.finish is not None and not isinstance(reply.finish, str):
        return f"finish is text or None, got {type(reply.finish).__name__} {reply.finish!r}"
    if reply.finish == "stop" and calls:
        return f'finish is "stop", but the reply calls a tool ({calls[0].name})'
    if reply.finish == "tool_calls" and not calls:
        return 'finish is "tool_calls", but the reply calls no tool'
    ids = [call.id for call in calls if call.id is not None]
    if ids and len(set(ids)) != len(ids):
        return f"two tool calls have the same id {next(each for each in ids if ids.count(each) > 1)!r}"
    return None if reply.usage is None else _usage_complaint(reply.usage)


def _block_complaint(block: Block) -> str | None:
    if isinstance(block, (Text, Thinking, Refusal)):  # a union would be built anew for each block
        return None if isinstance(block.text, str) else f"a {type(block).__name__} block holds text, got {type(block.text).__name__}"
    if not isinstance(block, ToolCall):
        return f"a block is Text, Thinking, ToolCall or Refusal, got {type(block).__name__}"
    if not isinstance(block.name, str) or not block.name:
        return f"a tool call has a name, got {block.name!r}"
    if not isinstance(block.arguments, Mapping):
        return f"the arguments of {block.name} are a mapping, got {type(block.arguments).__name__}"
    return None if block.id is None or isinstance(block.id, str) else f"the id of a tool call is text, got {type(block.id).__name__}"


def _usage_complaint(usage: object) -> str | None:
    if not isinstance(usage, Usage):
        return f"usage is a Usage, got {type(usage).__name__}"
    for name in USAGE_NAMES:
        tokens = getattr(usage, name)
        if tokens is not None and (type(tokens) is not int or not 0 <= tokens <= MOST):
            return f"usage.{name} is an integer from 0 to 2**53 - 1, got {type(tokens).__name__} {tokens!r}"
    return None


def counted(request: bytes, reply: Reply, shared: int | None = None) -> Usage:
    """Count the tokens of a reply that does not say: a quarter of the UTF-8 bytes, rounded up.

    Input is the canonical JSON of the whole request (messages, tools, settings); output is the text of all blocks,
    thinking included, and each tool call's name and canonical arguments. It is no provider's tokenizer, but it is the
    same everywhere and needs no download. ``shared`` is how many bytes the request shares with the one before it: its
    whole tokens are read from the cache, the rest of the input is written to it.

    >>> counted(b'{"prompt":"hi"}', Reply((Text("hello"),)))
    Usage(input_tokens=4, output_tokens=2, cache_read_input_tokens=None, cache_creation_input_tokens=None, reasoning_output_tokens=None)
    >>> counted(b'{"prompt":"hi"}', Reply((Text("hello"),)), shared=11)
    Usage(input_tokens=4, output_tokens=2, cache_read_input_tokens=2, cache_creation_input_tokens=2, reasoning_output_tokens=None)
    """
    size = 0
    for block in reply.blocks:
        if isinstance(block, ToolCall):
            size += len(block.name.encode("utf-8", "backslashreplace")) + len(canonical(snapshot(block.arguments)))
        else:
            size += len(block.text.encode("utf-8", "backslashreplace"))
    tokens = -(-len(request) // 4)
    if shared is None:
        return Usage(tokens, -(-size // 4))
    return Usage(tokens, -(-size // 4), shared // 4, tokens - shared // 4)


def text(given: str) -> Reply:
    """Give the reply that is this text and nothing else."""
    return Reply((Text(given),))


def breaking(fault: Fault, reply: Reply, how: Delivery) -> Fault:
    """Give the fault with the reply that it breaks, as it would have been handed over: completed, and delivered so."""
    return replace(fault, reply=replace(reply, delivery=how, framing=None if fault.reply is None else fault.reply.framing))


def of_text(text: str, usage: Usage | None, request: bytes) -> tuple[Reply, Json]:
    """Give the reply that is this text and nothing else, and how it stands in an observation, as `completed` and `plain` do."""
    if usage is None:
        given, made = -(-len(request) // 4), -(-len(text.encode("utf-8", "backslashreplace")) // 4)
        usage, told = Usage(given, made), {"input_tokens": given, "output_tokens": made}
    else:
        told = _plain_usage(usage)
    return Reply((Text(text),), "stop", usage), {"text": text, "finish": "stop", "usage": told, "tool_calls": []}


def completed(reply: Reply, usage: Usage, key: str) -> Reply:
    """Give the reply as it is handed out: with usage, an id for each tool call that has none, and all plain data frozen.

    How it travels is no part of it. An id is derived by `call_id` from ``key``, the request's id, never drawn.
    """
    blocks, calls, value = reply.blocks, reply.tool_calls, reply.value
    if type(value) in (dict, list):
        value = frozen(snapshot(value))
    elif usage is reply.usage and not calls and reply.delivery is None and reply.framing is None:
        return reply
    if calls:
        ordinals = iter(range(len(calls)))
        blocks = tuple(_with_id(block, key, next(ordinals)) if isinstance(block, ToolCall) else block for block in blocks)
    return Reply(blocks, reply.finish, usage, value)


def _with_id(call: ToolCall, key: str, ordinal: int) -> ToolCall:
    arguments = call.arguments if type(call.arguments) is FrozenDict else frozen(snapshot(call.arguments))
    return ToolCall(call.name, arguments, call.id or call_id(key, ordinal))


def call_id(key: str, ordinal: int) -> str:
    """Give the id of a request's ``ordinal``-th tool call (from 0), where the reply has none.

    >>> call_id("req_1", 0) == call_id("req_1", 0) != call_id("req_1", 1)
    True
    """
    return "call_" + sha256(f"{key}/{ordinal}".encode()).hexdigest()[:16]


def arguments_text(arguments: Mapping[str, Json]) -> str:
    """Give a tool call's arguments as the JSON text that a model would write: keys in their order, blanks as usual.

    >>> arguments_text({"q": "refund", "n": 3})
    '{"q": "refund", "n": 3}'
    """
    return json.dumps(snapshot(arguments), ensure_ascii=False, allow_nan=False)


def plain(outcome: Outcome | None) -> Json:
    """Give an outcome as it stands in an observation.

    >>> plain(Fault("timeout"))
    {'fault': 'timeout', 'message': '', 'status': None}
    """
    if isinstance(outcome, Fault):
        return {"fault": outcome.kind, "message": outcome.message, "status": outcome.status}
    if outcome is None:
        return None
    document: dict[str, Json] = {
        "text": outcome.text,
        "finish": outcome.finish,
        "usage": _plain_usage(outcome.usage),
        "tool_calls": [{"id": call.id, "name": call.name, "arguments": snapshot(call.arguments)} for call in outcome.tool_calls],
    }
    if any(isinstance(block, Thinking) for block in outcome.blocks):
        document["thinking"] = outcome.thinking
    if any(isinstance(block, Refusal) for block in outcome.blocks):
        document["refusal"] = outcome.refusal
    if outcome.value is not None:
        document["value"] = snapshot(outcome.value)
    return document


def _plain_usage(usage: Usage | None) -> Json:
    if usage is None:
        return None
    return {name: tokens for name in USAGE_NAMES if (tokens := getattr(usage, name)) is not None} or None


def brief(outcome: Outcome) -> str:
    """Give an outcome as one short text for people."""
    if isinstance(outcome, Fault):
        return f"fault {outcome.kind}"
    if outcome.text or not outcome.tool_calls:
        return show(outcome.text, 40)
    return f"call of {outcome.tool_calls[0].name}"
