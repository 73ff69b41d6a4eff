"""The plain face: a callable, and the same under the names that apps use, sync and async."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from invcheck.double import Double, Hand
from invcheck.errors import DoubleError
from invcheck.faces.pending import turn, unless_aborted
from invcheck.faces.surfaces import Surfaces
from invcheck.handing import Render
from invcheck.request import AbortSignal
from invcheck.vocabulary import Reply

if TYPE_CHECKING:
    from invcheck.faces.stream import ReplyStream

T = TypeVar("T")


def requested(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mapping[str, Any]:
    """Give the request that a plain call is: a mapping as it is, a text as its prompt, several values as ``args``.

    Keywords are merged in.

    >>> requested(("hi",), {"max_tokens": 8})
    {'prompt': 'hi', 'max_tokens': 8}
    """
    if not args:
        return kwargs
    if len(args) > 1:
        return {"args": list(args), **kwargs}
    only = args[0]
    if isinstance(only, Mapping):
        return {**only, **kwargs}
    return {"prompt" if isinstance(only, str) else "args": only if isinstance(only, str) else [only], **kwargs}


def _signalled(signal: Any, kwargs: dict[str, Any]) -> AbortSignal | None:
    """Give the call's signal; what is none is a field of the request."""
    if signal is None or isinstance(signal, AbortSignal):
        return signal
    kwargs["signal"] = signal
    return None


def driven(call: Coroutine[Any, Any, T]) -> T:
    """Run a call to its end without an event loop; DoubleError where a step really waits for something.

    >>> async def answer(): return 42
    >>> driven(answer())
    42
    """
    try:
        call.send(None)
    except StopIteration as done:
        value: T = done.value
    else:
        waits_for_loop(call)
    return value


def waits_for_loop(call: Coroutine[Any, Any, Any]) -> NoReturn:
    """End a call that waits for an event loop where there is none: it is told so, and so is who asked."""
    waits = DoubleError(
        "this call is synchronous, but the step that answers it waits for an event loop",
        code="STEP_WAITS",
        hint="ask through an async method, or let the step answer without an await",
    )
    with suppress(StopIteration):  # the step swallowed it and went on; what it then gave came too late
        call.throw(waits)
    call.close()
    raise waits


class Plain:
    """What can be asked as a plain callable: ``model(request)``, ``await model.acomplete(request)`` and ``model.stream(request)``."""

    _lane_name: str | None = None
    _hand: Hand | None
    _render: Render

    if TYPE_CHECKING:

        def _whom(self) -> Double: ...

    def __call__(self, *args: Any, signal: AbortSignal | None = None, **kwargs: Any) -> Reply:
        """Ask, and give the reply; a fault is raised as an exception."""
        heard = None if signal is None else _signalled(signal, kwargs)
        given = requested(args, kwargs)
        reply: Reply = driven(self._whom().ask(given, lane=self._lane_name, signal=heard, hand=self._hand, render=self._render))
        return reply

    def complete(self, *args: Any, signal: AbortSignal | None = None, **kwargs: Any) -> Reply:
        """Ask, and give the reply; a fault is raised as an exception."""
        return self(*args, signal=signal, **kwargs)

    async def acomplete(self, *args: Any, signal: AbortSignal | None = None, **kwargs: Any) -> Reply:
        """Ask as a coroutine; a cancellation that arrives before the draw takes no step, and an abort ends a step that waits."""
        double = self._whom()
        heard = _signalled(signal, kwargs)
        call = double.arrive(requested(args, kwargs), lane=self._lane_name, signal=heard)
        call.awaits = True
        reply: Reply = await unless_aborted(double.answer(call, hand=self._hand, render=self._render, pause=turn), call)
        return reply

    def stream(self, *args: Any, signal: AbortSignal | None = None, **kwargs: Any) -> ReplyStream:
        """Ask, and give at once an iterator of the reply's chunks, sync and async, with the reply as ``await stream.result``."""
        from invcheck.faces.stream import ReplyStream  # noqa: PLC0415  # most apps do not stream

        double = self._whom()
        heard = _signalled(signal, kwargs)
        call = double.arrive(requested(args, kwargs), lane=self._lane_name, signal=heard)
        return ReplyStream(double, call, hand=self._hand, render=self._render)


class CallFace(Plain, Surfaces):
    """A double, or one lane of it, as a plain callable, and all else that `Surfaces` can hand to an app.

    ``model(request)`` and ``model.complete(request)`` are the same, ``await model.acomplete(request)`` is their async
    twin, and ``model.stream(request)`` gives the same reply in chunks. A request is one mapping, or one text, which
    becomes ``{"prompt": text}``; keywords are merged in, and ``signal`` is an `AbortSignal`.
    """

    def __init__(self, double: Double, *, lane: str | None = None, hand: Hand | None = None, render: Render) -> None:
        self._double, self._lane_name, self._hand, self._render = double, lane, hand, render

    def _whom(self) -> Double:
        return self._double
