"""A hand-written object against the Protocol that it stands for: every drift is seen, and nothing else."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NewType, ParamSpec, Protocol, Self, TypedDict, TypeVar, overload

import pytest
from annotated_types import Ge
from pydantic import BaseModel

import invcheck.faces
from invcheck.errors import PortMismatch
from invcheck.faces import check_port
from invcheck.faces.compare import takes
from invcheck.faces.fits import fitter

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

P = ParamSpec("P")
T = TypeVar("T")


class Chat(Protocol):
    """The app's own port."""

    model: str

    @property
    def region(self) -> str: ...
    def complete(self, prompt: str, limit: int = 8, *, stop: Sequence[str] = ()) -> str: ...
    async def acomplete(self, prompt: str, /) -> str: ...
    def stream(self, prompt: str) -> AsyncIterator[str]: ...
    @staticmethod
    def version() -> str: ...
    @classmethod
    def of(cls, name: str) -> Chat: ...
    @overload
    def ask(self, prompt: str) -> str: ...
    @overload
    def ask(self, prompt: list[str], *, join: bool = ...) -> list[str]: ...


class Fine:
    """What satisfies it, and takes more."""

    model: str = "m"

    @property
    def region(self) -> str:
        """A property is the candidate's own code, which a comparison does not run."""
        raise AssertionError

    def complete(self, prompt: str, limit: int = 8, extra: str = "x", *, stop: Sequence[str] = (), more: int = 1) -> str:
        """A wider method."""
        return prompt

    async def acomplete(self, anything: object) -> str:
        """A positional-only parameter may be called anything, and take more."""
        return ""

    async def stream(self, prompt: str) -> AsyncIterator[str]:
        """An async generator is an async iterator."""
        yield prompt

    @staticmethod
    def version() -> str:
        """A static method."""
        return ""

    @classmethod
    def of(cls, name: str) -> Fine:
        """A class method."""
        return cls()

    @overload
    def ask(self, prompt: str) -> str: ...
    @overload
    def ask(self, prompt: list[str], *, join: bool = False) -> list[str]: ...
    def ask(self, prompt: str | list[str], *, join: bool = False) -> str | list[str]:
        """Both overloads."""
        return prompt


def test_what_satisfies_the_protocol_passes_as_object_and_as_class() -> None:
    """More parameters with defaults, wider hints, properties for attributes: all of it is fine."""
    assert check_port(Fine(), Chat) == ()
    assert check_port(Fine, Chat) == ()


class _Drifts:
    """Each method drifts from `Chat` in one way."""

    def name(self, question: str, limit: int = 8, *, stop: Sequence[str] = ()) -> str: ...
    def order(self, limit: int = 8, prompt: str = "", *, stop: Sequence[str] = ()) -> str: ...
    def missing(self, prompt: str, *, stop: Sequence[str] = ()) -> str: ...
    def keyword_missing(self, prompt: str, limit: int = 8) -> str: ...
    def positional(self, prompt: str, limit: int = 8, stop: Sequence[str] = (), /) -> str: ...
    def keyword_only(self, prompt: str, *, limit: int = 8, stop: Sequence[str] = ()) -> str: ...
    def default(self, prompt: str, limit: int = 9, *, stop: Sequence[str] = ()) -> str: ...
    def default_type(self, prompt: str, limit: int = True, *, stop: Sequence[str] = ()) -> str: ...
    def no_default(self, prompt: str, limit: int, *, stop: Sequence[str] = ()) -> str: ...
    def required(self, prompt: str, limit: int = 8, *, stop: Sequence[str] = (), more: int) -> str: ...
    def hint(self, prompt: bytes, limit: int = 8, *, stop: Sequence[str] = ()) -> str: ...
    def narrow(self, prompt: str, limit: int = 8, *, stop: list[str] = ()) -> str: ...  # type: ignore[assignment]  # the drift is the hint
    def result(self, prompt: str, limit: int = 8, *, stop: Sequence[str] = ()) -> int: ...
    async def flag(self, prompt: str, limit: int = 8, *, stop: Sequence[str] = ()) -> str: ...
    def generator(self, prompt: str, limit: int = 8, *, stop: Sequence[str] = ()) -> Iterator[str]:
        yield prompt


@pytest.mark.parametrize(
    ("drift", "says"),
    [
        ("name", "parameter 1 is called question, the Protocol says prompt"),
        ("order", "parameter 1 is called limit, the Protocol says prompt"),
        ("missing", "it has no positional limit"),
        ("keyword_missing", "it has no keyword stop"),
        ("positional", "prompt can only be given by position, the Protocol allows its name"),
        ("keyword_only", "limit is there, but not by position"),
        ("default", "limit has the default 9, the Protocol says 8"),
        ("default_type", "limit has the default True, the Protocol says 8"),
        ("no_default", "limit has no default, the Protocol says 8"),
        ("required", "more is required, the Protocol does not give it"),
        ("hint", "prompt is bytes, the Protocol says str"),
        ("narrow", "stop is list[str], the Protocol says collections.abc.Sequence[str]"),
        ("result", "the result is int, the Protocol says str"),
        ("flag", "it is an async function, the Protocol says a plain function"),
        ("generator", "the result is collections.abc.Iterator[str], the Protocol says str"),
    ],
)
def test_every_drift_is_refused_with_both_signatures(drift: str, says: str) -> None:
    """Names, order, kinds, defaults, required extras, hints, the async flag: each is named, and both signatures are shown."""
    drifted = type("Ours", (Fine,), {"complete": _Drifts.__dict__[drift]})
    for candidate in (drifted, drifted()):
        with pytest.raises(PortMismatch) as caught:
            check_port(candidate, Chat)
        message = caught.value.message
        assert message.startswith(f"Ours.complete: {says}\n")
        assert "  Protocol: def complete(prompt: str, limit: int = 8, *, stop: Sequence[str] = ()) -> str\n  got:      " in message
        assert "def complete(" in message.rpartition("got:")[2]


async def _awaited_stream(self: Any, prompt: str) -> AsyncIterator[str]: ...
def _plain_ask(self: Any, prompt: str) -> str: ...
def _plain_async(self: Any, prompt: str) -> str: ...
async def _generating(self: Any, prompt: str) -> AsyncIterator[str]:
    yield prompt


@pytest.mark.parametrize(
    ("member", "value", "says"),
    [
        ("acomplete", _plain_async, "it is a plain function, the Protocol says an async function"),
        ("acomplete", _generating, "it is an async generator, the Protocol says an async function"),
        ("stream", _awaited_stream, "it is an async function, the Protocol says a plain function"),
        ("version", lambda self: "", "a plain method, the Protocol says it is a static method"),
        ("of", lambda self, name: None, "a plain method, the Protocol says it is a class method"),
        ("ask", _plain_ask, r"prompt is str, the Protocol says list\[str\]"),
        ("complete", 3, "is int, the Protocol says it is a method"),
        ("model", 3, "Ours.model is int, the Protocol says str"),
    ],
)
def test_a_member_of_another_kind_is_refused(member: str, value: Any, says: str) -> None:
    """Async for plain, awaited for iterated, static for plain, one overload of two, a value for a method."""
    with pytest.raises(PortMismatch, match=says):
        check_port(type("Ours", (Fine,), {member: value}), Chat)


@pytest.mark.parametrize(
    ("left", "says"), [("complete", "Ours has no complete\n  Protocol: def complete"), ("region", "has no attribute region")]
)
def test_a_missing_member_is_refused(left: str, says: str) -> None:
    """A member that nobody wrote is named, with its signature."""
    members = {name: value for name, value in vars(Fine).items() if name != left and not name.startswith("__")}
    with pytest.raises(PortMismatch, match=says):
        check_port(type("Ours", (), members), Chat)


def test_an_attribute_that_is_only_declared_is_enough_for_a_class() -> None:
    """A class that sets an attribute in its constructor declares it; an object must have it."""

    class Named(Protocol):
        name: str

    class Declares:
        name: str

    @dataclass
    class Slotted:
        name: str

    assert check_port(Declares, Named) == ()
    assert check_port(Slotted("n"), Named) == ()
    with pytest.raises(PortMismatch, match="no attribute name"):
        check_port(Declares(), Named)


class Ask(Protocol):
    """One method."""

    async def ask(self, prompt: str) -> str: ...


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class _Asks:
    async def own(self, prompt: str) -> str: ...
    def awaitable(self, prompt: str) -> Awaitable[str]: ...
    def future(self, prompt: str) -> asyncio.Future[str]: ...
    def silent(self, prompt): ...  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  # an implementation without hints
    def anything(self, *args: Any, **kwargs: Any) -> Any: ...


@pytest.mark.parametrize(
    ("function", "notes"),
    [
        (_Asks.own, ()),
        (_wrapped(_Asks.own), ()),
        (_Asks.awaitable, ()),
        (_Asks.future, ()),
        (_Asks.silent, ("ask: its async flag, which only the call shows",)),
        (lambda self, prompt: None, ("ask: its async flag, which only the call shows",)),
        (_Asks.anything, ("ask: prompt goes into args", "ask: its async flag, which only the call shows")),
    ],
)
def test_a_flag_that_is_hidden_is_told_apart_from_a_wrong_one(function: Any, notes: tuple[str, ...]) -> None:
    """Wrappers are looked through, awaitables count as async, and what only a call can show is reported."""
    assert check_port(type("Ours", (), {"ask": function}), Ask) == notes


def test_an_instances_own_callable_is_compared_too() -> None:
    """A function set on the object, or a callable of C code, is what an app would call."""

    class Loose(Protocol):
        def ask(self, prompt: str) -> Any: ...

    class Ours:
        ask: Any

    ours = Ours()
    ours.ask = lambda prompt: prompt
    assert check_port(ours, Loose) == ()
    ours.ask = "{}".format
    assert check_port(ours, Loose) == ("ask: prompt goes into args",)
    ours.ask = lambda: None
    with pytest.raises(PortMismatch, match="no positional prompt"):
        check_port(ours, Loose)


class Hidden(Protocol):
    """Hints that only a type checker sees, type variables, Self."""

    def ask(self, amount: Decimal) -> Fraction: ...
    def both(self, value: T) -> T: ...
    def me(self) -> Self: ...


class _Same:
    def ask(self, amount: Decimal) -> Fraction: ...
    def both(self, value: str) -> str: ...
    def me(self) -> _Same: ...


class _Other(_Same):
    def ask(self, amount: str) -> Fraction: ...  # type: ignore[override]  # the drift


def test_what_cannot_be_resolved_is_compared_as_text() -> None:
    """The same text is the same hint, another one a drift; variables and Self are reported, never compared."""
    notes = check_port(_Same, Hidden)
    assert "ask(amount): the hint Decimal, which is compared as text" in notes
    assert "both: value: the unbound TypeVar T" in notes
    assert "me: the result: Self" in notes
    with pytest.raises(PortMismatch, match="amount is str, the Protocol says Decimal"):
        check_port(_Other, Hidden)


def test_overloads_may_be_satisfied_by_one_wide_signature() -> None:
    """An implementation without overloads that takes both is enough."""

    class Two(Protocol):
        @overload
        def ask(self, prompt: str) -> str: ...
        @overload
        def ask(self, prompt: int) -> str: ...

    class Wide:
        def ask(self, prompt: str | int) -> str: ...

    class Half:
        def ask(self, prompt: str) -> str: ...

    assert check_port(Wide, Two) == ()
    with pytest.raises(PortMismatch, match="prompt is str, the Protocol says int"):
        check_port(Half, Two)


def test_overloads_that_drift_are_refused() -> None:
    """Where the candidate has overloads of its own, one of them must fit each of the Protocol's."""

    class Two(Protocol):
        @overload
        def ask(self, prompt: str, *, whole: bool = ...) -> str: ...
        @overload
        def ask(self, prompt: int) -> int: ...

    class Drifted:
        @overload
        def ask(self, prompt: str) -> str: ...
        @overload
        def ask(self, prompt: int) -> int: ...
        def ask(self, prompt: str | int) -> str | int:
            return prompt

    with pytest.raises(PortMismatch) as caught:
        check_port(Drifted, Two)
    assert caught.value.message == (
        "Drifted.ask: no overload fits: it has no keyword whole\n  Protocol: def ask(prompt: str, *, whole: bool = ...) -> str\n"
        "  got:      def ask(prompt: str) -> str"
    )


class Stars(Protocol):
    """Variable parameters."""

    def ask(self, *parts: str, **options: int) -> str: ...


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda self, *parts, **options: "", None),
        (lambda self, **options: "", r"it has no \*parts"),
        (lambda self, *parts: "", r"it has no \*\*options"),
    ],
)
def test_variable_parameters_need_their_counterpart(function: Any, says: str | None) -> None:
    """*args and **kwargs of the Protocol must be taken as such."""
    ours = type("Ours", (), {"ask": function})
    if says is None:
        assert check_port(ours, Stars) == ()
    else:
        with pytest.raises(PortMismatch, match=says):
            check_port(ours, Stars)


class Keys(Protocol):
    """A keyword and a positional-only parameter."""

    def ask(self, prompt: str, /, *, key: int = 1) -> str: ...


@pytest.mark.parametrize(
    "function",
    [
        lambda self, p, /, *, key=1: "",
        lambda self, p, key=1: "",
        lambda self, *rest, **more: "",
        lambda self, p, **more: "",
    ],
)
def test_a_parameter_may_be_taken_in_any_way_that_works(function: Any) -> None:
    """By position or name, or gathered: whatever a call by the Protocol fits."""
    check_port(type("Ours", (), {"ask": function}), Keys)


class Reads(Protocol):
    """What is read of a reply."""

    text: str


class _Text:
    text = "t"


TAKES: list[tuple[Any, Any, bool]] = [
    (str, str, True),
    (object, str, True),
    (Any, str, True),
    (str, Any, True),
    (str, int, False),
    (float, int, True),
    (int, float, False),
    (str | None, str, True),
    (str, str | None, False),
    (str | int, int | str, True),
    (Sequence[str], list[str], True),
    (list[str], Sequence[str], False),
    (list[str], list[int], False),
    (Mapping[str, Any], dict[str, int], True),
    (str, Literal["a"], True),
    (Literal["a", "b"], Literal["a"], True),
    (Literal["a"], Literal["a", "b"], False),
    (int, Literal["a"], False),
    (Literal["a"], str, False),
    (Reads, _Text, True),
    (Reads, str, False),
    (None, type(None), True),
    (Iterable[str], Iterator[str], True),
    (Awaitable[str], Awaitable[int], False),
    (list, list[str], True),
    (Callable[[str], str], Callable[[int], str], False),
    (Callable[..., str], 3, False),
]


@pytest.mark.parametrize(("wide", "narrow", "holds"), TAKES)
def test_a_hint_takes_another(wide: Any, narrow: Any, holds: bool) -> None:
    """Subclasses, unions, literals, containers, Protocols: as far as hints tell."""
    assert takes(wide, narrow) is holds


class Model(BaseModel):
    """A pydantic model."""

    x: int


class Row(TypedDict):
    """A typed dict."""

    x: int


Id = NewType("Id", str)


FITS: list[tuple[Any, Any, bool]] = [
    (str, "a", True),
    (str, 1, False),
    (int, 1, True),
    (int, True, False),
    (bool, True, True),
    (float, 1, True),
    (float, 1.5, True),
    (float, True, False),
    (None, None, True),
    (None, 0, False),
    (Literal["a", 1], "a", True),
    (Literal["a", 1], True, False),
    (str | None, None, True),
    (str | None, 1, False),
    (list[str], ["a"], True),
    (list[str], [1], False),
    (list[str], "a", False),
    (Sequence[str], ("a",), True),
    (Sequence[str], "a", False),
    (dict[str, int], {"a": 1}, True),
    (dict[str, int], {"a": "1"}, False),
    (dict[str, int], {1: 1}, False),
    (set[int], {1}, True),
    (list[Any], [1, "a"], True),
    (tuple[str, int], ("a", 1), True),
    (tuple[str, int], ("a", "b"), False),
    (Model, Model(x=1), True),
    (Model, {"x": 1}, False),
    (Row, {"x": 1}, True),
    (Row, {"x": "1"}, False),
    (Row, {}, False),
    (Row, {"x": 1, "y": 2}, False),
    (Annotated[int, {}], 3, True),
    (Id, "a", True),
    (Id, 1, False),
    (Annotated[int, Ge(3)], 3, True),
    (Annotated[int, Ge(3)], 2, False),
    (Reads, _Text(), True),
    (Reads, 3, False),
]


@pytest.mark.parametrize(("hint", "value", "holds"), FITS)
def test_a_value_fits_a_hint(hint: Any, value: Any, holds: bool) -> None:
    """Plain hints by hand, the rest through pydantic, strictly: a text is no number."""
    fits = fitter(hint)
    assert fits is not None
    assert fits(value) is holds


@pytest.mark.parametrize(
    "hint", [Any, object, T, list[T], Callable[P, str], Self, str | Any, Annotated[Callable[[T], str], "x"], asyncio.Future[str]]
)
def test_a_hint_that_says_nothing_checks_nothing(hint: Any) -> None:
    """Any, type variables, ParamSpec, Self, and what no validator can be made of, have no check."""
    assert fitter(hint) is None


def test_a_signature_is_shown_as_it_was_written() -> None:
    """Hints that are texts lose their quotes; a result without a hint has none."""

    class Chat2(Protocol):
        def ask(self, x: Decimal, y=1, *, z: str = "a"): ...  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  # partly without hints

    with pytest.raises(PortMismatch) as caught:
        check_port(object(), Chat2)
    assert caught.value.message == "object has no ask\n  Protocol: def ask(x: Decimal, y=1, *, z: str = 'a')"


def test_the_room_has_what_it_says() -> None:
    """Names that load late are there, others are not."""
    assert invcheck.faces.check_port is check_port
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        invcheck.faces.other  # type: ignore[attr-defined]  # noqa: B018  # the mistake
