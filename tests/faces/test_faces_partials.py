"""A partial double: what was kept runs really, what was replaced is answered by the test, whoever calls it."""

from __future__ import annotations

import abc
import asyncio
import dataclasses
import functools
import inspect
import socket
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar, overload
from unittest.mock import Mock

import pytest
from pydantic import BaseModel

from invcheck import Fault, PortMismatch, ScriptedModel, partial, session, testing
from invcheck.errors import DoubleError, NotInTest
from invcheck.record import Record, opened
from invcheck.sandbox import box
from invcheck.vocabulary import Counts

T = TypeVar("T")


class Client:
    """A client of the app's own, whose every way out is real."""

    region = "eu"
    built: ClassVar[list[type]] = []

    def __init__(self, key: str = "k") -> None:
        self.key, self.asked, self.__hidden = key, [], 7

    def __init_subclass__(cls) -> None:
        Client.built.append(cls)

    def complete(self, prompt: str, *, limit: int = 8) -> str:
        """Ask the provider."""
        raise OSError("no network in tests")

    def greet(self, who: str) -> str:
        self.asked.append(who)
        return self.complete(f"greet {who}", limit=3) + str(self.__hidden)

    def rename(self, key: str) -> None:
        self.key = key

    @property
    def greeting(self) -> str:
        return self.complete("property")

    @classmethod
    def of(cls, key: str) -> str:
        return cls(key).complete("class")

    @staticmethod
    def version(of: str) -> str:
        raise OSError

    @classmethod
    def known(cls, of: str) -> str:
        raise OSError

    async def acomplete(self, prompt: str) -> str:
        raise OSError

    async def agreet(self, who: str) -> str:
        return await self.acomplete(who)

    def parts(self, prompt: str) -> Iterator[str]:
        yield "real"

    def each(self, prompt: str) -> list[str]:
        return [part.upper() for part in self.parts(prompt)]

    async def aparts(self, prompt: str) -> AsyncIterator[str]:
        yield "real"

    async def aeach(self, prompt: str) -> list[str]:
        return [part.upper() async for part in self.aparts(prompt)]

    def later(self, prompt: str) -> Awaitable[str]:
        raise OSError

    def __call__(self, prompt: str) -> str:
        raise OSError

    def twice(self, prompt: str) -> str:
        return self(prompt) + self(prompt)

    def close(self) -> None:
        raise OSError

    def __enter__(self) -> Self:
        return self


class Child(Client):
    """Goes on to its parent's."""

    def greet(self, who: str) -> str:
        return f"<{super().greet(who)}>"


def model(*script: object) -> ScriptedModel:
    """A double that says hello, or what it is told."""
    return ScriptedModel(*script) if script else ScriptedModel().then_always("hello")


def test_a_method_that_was_kept_reaches_the_double_through_self() -> None:
    """The request is the replaced method's arguments by name, with defaults, and names the method."""
    with testing():
        double = model()
        client = partial(Client(), complete=double)
        assert client.greet("Ada") == "hello7"
        assert client.complete("hi") == "hello"
        assert double.requests == ({"prompt": "greet Ada", "limit": 3}, {"prompt": "hi", "limit": 8})
        assert [call.method for call in double.calls] == ["complete", "complete"]


def test_it_is_what_it_stands_for() -> None:
    """isinstance, attributes of instance and class, properties and other methods are the real object's."""
    with testing():
        real, before = Child("secret"), [*Client.built]
        client = partial(real, complete=model())
        assert isinstance(client, Child)
        assert (client.key, client.region, type(client).__name__, type(client).__qualname__) == ("secret", "eu", "Child", "Child")
        assert type(client).__module__ == __name__
        assert type(client).__doc__ == Child.__doc__
        assert client.greeting == "hello"
        assert client.greet("Ada") == "<hello7>"
        assert client.asked is real.asked
        assert Client.built == before


def test_what_is_set_on_it_does_not_reach_the_real_object() -> None:
    """A test changes nothing for the next one, and the real object's own methods stay real."""
    with testing():
        real = Client("a")
        client = partial(real, complete=model())
        client.rename("b")
        assert (client.key, real.key) == ("b", "a")
        with pytest.raises(OSError, match="no network in tests"):
            real.complete("hi")
        with pytest.raises(AttributeError, match=r"Client\.complete is answered by the test, and cannot be set"):
            client.complete = real.complete  # type: ignore[method-assign]  # that is what is refused


@pytest.mark.parametrize(
    ("name", "ask", "answer"),
    [
        ("complete", lambda it: it.complete("q", limit=1), "hello"),
        ("complete", lambda it: type(it).complete(it, "q"), "hello"),
        ("complete", lambda it: it.of("k"), "hello"),
        ("version", lambda it: it.version("q"), "hello"),
        ("version", lambda it: type(it).version("q"), "hello"),
        ("known", lambda it: it.known("q"), "hello"),
        ("known", lambda it: type(it).known("q"), "hello"),
        ("acomplete", lambda it: asyncio.run(it.agreet("q")), "hello"),
        ("parts", lambda it: it.each("q"), ["HELLO"]),
        ("aparts", lambda it: asyncio.run(it.aeach("q")), ["HELLO"]),
        ("__call__", lambda it: it.twice("q"), "hellohello"),
    ],
)
def test_every_kind_of_method_is_answered_as_it_is(name: str, ask: Callable[[Any], object], answer: object) -> None:
    """Plain, static, class, async, generator, async generator and calls: by the instance, its class, and its other methods."""
    with testing():
        assert ask(partial(Child(), **{name: model()})) == answer


def test_flags_and_hints_are_the_real_methods() -> None:
    """Whoever asks whether it must be awaited is told the truth; an awaitable that is no coroutine function is awaited too."""
    with testing():
        client = partial(Client(), acomplete=model(), complete=model(), aparts=model(), later=model())
        assert inspect.iscoroutinefunction(client.acomplete)
        assert not inspect.iscoroutinefunction(client.complete)
        assert str(inspect.signature(client.complete)) == "(prompt: str, *, limit: int = 8) -> str"

        async def main() -> str:
            return await client.later("q")

        assert asyncio.run(main()) == "hello"


def test_faults_and_the_apps_own_types_come_as_by_a_port() -> None:
    """raises= and returns= of the double hold; a wrong argument is the method's own TypeError and no call."""
    with testing():
        double = ScriptedModel(Fault("timeout"), "a b", raises={"timeout": OSError}, returns=lambda reply: reply.text.upper())
        client = partial(Client(), complete=double)
        with pytest.raises(OSError, match="timed out"):
            client.complete("q")
        assert client.complete("q") == "A B"
        with pytest.raises(TypeError):
            client.complete("q", limits=3)  # type: ignore[call-arg]  # that is the mistake
        assert double.counts == Counts(served=1, failed=1)


def test_a_lane_of_a_double_answers_too() -> None:
    """Two methods on two lanes of one double."""
    with testing():
        double = ScriptedModel(lanes={"a": ["one"], "b": ["two"]})
        client = partial(Client(), complete=double.lane("a"), acomplete=double.lane("b"))
        assert (client.complete("q"), asyncio.run(client.acomplete("q"))) == ("one", "two")
        assert [call.lane for call in double.calls] == ["a", "b"]


def test_a_function_of_the_test_answers_too() -> None:
    """It gets the arguments without self; a mock of anything is taken as it is."""
    with testing():
        client = partial(Client(), complete=lambda prompt, *, limit=8: f"{prompt} {limit}", close=Mock())
        assert client.greet("Ada") == "greet Ada 37"
        assert type(client).complete(client, "x") == "x 8"
        client.close()


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"complet": lambda: 0}, "Client has no complet, so nothing can answer it\n  hint: did you mean complete?"),
        ({"region": lambda: 0}, "Client.region is str, and only a method can be answered"),
        ({"key.lower.x": lambda: 0}, "Client.key.lower has no x"),
        ({"nothing.create": lambda: 0}, "Client has no nothing, so nothing can answer it\n  hint: there are: "),
        (
            {"complete": "hello"},
            'Client.complete is to be answered by str\n  hint: pass a double, such as ScriptedModel("hello"), or a function',
        ),
        ({"complete": lambda prompt, *, limit=9: ""}, "Client.complete: limit has the default 9, the Protocol says 8"),
        ({"complete": lambda text, *, limit=8: ""}, "Client.complete: parameter 1 is called text, the Protocol says prompt"),
        ({"complete": lambda: ""}, "Client.complete: it has no positional prompt"),
        ({"acomplete": functools.partial(str)}, None),
    ],
)
def test_what_does_not_fit_is_refused_when_it_is_made(methods: dict[str, Any], message: str | None) -> None:
    """No such method, no method, no answer, a signature that has drifted; what shows no signature is taken."""
    with testing(), suppress(PortMismatch) if message is None else pytest.raises(PortMismatch) as caught:
        partial(Client(), **methods)
    if message is not None:
        assert str(caught.value).startswith(message)


async def awaited(prompt: str) -> str:
    """An async answer."""
    return prompt


def test_an_async_answer_to_a_plain_method_has_drifted() -> None:
    """And the other way round where the function says what it gives."""

    def plain(prompt: str) -> str:
        return prompt

    with testing():
        with pytest.raises(PortMismatch, match=r"Client\.greet: "):
            partial(Client(), greet=awaited)
        with pytest.raises(PortMismatch, match="it is a plain function, the Protocol says an async function"):
            partial(Client(), acomplete=plain)
        assert asyncio.run(partial(Client(), acomplete=awaited).agreet("x")) == "x"


@pytest.mark.parametrize("name", ["close", "__enter__"])
def test_a_method_that_gives_no_answer_needs_a_function(name: str) -> None:
    """A reply cannot be nothing, nor the object itself."""
    with testing():
        with pytest.raises(PortMismatch, match=f"Client.{name} gives nothing that a reply could be: def {name}") as caught:
            partial(Client(), **{name: ScriptedModel()})
        assert caught.value.hint == "answer it by a function"


# surfaces as SDKs have them


class Completions:
    """The innermost part of a client."""

    def __init__(self, root: object) -> None:
        self.root = root

    def create(self, *, messages: list[str], stream: bool = False) -> str:
        raise OSError

    def count(self) -> int:
        return 3


class Sdk:
    """Reaches its parts in three ways."""

    def __init__(self) -> None:
        self.stored = types.SimpleNamespace(completions=Completions(self))

    @functools.cached_property
    def cached(self) -> types.SimpleNamespace:
        return types.SimpleNamespace(completions=Completions(self))

    @property
    def made(self) -> types.SimpleNamespace:
        return types.SimpleNamespace(completions=Completions(self))

    def ask(self, way: str) -> str:
        found: str = getattr(self, way).completions.create(messages=[way])
        return found


@pytest.mark.parametrize("way", ["stored", "cached", "made"])
def test_a_dotted_name_reaches_what_the_object_holds(way: str) -> None:
    """A method of a part of a part; its other methods stay, and so does the real object."""
    with testing():
        real, double = Sdk(), model()
        sdk = partial(real, **{f"{way}.completions.create": double})
        assert sdk.ask(way) == "hello"
        assert getattr(sdk, way).completions.count() == 3
        assert isinstance(getattr(sdk, way).completions, Completions)
        assert double.requests[0] == {"messages": [way], "stream": False}
        with pytest.raises(OSError):  # noqa: PT011  # it has no words
            real.ask(way)


def test_parts_are_answered_apart_or_whole() -> None:
    """Two methods of one part may be; a part and what is in it may not."""
    with testing():
        sdk = partial(Sdk(), **{"stored.completions.create": model(), "stored.completions.count": lambda: 4})
        assert (sdk.ask("stored"), sdk.stored.completions.count()) == ("hello", 4)
        with pytest.raises(PortMismatch, match=r"Sdk\.ask is answered whole"):
            partial(Sdk(), **{"ask": model(), "ask.x": model()})
        with pytest.raises(PortMismatch, match=r"Sdk.stored.completions has no creat, so nothing can answer it"):
            partial(Sdk(), **{"stored.completions.creat": model()})


# kinds of objects


class Slotted:
    """Has no dict."""

    __slots__ = ("__hidden", "n", "unset")

    def __init__(self) -> None:
        self.n, self.__hidden = 1, 2

    def complete(self, prompt: str) -> str:
        raise OSError

    def go(self) -> str:
        return f"{self.complete('q')} {self.n} {self.__hidden} {hasattr(self, 'unset')}"


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    n: int

    def complete(self, prompt: str) -> str:
        raise OSError

    def go(self) -> str:
        return f"{self.complete('q')} {self.n}"


class Model(BaseModel):
    n: int = 1

    def complete(self, prompt: str) -> str:
        raise OSError

    def go(self) -> str:
        return f"{self.complete('q')} {self.model_dump()}"


class Base(abc.ABC, Generic[T]):
    @abc.abstractmethod
    def complete(self, prompt: str) -> T: ...


class Concrete(Base[str]):
    def complete(self, prompt: str) -> str:
        raise OSError

    def go(self) -> str:
        return self.complete("q")


class Held:
    """Holds its methods as values, or makes them when asked."""

    def __init__(self) -> None:
        self.complete = self._complete
        self.bare = lambda prompt: prompt

    def _complete(self, prompt: str) -> str:
        raise OSError

    def __getattr__(self, name: str) -> Callable[[str], str]:
        if name != "made":
            raise AttributeError(name)
        return self._complete

    @property
    def given(self) -> Callable[[str], str]:
        return self._complete

    def go(self) -> str:
        return self.complete("q")


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that keeps no name."""

    def wrapper(self: object, prompt: str) -> Any:
        return function(self, prompt)

    return wrapper


class Decorated:
    @traced
    def complete(self, prompt: str) -> str:
        raise OSError

    def go(self) -> str:
        return str(self.complete("q"))


class Overloaded:
    @overload
    def complete(self, prompt: str) -> str: ...
    @overload
    def complete(self, prompt: int) -> int: ...
    def complete(self, prompt: str | int) -> str | int:
        raise OSError

    def go(self) -> str:
        return str(self.complete("q"))


@pytest.mark.parametrize(
    ("real", "says"),
    [
        (Slotted(), "hello 1 2 False"),
        (Frozen(3), "hello 3"),
        (Model(n=4), "hello {'n': 4}"),
        (Concrete(), "hello"),
        (Held(), "hello"),
        (Decorated(), "hello"),
        (Overloaded(), "hello"),
    ],
    ids=lambda real: type(real).__name__,
)
def test_every_kind_of_object_keeps_its_state(real: Any, says: str) -> None:
    """Slots (set or not, private too), frozen dataclasses, pydantic models, abstract and generic classes, methods held as values."""
    with testing():
        double = model()
        assert partial(real, complete=double).go() == says
        assert double.calls[0].method == "complete"
        assert double.requests[0] == {"prompt": "q"}


def test_a_partial_double_can_be_made_partial_again() -> None:
    """Each replaces its own."""
    with testing():
        once = partial(Slotted(), complete=model("one"))
        twice = partial(once, go=lambda: "two")
        assert (twice.go(), twice.complete("q")) == ("two", "one")
        assert partial(partial(Client(), complete=model()), close=lambda: None).greet("x") == "hello7"


def test_methods_that_are_made_when_asked_for_are_methods() -> None:
    """What __getattr__ makes, what a property gives, a lambda in an attribute, and a method of C code."""
    with testing():
        held = partial(Held(), made=model(), given=model(), bare=model())
        assert held.made("q") == held.given("q") == "hello"
        assert held.bare("q").text == "hello"
        c_code = partial(types.SimpleNamespace(now=print, n=1), now=model())
        assert (c_code.now("a", "b").text, c_code.n) == ("hello", 1)


class Closing:
    """Closes what it holds when it goes."""

    closed: ClassVar[list[str]] = []

    def complete(self, prompt: str) -> str:
        raise OSError

    def __del__(self) -> None:
        self.closed.append("real" if type(self) is Closing else "partial")


def test_what_the_real_object_holds_is_its_own_to_close() -> None:
    """The partial double closes nothing when it goes, and the real object lives as long as it."""
    with testing():
        client = partial(Closing(), complete=model())
        assert Closing.closed == []
        assert client.complete("q") == "hello"
        type(client).__invcheck_real__ = None  # type: ignore[attr-defined]  # let the real one go first
        assert Closing.closed == ["real"]
        del client
        assert Closing.closed == ["real"]


@pytest.mark.parametrize(
    ("real", "method", "message"),
    [
        ({}, "get", "dict keeps its state in C code, so no copy of it can be made: "),
        (True, "bit_length", "bool can have no subclass, so no method of it can be answered: "),
    ],
)
def test_what_cannot_be_copied_is_refused(real: object, method: str, message: str) -> None:
    """With the way that is left."""
    with testing():
        with pytest.raises(PortMismatch, match=message) as caught:
            partial(real, **{method: model()})
        assert caught.value.hint == "give the app a port of a Protocol instead, as model.port(Protocol)"


def test_of_a_class_it_gives_a_class() -> None:
    """What an app builds from it is answered by the double, and the real class is as it was."""
    with testing():
        made = partial(Client, complete=model())
        assert issubclass(made, Client)
        assert made("x").greet("Ada") == "hello7"
        assert made.of("x") == "hello"
        with pytest.raises(OSError, match="no network in tests"):
            Client("x").greet("Ada")


SOURCE = '''
import functools
from textwrap import shorten
COUNT = 1
def complete(prompt: str, *, limit: int = 8) -> str:
    raise OSError
def greet(who, *, times: int = 2):
    """Greet."""
    global COUNT
    COUNT += 1
    return complete(who) * times + str(COUNT)
greet.mark = "kept"
async def agreet(who):
    return greet(who)
class Thing:
    pass
'''


def test_of_a_module_it_gives_a_module() -> None:
    """Its own functions call each other in the copy; the real module, and its classes, are as they were."""
    real = types.ModuleType("shop", "A shop.")
    exec(SOURCE, vars(real))  # a module of the test's own
    with testing():
        shop = partial(real, complete=model())
        assert isinstance(shop, types.ModuleType)
        assert (shop.__name__, shop.__doc__, shop.Thing, shop.functools) == ("shop", "A shop.", real.Thing, functools)
        assert shop.greet("Ada") == "hellohello2"
        assert asyncio.run(shop.agreet("Ada")) == "hellohello3"
        assert (shop.greet.mark, shop.greet.__doc__, shop.greet.__kwdefaults__) == ("kept", "Greet.", {"times": 2})
        assert shop.shorten("far too long", 8, placeholder="") == "far too"
        assert real.COUNT == 1
        assert partial(real, complete=lambda prompt, *, limit=8: "x").greet("Ada", times=1) == "x2"
        with pytest.raises(OSError):  # noqa: PT011  # it has no words
            real.greet("Ada")
        with pytest.raises(PortMismatch, match="shop has no complet, so nothing can answer it"):
            partial(real, complet=model())
        with pytest.raises(PortMismatch, match=r"shop\.complete: limit has the default 9, the Protocol says 8"):
            partial(real, complete=lambda prompt, *, limit=9: "x")


# what holds of every double


class Leaky(Client):
    """Its other method goes out on its own."""

    def ping(self) -> None:
        socket.create_connection(("192.0.2.1", 443))


def test_what_was_kept_still_cannot_reach_the_network() -> None:
    """The attempt is a breach of the trial, although the app swallows it."""
    box.install(Path(__file__).parents[2], armed=False)
    record = Record()
    with box.trial(record):
        client = partial(Leaky(), complete=model())
        with suppress(BaseException):
            client.ping()
        assert client.complete("q") == "hello"
    assert [breach["wanted"] for breach in record.breaches] == ["192.0.2.1:443"]


def test_it_is_built_in_tests_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a function answers: it could answer users."""
    monkeypatch.setattr(session, "_opens", None)  # the plugin makes this very test one
    with pytest.raises(NotInTest, match="partial was built outside of a test"):
        partial(Client(), complete=lambda prompt, *, limit=8: "x")


def test_what_is_left_over_is_told_at_the_end() -> None:
    """Steps that the partial double did not use are findings, as ever."""
    record = Record()
    with opened(record):
        partial(Client(), complete=model("a", "b")).complete("q")
    assert [finding.code for finding in record.findings()] == ["SCRIPT_UNUSED"]
    assert issubclass(PortMismatch, DoubleError)


class Gathering:
    """Methods that take what they are given, as proxies and decorators that keep no signature do."""

    def __init__(self) -> None:
        self.held = lambda *args, **kwargs: "real"

    def __getattr__(self, name: str) -> Callable[..., str]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: "real"

    @property
    def given(self) -> Callable[..., str]:
        return lambda *args, **kwargs: "real"

    def plain(self, *args: Any, **kwargs: Any) -> str:
        raise OSError

    def selfless(*args: Any, **kwargs: Any) -> str:  # what a decorator without a signature makes
        raise OSError

    @staticmethod
    def static(*args: Any, **kwargs: Any) -> str:
        raise OSError

    @classmethod
    def of_class(*args: Any, **kwargs: Any) -> str:
        raise OSError

    filled = functools.partialmethod(plain, "first")

    def optional(self, *args: Any, limit: int = 8) -> str:
        raise OSError

    async def later(*args: Any, **kwargs: Any) -> str:
        raise OSError

    async def streamed(*args: Any, **kwargs: Any) -> AsyncIterator[str]:
        raise OSError
        yield ""

    def named(self, /, **kwargs: Any) -> str:
        raise OSError

    def first(self, prompt: str, *more: Any, **kwargs: Any) -> str:
        raise OSError


GATHERS = ("made", "held", "given", "plain", "selfless", "static", "of_class")


@pytest.mark.parametrize("name", GATHERS)
@pytest.mark.parametrize("kind", [False, True], ids=["object", "class"])
def test_a_method_that_gathers_its_arguments_is_asked_as_a_plain_call_is(name: str, kind: bool) -> None:
    """One text is its prompt, a mapping the request, several values are args; no name of a keyword is taken."""
    if kind and name in ("made", "held", "given"):
        return
    asked: list[tuple[tuple[Any, ...], dict[str, Any], Any]] = [
        (("x",), {}, {"prompt": "x"}),
        (("x",), {"limit": 3}, {"prompt": "x", "limit": 3}),
        (({"prompt": "x", "n": 1},), {"n": 2}, {"prompt": "x", "n": 2}),
        (("x", 1), {"n": 2}, {"args": ["x", 1], "n": 2}),
        ((), {}, {}),
        (
            ("x",),
            {"self": 1, "self_": 2, "_self": 3, "args": 4, "kwargs": 5},
            {"prompt": "x", "self": 1, "self_": 2, "_self": 3, "args": 4, "kwargs": 5},
        ),
    ]
    with testing():
        double = ScriptedModel(*["r"] * len(asked))
        real = partial(Gathering if kind else Gathering(), **{name: double})
        method = getattr(real() if kind else real, name)
        for args, kwargs, request in asked:
            said = method(*args, **kwargs)
            assert (said if isinstance(said, str) else said.text) == "r"
            assert double.requests[-1] == request
        assert getattr(partial(Gathering(), **{name: lambda *args, **kwargs: (args, kwargs)}), name)("x", n=1) == (("x",), {"n": 1})


def test_what_has_a_name_beside_gathered_arguments_keeps_it() -> None:
    """Keywords with defaults, a first argument with a name, keywords alone; async methods and streams are as the method is."""
    with testing():
        double = ScriptedModel(*"abcdefg")
        parts = dict.fromkeys(("optional", "filled", "named", "first", "later", "streamed"), double)
        real = partial(Gathering(), **parts)
        assert (real.optional("x"), double.requests[-1]) == ("a", {"args": ["x"], "limit": 8})
        assert (real.filled("x").text, double.requests[-1]) == ("b", {"prompt": "x"})
        assert (real.named(self=1, name="n"), double.requests[-1]) == ("c", {"self": 1, "name": "n"})
        assert (real.first("x"), double.requests[-1]) == ("d", {"prompt": "x", "more": []})
        assert (real.first("x", 1, n=2), double.requests[-1]) == ("e", {"prompt": "x", "more": [1], "n": 2})
        assert (asyncio.run(real.later("x", n=1)), double.requests[-1]) == ("f", {"prompt": "x", "n": 1})

        async def read() -> list[str]:
            return [item async for item in real.streamed("x")]

        assert (asyncio.run(read()), double.requests[-1]) == (["g"], {"prompt": "x"})


def test_a_function_that_is_made_when_asked_for_is_no_method_of_the_class() -> None:
    """What __getattr__ or a property gives takes its first argument itself, and no self before it."""

    class Lazy:
        def __getattr__(self, name: str) -> Callable[[str], str]:
            return lambda prompt: prompt

        @property
        def given(self) -> Callable[[str], str]:
            return lambda prompt: prompt

    with testing():
        double = ScriptedModel("a", "b")
        lazy = partial(Lazy(), made=double, given=double)
        assert (lazy.made("x").text, lazy.given(prompt="y").text) == ("a", "b")
        assert list(double.requests) == [{"prompt": "x"}, {"prompt": "y"}]
