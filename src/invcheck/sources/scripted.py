"""A double that answers from a script: one step per call, in order, and nothing beyond it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Unpack

from invcheck.errors import DoubleError, ScriptedModelError, ScriptInvalid
from invcheck.faces.faced import Faced, Options
from invcheck.request import Call
from invcheck.show import show
from invcheck.sources import steps
from invcheck.sources.steps import Queued
from invcheck.sources.unmatched import mismatch, nearest
from invcheck.vocabulary import Block, Chunking, Finding, Framing, Reply, ToolCall, Usage, Verdict

_SHOWN = 8
"""How many unused steps a message lists."""


class _Lane:
    """One queue: its steps, how many were taken, and what answers when it is over."""

    __slots__ = ("always", "always_used", "over", "steps", "taken")

    def __init__(self, queue: Sequence[Queued] = ()) -> None:
        self.steps = deque(queue)
        self.taken = 0
        self.always: Queued | None = None
        self.always_used = 0
        self.over = 0

    @property
    def length(self) -> int:
        return self.taken + len(self.steps)


class Script:
    """The source of a `ScriptedModel`: a queue per lane."""

    def __init__(self, lanes: dict[str | None, _Lane]) -> None:
        self.lanes = lanes
        self._begun: list[object] = []

    def ordered(self, lane: str | None) -> bool:
        """Whether a lane has steps left, or ends in one; what always answers, answers all alike."""
        queue = self.lanes.get(lane)
        return queue is not None and (bool(queue.steps) or queue.always is None)

    def twice(self, lane: str | None) -> bool:
        """Whether a lane holds one iterator twice, or one that was begun."""
        held = [step.once for step in self.lanes[lane].steps if step.once is not None]
        return len({id(each) for each in (*self._begun, *held)}) < len(self._begun) + len(held)

    @property
    def pending(self) -> int:
        """How many steps were not taken yet, over all lanes; what always answers is none of them."""
        return sum(len(lane.steps) for lane in self.lanes.values())

    def draw(self, call: Call) -> Queued:
        """Take the lane's next step, else what always answers; SCRIPT_EXHAUSTED where neither is left.

        STEP_MISMATCH, and nothing is taken, where that step expects another request.
        """
        lane = self.lanes[call.lane]
        turn = lane.steps[0] if lane.steps else lane.always
        if turn is not None and turn.when is not None and (differs := turn.when.difference(call.request)) is not None:
            raise mismatch(call, turn, differs, (one for one in self._waiting() if one[1] is not turn))
        if lane.steps:
            lane.taken += 1
            step = lane.steps.popleft()
            if step.once is not None:
                self._begun.append(step.once)
            return step
        if lane.always is not None:
            lane.always_used += 1
            return lane.always
        lane.over += 1
        raise self._exhausted(call, lane.length, lane.taken + lane.over)

    def _waiting(self) -> Iterator[tuple[str | None, Queued]]:
        return ((name, step) for name, lane in self.lanes.items() for step in tuple(lane.steps))

    def _exhausted(self, call: Call, length: int, ordinal: int) -> ScriptedModelError:
        on = "" if call.lane is None else f' on lane "{call.lane}"'
        spoken = f"call {ordinal} of {length}"
        others = [f'the nearest unmatched step is {lane.steps[0]} of lane "{name}"' for name, lane in self.lanes.items() if lane.steps]
        near = nearest(call, self._waiting()) or next(iter(others), None)
        return ScriptedModelError(
            f"{spoken}{on}: the script is over{f'; {near}' if near else ''}",
            code="SCRIPT_EXHAUSTED",
            lane=call.lane,
            n=call.n,
            length=length,
            call=spoken,
            expected=f"at most {_counted(length, 'call')}{on}",
            got=f"call {ordinal}, which asked {show(call.request.last_user, 60)}",
            hint="add a step, or let then-always (then_always() in Python) answer where more calls are fine",
        )

    def leftover(self) -> list[Finding]:
        """Give SCRIPT_UNUSED for each lane with steps that had to be taken and were not."""
        return [_unused(name, lane, left) for name, lane in self.lanes.items() if (left := [s for s in lane.steps if not s.optional])]


def _unused(name: str | None, lane: _Lane, left: list[Queued]) -> Finding:
    on = "" if name is None else f' on lane "{name}"'
    which = ", ".join(map(str, left[:_SHOWN])) + (f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else "")
    return Finding(
        "SCRIPT_UNUSED",
        Verdict.BROKEN,
        f"{len(left)} of {_counted(lane.length, 'step')} {'was' if len(left) == 1 else 'were'} not used{on}: {which}",
        expected=f"{_counted(lane.length, 'call')}{on}",
        got=_counted(lane.taken, "call"),
        hint="remove the step, or mark it optional: true (optional=True in Python)",
    )


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


class ScriptedModel(Faced):
    """A double that answers from a script: each call takes the next step, and a call too many is an error that stays.

    A step is text, a Reply, a Fault, an exception (instance or class), a function of the request (sync or async), or a
    response factory: an async generator function of ``(request, signal)`` that yields chunks or text and, last, the one
    Reply. ``lanes`` names one queue per agent, model or session; for what else there is see `invcheck.faces.faced.Options`.
    Where nothing says tokens are counted (`invcheck.replies.counted`). ScriptInvalid names the index of a step that is none.

    >>> import invcheck
    >>> with invcheck.testing():
    ...     model = ScriptedModel("hello").fail("rate-limit").reply("bye")
    ...     model("hi").text
    ...     try:
    ...         model("and now?")
    ...     except Exception as error:
    ...         type(error).__name__, error.status
    ...     model("again").text
    'hello'
    ('ModelFault', 429)
    'bye'
    """

    _source: Script

    def __init__(
        self,
        *script: object,
        lanes: Mapping[str, Sequence[object]] | None = None,
        **options: Unpack[Options],
    ) -> None:
        if lanes is not None and script:
            raise DoubleError("a script has steps or lanes, not both", hint="put the steps into a lane")
        queues: Mapping[str | None, Sequence[object]] = {None: script} if lanes is None else {_name(name): lanes[name] for name in lanes}
        source = Script({name: _Lane(steps.queued(queue)) for name, queue in queues.items()})
        super().__init__(source, name="ScriptedModel", **options)

    @property
    def always_used(self) -> int:
        """How many calls were answered by `then_always`."""
        return sum(lane.always_used for lane in self._source.lanes.values())

    def reply(
        self,
        text: str = "",
        *,
        finish: str | EllipsisType | None = ...,
        usage: Usage | Mapping[str, int | None] | None = None,
        tool_calls: Sequence[ToolCall] = (),
        thinking: str | None = None,
        value: object = None,
        refusal: str | None = None,
        blocks: Sequence[Block] = (),
        chunks: Chunking | Sequence[str] | None = None,
        latency: float = 0.0,
        pace: float = 0.0,
        framing: Framing | None = None,
        label: str | None = None,
        optional: bool = False,
        when: object = None,
        lane: str | None = None,
    ) -> ScriptedModel:
        """Append a reply, see `invcheck.sources.reply`; gives the model itself, so that calls chain."""
        made = steps.reply(
            text,
            finish=finish,
            usage=usage,
            tool_calls=tool_calls,
            thinking=thinking,
            value=value,
            refusal=refusal,
            blocks=blocks,
            chunks=chunks,
            latency=latency,
            pace=pace,
            framing=framing,
        )
        return self.append_response(steps.step(made, label=label, optional=optional, when=when), lane=lane)

    def fail(
        self,
        what: object,
        message: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        reply: Reply | str | None = None,
        after: int | str | None = None,
        seconds: float | None = None,
        label: str | None = None,
        optional: bool = False,
        when: object = None,
        lane: str | None = None,
    ) -> ScriptedModel:
        """Append a failing step: a kind of fault, a Fault or an exception, see `invcheck.sources.fail`."""
        made = steps.fail(
            what,
            message,
            status=status,
            retry_after=retry_after,
            headers=headers,
            body=body,
            reply=reply,
            after=after,
            seconds=seconds,
        )
        return self.append_response(steps.step(made, label=label, optional=optional, when=when), lane=lane)

    def then_always(self, what: object, *, label: str | None = None, lane: str | None = None) -> ScriptedModel:
        """Answer every call beyond the script with ``what``; such calls are counted in `always_used` as well."""
        queue = self._lane(lane)
        queue.always = steps.queued([what if isinstance(what, steps.Step) else steps.step(what, label=label)], queue.length)[0]
        return self

    def append_response(self, what: object, *, lane: str | None = None) -> ScriptedModel:
        """Append one step; an invalid one raises ScriptInvalid and leaves the queue as it was."""
        queue = self._lane(lane)
        if queue.always is not None:
            raise ScriptInvalid("then_always ends a script; append before it", index=queue.length, reason="after then_always")
        queue.steps.extend(steps.queued([what], queue.length))
        return self

    def set_responses(self, script: Sequence[object], *, lane: str | None = None) -> ScriptedModel:
        """Replace what is left of the script, then_always included; an invalid one leaves everything as it was."""
        queue = self._lane(lane)
        ready = steps.queued(list(script), queue.taken)
        queue.steps, queue.always = deque(ready), None
        return self

    def _lane(self, name: str | None) -> _Lane:
        lanes = self._source.lanes
        if name in lanes:
            return lanes[name]
        if name is not None and list(lanes) == [None] and not lanes[None].length:
            lanes.clear()
        elif name is None or None in lanes:
            raise DoubleError(
                f"the script has no {'unnamed lane' if name is None else f'lane {name!r}'}",
                code="LANE_UNDECLARED",
                hint=f"its lanes: {', '.join(map(str, lanes))}" if None not in lanes else "its steps stand on the unnamed lane",
            )
        return lanes.setdefault(_name(name), _Lane())


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise DoubleError(f"a lane's name is a text that is not empty, got {name!r}")
    return name
