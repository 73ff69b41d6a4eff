"""Replies and faults as plain JSON, the other way round from `written`: what is printed here is read there as it was."""

from __future__ import annotations

from dataclasses import asdict

from invcheck.snapshot import snapshot
from invcheck.sources.recording import Provenance
from invcheck.sources.written import NEWLINES, Reader, scored
from invcheck.vocabulary import Block, Delivery, Fault, Framing, Json, Refusal, Reply, Text, Thinking, ToolCall, Usage

_READ = Reader(scored)
_KINDS = {Text: "text", Thinking: "thinking", Refusal: "refusal"}


def reply(given: Reply) -> dict[str, Json]:
    """Give a reply as a fixture file spells it, by its parts where their order says nothing; its ``value`` is left out.

    >>> reply(Reply((Text("bil"),), finish="length"))
    {'text': 'bil', 'finish': 'length'}
    """
    fields: dict[str, Json] = {}
    if given.text:
        fields["text"] = given.text
    if given.thinking:
        fields["thinking"] = given.thinking
    if given.refusal:
        fields["refusal"] = given.refusal
    if given.tool_calls:
        fields["tool_calls"] = [_tool_call(call) for call in given.tool_calls]
    if _READ.reply(fields, "$").blocks != given.blocks:
        fields = {"blocks": [_block(block) for block in given.blocks]}
    if _READ.reply(fields, "$").finish != given.finish:
        fields["finish"] = given.finish
    if given.usage is not None:
        fields["usage"] = _filled(asdict(given.usage)) if given.usage != Usage() else None
    if given.delivery is not None:
        fields |= _delivery(given.delivery)
    if given.framing is not None:
        fields["framing"] = _framing(given.framing)
    return fields


def fault(given: Fault) -> dict[str, Json]:
    """Give a fault as a fixture file spells it.

    >>> fault(Fault("rate-limit", retry_after=2.0))
    {'kind': 'rate-limit', 'retry_after': 2.0}
    """
    names = ("kind", "message", "status", "retry_after", "headers", "body", "reply", "after", "seconds")
    fields = _filled({name: getattr(given, name) for name in names})
    if given.headers is not None:
        fields["headers"] = dict(given.headers)
    if given.reply is not None:
        fields["reply"] = reply(given.reply)
    return {name: value for name, value in fields.items() if (name, value) != ("message", "")}


def provenance(given: Provenance) -> dict[str, Json]:
    """Give where a reply comes from as a fixture file spells it."""
    return _filled(asdict(given))


def _filled(fields: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in fields.items() if value is not None}


def _tool_call(call: ToolCall) -> dict[str, Json]:
    return _filled({"name": call.name, "arguments": snapshot(call.arguments), "id": call.id})


def _block(block: Block) -> dict[str, Json]:
    return {"tool_call": _tool_call(block)} if isinstance(block, ToolCall) else {_KINDS[type(block)]: block.text}


def _delivery(delivery: Delivery) -> dict[str, Json]:
    chunks = list(delivery.chunking) if isinstance(delivery.chunking, tuple) else delivery.chunking
    return _filled({"chunks": chunks}) | {"latency": delivery.latency, "pace": delivery.pace}


def _framing(framing: Framing) -> dict[str, Json]:
    named = {newline: name for name, newline in NEWLINES.items()}
    fields = {**asdict(framing), "newline": named[framing.newline], "headers": dict(framing.headers)}
    plain = {**asdict(Framing()), "newline": named[Framing().newline]}
    return {name: value for name, value in fields.items() if value != plain[name]}
