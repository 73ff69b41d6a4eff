"""The plain face: what a call's request is, how a fault is rendered, and which face an annotation asks for."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Generic, Protocol, TypeVar

import pytest

from invcheck import DriftingModel, Fault, Reply, ScriptedModel, testing
from invcheck.double import Double
from invcheck.errors import DoubleError, PortMismatch
from invcheck.faces import CallFace, bind
from invcheck.faces.call import requested
from invcheck.faces.pending import looped
from invcheck.faces.render import renderer

T = TypeVar("T")


@pytest.mark.parametrize(("args", "kwargs", "request_"), [
    ((), {}, {}),
    ((), {"a": 1}, {"a": 1}),
    (("hi",), {}, {"prompt": "hi"}),
    (("hi",), {"max_tokens": 8}, {"prompt": "hi", "max_tokens": 8}),
    (({"messages": []},), {"model": "m"}, {"messages": [], "model": "m"}),
    (("a", "b"), {"c": 1}, {"args": ["a", "b"], "c": 1}),
    (([1],), {}, {"args": [[1]]}),
])  # fmt: skip
def test_a_request_is_what_was_given(args: tuple[Any, ...], kwargs: dict[str, Any], request_: dict[str, Any]) -> None:
    """One mapping is the request, one text its prompt, several values its args; keywords are merged in."""
    assert requested(args, kwargs) == request_
    with testing():
        double = ScriptedModel("x")
        double(*args, **kwargs)
        assert double.requests == (request_,)


def test_a_loop_is_seen_where_one_runs() -> None:
    """Only inside of a running event loop does an async call give it a turn."""

    async def inside() -> bool:
        return looped()

    assert (looped(), asyncio.run(inside())) == (False, True)


def test_an_async_call_needs_no_event_loop() -> None:
    """A coroutine that another library drives runs to its end without asyncio."""
    with testing():
        asking = ScriptedModel("x").acomplete("q")
        with pytest.raises(StopIteration) as caught:
            asking.send(None)
        assert caught.value.value.text == "x"


# rendering


class Own(Exception):  # an app's own name
    """An app's own exception, with fields."""

    def __init__(self, status_code: int, retry_after: float | None, *, detail: str, other: int = 3) -> None:
        super().__init__(detail)
        self.fields = (status_code, retry_after, detail, other)


class Positional(Exception):  # an app's own name
    """An exception whose one parameter has a name of its own."""

    def __init__(self, why: str, /) -> None:
        super().__init__(why)


class Silent(Exception):  # an app's own name
    """An exception that takes whatever comes."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args)


def test_a_fault_becomes_the_apps_own_exception() -> None:
    """A class gets what its parameters name, the message first; a function gets the fault; other kinds stay ours."""
    render = renderer(
        {
            "rate-limit": Own,
            "server": Positional,
            "timeout": Silent,
            "connection": lambda fault: OSError(fault.kind),
            "conflict": ValueError,
        }
    )
    own = render(Fault("rate-limit", "m", retry_after=2.0))
    assert isinstance(own, Own)
    assert own.fields == (429, 2.0, "m", 3)
    assert [repr(render(Fault(kind, "m"))) for kind in ("server", "timeout", "connection", "conflict", "overloaded")] == [
        "Positional('m')", "Silent('m')", "OSError('connection')", "ValueError('m')", "ModelFault('m')"
    ]  # fmt: skip


@pytest.mark.parametrize(("raises", "says"), [
    ({"ratelimit": Own}, "did you mean 'rate-limit'"), ({"server": int}, "got int"), ({"server": "text"}, "got str"),
])  # fmt: skip
def test_a_rendering_that_makes_no_exception_is_refused(raises: dict[str, Any], says: str) -> None:
    """An unknown kind, a class that is none, a value: refused when the double is built."""
    with testing(), pytest.raises(DoubleError, match=says):
        ScriptedModel(raises=raises)


def test_a_function_that_makes_no_exception_is_errored() -> None:
    """What a rendering function gives is seen when it is called."""
    with pytest.raises(DoubleError, match="gave int, not an exception"):
        renderer({"server": lambda fault: 3})(Fault("server"))


# binding


class Chat(Protocol):
    """An app's port."""

    def complete(self, prompt: str) -> str: ...


class Typed(Protocol, Generic[T]):
    """A port of some type."""

    def complete(self, prompt: str) -> T: ...


@pytest.mark.parametrize("annotation", [Chat, Chat | None, Annotated[Chat, "x"], Annotated[Chat | None, "x"], Typed[str]])
def test_a_protocol_gets_a_port(annotation: Any) -> None:
    """A Protocol, an optional one, an annotated one, one given its types."""
    with testing():
        assert bind(ScriptedModel("x"), annotation).complete("q") == "x"


@pytest.mark.parametrize("annotation", [None, Any, object, str, int | None, ScriptedModel, Protocol, list[str]])
def test_anything_else_gets_the_plain_face(annotation: Any) -> None:
    """What is no Protocol gets the double as a plain callable."""
    with testing():
        double = ScriptedModel("x")
        assert bind(double, annotation) is double
        double("q")


def test_a_double_without_faces_gets_the_plain_one() -> None:
    """A source of one's own is asked like any other."""

    class One:
        lanes = (None,)
        pending = 0

        def ordered(self, lane: Any) -> bool:
            return False

        def draw(self, call: Any) -> One:
            return self

        async def give(self, call: Any) -> Reply:
            return Reply()

        def leftover(self) -> list[Any]:
            return []

    with testing():
        face = bind(Double(One()))
        assert isinstance(face, CallFace)
        assert face("q").text == ""


def test_a_text_that_nobody_resolved_is_refused() -> None:
    """An annotation that only a type checker sees can be no port."""
    with testing(), pytest.raises(PortMismatch, match="could not be resolved"):
        bind(ScriptedModel(), "Chat")


def test_a_doubles_own_adapter_is_used_by_every_face() -> None:
    """returns and raises of the double hold for call, lane and port, where the port says nothing else."""
    with testing():
        how: dict[str, Any] = {"returns": lambda reply: reply.text.upper(), "raises": {"server": Own}}
        double = ScriptedModel(lanes={"x": ["a", "b", "c", Fault("server")]}, lane_by=lambda _: "x", **how)
        assert [double("q"), double.lane("x")("q"), double.port(Chat).complete("q")] == ["A", "B", "C"]
        with pytest.raises(Own):
            double.port(Chat).complete("q")


@pytest.mark.parametrize("build", [ScriptedModel, lambda **options: DriftingModel(lambda: "a", **options)])
def test_an_option_that_there_is_not_is_refused(build: Any) -> None:
    """A misspelt option would silently change what a double does; the error names the nearest one."""
    with testing():
        with pytest.raises(TypeError, match=r"takes no argument 'lattency'; did you mean latency\?"):
            build(lattency=2)
        with pytest.raises(TypeError, match="takes no argument 'script'; there are usage, lane_by"):
            build(script=["a"])
