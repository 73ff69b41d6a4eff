"""The port: an object that satisfies the app's own Protocol, generated from it and answered by a double."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from typing import Any, TypeVar

from invcheck.double import Double, mistaken, own
from invcheck.errors import PortMismatch
from invcheck.faces.adapt import Adapt, adapter
from invcheck.faces.call import driven, looped
from invcheck.faces.compare import check_port
from invcheck.faces.fits import Fits, fitter, named
from invcheck.faces.render import renderer
from invcheck.faces.signature import EMPTY, Form, Member, Shape, shape
from invcheck.faces.stubs import generated, manner
from invcheck.request import AbortSignal, Call
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Chunk, Reply

P = TypeVar("P")


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
    made = generated(protocol)()
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
        return driven(
            self.double.ask(
                given,
                lane=self.lane,
                method=hand.name,
                hand=hand.over,
                render=self.render,
                signal=_signal(given),
                opens=hand.streams,
            )
        )

    async def aask(self, index: int, given: dict[str, Any]) -> Any:
        hand = self.hands[index]
        return await self.double.ask(
            given,
            lane=self.lane,
            method=hand.name,
            hand=hand.over,
            render=self.render,
            pause=looped(),
            signal=_signal(given),
            opens=hand.streams,
        )

    def stream(self, index: int, given: dict[str, Any]) -> Iterator[Any]:
        return self._checked(index, self.ask(index, given))

    async def astream(self, index: int, given: dict[str, Any]) -> AsyncIterator[Any]:
        for item in self._checked(index, await self.aask(index, given)):
            yield item

    async def afirst(self, index: int, given: dict[str, Any]) -> AsyncIterator[Any]:
        """For a method that must be awaited before its stream is iterated."""
        return self._later(index, await self.aask(index, given))

    async def _later(self, index: int, opened: tuple[Iterable[Any], Callable[..., None]]) -> AsyncIterator[Any]:
        for item in self._checked(index, opened):
            yield item

    def _checked(self, index: int, opened: tuple[Iterable[Any], Callable[..., None]]) -> Iterator[Any]:
        hand, (items, close) = self.hands[index], opened
        left = len(items) if isinstance(items, list) else -1
        try:
            for item in items:
                left -= 1
                yield hand.fitting(item)
        except BaseException as error:
            # who has the last item need not ask whether there is another one
            close(None if left == 0 and isinstance(error, GeneratorExit) else error)
            raise
        close()


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

    def fitting(self, item: Any) -> Any:
        """Give an item of a stream, which must be what the hint says."""
        if self.fits is not None and not self.fits(item):
            raise self.mismatch(item, "yields")
        return item

    def mismatch(self, value: Any, does: str) -> PortMismatch:
        return PortMismatch(
            f"{self.name} {does} {type(value).__name__} {show(snapshot(value), 60)}, the Protocol says {named(self.hint)}\n"
            f"  Protocol: {self.form}",
            hint="say returns=, a function that makes it of a reply",
        )


def _hand(form: Form, member: Member, returns: Any) -> _Hand:
    how, inner = manner(form)
    given = returns.get(member.name) if isinstance(returns, Mapping) else returns
    streams = "stream" in how
    if given is not None:
        asked = own("returns", given)
        return _Hand(form, inner, lambda reply, _: _items(given, asked(reply)) if streams else asked(reply), streams=streams)
    return _Hand(form, inner, _pieces(inner) if streams else adapter(inner), streams=streams)


def _items(given: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
    """The items that the test's own function makes, which may fail at any of them."""
    try:
        yield from items
    except Exception as error:
        mistaken("returns", given, error)
        raise


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
