"""What a type checker sees: a port is the app's own Protocol. Checked by mypy, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol, TypeVar, assert_type

from invcheck import DriftingModel, Reply, ScriptedModel, port, step
from invcheck.faces import CallFace

Out_co = TypeVar("Out_co", covariant=True)


class Chat(Protocol):
    """An app's own port."""

    def complete(self, prompt: str, *, limit: int = 8) -> str: ...
    async def acomplete(self, prompt: str) -> str: ...
    def stream(self, prompt: str) -> AsyncIterator[str]: ...


class Typed(Protocol[Out_co]):
    """A port of some output type."""

    def ask(self) -> Out_co: ...


def app(chat: Chat) -> str:
    """An app that knows nothing of invcheck."""
    return chat.complete("hi")


async def main() -> None:
    """Every way to a port."""
    double = ScriptedModel("a", step("b", label="second")).reply("c").fail("timeout").then_always("d")
    assert_type(double, ScriptedModel)
    chat = double.port(Chat)
    assert_type(chat, Chat)
    assert_type(chat.complete("hi"), str)
    assert_type(await chat.acomplete("hi"), str)
    assert_type(port(double, Chat, raises={"timeout": KeyError}), Chat)
    assert_type(DriftingModel(lambda rng, request: rng.choice("ab")).port(Chat), Chat)
    typed: Typed[int] = double.port(Typed[int])
    assert_type(typed.ask(), int)
    app(chat)
    app(double.port(Chat, returns=lambda reply: reply.text))
    assert_type(double("hi"), Reply)
    assert_type(await double.acomplete("hi"), Reply)
    assert_type(double.lane("writer"), CallFace)
    chat.complete(3)  # type: ignore[arg-type]  # the port refuses what the Protocol refuses
    chat.other()  # type: ignore[attr-defined]  # and has nothing that the Protocol has not
    app(double)  # type: ignore[arg-type]  # the double itself is no Chat
