"""Handing a reply over: verified, chunk by chunk where the call streams, in the time that it takes, whole or broken."""

from __future__ import annotations

from collections.abc import Callable

from invcheck import delivery, replies
from invcheck.errors import ScriptedModelError
from invcheck.record import Record
from invcheck.request import Call
from invcheck.vocabulary import Chunk, Delivery, Fault, Outcome, Reply, State, Usage

_BREAKING = ("cut", "truncated", "stream-error")
"""Kinds that need something to break; the loader of faults refuses them earlier where they are a step of their own."""

Render = Callable[[Fault], BaseException]


class Handing:
    """How one double hands over what it answers: with which usage and delivery where a reply does not say."""

    __slots__ = ("_asked", "_delivery", "_record", "_usage", "cached")

    def __init__(self, record: Record, usage: Usage | None, delivery: Delivery | None, *, cached: bool) -> None:
        self._record, self._usage, self._delivery = record, usage, delivery
        self.cached = cached  # then what a call costs depends on the one before it
        self._asked: dict[str | None, bytes] | None = {} if cached else None

    def follows(self, call: Call) -> None:
        """Note what a request shares with the one before it on its lane, where that is counted."""
        if self._asked is not None:
            call.cached = _shared(self._asked.get(call.lane, b""), call.canonical)
            self._asked[call.lane] = call.canonical

    async def settle(self, call: Call, outcome: Outcome | str, render: Render) -> Reply:
        """Verify an outcome and hand it over: chunk by chunk where the call streams, after as long as it takes."""
        if isinstance(outcome, str) and self._asked is None and self._delivery is None and not call.streams:
            reply, call.entry["outcome"] = replies.of_text(outcome, self._usage, call.canonical)
            call.outcome = reply  # what a fake nearly always gives; nothing of it can be wrong
            return reply
        if isinstance(outcome, str):
            outcome = replies.text(outcome)
        if isinstance(outcome, Fault):
            return await self._broken(call, outcome, render)
        wrong = replies.complaint(outcome)
        if wrong:
            raise ScriptedModelError(f"the reply to call {call.n + 1} is none: {wrong}", code="REPLY_INVALID", lane=call.lane)
        reply = self._completed(call, outcome)
        if call.parts:
            _unless_joined(call, reply)
        call.outcome, call.framing = reply, outcome.framing
        call.entry["outcome"] = replies.plain(reply)
        if self._delivery is not None or outcome.delivery is not None or call.streams:
            await self._delivered(call, reply, delivery.merged(outcome.delivery, self._delivery))
        return reply

    def _completed(self, call: Call, reply: Reply) -> Reply:
        shared = None if self._asked is None else call.cached
        usage = reply.usage or self._usage or replies.counted(call.canonical, reply, shared)
        return replies.completed(reply, usage, call.request.id if reply.tool_calls else "")

    async def _delivered(self, call: Call, reply: Reply, how: Delivery) -> None:
        """Hand over what of a reply did not come in chunks, and let the time pass that it takes."""
        own = delivery.unsaid(call.parts, reply, call.request.id) if call.parts else delivery.chunks(reply, call.request.id, how.chunking)
        await self._arriving(call, list(own), how, said=len(call.parts))

    async def _arriving(self, call: Call, chunks: list[Chunk], how: Delivery, said: int = 0) -> None:
        """Hand chunks over in the time that they take, behind those that were said; what is not streamed takes as long."""
        if not call.streams:
            await self._pass(call, how.latency + how.pace * max(0, said + len(chunks) - 1))
            return
        for place, chunk in enumerate(chunks):
            await self._pass(call, how.pace if place or said else how.latency)
            call.at_last = place == len(chunks) - 1
            await call.emit(chunk)

    async def _broken(self, call: Call, fault: Fault, render: Render) -> Reply:
        """Hand over what arrives of a reply that a fault breaks, and raise what the fault is; a silent end raises nothing."""
        if fault.reply is not None:
            how = delivery.merged(fault.reply.delivery, self._delivery)
            fault = replies.breaking(fault, self._completed(call, fault.reply), how)
        call.outcome = fault
        if fault.reply is None and fault.kind in _BREAKING and not call.parts:
            message = f"the fault {fault.kind} of call {call.n + 1} breaks a reply, and there is none"
            raise ScriptedModelError(message, code="REPLY_INVALID", lane=call.lane, hint="give it the reply= that it breaks")
        if fault.reply is None:
            lasts = delivery.silence(fault) if fault.kind == "stall" else fault.seconds or 0.0
            await self._pass(call, 0.0 if call.raw else lasts)
            raise render(fault)
        how = delivery.merged(fault.reply.delivery, self._delivery)
        if call.raw:  # whoever carries the bytes breaks them
            await self._pass(call, how.latency)
            raise render(fault)
        chunks, part = delivery.broken(fault, call.request.id, self._delivery)
        await self._arriving(call, chunks, how)
        if fault.kind == "stall":
            await self._pass(call, delivery.silence(fault))
        if fault.kind != "truncated":
            raise render(fault)
        call.ended, call.state = True, State.FAILED
        call.entry.update(state="failed", outcome=replies.plain(fault))
        return part

    async def _pass(self, call: Call, seconds: float) -> None:
        """Let time pass that the model takes; where there is no clock it takes none. A call that waits no longer is aborted."""
        clock, signal = self._record.clock, call.signal
        patience = None if signal is None else signal.patience
        lasts = seconds if patience is None else min(seconds, patience)
        if clock is not None and lasts:
            if call.awaits:
                await clock.alet(lasts)
            else:
                clock.let(lasts)
        if signal is not None and lasts < seconds:
            signal.abort()
            call.unless_cancelled()


def _shared(before: bytes, now: bytes) -> int:
    """How many bytes two requests begin with alike."""
    short = min(len(before), len(now))
    return next((place for place in range(short) if before[place] != now[place]), short)


def _unless_joined(call: Call, reply: Reply) -> None:
    wrong = delivery.differs(call.parts, reply)
    if wrong:
        raise ScriptedModelError(f"the chunks of call {call.n + 1} {wrong}", code="CHUNKS_DIFFER", lane=call.lane)
