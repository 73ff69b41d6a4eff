"""What an app can be handed of a double or of one lane: the same of both, and a hint for a name that is none."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Iterator
from typing import Any, Protocol

import httpx2
import pytest

from invcheck import ScriptedModel, testing
from invcheck.errors import DoubleError
from invcheck.faces.call import CallFace

MESSAGES: Any = [{"role": "user", "content": "hi"}]


class Chat(Protocol):
    """An app's own interface."""

    def complete(self, prompt: str) -> str: ...


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with testing():
        yield ScriptedModel(lanes={"writer": ["a draft"], "critic": ["too long"]})


def _openai(lane: CallFace) -> Any:
    return lane.openai(max_retries=0).chat.completions.create(model="m", messages=MESSAGES).choices[0].message.content


def _async_openai(lane: CallFace) -> Any:
    return asyncio.run(lane.async_openai().chat.completions.create(model="m", messages=MESSAGES)).choices[0].message.content


def _anthropic(lane: CallFace) -> Any:
    said: Any = lane.anthropic().messages.create(model="m", max_tokens=9, messages=MESSAGES)
    return said.content[0].text


def _async_anthropic(lane: CallFace) -> Any:
    said: Any = asyncio.run(lane.async_anthropic().messages.create(model="m", max_tokens=9, messages=MESSAGES))
    return said.content[0].text


def _transport(lane: CallFace) -> Any:
    with httpx2.Client(transport=lane.transport()) as client:
        body = client.post("http://double.invalid/v1/chat/completions", json={"model": "m", "messages": MESSAGES}).json()
    return body["choices"][0]["message"]["content"]


def _serve(lane: CallFace) -> Any:
    with lane.serve() as served:
        asked = urllib.request.Request(f"{served}/v1/chat/completions", json.dumps({"model": "m", "messages": MESSAGES}).encode())
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return json.load(answer)["choices"][0]["message"]["content"]


def _port(lane: CallFace) -> Any:
    return lane.port(Chat).complete("hi")


@pytest.mark.parametrize("ask", [_openai, _async_openai, _anthropic, _async_anthropic, _transport, _serve, _port])
def test_one_lane_can_be_handed_over_as_a_double_can(model: ScriptedModel, ask: Any) -> None:
    """Every surface of a lane asks that lane."""
    assert [ask(model.lane("critic")), ask(model.lane("writer"))] == ["too long", "a draft"]
    assert [call.lane for call in model.calls] == ["critic", "writer"]


def test_a_lane_is_that_lane(model: ScriptedModel) -> None:
    """Another one is the double's to give; the same one may be named."""
    writer = model.lane("writer")
    with pytest.raises(DoubleError, match=r'^this is lane "writer", not "critic"') as wrong:
        writer.openai(lane="critic")
    assert wrong.value.hint == 'ask the double itself: .lane("critic")'
    assert writer.port(Chat, lane="writer").complete("hi") == "a draft"
    assert model.port(Chat, lane="critic").complete("hi") == "too long"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("openai_async", "async_openai()"), ("aopenai", "async_openai()"), ("AsyncOpenAI", "async_openai()"),
        ("openai_client", "openai()"), ("AsyncAnthropic", "async_anthropic()"), ("Anthropic", "anthropic()"),
        ("transports", "transport"), ("streams", "stream"), ("server", "serve"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("of_lane", [False, True])
def test_a_guessed_name_is_told_the_right_one(name: str, meant: str, of_lane: bool) -> None:
    """People guess where the word async stands."""
    with testing():
        model = ScriptedModel(lanes={"a": []})
        asked = model.lane("a") if of_lane else model
        with pytest.raises(AttributeError) as wrong:
            getattr(asked, name)
    assert str(wrong.value) == f"{type(asked).__name__} has no attribute {name!r}; did you mean {meant}?"


@pytest.mark.parametrize(("name", "client"), [("chat", "openai"), ("responses", "openai"), ("messages", "anthropic"), ("invoke", "openai")])
def test_what_a_client_has_is_told_where_it_is(name: str, client: str) -> None:
    """A double is no client, and gives one."""
    with testing(), pytest.raises(AttributeError, match=rf"a double is called, as model\(request\); .* as model\.{client}\(\), or a port"):
        getattr(ScriptedModel(), name)
