"""A double on a loopback port: real sockets, real clients, faults as bytes."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import re
import shutil
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import aiohttp
import anthropic
import httpx2
import openai
import pytest

from invcheck import ScriptedModel, testing
from invcheck.errors import DoubleError
from invcheck.faces.server import Served, Server
from invcheck.record import Record, opened
from invcheck.request import AbortSignal
from invcheck.sandbox import clock
from invcheck.sandbox.serverloop import RealWaits
from invcheck.sources.steps import fail, reply, tool_call
from invcheck.vocabulary import Chunk, Framing, Reply, Text, Usage
from invcheck.wire import sse

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
HELLO = [{"role": "user", "content": "hello"}]
ASKED: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": HELLO}


@pytest.fixture
def record() -> Any:
    with testing() as opened:
        yield opened


@pytest.fixture
def held() -> Any:
    """A record that nobody verifies, for what goes wrong on purpose."""
    with opened(Record()) as record:
        yield record


def codes(record: Record) -> list[str]:
    return [finding.code for finding in record.findings()]


def post(served: Served, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    """Ask as a client of the standard library does."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    asked = urllib.request.Request(f"{served}{path}", data, headers or {})
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.status, {key.lower(): value for key, value in answer.headers.items()}, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {key.lower(): value for key, value in error.headers.items()}, error.read()


def posted(path: str, **more: Any) -> bytes:
    """Give a request as the bytes that a client sends."""
    body = json.dumps({**ASKED, **more}).encode()
    return f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def raw(served: Served, sent: bytes) -> bytes:
    """Send bytes, and give every byte that comes back until the connection ends."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(sent)
        got = b""
        while part := connection.recv(65536):
            got += part
    return got


def streamed(served: Served, path: str = CHAT) -> bytes:
    """Give the body of a stream up to where it ends or breaks, without its chunk sizes."""
    body = json.dumps({"model": "m", "messages": HELLO, "stream": True, "max_tokens": 9}).encode()
    head = f"POST {path} HTTP/1.0\r\nHost: double\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    return raw(served, head + body).partition(b"\r\n\r\n")[2]


def counts(model: ScriptedModel) -> tuple[int, ...]:
    seen = model.counts
    return seen.served, seen.failed, seen.cancelled, seen.refused


def test_openai_s_client_gets_replies_and_streams(record: Record) -> None:
    """Chat completions and responses, whole and streamed, through the real SDK and a real socket."""
    model = ScriptedModel("one", "two words", "three", "four more", chunks="words")
    with Server(model) as served, openai.OpenAI(base_url=served.openai, api_key="k") as client:
        assert client.chat.completions.create(model="m", messages=HELLO).choices[0].message.content == "one"
        with client.chat.completions.create(model="m", messages=HELLO, stream=True) as stream:
            assert [each.choices[0].delta.content for each in stream if each.choices[0].delta.content] == ["two ", "words"]
        assert client.responses.create(model="m", input="hi").output_text == "three"
        with client.responses.create(model="m", input="hi", stream=True) as events:
            deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
        assert deltas == ["four ", "more"]
    assert counts(model) == (4, 0, 0, 0)


@pytest.mark.parametrize("below", ["", "/anthropic"])
def test_anthropic_s_client_gets_replies_and_streams(record: Record, below: str) -> None:
    """Messages with a thought, text and a tool call, whole and streamed, and the count of tokens, which asks no model."""
    call = tool_call("search", {"q": "refund"}, id="t1")
    said = reply("On it.", thinking="Look it up.", tool_calls=[call], usage=Usage(100, 20, 40, 10))
    model = ScriptedModel(said, said, chunks=4)
    with Server(model) as served, anthropic.Anthropic(base_url=f"{served.anthropic}{below}", api_key="k") as client:
        asked: Any = {"model": "m", "max_tokens": 9, "messages": HELLO, "tools": [{"name": "search", "input_schema": {"type": "object"}}]}
        whole = client.messages.create(**asked)
        with client.messages.stream(**asked) as stream:
            texts = list(stream.text_stream)
            final = stream.get_final_message()
        assert client.messages.count_tokens(model="m", messages=HELLO).input_tokens > 0
    assert texts == ["On i", "t."]
    assert [block.type for block in whole.content] == ["thinking", "text", "tool_use"]
    assert whole.stop_reason == "tool_use"
    assert (whole.usage.input_tokens, whole.usage.cache_read_input_tokens, whole.usage.cache_creation_input_tokens) == (50, 40, 10)
    assert [block.to_dict() for block in final.content] == [block.to_dict() for block in whole.content]
    assert final.usage.to_dict() == whole.usage.to_dict()
    assert counts(model) == (2, 0, 0, 0)


def test_a_client_of_aiohttp_is_answered(record: Record) -> None:
    """A client that goes around every transport, in the middle of an event loop."""

    async def ask() -> tuple[str | None, Any, list[sse.Event]]:
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{served}{CHAT}", json=ASKED) as whole:
                mark, document = whole.headers.get("x-invcheck-double"), await whole.json()
            async with session.post(f"{served}{MESSAGES}", json={**ASKED, "stream": True}) as stream:
                events = sse.parse(await stream.read())
        return mark, document, events

    with Server(ScriptedModel("one", "two")) as served:
        mark, document, events = asyncio.run(ask())
    assert mark == "1"
    assert document["choices"][0]["message"]["content"] == "one"
    assert [event.name for event in events] == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


@pytest.mark.skipif(shutil.which("node") is None, reason="another language needs its own program: node is not installed")
def test_another_language_is_answered(record: Record) -> None:
    """Node's own fetch reads a stream to its end, and sees a cut as an error."""
    program = """
        const ask = async () => {
          const answer = await fetch(process.argv[1] + "/v1/chat/completions",
            {method: "POST", body: JSON.stringify({model: "m", messages: [{role: "user", content: "hi"}], stream: true})});
          return answer.text();
        };
        const whole = await ask();
        console.log(whole.trim().split("\\n").pop());
        try { await ask(); console.log("whole"); } catch (error) { console.log(error.name); }
    """
    model = ScriptedModel("hello", fail("cut", after=20, reply="hello"))
    with Server(model) as served:
        ran = subprocess.run(
            ["node", "--input-type=module", "-e", program, served.url], capture_output=True, text=True, timeout=30, check=False
        )
    assert (ran.stdout.splitlines(), ran.stderr) == (["data: [DONE]", "TypeError"], "")
    assert counts(model) == (1, 1, 0, 0)


def test_every_answer_is_marked(held: Record) -> None:
    """Replies, streams, faults and refusals all say that no model answered."""
    with Server(ScriptedModel("hi", fail("server"), fail("rate-limit", headers={"A": "b"}))) as served:
        answers = [post(served, CHAT, ASKED) for _ in range(4)]
        answers += [post(served, "/v1/models", {}), post(served, CHAT, b"{")]
        answers.append(post(served, "/v1/messages/count_tokens", {"messages": HELLO}))
    assert [status for status, _, _ in answers] == [200, 500, 429, 400, 404, 400, 200]
    assert {headers["x-invcheck-double"] for _, headers, _ in answers} == {"1"}
    assert answers[2][1]["a"] == "b"


def test_whoever_repeats_is_told_to_do_it_at_once(record: Record) -> None:
    """Retry-After is what the script says; beside it stands, for clients that wait for real, that they need not."""
    model = ScriptedModel(fail("rate-limit", retry_after=20), fail("bad-request"), fail("overloaded"), "hi")
    with Server(model) as served:
        limited, bad = post(served, MESSAGES, ASKED)[1], post(served, MESSAGES, ASKED)[1]
        with anthropic.Anthropic(base_url=served.anthropic, api_key="k") as client:
            said = client.messages.create(model="m", max_tokens=9, messages=HELLO)
    assert (limited["retry-after"], limited["retry-after-ms"]) == ("20", "0.001")
    assert "retry-after-ms" not in bad
    assert isinstance(said.content[0], anthropic.types.TextBlock)
    assert [call.attempt for call in model.calls] == [0, 0, 0, 1]


def test_a_script_that_is_over_is_an_error_that_no_client_repeats(held: Record) -> None:
    """SDKs ask once, the app sees a bad request, and the double holds the finding whatever the app does."""
    model = ScriptedModel()
    with (
        Server(model) as served,
        openai.OpenAI(base_url=served.openai, api_key="k") as client,
        pytest.raises(openai.BadRequestError, match="SCRIPT_EXHAUSTED: call 1 of 0"),
    ):
        client.chat.completions.create(model="m", messages=HELLO)
    assert counts(model) == (0, 0, 0, 1)
    assert codes(held) == ["SCRIPT_EXHAUSTED"]


def test_an_endpoint_that_is_not_there_is_a_404_that_says_which_are(held: Record) -> None:
    """The body lists them, the call is recorded and refused, and no step is taken."""
    model = ScriptedModel("kept")
    with Server(model) as served:
        status, _, body = post(served, "/v1/embeddings", {"input": "x"})
        assert post(served, CHAT, ASKED)[0] == 200
    assert status == 404
    assert "/chat/completions" in json.loads(body)["error"]["message"]
    assert codes(held) == ["ENDPOINT_UNKNOWN"]
    assert [(call.method, call.state) for call in model.calls] == [("POST /v1/embeddings", "refused"), ("openai.chat", "served")]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "line 1, column 1: the text is empty"),
        (b'{"a": ', "cannot be read: this is no JSON"),
        (b"{} {}", "line 1, column 4: text stands after the value"),
        (b"[1]", "it is list, not an object"),
        (b'{"a": "\xff"}', "byte 0xff at 7 is no UTF-8"),
        (b'{"a": 1, "a": 2}', 'the key "a" stands twice in one object'),
    ],
)
def test_a_body_that_cannot_be_read_is_a_400_that_says_why(held: Record, body: bytes, told: str) -> None:
    """It is recorded, refused and latched; no step is taken, and nobody sees a traceback."""
    model = ScriptedModel("kept")
    with Server(model) as served:
        status, _, answer = post(served, CHAT, body)
    assert status == 400
    assert told in json.loads(answer)["error"]["message"]
    assert codes(held) == ["REQUEST_PROTOCOL", "SCRIPT_UNUSED"]
    assert counts(model) == (0, 0, 0, 1)


def test_what_is_no_http_is_a_400_that_says_why(held: Record) -> None:
    """Bytes that are no request are recorded and named like everything else."""
    model = ScriptedModel("kept")
    with Server(model) as served:
        got = raw(served, b"hello?\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 400 ")
    assert b"a request is malformed: illegal request line" in got
    assert b"x-invcheck-double: 1" in got
    assert held.latches[0].message.startswith("a request is malformed: illegal request line")


def test_what_a_step_raises_is_an_error_of_the_server(record: Record) -> None:
    """No exception reaches a client on a socket: it sees a 500 that it does not repeat."""
    model = ScriptedModel(fail(KeyError("gone")))
    with Server(model) as served:
        status, headers, body = post(served, CHAT, ASKED)
    assert (status, headers["x-should-retry"]) == (500, "false")
    assert json.loads(body)["error"]["message"] == "the step that answers raised KeyError: 'gone'"
    assert [call.error for call in model.calls] == ["KeyError"]


def test_a_stream_is_cut_after_any_byte(record: Record) -> None:
    """What arrives is the beginning of the whole body, to the byte, and the body never ends."""
    with Server(ScriptedModel("hello there", "hello there", chunks="words")) as served:
        whole = [streamed(served), streamed(served, MESSAGES)]
    for path, body in zip((CHAT, MESSAGES), whole, strict=True):
        for after in (0, 1, len(body) // 2, len(body) - 1):
            with Server(ScriptedModel(fail("cut", after=after, reply=reply("hello there", chunks="words")))) as served:
                got = streamed(served, path)
            assert (len(got), _without_ordinals(got)) == (after, _without_ordinals(body[:after]))


def _without_ordinals(body: bytes) -> bytes:
    """The same request gets the same ids, but for the ordinal of its call."""
    return re.sub(rb"_\d\b", b"_", body)


def test_a_stream_is_cut_inside_a_character(record: Record) -> None:
    """The last byte that arrives is the first of a character of more than one."""
    with Server(ScriptedModel(fail("cut", after="character", reply="Zürich"))) as served:
        got = streamed(served)
    assert got.endswith('"Zü'.encode()[:-1])
    with pytest.raises(UnicodeDecodeError):
        got.decode()


def test_a_cut_reply_is_an_incomplete_body(record: Record) -> None:
    """A client that was told how long a body is sees that it is not all there; one that reads chunks sees no end."""
    with Server(ScriptedModel(fail("cut", reply="hello"), fail("cut", reply="hello"))) as served:
        with pytest.raises(http.client.IncompleteRead):
            post(served, CHAT, ASKED)
        with openai.OpenAI(base_url=served.openai, api_key="k", max_retries=0) as client:
            stream = client.chat.completions.create(model="m", messages=HELLO, stream=True)
            with pytest.raises((openai.APIConnectionError, httpx2.RemoteProtocolError)):
                list(stream)


def test_a_truncated_reply_is_a_body_that_seems_whole(record: Record) -> None:
    """The connection ends as it should, only something is missing: no client raises."""
    truncated = fail("truncated", after=60, reply="hello")
    with Server(ScriptedModel(truncated, truncated)) as served:
        status, headers, body = post(served, CHAT, ASKED)
        streaming = post(served, CHAT, {**ASKED, "stream": True})[2]
    assert (status, headers["content-length"], len(body), len(streaming)) == (200, "60", 60, 60)


def test_an_error_arrives_in_the_middle_of_a_stream(record: Record) -> None:
    """The SDK raises it as the error that it is, after the events before."""
    model = ScriptedModel(fail("stream-error", "it broke", after=500, reply="hello"))
    with (
        Server(model) as served,
        anthropic.Anthropic(base_url=served.anthropic, api_key="k") as client,
        client.messages.stream(model="m", max_tokens=9, messages=HELLO) as stream,
        pytest.raises(anthropic.APIStatusError, match="it broke"),
    ):
        list(stream.text_stream)
    assert counts(model) == (0, 1, 0, 0)


def test_silence_lasts_until_the_client_leaves(record: Record) -> None:
    """A client's time-out ends it, not the server; a time-out of the script's is the client's, however long it says."""
    model = ScriptedModel(fail("stall", seconds=600), fail("timeout"), fail("timeout", seconds=0.001), "after")
    with Server(model) as served:
        for _ in range(3):
            with httpx2.Client(timeout=0.05) as client, pytest.raises(httpx2.ReadTimeout):
                client.post(f"{served}{CHAT}", json=ASKED)
        assert post(served, CHAT, ASKED)[0] == 200
    assert counts(model) == (1, 3, 0, 0)


def test_silence_is_bounded(record: Record) -> None:
    """A silence of the script's that is over breaks the connection, so that no client hangs for ever."""
    with (
        Server(ScriptedModel(fail("stall", seconds=0.01, after=5, reply="hello"))) as served,
        httpx2.Client(timeout=10) as client,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        client.post(f"{served}{CHAT}", json=ASKED)


@pytest.mark.parametrize("step", [fail("timeout"), fail("timeout", seconds=0.001), fail("stall"), fail("stall", after=5, reply="hello")])
def test_a_silence_that_is_cut_is_a_finding(held: Record, step: Any) -> None:
    """However long the script says, a client without a time-out sees its connection go, and in process it would see another error."""
    with (
        Server(ScriptedModel(step), silence=0.02) as served,
        httpx2.Client(timeout=10) as client,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        client.post(f"{served}{CHAT}", json=ASKED)
    (finding,) = held.findings()
    assert (finding.code, finding.verdict) == ("SILENCE_CUT", "errored")
    assert finding.expected == "a client whose time-out is less than 0.02 seconds"
    assert finding.hint == "lower the client's time-out, or let the server be silent for longer (silence=, --silence)"


@pytest.mark.parametrize("silence", [-1, True, "2", float("inf"), float("nan")])
def test_a_silence_is_a_number_of_seconds(record: Record, silence: Any) -> None:
    """And not for ever."""
    with pytest.raises(DoubleError, match=r"^silence is a number of real seconds from 0, got "):
        Server(ScriptedModel(), silence=silence)


def _together(model: ScriptedModel) -> Any:
    """Give a step that answers once two requests have arrived, and what says that it was taken."""
    taken = threading.Event()

    async def waits(request: Any) -> str:
        taken.set()
        while len(model.calls) < 2:  # noqa: ASYNC110  # what it waits for tells no event loop
            await asyncio.sleep(0)
        return "late"

    return waits, taken


def _beside(served: Served, taken: threading.Event, first: dict[str, str], second: dict[str, str]) -> list[int]:
    """Ask, and ask again from another thread while the first request is not answered; gives both statuses."""
    statuses: list[int] = []
    one = threading.Thread(target=lambda: statuses.append(post(served, CHAT, ASKED, first)[0]))
    one.start()
    assert taken.wait(10)
    statuses.append(post(served, CHAT, ASKED, second)[0])
    one.join()
    return statuses


def test_requests_in_flight_at_once_on_a_lane_overlap(held: Record) -> None:
    """Which of them takes which step is not decided: found for sure, once, with the lane that it is."""
    model = ScriptedModel(lanes={"a": [], "b": []})
    waits, taken = _together(model)
    model.append_response(waits, lane="a")
    model.append_response("soon", lane="a")
    with Server(model) as served:
        assert _beside(served, taken, {"x-invcheck-lane": "a"}, {"x-invcheck-lane": "a"}) == [200, 200]
    (finding,) = held.findings()
    assert (finding.code, finding.verdict, finding.expected) == ("LANE_OVERLAP", "errored", 'one call at a time on lane "a"')


def test_requests_on_two_lanes_do_not_overlap(record: Record) -> None:
    """Nor does one that takes no step."""
    model = ScriptedModel(lanes={"a": [], "b": ["soon"]})
    waits, taken = _together(model)
    model.append_response(waits, lane="a")
    with Server(model) as served:
        assert _beside(served, taken, {"x-invcheck-lane": "a"}, {"x-invcheck-lane": "b"}) == [200, 200]


def test_what_always_answers_has_no_order(record: Record) -> None:
    """Requests for it may be in flight at once."""
    model = ScriptedModel()
    waits, taken = _together(model)
    model.then_always(waits)
    with Server(model) as served:
        assert _beside(served, taken, {}, {}) == [200, 200]


def test_the_last_step_has_an_order_before_what_always_answers(held: Record) -> None:
    """Which of two requests at once gets it is not decided."""
    model = ScriptedModel()
    waits, taken = _together(model)
    model.append_response(waits)
    model.then_always("always")
    with Server(model) as served:
        assert _beside(served, taken, {}, {}) == [200, 200]
    assert codes(held) == ["LANE_OVERLAP"]


def test_a_client_that_gave_up_and_asks_again_overlaps_with_nobody(record: Record) -> None:
    """Its first request is still under way, but it decided the order itself."""
    model = ScriptedModel()
    waits, taken = _together(model)
    model.append_response(waits)
    model.append_response("again")
    with Server(model) as served:
        with socket.create_connection(("127.0.0.1", served.port)) as first:
            first.sendall(posted(CHAT))
            assert taken.wait(10)
        assert post(served, CHAT, ASKED)[0] == 200
        post(served, "/v1/messages/count_tokens", {"messages": HELLO})
    assert model.calls[1].state == "served"


def test_who_reads_a_stream_may_ask_again_because_of_it(record: Record) -> None:
    """Who has seen an answer begin knows which step it is."""

    async def waits(request: Any, signal: AbortSignal) -> Any:
        yield "be"
        while len(model.calls) < 2:  # noqa: ASYNC110  # what it waits for tells no event loop
            await asyncio.sleep(0)
        yield "gun"
        yield Reply((Text("begun"),))

    model = ScriptedModel(waits, "and now")
    with Server(model) as served, openai.OpenAI(base_url=served.openai, api_key="k") as client:
        stream = client.chat.completions.create(model="m", messages=HELLO, stream=True)  # type: ignore[call-overload]  # plain dicts
        said = []
        for chunk in stream:
            if chunk.choices[0].delta.content == "be":
                assert post(served, CHAT, ASKED)[0] == 200
            said.append(chunk.choices[0].delta.content or "")
    assert "".join(said) == "begun"


def test_a_server_is_entered_in_an_event_loop_too(record: Record) -> None:
    """`async with` is `with`."""

    async def app() -> str | None:
        async with ScriptedModel("hello").serve() as served, openai.AsyncOpenAI(base_url=served.openai, api_key="k") as client:
            return (await client.chat.completions.create(model="m", messages=HELLO)).choices[0].message.content  # type: ignore[arg-type]  # as above

    assert asyncio.run(app()) == "hello"


@pytest.mark.parametrize("name", ["openai", "anthropic", "url", "port", "environ"])
def test_a_server_that_was_not_opened_says_how(record: Record, name: str) -> None:
    """What it serves at is known in its block."""
    with pytest.raises(
        AttributeError, match=rf"^Server has no attribute '{name}': it serves in a block, `with double.serve\(\) as served:`"
    ):
        getattr(ScriptedModel().serve(), name)
    with pytest.raises(AttributeError, match=r"^Server has no attribute 'opened'$"):
        ScriptedModel().serve().opened  # noqa: B018  # the mistake


def test_real_waits_are_as_long_as_they_may_be(held: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an event loop and without one; a longer one is cut, and a finding once for each length."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("invcheck.sandbox.clock.real_sleep", slept.append)
    monkeypatch.setattr("asyncio.sleep", sleep)
    waits = RealWaits(held, 2.0)
    for seconds in (0.5, 2.0, 3.0, 3.0):
        waits.let(seconds)
        asyncio.run(waits.alet(seconds))
    assert slept == [0.5, 0.5, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    assert codes(held) == ["WAIT_CUT"]


def test_time_may_be_real(record: Record) -> None:
    """What a step waits for is waited for, and a silence beside it ends in its own time."""

    async def slow(request: Any) -> str:
        await asyncio.sleep(0.01)
        return "late"

    begun = clock.real_monotonic()
    with Server(ScriptedModel(slow), real=True) as served:
        assert post(served, CHAT, ASKED)[0] == 200
    assert clock.real_monotonic() - begun >= 0.01


def test_a_connection_serves_many_requests(record: Record) -> None:
    """It stays open for as long as the client wants, as a provider's does."""
    with Server(ScriptedModel("one", "two")) as served:
        client = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
        sockets = []
        for _ in range(2):
            client.request("POST", CHAT, json.dumps(ASKED).encode())
            sockets.append(client.sock)
            with client.getresponse() as answer:
                assert answer.read()
        client.close()
    assert sockets[0] is sockets[1]


def test_a_connection_fails_before_any_answer(record: Record) -> None:
    """The client sees its connection reset."""
    with Server(ScriptedModel(fail("connection"))) as served, pytest.raises(ConnectionResetError):
        raw(served, posted(MESSAGES))


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_lawful_oddities_of_a_stream_change_nothing(record: Record, path: str) -> None:
    """CRLF, comments and pings arrive as bytes, and a reader of the standard sees the same events; headers go along."""
    framing = Framing("\r\n", comments=True, pings=True, headers={"x-served-by": "edge"})
    said = Reply((Text("hello"),), framing=framing)
    with Server(ScriptedModel("hello", said)) as served:
        plain, odd = streamed(served, path), streamed(served, path)
    assert b"\r\n\r\n" in odd
    assert b": comment\r\n" in odd
    meant, read = ([event for event in sse.parse(_without_ordinals(body)) if event.name != "ping"] for body in (plain, odd))
    assert read == meant


def test_the_end_marker_may_be_missing(record: Record) -> None:
    """[DONE] and message_stop can be left out; all else is there."""
    said = Reply((Text("hello"),), framing=Framing(done=False))
    with Server(ScriptedModel(said, said)) as served:
        chat, messages = streamed(served), streamed(served, MESSAGES)
    assert b"[DONE]" not in chat
    assert sse.parse(messages)[-1].name == "message_delta"


def test_clients_on_two_lanes_do_not_take_each_other_s_steps(record: Record) -> None:
    """A lane by header: whoever comes first, each gets its own."""
    lanes = {name: [f"{name} {n}" for n in range(5)] for name in ("writer", "critic")}
    got: dict[str, list[str]] = {name: [] for name in lanes}

    def ask(name: str) -> None:
        for _ in range(5):
            _, _, body = post(served, CHAT, ASKED, {"X-Invcheck-Lane": name})
            got[name].append(json.loads(body)["choices"][0]["message"]["content"])

    with Server(ScriptedModel(lanes=lanes)) as served:
        threads = [threading.Thread(target=ask, args=(name,)) for name in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == lanes


def test_a_lane_may_be_the_model_that_is_asked(record: Record) -> None:
    """`lane_by` knows the body; a server of one lane needs neither."""
    model = ScriptedModel(lanes={"big": ["B", "b"], "small": ["s"]}, lane_by="model")
    with Server(model) as served:
        assert [json.loads(post(served, MESSAGES, {**ASKED, "model": name})[2])["content"][0]["text"] for name in ("small", "big")] == [
            "s",
            "B",
        ]
    with Server(model, lane="big") as served:
        assert json.loads(post(served, MESSAGES, {**ASKED, "model": "any"})[2])["content"][0]["text"] == "b"


def test_steps_that_wait_are_waited_for(record: Record) -> None:
    """A response factory that sleeps in between streams its chunks; its time takes none here."""

    async def slow(request: Any, signal: AbortSignal) -> Any:
        await asyncio.sleep(3600)
        yield Chunk(request.id, "hel")
        await asyncio.sleep(3600)
        yield Chunk(request.id, "lo")
        yield Reply((Text("hello"),))

    with Server(ScriptedModel(slow, reply("late", latency=3600))) as served:
        assert b'"content":"hel"' in streamed(served)
        assert post(served, CHAT, ASKED)[0] == 200


def test_a_step_that_raises_in_the_middle_cuts_its_stream(record: Record) -> None:
    """What was streamed has arrived, and the end never comes."""

    def breaks(request: Any) -> Any:
        yield "hel"
        raise KeyError("gone")

    model = ScriptedModel(breaks)
    with (
        Server(model) as served,
        httpx2.Client() as client,
        client.stream("POST", f"{served}{CHAT}", json={**ASKED, "stream": True}) as answer,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        answer.read()
    assert [call.error for call in model.calls] == ["KeyError"]


@pytest.mark.parametrize(
    ("last", "ends"),
    [
        ("overloaded", lambda body: body.endswith(b"\n\n") and b"overloaded_error" in body),
        ("truncated", lambda body: b'"hel"' in body and b"message_stop" not in body),
    ],
)
def test_a_factory_may_end_its_stream_with_a_fault(record: Record, last: str, ends: Callable[[bytes], bool]) -> None:
    """A fault after chunks is an error event, or a stream that just ends."""

    def breaks(request: Any) -> Any:
        yield "hel"
        yield fail(last)

    with Server(ScriptedModel(breaks)) as served:
        body = post(served, MESSAGES, {**ASKED, "stream": True})[2]
    assert ends(body)


def test_a_client_that_leaves_before_it_has_asked_asks_nothing(record: Record) -> None:
    """A request whose body never comes is no call."""
    model = ScriptedModel()
    with Server(model) as served:
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n{")
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(10) == b""
        post(served, "/v1/messages/count_tokens", {})
    assert model.calls == ()


def test_a_server_that_ends_leaves_nothing(record: Record) -> None:
    """Its port is free at once, no thread is left, and who is in the middle of something is cut off."""
    model = ScriptedModel(fail("stall"), "again")
    server = Server(model)
    with server as served, socket.create_connection(("127.0.0.1", served.port)) as waiting:
        waiting.sendall(posted(MESSAGES))
        post(served, "/v1/messages/count_tokens", {})
        server.close()
        assert waiting.recv(10) == b""
    with Server(model, port=served.port) as again:
        assert again == served
        assert post(again, CHAT, ASKED)[0] == 200
    server.close()


@pytest.mark.parametrize("streams", [False, True])
def test_a_server_that_ends_cancels_what_is_under_way(record: Record, streams: bool) -> None:
    """A step that still waits is cancelled, and cleans up."""
    cleaned = []

    async def waits(request: Any) -> Any:
        yield "hel"
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    begun, model = threading.Event(), ScriptedModel(waits)
    with Server(model) as served, socket.create_connection(("127.0.0.1", served.port)) as waiting:
        waiting.sendall(posted(MESSAGES, stream=streams))
        assert begun.wait(10)
    assert (counts(model), cleaned) == ((0, 0, 1, 0), [True])


def test_a_server_logs_nothing_where_the_app_logs(held: Record, caplog: pytest.LogCaptureFixture) -> None:
    """What went wrong stands in the record; another server's words are left alone."""
    with Server(ScriptedModel(fail(KeyError("gone")))) as served:
        raw(served, b"hello?\r\n\r\n")
        post(served, CHAT, ASKED)
        assert [entry.name for entry in caplog.records if entry.levelno >= logging.INFO] == []
        logging.getLogger("uvicorn.error").warning("the app's own")
    assert [entry.message for entry in caplog.records if entry.name == "uvicorn.error"] == ["the app's own"]


def test_only_loopback_answers(record: Record) -> None:
    """The socket is bound to 127.0.0.1, and no argument says otherwise."""
    with Server(ScriptedModel()) as served:
        assert served.url.startswith("http://127.0.0.1:")
        with socket.socket() as other, pytest.raises(ConnectionRefusedError):
            other.connect(("127.0.0.2", served.port))


def test_a_port_that_cannot_be_had_is_told(record: Record) -> None:
    """A port in use, one that is none, and a server that is open already."""
    with (
        Server(ScriptedModel()) as served,
        pytest.raises(DoubleError, match=rf"^port {served.port} cannot be had: Address already in use"),
    ):
        Server(ScriptedModel(), port=served.port).open()
    with pytest.raises(DoubleError, match=r"^a port is a number from 0 to 65535, got 70000"):
        Server(ScriptedModel(), port=70000)
    server = Server(ScriptedModel())
    with server, pytest.raises(DoubleError, match=r"^this server serves already"):
        server.open()


def test_without_the_libraries_the_way_to_them_is_told(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """starlette and uvicorn are an extra."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DoubleError, match="starlette is not installed") as wrong:
        Server(ScriptedModel()).open()
    assert wrong.value.hint == "pip install invcheck[serve]"


def test_what_goes_wrong_in_the_thread_is_raised_where_it_was_opened(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a server that never begins."""

    def broken(*_: Any) -> Any:
        raise RuntimeError("no loop")

    monkeypatch.setattr("invcheck.faces.asgi.serve", broken)
    with pytest.raises(RuntimeError, match="no loop"):
        Server(ScriptedModel()).open()


def test_a_double_of_an_earlier_trial_is_refused(held: Record) -> None:
    """A server that outlives its trial answers with an error, and the trial in hand hears of it."""
    with testing():
        model = ScriptedModel()
    with Server(model) as served:
        assert post(served, CHAT, ASKED)[0] == 400
        assert raw(served, b"?\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert codes(held) == ["NOT_IN_TEST"]


def test_the_variables_are_those_that_clients_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both SDKs, built with nothing said, ask the server of the variables."""
    served = Served(8000)
    for name, value in served.environ.items():
        monkeypatch.setenv(name, value)
    assert str(openai.OpenAI().base_url) == "http://127.0.0.1:8000/v1/"
    assert str(anthropic.Anthropic().base_url).rstrip("/") == "http://127.0.0.1:8000"
