"""The words of the house, as frozen data: every other module speaks in these and in plain JSON.

A *request* gets an *outcome*, which is a *reply* or a *fault*; the pair is an *exchange*. A *trial* is one run of the
app under one case and one seed; what happened in it is its *observation*, a plain JSON document. A *finding* is one
broken claim; a *verdict* sums up what could be said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias, runtime_checkable

Json: TypeAlias = Any
"""Plain JSON: None, bool, int, float, str, list and dict with text keys, nothing else (the one place for ``Any``)."""

DEEPEST = 254
"""Levels that plain JSON may be nested: what orjson writes, since the interpreter's own limit differs between versions."""


class Verdict(StrEnum):
    """What can be said of a claim, a trial or a case.

    *Kept* and *broken* are decided; *errored* could not be judged because code raised; *unjudged* is moot, because an
    earlier cause already explains it.
    """

    KEPT = "kept"
    BROKEN = "broken"
    ERRORED = "errored"
    UNJUDGED = "unjudged"


class State(StrEnum):
    """What became of one call of a double; *attempted* is the sum of the four."""

    SERVED = "served"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a user's file: a path relative to the project, line and column from 1."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


def spot(place: Place | None) -> Json:
    """Give a place as plain JSON, for `placed`.

    >>> placed(spot(Place("checks/a.yaml", 3))), placed(spot(None))
    (Place(file='checks/a.yaml', line=3, column=None), None)
    """
    return None if place is None else [place.file, place.line, place.column]


def placed(given: Json) -> Place | None:
    """Give the place that `spot` described."""
    return None if given is None else Place(*given)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply, by the OpenTelemetry GenAI names; ``input_tokens`` includes what came from a cache.

    Every number is an integer from 0 to 2**53 - 1, or None where the provider does not say.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    reasoning_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A block of plain text in a reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A block of reasoning in a reply; it is no part of the reply's ``text``."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A block that asks the app to call one of its tools; ``arguments`` is frozen plain JSON."""

    name: str
    arguments: Mapping[str, Json]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A block in which the model declines, in its own words; it is no part of the reply's ``text``."""

    text: str


Block: TypeAlias = Text | Thinking | ToolCall | Refusal

Chunking: TypeAlias = str | int | tuple[str, ...]
"""How a stream cuts a reply: "whole", "words", "keyed" (sizes derived from the request), n code points, or the parts themselves."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a reply is handed over: cut how, and when; ``latency`` (before anything) and ``pace`` (between chunks) in virtual seconds.

    What is not streamed arrives when its last chunk would have.
    """

    chunking: Chunking | None = None
    latency: float = 0.0
    pace: float = 0.0


@dataclass(frozen=True, slots=True)
class Framing:
    """Lawful oddities of a streamed body on the wire (WHATWG HTML §9.2, server-sent events); no other face shows them.

    ``newline`` ends lines; ``comments`` and ``pings`` stand before every event; ``done`` is the end marker of the dialect
    ("[DONE]", "message_stop"); ``headers`` are sent with the reply.
    """

    newline: str = "\n"
    comments: bool = False
    pings: bool = False
    done: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answers: blocks, a finish reason and usage, each of which may be absent when a test wants that.

    ``value`` carries a reply in the user's own type, for faces that hand it over as it is; ``delivery`` and ``framing`` say
    how it travels, where that is not the double's own way.

    >>> Reply((Text("Hello, "), Text("world"))).text
    'Hello, world'
    """

    blocks: tuple[Block, ...] = ()
    finish: str | None = "stop"
    usage: Usage | None = None
    value: object = None
    delivery: Delivery | None = None
    framing: Framing | None = None

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join([block.text for block in self.blocks if isinstance(block, Text)])

    @property
    def thinking(self) -> str:
        """The thinking blocks, joined."""
        return "".join([block.text for block in self.blocks if isinstance(block, Thinking)])

    @property
    def refusal(self) -> str:
        """The refusal blocks, joined."""
        return "".join([block.text for block in self.blocks if isinstance(block, Refusal)])

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple([block for block in self.blocks if isinstance(block, ToolCall)])

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Fault:
    """A misbehaviour as data, so that every face can render it: an exception, a status with headers, half a stream.

    ``kind`` is one of ``invcheck.faults.KINDS``; ``retry_after`` is in seconds. ``headers`` and ``body`` are what a wire
    face sends instead of the dialect's own error. A fault of delivery (cut, truncated, stream-error, stall) breaks
    ``reply`` once ``after`` bytes were sent: of the body on the wire, of the text in process.
    """

    kind: str
    message: str = ""
    status: int | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] | None = None
    body: str | None = None
    reply: Reply | None = None
    after: int | str | None = None
    seconds: float | None = None


Outcome: TypeAlias = Reply | Fault


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A part of the JSON text of a tool call's arguments; the first part of the ``index``-th call (from 0) also names it."""

    index: int
    arguments: str = ""
    name: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a reply as a stream hands it over, correlated with its request by ``request_id``.

    It holds a part of one block: of its text, its thinking or its refusal, a whole tool call, or a ``part`` of one.
    """

    request_id: str
    text: str = ""
    tool_call: ToolCall | None = None
    thinking: str = ""
    refusal: str = ""
    part: ToolPart | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of a double: its ordinal in that double (from 0), the frozen request, and what became of it.

    ``outcome`` is None while a call was cancelled or refused; ``error`` names the exception that the app was given.
    """

    n: int
    lane: str | None
    request: Mapping[str, Json]
    outcome: Outcome | None
    state: State
    error: str | None = None
    method: str | None = None
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """How many calls a double saw; ``attempted`` is the sum of the other four.

    >>> Counts(served=1, refused=2).attempted
    3
    """

    served: int = 0
    failed: int = 0
    cancelled: int = 0
    refused: int = 0

    @property
    def attempted(self) -> int:
        """All calls, whatever became of them."""
        return self.served + self.failed + self.cancelled + self.refused


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken, errored or unjudged claim, ready to be shown: what was expected, what was found, and where.

    ``expected`` and ``got`` are short texts made from JSON; ``path`` is a normalised JSONPath into the observation;
    ``call`` is spoken ("call 3 of 2"); ``assertion`` is the claim's index in its check, None for implied claims;
    ``seed`` is the first trial that showed it, ``count`` how many trials of the case did; ``alone`` is False where that
    trial does not show it without the trials before it, whose state the app has kept. An unjudged claim names in
    ``because`` what explains it: the other finding's claim, or its code where that has none.
    """

    code: str
    verdict: Verdict
    message: str
    claim: str | None = None
    path: str | None = None
    expected: str | None = None
    got: str | None = None
    call: str | None = None
    place: Place | None = None
    hint: str | None = None
    assertion: int | None = None
    seed: int | None = None
    count: int = 1
    because: str | None = None
    alone: bool = True


RECORDED, INVENTED = "recorded", "invented"
"""Where a reply comes from: once from a real model, or from no recording at all, as a script's and a drifting double's do."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a case of a check came to: counts of trials by verdict and the findings, first seeds first.

    ``runs`` counts the trials that were run, ``claims`` what the check claims of each, and ``replies`` what the calls of all
    trials were answered with: by the kind of provenance that their recordings have, else as INVENTED. ``extra`` is for
    people and enters no compared bytes: ``seed`` and ``calls`` of the first trial with a finding.
    """

    check: str
    case: str
    place: Place
    seed: int
    runs: int
    trials: Mapping[str, int]
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    tags: tuple[str, ...] = ()
    distinct: int | None = None
    claims: int = 0
    replies: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)


def case_name(check: str, case: str) -> str:
    """Give the name of a case of a check, as it is printed, selected and remembered.

    >>> case_name("checks/qa.yaml::answers", "refund")
    'checks/qa.yaml::answers[refund]'
    """
    return f"{check}[{case}]"


@runtime_checkable
class Waits(Protocol):
    """How a double lets time pass that its model takes; the sandbox's clock is one, and no wait of the app is noted."""

    def let(self, seconds: float) -> None:
        """Let that many seconds pass."""

    async def alet(self, seconds: float) -> None:
        """Let that many seconds pass while the event loop runs, so that its timers may come first."""


class Turns(Protocol):
    """How calls of one lane meet: a call is served once every thread and task that can be seen waits as well.

    Two calls that wait on one lane then overlap: nothing says which of them came first. Both methods give True for each of
    them. ``lane`` is any hashable value, such as a double's id with the name of a lane.
    """

    def taken(self, lane: object) -> bool:
        """Wait for the turn of a synchronous call, and say whether it overlaps with another one on its lane."""

    async def ataken(self, lane: object) -> bool:
        """Wait for the turn of a call that a task awaits, which the event loop passes at least once, and say the same."""
