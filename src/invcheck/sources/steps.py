"""What a step of a script is: how it is written, what makes it invalid, and how it is taken."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import EllipsisType
from typing import Any

from invcheck import delivery, faults, replies
from invcheck.errors import DoubleError, NotJson, ScriptInvalid
from invcheck.freeze import frozen
from invcheck.request import Call
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.sources.matching import Matcher, matcher
from invcheck.sources.outcomes import json_text, settle
from invcheck.vocabulary import Block, Chunking, Fault, Framing, Json, Outcome, Refusal, Reply, Text, Thinking, ToolCall, Usage

Run = Callable[[Call], Any]

_NO_STREAMS = (list, tuple, dict, set, frozenset, bytes)
"""What can be iterated and is still no stream of chunks: it is far more often a mistake."""

BOTH = 2
"""How many positional arguments a user's function may take."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step as it is written: what it answers, its label, whether it may stay unused, and what it expects of its request."""

    what: object
    label: str | None = None
    optional: bool = False
    when: object = None


def step(what: object, *, label: str | None = None, optional: bool = False, when: object = None) -> Step:
    """Give a step a ``label`` for messages, make it ``optional``, so that it may stay unused, or say ``when`` it is right.

    ``when`` is what it expects of the request that takes it, see `invcheck.sources.matching.matcher`: another request is
    refused with STEP_MISMATCH, and the step stays for the next one.

    >>> step("hello", label="greeting", when={"model": "small"}).label
    'greeting'
    """
    return Step(what, label, optional, when)


def reply(
    text: str = "",
    *,
    finish: str | EllipsisType | None = ...,
    usage: Usage | Mapping[str, int | None] | None = None,
    tool_calls: Sequence[ToolCall] = (),
    thinking: str | None = None,
    refusal: str | None = None,
    blocks: Sequence[Block] = (),
    value: object = None,
    chunks: Chunking | Sequence[str] | None = None,
    latency: float = 0.0,
    pace: float = 0.0,
    framing: Framing | None = None,
) -> Reply:
    """Build a reply from its parts; without ``finish`` it is "tool_calls" where tools are called, else "stop".

    The order is thinking, text, refusal, ``blocks`` as they are, tool calls. ``value`` is handed over as it is by a port
    whose method returns its type; without ``text`` the text is its JSON. ``chunks``, ``latency`` and ``pace`` are how it is
    handed over, see `Delivery`; ``framing`` is for the wire. DoubleError where chunks do not join to the text.

    >>> reply("bil", finish="length").text
    'bil'
    """
    if value is not None and not text:
        try:
            text = json_text(snapshot(value, strict=True))
        except NotJson as error:
            raise DoubleError(f"the value of a reply has no JSON text: {error.message}", hint="give its text as well") from error
    made: list[Block] = [Thinking(thinking)] if thinking else []
    made += [Text(text)] if text or not (tool_calls or blocks or refusal) else []
    made += [Refusal(refusal)] if refusal else []
    made += [*blocks, *tool_calls]
    ends = ("tool_calls" if any(isinstance(block, ToolCall) for block in made) else "stop") if finish is ... else finish
    plain = Reply(tuple(made), ends, replies.usage_of(usage), value, framing=framing)
    how = delivery.of(chunks, latency, pace, plain)
    return plain if how is None else replace(plain, delivery=how)


def fail(
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
) -> object:
    """Build a failing step: a kind of `invcheck.faults.KINDS`, a Fault, or an exception, which is raised as it is.

    ``retry_after`` and ``seconds`` (how long a stall lasts) are in seconds. ``headers`` and ``body`` go over the wire as
    they are. A fault of delivery breaks ``reply`` once ``after`` bytes of it were sent.

    >>> fail("rate-limit", retry_after=2.0).retry_after
    2.0
    """
    if not isinstance(what, str):
        return what
    broken = Reply((Text(reply),)) if isinstance(reply, str) else reply
    return Fault(what, message, status, retry_after, headers, body, broken, after, seconds)


def tool_call(name: str, arguments: Mapping[str, Json] | None = None, *, id: str | None = None) -> ToolCall:  # noqa: A002  # the field's name
    """Build a call of one of the app's tools; without ``id`` one is derived from the request.

    >>> tool_call("search", {"q": "refund"}).name
    'search'
    """
    return ToolCall(name, frozen(snapshot(dict(arguments or {}))), id)


@dataclass(frozen=True, slots=True)
class Queued:
    """A valid step in a script, with its index there."""

    index: int
    label: str | None
    optional: bool
    run: Run
    shows: Callable[[], str]
    when: Matcher | None = None
    once: object = None

    async def give(self, call: Call) -> Outcome | str:
        """Give the outcome; a function's own exception goes into the app as it is."""
        given = self.run(call)
        if type(given) is str or type(given) is Reply:
            return given
        return await settle(given, call)

    def __str__(self) -> str:
        return f"step {self.index + 1} ({self.label or self.shows()})"


def queued(steps: Sequence[object], first: int = 0) -> list[Queued]:
    """Make steps ready to be taken, or raise ScriptInvalid naming index and reason; ``first`` is the first one's index."""
    return [_queued(each, position, first + position) for position, each in enumerate(steps)]


def _queued(written: object, position: int, index: int) -> Queued:
    one = written if isinstance(written, Step) else Step(written)
    try:
        if one.label is not None and not isinstance(one.label, str):
            raise ValueError(f"its label is {type(one.label).__name__}, not text")  # noqa: TRY301  # every reason is told with its index below
        if type(one.optional) is not bool:
            raise ValueError(f"optional is True or False, got {one.optional!r}")  # noqa: TRY301  # as above
        when = None if one.when is None else matcher(one.when)
        run, shows = _ready(one.what)
    except ValueError as error:
        raise ScriptInvalid(f"step {position + 1} (index {position}) is invalid: {error}", index=position, reason=str(error)) from None
    once = one.what if hasattr(one.what, "__next__") or hasattr(one.what, "__anext__") else None
    return Queued(index, one.label, one.optional, run, shows, when, once)


def _ready(what: Any) -> tuple[Run, Callable[[], str]]:  # noqa: PLR0911  # one return per kind of step
    if isinstance(what, str):  # nothing of a mere text can be wrong
        text = str(what)
        return lambda _: text, partial(show, text, 40)
    if isinstance(what, Reply):
        wrong = replies.complaint(what) or _travels(what)
        if wrong:
            raise ValueError(wrong)
        held = _detached(what)
        given: Reply | str = held.text if held == replies.text(held.text) else held
        return lambda _: given, partial(replies.brief, held)
    if isinstance(what, Fault):
        fault = faults.completed(what)
        if (alone := faults.breaks_nothing(fault)) is not None:
            raise ValueError(alone)
        return lambda _: fault, partial(replies.brief, fault)
    if isinstance(what, BaseException):
        return _raising(lambda: what), _named(type(what))
    if isinstance(what, type):
        return _class(what)
    if any(hasattr(what, name) for name in ("__aiter__", "__iter__")) and not isinstance(what, _NO_STREAMS):
        return _items(what)
    if callable(what):
        return calling(what), _named(what)
    raise ValueError(_no_step(what))


def _travels(what: Reply) -> str | None:
    """Say what is wrong with how a reply is handed over and framed, or None."""
    if what.framing is not None and (wrong := faults.headers_wrong(what.framing.headers)) is not None:
        return wrong
    return None if what.delivery is None else delivery.complaint(what.delivery, what)


def _named(what: Any) -> Callable[[], str]:
    return lambda: str(getattr(what, "__name__", type(what).__name__))


def _items(what: Any) -> tuple[Run, Callable[[], str]]:
    """An iterator answers one call, an iterable that makes them answers each call with a new one."""
    if hasattr(what, "__next__") or hasattr(what, "__anext__"):
        return lambda _: what, lambda: f"one {type(what).__name__}"
    begin: Callable[[Any], Any] = aiter if hasattr(what, "__aiter__") else iter
    return lambda _: begin(what), lambda: f"the items of {type(what).__name__}"


def _detached(one: Reply) -> Reply:
    """The reply without anything that the test could still change."""
    value = frozen(snapshot(one.value)) if type(one.value) in (dict, list) else one.value
    blocks = one.blocks
    if one.tool_calls:
        blocks = tuple(tool_call(b.name, b.arguments, id=b.id) if isinstance(b, ToolCall) else b for b in blocks)
    return replace(one, blocks=blocks, value=value) if blocks is not one.blocks or value is not one.value else one


def _raising(make: Callable[[], BaseException]) -> Run:
    def run(_: Call) -> object:
        raise make().with_traceback(None)

    return run


def _class(kind: type) -> tuple[Run, Callable[[], str]]:
    if not issubclass(kind, BaseException):
        raise ValueError(f"the class {kind.__name__} is no step; pass an exception class, an instance or a function")  # noqa: TRY004  # as every reason
    try:
        kind()
    except TypeError:
        raise ValueError(f"{kind.__name__} needs arguments; pass an instance") from None
    return _raising(kind), _named(kind)


def _no_step(what: object) -> str:
    if inspect.iscoroutine(what):
        what.close()
        return "a coroutine answers once; pass the async function itself"
    if isinstance(what, list | tuple):
        return f"a {type(what).__name__} is no step; pass the steps one by one, or JSON as reply(value={show(snapshot(what), 40)})"
    if isinstance(what, dict):
        return f"a dict is no step; pass its JSON as reply(value={show(snapshot(what), 40)})"
    return f"{type(what).__name__} is no step; a step is text, a Reply, a Fault, an exception, or a function of the request"


def calling(function: Callable[..., Any]) -> Run:
    """Give what calls a user's function with as much of (request, signal) as it takes; ValueError where it takes more.

    A call whose ``signal`` is None gets one that is never aborted.
    """
    takes = arity(function)
    if takes is None:
        raise ValueError(f"{getattr(function, '__name__', 'the function')} takes other arguments than (request) or (request, signal)")
    if takes == BOTH:
        return lambda call: function(call.request, call.live_signal)
    return (lambda call: function(call.request)) if takes else (lambda _: function())


def arity(function: Callable[..., Any]) -> int | None:
    """Give how many positional arguments, at most two, a user's function is to be called with; None where it needs more.

    Required parameters decide, and one called ``signal`` counts as required; a function that requires none takes one where
    it can.
    """
    try:
        return _arity(function)
    except TypeError:  # a callable object that cannot be hashed
        return _arity.__wrapped__(function)


@lru_cache(maxsize=256)
def _arity(function: Callable[..., Any]) -> int | None:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # a callable of C code shows no signature
        return 1
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty or p.name == "signal" for p in places)
    if required > BOTH or any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        return None
    if required:
        return required
    return min(len(places), 1) or int(any(p.kind is p.VAR_POSITIONAL for p in parameters))
