"""The port: it satisfies the app's own Protocol, and checks what it hands over."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    TypedDict,
    TypeVar,
    overload,
    runtime_checkable,
)

import pytest
from pydantic import BaseModel, Field

from invcheck import Chunk, Fault, Reply, ScriptedModel, Text, Usage, port, testing
from invcheck.errors import PortMismatch
from invcheck.record import Record, opened
from invcheck.sources import reply, tool_call
from invcheck.vocabulary import Counts, ToolCall, Verdict

if TYPE_CHECKING:
    from decimal import Decimal

T = TypeVar("T")
Out_co = TypeVar("Out_co", covariant=True)


def one(protocol: Any, *steps: object, **how: Any) -> Any:
    """A port of a script; it must be used inside of testing()."""
    return ScriptedModel(*steps).port(protocol, **how)


# requests


class Wide(Protocol):
    """Every kind of parameter."""

    def positional(self, prompt: str, /, limit: int = 8, *rest: int, key: str = "k", **more: Any) -> str: ...
    def named(self, prompt: str, *, limit: int = 8, **more: Any) -> str: ...
    def only(self, a: str, b: str = "b", /) -> str: ...
    def rest(self, *rest: int, key: str) -> str: ...
    def self_named(me, self: str) -> str: ...  # noqa: N805  # a parameter called self is a parameter
    @staticmethod
    def static(prompt: str) -> str: ...
    @classmethod
    def of_class(cls, prompt: str) -> str: ...
    def __call__(self, prompt: str) -> str: ...


def test_a_request_has_the_parameters_names_with_defaults() -> None:
    """The bound call, defaults applied; keyword variables are merged in unless a positional-only name could meet them."""
    with testing() as record:
        wide = one(Wide, *"abcdefgh")
        wide.positional("p", 1, 2, 3, key="x", prompt="other")
        wide.named("p", temperature=0)
        wide.only("a")
        wide.rest(1, 2, key="k")
        wide.self_named("s")
        wide.static("t")
        wide.of_class("u")
        wide("v")
        assert [(call["method"], call["request"]) for call in record.calls] == [
            ("positional", {"prompt": "p", "limit": 1, "rest": [2, 3], "key": "x", "more": {"prompt": "other"}}),
            ("named", {"prompt": "p", "limit": 8, "temperature": 0}),
            ("only", {"a": "a", "b": "b"}),
            ("rest", {"rest": [1, 2], "key": "k"}),
            ("self_named", {"self": "s"}),
            ("static", {"prompt": "t"}),
            ("of_class", {"prompt": "u"}),
            ("__call__", {"prompt": "v"}),
        ]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda wide: wide.named(),
        lambda wide: wide.named(limit=1),
        lambda wide: wide.only(a="a"),
        lambda wide: wide.rest(1),
        lambda wide: wide(1, 2),
    ],
)
def test_a_call_that_the_protocol_does_not_allow_is_a_type_error(wrong: Any) -> None:
    """The port takes exactly what the Protocol takes, and a call that it does not take is no call."""
    with testing() as record:
        wide = one(Wide)
        with pytest.raises(TypeError):
            wrong(wide)
        assert record.calls == []


def test_a_port_looks_like_its_protocol() -> None:
    """Signature, name, hints, flags and a runtime check all see the Protocol's own."""

    @runtime_checkable
    class Chat(Protocol):
        async def ask(self, prompt: str, *, limit: int = 8) -> str: ...
        def plain(self) -> str: ...
        def items(self) -> Iterator[str]: ...

    with testing():
        chat = one(Chat)
        assert isinstance(chat, Chat)
        assert str(inspect.signature(chat.ask)) == "(prompt: str, *, limit: int = 8) -> str"
        assert (inspect.iscoroutinefunction(chat.ask), inspect.iscoroutinefunction(chat.plain)) == (True, False)
        assert chat.ask.__name__ == "ask"
        assert repr(chat) == "<port of Chat, answered by ScriptedModel>"
        assert chat.__invcheck_not_compared__ == ()


# replies as the app's own types


@dataclass
class Tokens:
    """An app's own count."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int = 0


@dataclass
class Tool:
    """An app's own tool call."""

    name: str
    args: dict[str, Any]
    id: str = ""


@dataclass
class Completion:
    """An app's own reply."""

    content: str
    finish_reason: str | None
    usage: Tokens
    tool_calls: tuple[Tool, ...] = ()
    model: str = "none"
    thinking: str | None = None
    extra: int = 7
    computed: int = field(init=False, default=1)


class Model(BaseModel):
    """A pydantic reply."""

    output: str = Field(alias="outputText")
    stop_reason: str
    input_tokens: int
    output_tokens: int
    role: str = ""
    id: str = ""


class Pair(NamedTuple):
    """A named tuple."""

    text: str
    finish: str
    other: int = 3


class Typed(TypedDict):
    """A typed dict."""

    text: str
    usage: dict[str, int]


@dataclass
class Hinted:
    """A field whose hint only a type checker sees."""

    text: str
    amount: Decimal | None = None


class TextOnly(Protocol):
    """What an app reads of a reply."""

    @property
    def text(self) -> str: ...


class Shapes(Protocol):
    """One method per type."""

    def text(self) -> str: ...
    def optional(self) -> str | None: ...
    def whole(self) -> Reply: ...
    def anything(self) -> Any: ...
    def unsaid(self): ...  # type: ignore[no-untyped-def]  # noqa: ANN201  # a method without hints
    def data(self, *, model: str = "m1") -> Completion: ...
    def plain(self) -> Completion: ...
    def model(self) -> Model: ...
    def pair(self) -> Pair: ...
    def typed(self) -> Typed: ...
    def protocol(self) -> TextOnly: ...
    def union(self) -> int | Pair: ...
    def annotated(self) -> Annotated[str, "of the answer"]: ...
    def hinted(self) -> Hinted: ...


def test_a_reply_becomes_the_apps_own_type_by_the_names_of_its_fields() -> None:
    """Text, the reply itself, dataclasses, pydantic models, named tuples, typed dicts, unions, Protocols of a reply."""
    full = reply("t", thinking="hm", tool_calls=[tool_call("f", {"x": 1}, id="c")], usage=Usage(3, 4))
    with testing():
        shapes = ScriptedModel().then_always(full).port(Shapes)
        assert (shapes.text(), shapes.optional(), shapes.whole().text, shapes.anything().text, shapes.unsaid().text) == ("t",) * 5
        made = shapes.data()
        assert made == Completion("t", "tool_calls", Tokens(3, 4, 7), (Tool("f", {"x": 1}, "c"),), "m1", "hm")
        assert shapes.plain().model == "none"
        model = shapes.model()
        assert (model.output, model.stop_reason, model.input_tokens, model.output_tokens, model.role) == (
            "t",
            "tool_calls",
            3,
            4,
            "assistant",
        )
        assert model.id.startswith("req_")
        assert shapes.pair() == Pair("t", "tool_calls")
        assert shapes.typed() == {"text": "t", "usage": {"input_tokens": 3, "output_tokens": 4}}
        assert shapes.protocol().text == "t"
        assert shapes.union() == Pair("t", "tool_calls")
        assert shapes.annotated() == "t"
        assert shapes.hinted() == Hinted("t")


def test_a_value_of_the_type_goes_first() -> None:
    """A step that carries the app's own object hands it over as it is."""
    own = Pair("own", "f")
    with testing():
        shapes = one(Shapes, *[reply("t", value=own)] * 3, reply("t", value="v"), reply("t", value="v"), reply("t", value=own))
        assert shapes.pair() is own
        assert shapes.union() is own
        assert shapes.anything() is own
        assert shapes.text() == "v"
        assert shapes.model.__name__ == "model"
        assert shapes.optional() == "v"
        assert shapes.text() == "t"


@dataclass
class Needs:
    """What no reply has."""

    text: str
    customer: str


@dataclass
class NeedsTools:
    """Tool calls of a type that no reply's call fills."""

    tool_calls: list[Needs]


@dataclass
class NeedsUsage:
    """Usage of a type that no usage fills."""

    usage: Needs


@dataclass
class NeedsNumber:
    """Usage as one number, which of the two it would be nobody says."""

    usage: int


@dataclass
class NeedsList:
    """A text field that is no text."""

    content: list[str]


@dataclass
class NeedsModel:
    """A model name that the request does not have."""

    model: str


@dataclass
class Empty:
    """Nothing that a reply could fill."""


class Plain:
    """A class of no known kind."""


class Wrong(Protocol):
    """Types that a reply cannot become."""

    def needs(self) -> Needs: ...
    def tools(self) -> NeedsTools: ...
    def usage(self) -> NeedsUsage: ...
    def number_of_tokens(self) -> NeedsNumber: ...
    def texts(self) -> NeedsList: ...
    def model(self) -> NeedsModel: ...
    def empty(self) -> Empty: ...
    def plain(self) -> Plain: ...
    def number(self) -> int: ...
    def union(self) -> int | Plain: ...
    def items(self) -> list[str]: ...
    def nothing(self, question: str) -> None: ...
    def hidden(self) -> Decimal: ...
    def stream(self) -> Iterator[int]: ...
    def protocol(self) -> Wrong: ...


@pytest.mark.parametrize(
    "method",
    [
        "needs",
        "tools",
        "usage",
        "number_of_tokens",
        "texts",
        "model",
        "empty",
        "plain",
        "number",
        "union",
        "items",
        "hidden",
        "stream",
        "protocol",
    ],
)
def test_a_reply_that_cannot_become_the_type_is_errored(method: str) -> None:
    """The error explains returns=, the call counts as failed, and the finding stays although the app swallows it."""
    record = Record()
    with opened(record):
        double = ScriptedModel(reply("t", tool_calls=[tool_call("f")]))
        ask = getattr(double.port(Wrong), method)
        with pytest.raises(PortMismatch, match="returns=") as caught:
            next(ask()) if method == "stream" else ask()
    assert "returns=" in str(caught.value.hint)
    assert double.counts == Counts(failed=1)
    assert [(finding.code, finding.verdict) for finding in record.findings()] == [("PORT_MISMATCH", Verdict.ERRORED)]


def test_a_method_that_returns_nothing_cannot_hand_a_reply_over() -> None:
    """A question whose method gives None would be silent, so it is an error."""
    record = Record()
    with opened(record), pytest.raises(PortMismatch, match="as NoneType"):
        one(Wrong, "t").nothing("q")


@dataclass
class Some:
    """Fields that may be left out."""

    text: str
    usage: Usage | None = None
    input_tokens: int = -1
    tool_calls: list[Any] | None = field(default_factory=list)
    total_tokens: int = -1


@dataclass
class Raw:
    """Our own parts, by their names."""

    usage: Any
    tool_calls: list[ToolCall]


class Few(Protocol):
    """Types with little in them."""

    def ask(self) -> Some: ...
    def raw(self) -> Raw: ...


def test_plain_data_is_frozen_in_the_record_and_the_apps_own_in_its_hands() -> None:
    """A reply's value cannot be changed; a port hands over a copy, as a client would that has parsed it."""

    class Chat(Protocol):
        def ask(self) -> dict[str, Any]: ...

    step = {"cites": ["d1"]}
    with testing() as record:
        double = ScriptedModel(reply("a", value=step), reply("b", value=step))
        mine = double.port(Chat).ask()
        mine["cites"].append("mine")
        step["cites"].append("changed")
        assert mine == {"cites": ["d1", "mine"]}
        value: Any = double("q").value
        with pytest.raises(TypeError, match="frozen"):
            value["cites"].append("d2")
        assert record.calls[0]["outcome"]["value"] == {"cites": ["d1"]}


def test_usage_that_nobody_knows_stays_away() -> None:
    """An empty usage fills no field; what may be left out is left out."""
    with testing():
        chat = one(
            Few,
            Reply((Text("t"),), usage=Usage()),
            reply("t", usage=Usage(1, 2)),
            reply("t", usage=Usage(1), tool_calls=[tool_call("f", id="c")]),
        )
        assert chat.ask() == Some("t", Usage())
        assert chat.ask() == Some("t", Usage(1, 2), 1, [], 3)
        assert chat.raw() == Raw(Usage(1), [ToolCall("f", {}, "c")])


def test_what_a_test_returns_is_checked_against_the_hint() -> None:
    """returns= makes anything of a reply, for all methods or for one; what it gives must fit the Protocol."""

    class Chat(Protocol):
        def count(self) -> int: ...
        async def names(self) -> list[str]: ...

    with testing():
        assert one(Chat, "abc", returns=lambda reply: len(reply.text)).count() == 3
        assert asyncio.run(one(Chat, "a b", returns={"names": lambda reply: reply.text.split()}).names()) == ["a", "b"]
    record = Record()
    with opened(record):
        with pytest.raises(PortMismatch, match=r"count returns str \"abc\", the Protocol says int") as caught:
            one(Chat, "abc", returns=lambda reply: reply.text).count()
        assert "Protocol: def count() -> int" in caught.value.message
        with pytest.raises(PortMismatch, match=r"names returns list \[1\]"):
            asyncio.run(one(Chat, "abc", returns=lambda _: [1]).names())
    assert [finding.code for finding in record.findings()] == ["PORT_MISMATCH"] * 2


def test_faults_are_the_apps_own_exceptions() -> None:
    """raises= of the port goes before the double's."""

    class Chat(Protocol):
        def ask(self) -> str: ...

    class Busy(Exception):  # an app's own name
        pass

    with testing():
        chat = ScriptedModel(Fault("rate-limit"), raises={"rate-limit": KeyError}).port(Chat, raises={"rate-limit": Busy})
        with pytest.raises(Busy, match="too many requests"):
            chat.ask()


# streams


async def factory(request: Any, signal: Any) -> AsyncIterator[Any]:
    """Two chunks and the reply."""
    yield "a"
    yield Chunk(request.id, "b")
    yield Reply((Text("ab"),))


class Streams(Protocol):
    """Every way in which a Protocol can say that it streams."""

    def iterator(self) -> Iterator[str]: ...
    def iterable(self) -> Iterable[str]: ...
    def generator(self) -> Generator[str, None, None]: ...
    def bare(self) -> Iterator: ...  # type: ignore[type-arg]  # a stream of anything
    def begun(self) -> Iterator[str]:
        yield ""

    def chunks(self) -> Iterator[Chunk]: ...
    def aiterator(self) -> AsyncIterator[str]: ...
    def agenerator(self) -> AsyncGenerator[str, None]: ...
    async def abegun(self) -> AsyncIterator[str]:
        yield ""

    async def first(self) -> AsyncIterator[str]: ...
    def awaited(self) -> Awaitable[str]: ...
    def coroutine(self) -> Coroutine[Any, Any, str]: ...
    def later(self) -> Awaitable[AsyncIterator[str]]: ...


async def _all(items: Any) -> list[Any]:
    return [item async for item in items]


async def _first(asking: Any) -> list[Any]:
    return await _all(await asking)


def test_a_stream_yields_the_chunks_as_they_were_emitted() -> None:
    """Sync or async, awaited first or not, by hint or by the Protocol's own yield: the flag is followed."""
    with testing():
        streams = ScriptedModel().then_always(factory).port(Streams)
        for name in ("iterator", "iterable", "generator", "bare", "begun"):
            assert list(getattr(streams, name)()) == ["a", "b"]
        assert [type(chunk) for chunk in streams.chunks()] == [Chunk, Chunk]
        for name in ("aiterator", "agenerator", "abegun"):
            assert asyncio.run(_all(getattr(streams, name)())) == ["a", "b"]
        for name in ("first", "later"):
            assert asyncio.run(_first(getattr(streams, name)())) == ["a", "b"]
        for name in ("awaited", "coroutine"):
            assert asyncio.run(getattr(streams, name)()) == "ab"
        flags = {name: inspect.isasyncgenfunction(getattr(streams, name)) for name in ("abegun", "aiterator", "first")}
        assert flags == {"abegun": True, "aiterator": False, "first": False}
        assert inspect.isgeneratorfunction(streams.begun)


def test_a_whole_reply_streams_as_one_piece() -> None:
    """A reply that was not streamed is its text, then each of its tool calls; a value that is a list gives its items."""

    class Numbers(Protocol):
        def numbers(self) -> Iterator[int]: ...

    with testing():
        both = reply("t", tool_calls=[tool_call("f", id="c")])
        streams = one(Streams, "t", both, both)
        assert list(streams.iterator()) == ["t"]
        assert list(streams.iterator()) == ["t"]
        text, tool = streams.chunks()
        assert (text.text, tool.tool_call) == ("t", ToolCall("f", {}, "c"))
        assert list(one(Numbers, reply("t", value=[1, 2])).numbers()) == [1, 2]
        assert list(one(Numbers, "abc", returns=lambda reply: range(len(reply.text))).numbers()) == [0, 1, 2]


def test_each_item_of_a_stream_is_checked_as_it_is_yielded() -> None:
    """A wrong item is an error where it comes, and the finding stays."""

    class Numbers(Protocol):
        def numbers(self) -> Iterator[int]: ...
        def anumbers(self) -> AsyncIterator[int]: ...

    record = Record()
    with opened(record):
        items = one(Numbers, reply("t", value=[1, "x"])).numbers()
        assert next(items) == 1
        with pytest.raises(PortMismatch, match='numbers yields str "x", the Protocol says int'):
            next(items)
        with pytest.raises(PortMismatch, match="anumbers yields"):
            asyncio.run(_all(one(Numbers, reply("t", value=["x"])).anumbers()))
    assert [finding.code for finding in record.findings()] == ["PORT_MISMATCH"] * 2


# overloads


class Overloaded(Protocol):
    """One method, several signatures."""

    @overload
    def ask(self, prompt: str, *, stream: Literal[False] = ...) -> str: ...
    @overload
    def ask(self, prompt: str, *, stream: Literal[True]) -> Iterator[str]: ...
    @overload
    def ask(self, prompt: list[str], *more: str) -> list[str]: ...

    @overload
    async def later(self, prompt: str) -> str: ...
    @overload
    async def later(self, prompt: int) -> int: ...


def test_each_call_takes_the_overload_that_it_fits() -> None:
    """Names, kinds and types of the arguments choose the signature, and its own return hint is checked."""
    with testing() as record:
        chat = one(Overloaded, "a", "b", reply("c", value=["c"]), "d", reply("e", value=3))
        assert chat.ask("x") == "a"
        assert list(chat.ask("x", stream=True)) == ["b"]
        assert chat.ask(["x"], "y") == ["c"]
        assert asyncio.run(chat.later("x")) == "d"
        assert asyncio.run(chat.later(1)) == 3
        for wrong in (lambda: chat.ask(3), lambda: chat.ask("x", stream="yes"), chat.ask):
            with pytest.raises(TypeError, match="fits none of its overloads:\n  def ask"):
                wrong()
        assert [call["request"] for call in record.calls[:3]] == [
            {"prompt": "x", "stream": None},
            {"prompt": "x", "stream": True},
            {"prompt": ["x"], "more": ["y"]},
        ]


# what is no question


class Resource(Protocol):
    """A client that is opened and closed."""

    name: str
    retries: int = 3
    kind: ClassVar[str] = "chat"

    @property
    def region(self) -> str: ...
    def close(self) -> None: ...
    async def aclose(self) -> None: ...
    def __enter__(self) -> Resource: ...  # noqa: PYI034  # a Protocol may name itself
    def __exit__(self, *args: object) -> bool | None: ...
    async def __aenter__(self) -> Resource: ...  # noqa: PYI034  # as above
    async def __aexit__(self, *args: object) -> None: ...
    def ask(self) -> str: ...


def test_opening_and_closing_ask_nothing() -> None:
    """A context manager gives itself, closing gives None, and no step is taken."""

    async def twice(client: Any) -> Any:
        async with client as inner:
            assert await inner.aclose() is None
            return inner

    with testing():
        client = one(Resource, "a", attributes={"name": "n", "region": "r"})
        with client as inner:
            assert inner is client
            assert inner.ask() == "a"
        assert asyncio.run(twice(client)) is client
        assert client.close() is None


def test_attributes_are_given_and_checked() -> None:
    """A member that is no method has its default, or the value that the test gives; nothing is invented."""

    class Like:
        name = "like"
        region = "l"
        ask = close = aclose = __enter__ = __exit__ = __aenter__ = __aexit__ = lambda self, *args: ""

    with testing():
        client = one(Resource, attributes={"name": "n", "region": "r", "retries": 5})
        assert (client.name, client.region, client.retries, client.kind) == ("n", "r", 5, "chat")
        assert ScriptedModel(attributes={"name": "n", "region": "r"}).port(Resource).name == "n"
        with pytest.raises(PortMismatch, match="the attribute name, and nothing gives its value"):
            one(Resource)
        with pytest.raises(PortMismatch, match=r"Resource\.name is str, got int 3"):
            one(Resource, attributes={"name": 3, "region": "r"})
        with pytest.raises(PortMismatch, match="declares no attribute nam"):
            one(Resource, attributes={"nam": "n"})
        liked: Any = one(Overloaded.__mro__[-1], like=Like())
        assert liked is not None


# what is no Protocol, and what cannot be compared


class Base(Protocol[T]):
    """A generic Protocol."""

    def ask(self, prompt: T) -> T: ...
    def both(self) -> list[T]: ...


class Derived(Base[str], Protocol):
    """One that binds it."""

    def more(self) -> str: ...


class Twice(Derived, Protocol):
    """And one that inherits the binding."""


class Chat(Protocol[Out_co]):
    """A port of an output type."""

    def ask(self) -> Out_co: ...


def test_a_type_variable_is_bound_where_the_protocol_is_given_its_type() -> None:
    """Chat[Pair] hands over pairs; bases bind their own; an unbound variable is reported and compares nothing."""
    with testing():
        assert one(Chat[Pair], "t").ask() == Pair("t", "stop")
        for bound in (Derived, Twice):
            derived = one(bound, "t")
            assert derived.__invcheck_not_compared__ == ()
            assert derived.ask("q") == "t"
        free = one(Base, "t")
        assert free.ask("q").text == "t"
        assert free.__invcheck_not_compared__ == (
            "ask(prompt): the unbound TypeVar T",
            "ask() returns: the unbound TypeVar T",
            "both() returns: the unbound TypeVar T",
        )


def test_what_no_run_can_compare_is_reported() -> None:
    """Hints that only a type checker sees, and Self."""

    with testing():
        assert one(Wrong).__invcheck_not_compared__ == ("hidden() returns: the hint Decimal, which is compared as text",)


@pytest.mark.parametrize("wrong", [3, "Chat", lambda: 3])
def test_a_port_needs_a_class(wrong: Any) -> None:
    """What is no class has no members."""
    with testing(), pytest.raises(PortMismatch, match="a port needs a Protocol"):
        one(wrong)


def test_a_hand_written_object_is_compared_and_given_back() -> None:
    """port() of an object that is no double compares it with the Protocol; a drifted one is refused."""

    class Ask(Protocol):
        def ask(self, prompt: str) -> str: ...

    class Fine:
        def ask(self, prompt: str) -> str:
            return prompt

    class Drifted:
        def ask(self, question: str) -> str:
            return question

    fine = Fine()
    assert port(fine, Ask) is fine
    with pytest.raises(PortMismatch, match="parameter 1 is called question, the Protocol says prompt"):
        port(Drifted(), Ask)
    with testing():
        assert one(Ask, "t", like=Fine).ask("q") == "t"
        with pytest.raises(PortMismatch, match="called question"):
            one(Ask, like=Drifted)


def test_a_port_can_stand_on_one_lane() -> None:
    """Two agents, two ports, two queues."""

    class Ask(Protocol):
        def ask(self) -> str: ...

    with testing():
        double = ScriptedModel(lanes={"writer": ["w"], "critic": ["c"]})
        assert [double.port(Ask, lane="critic").ask(), double.port(Ask, lane="writer").ask()] == ["c", "w"]


def test_an_attribute_that_is_called_is_a_question() -> None:
    """A member declared as a Callable is asked like a plain callable."""

    class Ask(Protocol):
        ask: Callable[[str], str]
        aask: Callable[[str], Awaitable[str]]
        two: Callable[[str, int], str]
        any: Callable[..., str]

    with testing() as record:
        asks = one(Ask, "a", "b", "c", "d")
        assert asks.ask("q") == "a"
        assert asyncio.run(asks.aask("q")) == "b"
        assert asks.two("q", 3) == "c"
        assert asks.any("q", limit=3) == "d"
        assert [(call["method"], call["request"]) for call in record.calls] == [
            ("ask", {"prompt": "q"}),
            ("aask", {"prompt": "q"}),
            ("two", {"arg1": "q", "arg2": 3}),
            ("any", {"prompt": "q", "limit": 3}),
        ]
