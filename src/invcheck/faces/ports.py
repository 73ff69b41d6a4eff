"""The port: an object that satisfies the app's own Protocol, generated from it and answered by a double."""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin

from invcheck.double import Double
from invcheck.errors import PortMismatch
from invcheck.faces.adapt import Adapt, adapter, named
from invcheck.faces.call import driven, looped
from invcheck.faces.compare import check_port
from invcheck.faces.fits import Fits, fitter
from invcheck.faces.render import renderer
from invcheck.faces.signature import EMPTY, Form, Member, Shape, is_self, shape
from invcheck.freeze import show, snapshot
from invcheck.request import AbortSignal, Call
from invcheck.vocabulary import Chunk, Reply

P = TypeVar("P")

_STREAMS = (Iterator, Iterable, Generator)
_ASYNC_STREAMS = (AsyncIterator, AsyncIterable, AsyncGenerator)


def port(
    double: Any,
    protocol: Callable[..., P],
    *,
    returns: Callable[[Reply], Any] | Mapping[str, Callable[[Reply], Any]] | None = None,
    raises: Mapping[str, Any] | None = None,
    lane: str | None = None,
    like: object = None,
    attributes: Mapping[str, Any] | None = None,
) -> P:
    """Give an object that satisfies ``protocol`` and is answered by ``double``; a type checker sees it as the Protocol.

    A call's request is ``{parameter name: value}``, defaults applied and keyword variables merged in. ``returns`` makes
    the app's own object of a reply (one function, or one per method); without it see `invcheck.faces.adapt`. ``raises``
    maps a kind of fault to the app's own exception. ``attributes`` are values for members that are no methods. ``like``
    is a hand-written object or class that is compared with the Protocol first. What a method returns, and each item that a
    stream yields, is checked against its hint.

    PortMismatch shows both signatures where ``like``, or a ``double`` that is itself a hand-written object, has drifted.
    ``__invcheck_not_compared__`` of the port names the hints that no run can compare.

    >>> import invcheck
    >>> from typing import Protocol
    >>> class Chat(Protocol):
    ...     def complete(self, prompt: str, *, limit: int = 8) -> str: ...
    >>> with invcheck.testing():
    ...     model = invcheck.ScriptedModel("hello")
    ...     model.port(Chat).complete("hi"), model.requests[0]
    ('hello', {'prompt': 'hi', 'limit': 8})
    """
    read = _read(protocol)
    if not isinstance(double, Double):
        check_port(double, protocol)
        written: P = double
        return written
    if like is not None:
        check_port(like, protocol)
    returns = returns if returns is not None else getattr(double, "returns", None)
    raises = raises if raises is not None else getattr(double, "raises", None)
    values = {**(getattr(double, "attributes", None) or {}), **(attributes or {})}
    methods = [member for member in read.members if member.kind != "attribute"]
    asked = _Asked(double, lane, renderer(raises), [_hand(one, member, returns) for member in methods for one in member.forms])
    made = _generated(protocol)()
    made.__dict__.update(_values(read, values, like), _invcheck=asked, __invcheck_not_compared__=read.not_compared)
    result: P = made
    return result


def _read(protocol: Any) -> Shape:
    try:
        return shape(protocol)
    except TypeError as error:
        raise PortMismatch(f"a port needs a Protocol, got {protocol!r}") from error


def _values(read: Shape, given: Mapping[str, Any], like: object) -> dict[str, Any]:
    found: dict[str, Any] = {}
    known = {member.name: member for member in read.members if member.kind == "attribute"}
    for name in given:
        if name not in known:
            raise PortMismatch(f"{read.name} declares no attribute {name}", hint=f"it has: {', '.join(known) or 'none'}")
    for name, member in known.items():
        value = given[name] if name in given else getattr(like, name, member.default)
        if value is EMPTY:
            raise PortMismatch(
                f"{read.name} declares the attribute {name}, and nothing gives its value", hint=f"say attributes={{{name!r}: ...}}"
            )
        fits = fitter(member.hint)
        if fits is not None and not fits(value):
            raise PortMismatch(f"{read.name}.{name} is {named(member.hint)}, got {type(value).__name__} {show(snapshot(value), 40)}")
        found[name] = value
    return found


class _Asked:
    """What the generated methods of one port call: the double, and per form what makes of its reply what the app gets."""

    __slots__ = ("double", "hands", "lane", "render")

    def __init__(self, double: Double, lane: str | None, render: Any, hands: list[_Hand]) -> None:
        self.double, self.lane, self.render, self.hands = double, lane, render, hands

    def ask(self, index: int, given: dict[str, Any]) -> Any:
        hand = self.hands[index]
        return driven(self.double.ask(given, lane=self.lane, method=hand.name, hand=hand.over, render=self.render, signal=_signal(given)))

    async def aask(self, index: int, given: dict[str, Any]) -> Any:
        hand = self.hands[index]
        return await self.double.ask(
            given, lane=self.lane, method=hand.name, hand=hand.over, render=self.render, pause=looped(), signal=_signal(given)
        )

    def stream(self, index: int, given: dict[str, Any]) -> Iterator[Any]:
        return self._checked(index, self.ask(index, given))

    async def astream(self, index: int, given: dict[str, Any]) -> AsyncIterator[Any]:
        for item in self._checked(index, await self.aask(index, given)):
            yield item

    async def afirst(self, index: int, given: dict[str, Any]) -> AsyncIterator[Any]:
        """For a method that must be awaited before its stream is iterated."""
        return self._later(index, await self.aask(index, given))

    async def _later(self, index: int, items: Iterable[Any]) -> AsyncIterator[Any]:
        for item in self._checked(index, items):
            yield item

    def _checked(self, index: int, items: Iterable[Any]) -> Iterator[Any]:
        hand = self.hands[index]
        for item in items:
            if hand.fits is not None and not hand.fits(item):
                error = hand.mismatch(item, "yields")
                self.double.latch(error, self.lane)
                raise error
            yield item


def _signal(given: dict[str, Any]) -> AbortSignal | None:
    """A parameter called ``signal`` that holds an AbortSignal is the call's own."""
    signal = given.get("signal")
    return signal if isinstance(signal, AbortSignal) else None


class _Hand:
    """What one form of a method makes of a reply."""

    __slots__ = ("adapt", "fits", "form", "hint", "name", "streams")

    def __init__(self, form: Form, hint: Any, adapt: Adapt, *, streams: bool) -> None:
        self.form, self.hint, self.adapt, self.streams = form, hint, adapt, streams
        self.name = form.name
        self.fits: Fits | None = fitter(hint)

    def over(self, reply: Reply, call: Call) -> Any:
        """Make what the app gets, and check it; a stream's items are checked as they are yielded."""
        made = self.adapt(reply, call)
        if not self.streams and self.fits is not None and not self.fits(made):
            raise self.mismatch(made, "returns")
        return made

    def mismatch(self, value: Any, does: str) -> PortMismatch:
        return PortMismatch(
            f"{self.name} {does} {type(value).__name__} {show(snapshot(value), 60)}, the Protocol says {named(self.hint)}\n"
            f"  Protocol: {self.form}",
            hint="say returns=, a function that makes it of a reply",
        )


def _hand(form: Form, member: Member, returns: Any) -> _Hand:
    how, inner = _manner(form)
    own = returns.get(member.name) if isinstance(returns, Mapping) else returns
    streams = "stream" in how
    if own is not None:
        return _Hand(form, inner, lambda reply, _: own(reply), streams=streams)
    return _Hand(form, inner, _pieces(inner) if streams else adapter(inner), streams=streams)


def _pieces(hint: Any) -> Adapt:
    """A reply as a stream's items: its chunks as they were emitted, else its whole text as one."""

    def pieces(reply: Reply, call: Call) -> Iterable[Any]:
        chunks = call.parts or [Chunk(call.request.id, reply.text), *(Chunk(call.request.id, tool_call=one) for one in reply.tool_calls)]
        if hint in (str, EMPTY, Any):
            return [chunk.text for chunk in chunks if chunk.text]
        if isinstance(hint, type) and issubclass(Chunk, hint):
            return chunks
        if isinstance(reply.value, list | tuple):
            return reply.value
        raise PortMismatch(f"a reply cannot be streamed as {named(hint)}", hint="say returns=, a function that gives the items of a reply")

    return pieces


def _manner(form: Form) -> tuple[str, Any]:
    """How a method is run, a key of `_BODIES`, and the hint of what it gives or yields."""
    hint, how = form.returns, form.flag
    origin, args = get_origin(hint), get_args(hint)
    item = args[0] if args else EMPTY
    if how == "plain" and origin in (Awaitable, Coroutine):
        how, hint = "async", args[-1] if args else EMPTY
        origin, args = get_origin(hint), get_args(hint)
        item = args[0] if args else EMPTY
    if how.endswith("generator"):
        return "own astream" if how.startswith("async") else "own stream", item
    if how == "async":
        return ("afirst stream", item) if origin in _ASYNC_STREAMS else ("aask", hint)
    if origin in _ASYNC_STREAMS or hint in _ASYNC_STREAMS:
        return "astream", item
    return ("stream", item) if origin in _STREAMS or hint in _STREAMS else ("ask", hint)


@lru_cache(maxsize=256)
def _generated(protocol: Any) -> type:
    """The port's class: one stub per method, which costs a tenth of binding a signature at each call."""
    read = shape(protocol)
    space: dict[str, Any] = {"_is_port": True}
    index = 0
    for member in read.members:
        if member.kind == "attribute":
            continue
        still = _still(member)
        if still is not None:
            space[member.name] = still
        elif len(member.forms) > 1:
            space[member.name] = _overloaded(member, index)
        else:
            space[member.name] = _stub(member.forms[0], index)
        index += len(member.forms)
    name = f"{read.name}Port"
    space["__repr__"] = lambda self: f"<port of {read.name}, answered by {type(self._invcheck.double).__name__}>"
    return type(name, (), space)


def _still(member: Member) -> Any:
    """A method that asks nothing: one that gives Self, or takes nothing and gives None, such as close()."""
    one = member.forms[0]
    silent = (one.returns is None or one.returns is type(None)) and not one.signature.parameters
    if member.name in ("__exit__", "__aexit__"):
        silent = True
    entering = is_self(one.returns) or member.name in ("__enter__", "__aenter__")
    if not (silent or entering):
        return None
    if one.flag == "async":

        async def later(self: Any, *_args: Any) -> Any:
            return self if entering else None

        return later
    return lambda self, *_args: self if entering else None


_BODIES = {
    "ask": "def stub({given}):\n    return {me}._invcheck.ask({index}, {request})",
    "aask": "async def stub({given}):\n    return await {me}._invcheck.aask({index}, {request})",
    "stream": "def stub({given}):\n    return {me}._invcheck.stream({index}, {request})",
    "own stream": "def stub({given}):\n    yield from {me}._invcheck.stream({index}, {request})",
    "astream": "def stub({given}):\n    return {me}._invcheck.astream({index}, {request})",
    "own astream": "async def stub({given}):\n    async for _ in {me}._invcheck.astream({index}, {request}):\n        yield _",
    "afirst stream": "async def stub({given}):\n    return await {me}._invcheck.afirst({index}, {request})",
}
"""How each manner of a method is written; "own" is a generator by its own body, whose flag the stub keeps."""


def _stub(form: Form, index: int) -> Any:
    how, _ = _manner(form)
    space: dict[str, Any] = {"__name__": __name__}  # so that its frames are told apart from the app's
    me = "self"
    while me in form.signature.parameters:
        me += "_"
    given, request = _written(form, me, space)
    exec(_BODIES[how].format(me=me, given=given, index=index, request=request), space)  # noqa: S102  # parameter names of a function that Python has parsed
    stub = space["stub"]
    stub.__name__ = stub.__qualname__ = form.name
    stub.__annotations__ = {name: hint for name, hint in form.hints.items() if hint is not EMPTY}
    return stub


def _written(form: Form, me: str, space: dict[str, Any]) -> tuple[str, str]:
    """The parameter list and the request, as source text; defaults enter as values."""
    given, request, last = [me], [], None
    positional_only = any(p.kind is p.POSITIONAL_ONLY for p in form.signature.parameters.values())
    for p in form.signature.parameters.values():
        if last is p.POSITIONAL_ONLY and p.kind is not p.POSITIONAL_ONLY:
            given.append("/")
        if p.kind is p.KEYWORD_ONLY and last not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            given.append("*")
        last = p.kind
        stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        default = ""
        if p.default is not EMPTY:
            space[f"_default_{p.name}"] = None if p.default is ... else p.default
            default = f"=_default_{p.name}"
        given.append(f"{stars}{p.name}{default}")
        spread = p.kind is p.VAR_KEYWORD and not positional_only
        request.append(f"**{p.name}" if spread else f"{p.name!r}: {p.name}")
    if last is inspect.Parameter.POSITIONAL_ONLY:
        given.append("/")
    return ", ".join(given), "{" + ", ".join(request) + "}"


def _overloaded(member: Member, first: int) -> Any:
    """A method with overloads: each call is bound to the first signature that its arguments fit."""
    stubs = [_stub(form, first + offset) for offset, form in enumerate(member.forms)]
    fits = [{name: fitter(hint) for name, hint in form.hints.items() if name != "return"} for form in member.forms]

    def chosen(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for form, stub, known in zip(member.forms, stubs, fits, strict=True):
            try:
                bound = form.signature.bind(*args, **kwargs)
            except TypeError:
                continue
            checks = [(known[name], value) for name, value in bound.arguments.items() if _single(form, name)]
            if all(check is None or check(value) for check, value in checks):
                return stub
        raise TypeError(f"{member.name}() fits none of its overloads:\n" + "\n".join(f"  {form}" for form in member.forms))

    if all(form.flag == "async" for form in member.forms):

        async def later(self: Any, *args: Any, **kwargs: Any) -> Any:
            return await chosen(args, kwargs)(self, *args, **kwargs)

        method: Any = later
    else:

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return chosen(args, kwargs)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = member.name
    return method


def _single(form: Form, name: str) -> bool:
    kind = form.signature.parameters[name].kind
    return kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
