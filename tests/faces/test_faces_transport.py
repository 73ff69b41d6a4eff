"""The transport: one for httpx2 and httpx, sync and async, and every misbehaviour as the bytes and errors of a client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest

from invcheck import Fault, Reply, ScriptedModel, Text, testing
from invcheck.errors import CallCancelled, DoubleError
from invcheck.faces import transport as room
from invcheck.record import Record, opened
from invcheck.vocabulary import Counts, Delivery, Framing
from invcheck.wire.sse import parse

URL = "http://double.invalid/v1/chat/completions"
BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
STREAM = {**BODY, "stream": True}
Post = Callable[..., tuple[int, dict[str, str], bytes]]


def _sync(module: Any) -> Post:
    def post(model: Any, body: Any = BODY, *, method: str = "POST", url: str = URL, lane: str | None = None, **more: Any) -> Any:
        with module.Client(transport=model.transport(module=module, lane=lane)) as client:
            found = client.request(method, url, json=body, **more)
            return found.status_code, dict(found.headers), found.content

    return post


def _async(module: Any) -> Post:
    def post(model: Any, body: Any = BODY, *, method: str = "POST", url: str = URL, lane: str | None = None, **more: Any) -> Any:
        async def ask() -> Any:
            async with module.AsyncClient(transport=model.transport(module=module, lane=lane)) as client:
                found = await client.request(method, url, json=body, **more)
                return found.status_code, dict(found.headers), found.content

        return asyncio.run(ask())

    return post


@pytest.fixture(params=[httpx2, httpx], ids=lambda module: module.__name__)
def module(request: pytest.FixtureRequest) -> Any:
    """Either HTTP library."""
    return request.param


@pytest.fixture(params=[_sync, _async], ids=["sync", "async"])
def post(request: pytest.FixtureRequest, module: Any) -> Post:
    """Ask through a client of either library, sync or async."""
    made: Post = request.param(module)
    return made


def _texts(body: bytes) -> str:
    said = [json.loads(event.data) for event in parse(body) if event.data != "[DONE]"]
    return "".join(choice["delta"].get("content") or "" for event in said for choice in event["choices"])


def test_a_whole_reply_is_one_json_body(post: Post) -> None:
    """A request that asks for no stream is answered at once, and the reply is marked and correlated."""
    with testing():
        model = ScriptedModel("Grüezi")
        status, headers, body = post(model)
        assert (status, json.loads(body)["choices"][0]["message"]["content"]) == (200, "Grüezi")
        assert headers["content-type"] == "application/json"
        assert "x-invcheck-double" in headers
        assert headers["x-request-id"] == model.requests[0].id
        assert model.requests[0] == BODY
        assert model.calls[0].method == "openai.chat"


def test_a_stream_is_events_one_part_for_each_chunk(post: Post) -> None:
    """A request that asks for a stream gets events, cut as the reply says, and the end marker."""
    with testing():
        model = ScriptedModel("one two", chunks="words")
        status, headers, body = post(model, STREAM)
        assert (status, _texts(body), body.endswith(b"data: [DONE]\n\n")) == (200, "one two", True)
        assert headers["content-type"].startswith("text/event-stream")
        assert model.counts == Counts(served=1)


def test_each_dialect_is_found_by_the_end_of_the_path(post: Post) -> None:
    """The path below whatever base URL says which dialect answers."""
    with testing():
        model = ScriptedModel("a", "b", "c")
        kinds = [
            json.loads(post(model, {**BODY, "input": "hi", "max_tokens": 9}, url=f"http://double.invalid{path}")[2]).get(name)
            for path, name in (("/x/chat/completions", "object"), ("/v1/responses", "object"), ("/v1/messages", "type"))
        ]
        assert kinds == ["chat.completion", "response", "message"]


def test_what_no_double_has_is_404_and_recorded(post: Post) -> None:
    """An unknown endpoint says which there are; the call is refused, takes no step, and stays a finding."""
    with testing() as record:
        model = ScriptedModel("kept")
        status, headers, body = post(model, url="http://double.invalid/v1/embeddings")
        message = json.loads(body)["error"]["message"]
        assert status == 404
        assert "/chat/completions" in message
        assert "/responses" in message
        assert "/messages" in message
        assert "x-invcheck-double" in headers
        assert model.counts == Counts(refused=1)
        assert [finding.code for finding in record.findings()] == ["ENDPOINT_UNKNOWN", "SCRIPT_UNUSED"]
        record.latches.clear()
        post(model)


def test_a_script_that_is_over_is_an_error_that_no_client_repeats(post: Post) -> None:
    """The client sees a status below 500 that says code and text, and that it should not try again."""
    with testing() as record:
        model = ScriptedModel("only")
        post(model)
        status, headers, body = post(model)
        assert 400 <= status < 500
        assert status not in {408, 409, 429}
        assert headers["x-should-retry"] == "false"
        assert "SCRIPT_EXHAUSTED" in json.loads(body)["error"]["message"]
        assert [finding.code for finding in record.findings()] == ["SCRIPT_EXHAUSTED"]
        record.latches.clear()


def test_a_status_comes_with_its_headers_and_the_dialects_error(post: Post) -> None:
    """A fault with a status has the provider's body, the true Retry-After in seconds, and no steering of ours."""
    with testing():
        status, headers, body = post(ScriptedModel(Fault("rate-limit", retry_after=20)))
        assert (status, headers["retry-after"], json.loads(body)["error"]["code"]) == (429, "20", "rate_limit_exceeded")
        assert "retry-after-ms" not in headers
        assert "x-should-retry" not in headers


def test_a_faults_own_body_and_headers_take_the_place_of_the_dialects(post: Post) -> None:
    """An HTML page from a proxy comes as HTML."""
    with testing():
        fault = Fault("bad-gateway", body="<html>Bad gateway</html>", headers={"server": "proxy"})
        status, headers, body = post(ScriptedModel(fault))
        assert (status, headers["server"], body) == (502, "proxy", b"<html>Bad gateway</html>")
        assert headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    ("kind", "error"),
    [("connection", "ConnectError"), ("timeout", "ReadTimeout"), ("stall", "ReadTimeout")],
)
def test_a_fault_without_a_response_is_the_clients_own_error(post: Post, module: Any, kind: str, error: str) -> None:
    """What no server says is raised as the HTTP library raises it, and the call has failed."""
    with testing():
        model = ScriptedModel(Fault(kind))
        with pytest.raises(getattr(module, error)):
            post(model, timeout=30)
        assert model.counts == Counts(failed=1)


def _parts(module: ModuleType, model: Any, body: Any) -> tuple[bytes, str]:
    """What arrives of a body, and the error that ends it."""
    arrived = b""
    with module.Client(transport=model.transport(module=module), timeout=30) as client:
        try:
            with client.stream("POST", URL, json=body) as found:
                for part in found.iter_raw():
                    arrived += part
        except module.HTTPError as error:
            return arrived, type(error).__name__
    return arrived, "none"


@pytest.mark.parametrize("body", [BODY, STREAM], ids=["whole", "stream"])
@pytest.mark.parametrize(("kind", "error"), [("cut", "RemoteProtocolError"), ("truncated", "none"), ("stall", "ReadTimeout")])
def test_a_reply_breaks_after_so_many_bytes(module: Any, body: Any, kind: str, error: str) -> None:
    """Exactly the bytes that the fault says arrive of the very body that would have come."""
    with testing():
        whole, _ = _parts(module, ScriptedModel("Grüezi"), body)
        model = ScriptedModel(Fault(kind, reply=Reply((Text("Grüezi"),)), after=40))
        assert _parts(module, model, body) == (whole[:40], error)
        assert model.counts == Counts(failed=1)


def test_a_broken_reply_is_cut_into_chunks_as_the_double_says(module: Any) -> None:
    """What a reply does not say of its delivery the double does, also where it breaks."""
    with testing():
        said = Reply((Text("one two three"),))
        whole, _ = _parts(module, ScriptedModel(said, chunks="words"), STREAM)
        arrived, _ = _parts(module, ScriptedModel(Fault("cut", reply=said, after=len(whole) - 1), chunks="words"), STREAM)
        deltas = [json.loads(event.data)["choices"][0]["delta"].get("content") for event in parse(arrived)]
        assert deltas == ["", "one ", "two ", "three", None]


@pytest.mark.parametrize("body", [BODY, STREAM], ids=["whole", "stream"])
def test_a_cut_inside_a_character_leaves_half_of_it(module: Any, body: Any) -> None:
    """``after="character"`` breaks behind the first byte of the first character that has several."""
    with testing():
        arrived, _ = _parts(module, ScriptedModel(Fault("cut", reply=Reply((Text("Grüezi"),)), after="character")), body)
        assert arrived.endswith(b"Gr\xc3")


def test_a_stream_error_is_the_dialects_event_behind_whole_events(module: Any) -> None:
    """What arrived before stays whole, the error is the last event, and there is no end marker."""
    with testing():
        reply = Reply((Text("Hello, world"),), delivery=Delivery("words"))
        arrived, error = _parts(module, ScriptedModel(Fault("stream-error", "overloaded", reply=reply, after=500)), STREAM)
        events = parse(arrived)
        assert error == "none"
        assert json.loads(events[-1].data)["error"]["message"] == "overloaded"
        assert 0 < len(arrived) - len(events[-1].data) <= 500 + len("data: \n\n")
        assert b"[DONE]" not in arrived


def test_lawful_oddities_of_a_stream_change_nothing_of_what_it_says(module: Any) -> None:
    """CRLF, comments and pings, and a missing end marker; headers of the framing come with it."""
    with testing():
        framing = Framing("\r\n", comments=True, pings=True, done=False, headers={"x-served-by": "cache"})
        model = ScriptedModel(Reply((Text("Hello"),), framing=framing))
        _, headers, body = _sync(module)(model, STREAM)
        assert _texts(body) == "Hello"
        assert body.startswith(b": ping\r\n\r\n: comment\r\ndata: ")
        assert b"[DONE]" not in body
        assert headers["x-served-by"] == "cache"


def test_the_clients_attempt_is_told_apart_from_the_apps_call(post: Post) -> None:
    """The number that SDKs send with each attempt stands beside the call."""
    with testing() as record:
        model = ScriptedModel("a", "b")
        post(model)
        post(model, headers={"x-stainless-retry-count": "2"})
        assert [call.attempt for call in model.calls] == [0, 2]
        assert [call["attempt"] for call in record.calls] == [0, 2]


def test_no_header_of_the_request_is_recorded(post: Post) -> None:
    """A key that the client sends stands nowhere in the record."""
    with testing() as record:
        post(ScriptedModel("a"), headers={"authorization": "Bearer sk-secret", "x-api-key": "sk-secret"})
        assert "sk-secret" not in json.dumps([record.calls, record.journal])


def test_lanes_are_asked_through_their_own_transport(post: Post) -> None:
    """A transport of a lane draws from that lane's script."""
    with testing():
        model = ScriptedModel(lanes={"a": ["from a"], "b": ["from b"]})
        said = [json.loads(post(model, lane=lane)[2])["choices"][0]["message"]["content"] for lane in ("b", "a")]
        assert said == ["from b", "from a"]


def _two(left: list[str]) -> Callable[..., AsyncIterator[Any]]:
    async def factory(request: Any, signal: Any) -> AsyncIterator[Any]:
        try:
            yield "one "
            yield "two"
            yield Reply((Text("one two"),))
        finally:
            left.append("cleaned up")

    return factory


def test_a_response_that_is_closed_early_is_a_cancelled_call(module: Any) -> None:
    """Who leaves a stream has cancelled its call; the next call takes the next step."""
    with testing():
        left: list[str] = []
        model = ScriptedModel(_two(left), "next")
        with module.Client(transport=model.transport(module=module)) as client, client.stream("POST", URL, json=STREAM) as found:
            for part in found.iter_raw():
                if b"one " in part:
                    break
        assert left == ["cleaned up"]
        assert model.counts == Counts(cancelled=1)
        assert b"next" in _sync(module)(model)[2]


def test_an_async_response_that_is_closed_early_is_a_cancelled_call(module: Any) -> None:
    """As the other one."""
    with testing():
        left: list[str] = []
        model = ScriptedModel(_two(left))

        async def leave() -> None:
            client = module.AsyncClient(transport=model.transport(module=module))
            async with client, client.stream("POST", URL, json=STREAM) as found:
                async for part in found.aiter_raw():
                    if b"one " in part:
                        break
            assert left == ["cleaned up"]

        asyncio.run(leave())
        assert model.counts == Counts(cancelled=1)


def test_what_a_step_raises_reaches_the_client_as_it_is(post: Post) -> None:
    """An exception of the test's own goes through the transport, as it would in process."""
    with testing(), pytest.raises(KeyError, match="gone"):
        post(ScriptedModel(KeyError("gone")))


class Clock:
    """A trial's clock, in so far as a double knows it."""

    elapsed = 0.0

    def let(self, seconds: float) -> None:
        self.elapsed += seconds

    async def alet(self, seconds: float) -> None:
        self.elapsed += seconds


def _clocked(run: Callable[[Any, Clock], None], *steps: Any, **options: Any) -> Any:
    record = Record()
    record.clock = clock = Clock()
    with opened(record):
        model = ScriptedModel(*steps, **options)
        run(model, clock)
    assert record.waits == []
    return model


def test_a_reply_that_comes_too_late_is_the_clients_time_out(post: Post, module: Any) -> None:
    """A latency beyond the read time-out ends the wait at that very second, and the call is cancelled."""

    def run(model: Any, clock: Clock) -> None:
        with pytest.raises(module.ReadTimeout):
            post(model, timeout=5)
        assert clock.elapsed == 5

    assert _clocked(run, "late", latency=7.0).counts == Counts(cancelled=1)


def test_a_reply_that_comes_in_time_is_one(post: Post) -> None:
    """A latency within the read time-out passes on the virtual clock, and no wait of the app is noted."""

    def run(model: Any, clock: Clock) -> None:
        assert post(model, timeout=7)[0] == 200
        assert clock.elapsed == 7

    assert _clocked(run, "in time", latency=7.0).counts == Counts(served=1)


def test_a_pause_between_chunks_beyond_the_read_time_out_breaks_the_stream(module: Any) -> None:
    """The read time-out counts anew for each part, as a socket's does."""

    def run(model: Any, clock: Clock) -> None:
        client = module.Client(transport=model.transport(module=module), timeout=5)
        with client, client.stream("POST", URL, json=STREAM) as found, pytest.raises(module.ReadTimeout):
            list(found.iter_raw())
        assert clock.elapsed == 2 + 5

    assert _clocked(run, Reply((Text("a b"),), delivery=Delivery("words", 2.0, 6.0))).counts == Counts(cancelled=1)


def test_a_silence_lasts_as_long_as_the_client_waits(post: Post, module: Any) -> None:
    """A stall that outlasts the read time-out is one; a shorter one ends in a broken connection."""

    def patient(model: Any, clock: Clock) -> None:
        with pytest.raises(module.RemoteProtocolError):
            post(model, timeout=60)
        assert clock.elapsed == 20

    def hasty(model: Any, clock: Clock) -> None:
        with pytest.raises(module.ReadTimeout):
            post(model, timeout=10)
        assert clock.elapsed == 10

    for run in (patient, hasty):
        _clocked(run, Fault("stall", seconds=20))


def test_a_time_out_takes_no_time(post: Post, module: Any) -> None:
    """A fault that is a time-out is one at once, as in process; a stall is how a test lets the time pass."""

    def run(model: Any, clock: Clock) -> None:
        with pytest.raises(module.ReadTimeout):
            post(model, timeout=None)
        assert clock.elapsed == 0

    _clocked(run, Fault("timeout"))


def test_who_waits_for_ever_sees_a_silence_break(post: Post, module: Any) -> None:
    """Without a read time-out a stall lasts as long as it says, and then the connection is gone."""

    def run(model: Any, clock: Clock) -> None:
        with pytest.raises(module.RemoteProtocolError):
            post(model, timeout=None)
        assert clock.elapsed == 600

    _clocked(run, Fault("stall"))


def test_a_call_that_its_own_step_cancels_is_refused(post: Post) -> None:
    """A factory that aborts the signal itself is no time-out of the client."""

    async def aborts(request: Any, signal: Any) -> AsyncIterator[Any]:
        raise CallCancelled("it did not want to")
        yield request, signal

    with testing():
        status, headers, body = post(ScriptedModel(aborts))
        assert (status, headers["x-should-retry"]) == (400, "false")
        assert "CANCELLED" in json.loads(body)["error"]["message"]


def test_the_module_is_httpx2_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ``module`` it is httpx2, else httpx, and where there is neither it says what to install."""
    with testing():
        model = ScriptedModel("x")
        assert isinstance(model.transport(), httpx2.BaseTransport)
        found = room.importlib.util.find_spec
        monkeypatch.setattr(room.importlib.util, "find_spec", lambda name: None if name == "httpx2" else found(name))
        assert isinstance(model.transport(), httpx.BaseTransport)
        monkeypatch.setattr(room.importlib.util, "find_spec", lambda _: None)
        with pytest.raises(DoubleError, match="pip install httpx2"):
            model.transport()
        model("x")
