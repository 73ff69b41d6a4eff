"""What a test's own functions raise is told, even where the app swallows it and falls back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest

from invcheck import ScriptedModel, port
from invcheck.record import Record, opened
from invcheck.vocabulary import Fault, Verdict


class Chat(Protocol):
    """An app's own Protocol."""

    def complete(self, prompt: str) -> str:
        """Ask."""


def _wrong(*_args: object) -> Any:
    return {}["nothing"]


def _swallowed(ask: Callable[[], object]) -> list[tuple[str, Verdict, str]]:
    record = Record()
    with opened(record), pytest.raises(KeyError):
        ask()
    return [(found.code, found.verdict, found.message) for found in record.latches]


ASKED: dict[str, Callable[[], object]] = {
    "returns": lambda: ScriptedModel("x", returns=_wrong)("hi"),
    "returns of a lane": lambda: ScriptedModel(lanes={"a": ["x"]}, returns=_wrong).lane("a")("hi"),
    "returns of a port": lambda: ScriptedModel("x").port(Chat, returns=_wrong).complete("hi"),
    "returns by method": lambda: port(ScriptedModel("x"), Chat, returns={"complete": _wrong}).complete("hi"),
    "raises": lambda: ScriptedModel(Fault("rate-limit"), raises={"rate-limit": _wrong})("hi"),
    "raises of a port": lambda: ScriptedModel(Fault("rate-limit")).port(Chat, raises={"rate-limit": _wrong}).complete("hi"),
    "lane_by": lambda: ScriptedModel(lanes={"a": ["x"]}, lane_by=_wrong)("hi"),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_error_of_the_tests_own_function_is_latched(name: str) -> None:
    """Errored, by its name; the app is given the error as it is."""
    what = name.split(maxsplit=1)[0]
    assert _swallowed(ASKED[name]) == [("DOUBLE_RAISED", Verdict.ERRORED, f"the test's own {what}=_wrong raised KeyError")]


def test_an_error_amid_a_stream_is_latched() -> None:
    """Items that the test's own function makes may fail at any of them."""

    class Streams(Protocol):
        def stream(self, prompt: str) -> Iterator[str]: ...

    def items(_reply: object) -> Iterator[str]:
        yield "a"
        raise KeyError("b")

    found = _swallowed(lambda: list(ScriptedModel("x").port(Streams, returns=items).stream("hi")))
    assert [code for code, _, _ in found] == ["DOUBLE_RAISED"]


class _Strange(Exception):
    def __init__(self, message: str) -> None:
        raise KeyError(message)


def test_an_exception_that_cannot_be_made_is_latched() -> None:
    """A class in raises= whose constructor fails is as wrong as a function that does."""
    found = _swallowed(lambda: ScriptedModel(Fault("rate-limit"), raises={"rate-limit": _Strange})("hi"))
    assert [code for code, _, _ in found] == ["DOUBLE_RAISED"]


def test_what_a_scripted_fault_raises_is_the_apps_affair() -> None:
    """An exception that raises= makes as it should is no mistake."""
    assert _swallowed(lambda: ScriptedModel(Fault("rate-limit"), raises={"rate-limit": lambda fault: KeyError("limit")})("hi")) == []
