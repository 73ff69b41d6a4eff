"""The port: an object that satisfies the app's own Protocol, generated from it and answered by a double."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from invcheck.double import Double, Items
from invcheck.errors import PortMismatch
from invcheck.faces.adapt import Adapt, adapter
from invcheck.faces.call import driven
from invcheck.faces.compare import check_port
from invcheck.faces.fits import Fits, fitter, named
from invcheck.faces.pending import turn, unless_aborted
from invcheck.faces.render import renderer
from invcheck.faces.signature import EMPTY, Form, Member, Shape, shape
from invcheck.faces.stream import ReplyStream, Show
from invcheck.faces.stubs import generated, manner
from invcheck.mistakes import mistaken, own
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

    A call's request is ``{parameter name: value}``, defaults applied and keyword variables merged in; a method that gathers
    whatever it is given (``*args, **kwargs``) is asked as a plain call is. ``returns`` makes the app's own object of a reply
    (one function, or one per method); without it see `invcheck.faces.adapt`. ``raises`` maps a kind of fault to the app's own
    exception. ``attributes`` are values for members that are no methods. ``like``
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
        return driven(self.double.answer(self._arrive(hand, given), hand=hand.over, render=self.render))

    async def aask(self, index: int, given: dict[str, Any]) -> Any:
        hand = self.hands[index]
        call = self._arrive(hand, given)
        call.awaits = True
        return await unless_aborted(self.double.answer(call, hand=hand.over, render=self.render, pause=turn), call)

    def stream(self, index: int, given: dict[str, Any]) -> ReplyStream:
        """Begin a stream: the call arrives at once, and is answered as its items are asked for."""
        hand = self.hands[index]
        call = self._arrive(hand, given)
        if hand.items is None:
            return ReplyStream(self.double, call, render=self.render, shown=hand.shown)
        return ReplyStream(self.double, call, hand=hand.fitting, items=hand.items, render=self.render)

    async def afirst(self, index: int, given: dict[str, Any]) -> ReplyStream:
        """Begin a stream that must be awaited before it is iterated."""
        return self.stream(index, given)

    def _arrive(self, hand: _Hand, given: dict[str, Any]) -> Call:
        return self.double.arrive(given, lane=self.lane, method=hand.name, signal=_signal(given))


def _signal(given: dict[str, Any]) -> AbortSignal | None:
    """A parameter called ``signal`` that holds an AbortSignal is the call's own."""
    signal = given.get("signal")
    return signal if isinstance(signal, AbortSignal) else None


class _Hand:
    """What one form of a method makes of a reply: a value, or a stream of its chunks or of the items that it has."""

    __slots__ = ("adapt", "fits", "form", "hint", "items", "name", "shown")

    def __init__(self, form: Form, hint: Any, *, adapt: Adapt | None = None, items: Items | None = None, shown: Show | None = None) -> None:
        self.form, self.hint, self.adapt, self.items, self.shown = form, hint, adapt, items, shown
        self.name = form.name
        self.fits: Fits | None = fitter(hint)

    def over(self, reply: Reply, call: Call) -> Any:
        """Make what the app gets, and check it."""
        made = reply if self.adapt is None else self.adapt(reply, call)
        if self.fits is not None and not self.fits(made):
            raise self.mismatch(made, "returns")
        return made

    def fitting(self, item: Any, _: Call) -> Any:
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
    if given is not None:
        asked = own("returns", given)
        if "stream" in how:
            return _Hand(form, inner, items=lambda reply, _: _items(given, asked(reply)))
        return _Hand(form, inner, adapt=lambda reply, _: asked(reply))
    if "stream" not in how:
        return _Hand(form, inner, adapt=adapter(inner))
    if inner in (str, EMPTY, Any):
        return _Hand(form, inner, shown=lambda chunk: chunk.text or None)
    if isinstance(inner, type) and issubclass(Chunk, inner):
        return _Hand(form, inner, shown=lambda chunk: chunk)
    return _Hand(form, inner, items=_values_of(inner))


def _items(given: Callable[..., Any], items: Iterable[Any]) -> Iterable[Any]:
    """The items that the test's own function makes, which may fail at any of them."""
    return items if isinstance(items, list | tuple) else _asked_for(given, items)


def _asked_for(given: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
    try:
        yield from items
    except Exception as error:
        mistaken("returns", given, error)
        raise


def _values_of(hint: Any) -> Items:
    """The items of a stream that is neither text nor chunks: the reply's value, where that is a list."""

    def values(reply: Reply, _: Call) -> Iterable[Any]:
        if isinstance(reply.value, list | tuple):
            return reply.value
        raise PortMismatch(f"a reply cannot be streamed as {named(hint)}", hint="say returns=, a function that gives the items of a reply")

    return values
