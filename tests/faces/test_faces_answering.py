"""One exchange of the wire, without anything that carries it: routes, records, streams that are left, and what is raised."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck import ScriptedModel
from invcheck.errors import ScriptedModelError
from invcheck.faces.answering import Answer, Asked, Break, aanswer, answer, dialect_of, endpoints, malformed, refusal
from invcheck.faults import ModelFault, exception
from invcheck.record import Record, opened
from invcheck.sources.steps import fail, reply
from invcheck.vocabulary import Fault, Framing, Reply, Text
from invcheck.wire import sse

PATHS = ["/v1/chat/completions", "/v1/responses", "/v1/messages"]
ASKED = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "input": "hi"}
"""What every dialect takes for a request."""
WHOLE = json.dumps(ASKED).encode()
STREAM = json.dumps({**ASKED, "stream": True}).encode()


@pytest.fixture
def record() -> Iterator[Record]:
    with opened(Record()) as held:
        yield held


def asked(path: str = PATHS[0], body: bytes = WHOLE, *, method: str = "POST", **headers: str) -> Asked:
    return Asked(method, path, {name.replace("_", "-"): value for name, value in headers.items()}, body)


def sync(model: ScriptedModel, request: Asked) -> tuple[Answer, list[bytes | Break]]:
    found = answer(model, request)
    return found, list(found.parts)


def looped(model: ScriptedModel, request: Asked) -> tuple[Answer, list[bytes | Break]]:
    async def run() -> tuple[Answer, list[bytes | Break]]:
        found = await aanswer(model, request)
        return found, [part async for part in found.parts]

    return asyncio.run(run())


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", [WHOLE, STREAM])
@pytest.mark.parametrize(
    "step",
    [
        "hello",
        fail("rate-limit", retry_after=2.5),
        fail("cut", after=90, reply="hello"),
        fail("truncated", after=90, reply="hello"),
        fail("stream-error", after=90, reply="hello"),
        fail("stall", after=90, reply="hello", seconds=3),
        fail("cut", reply=Reply()),
        fail("stall"),
        fail("timeout"),
        fail("connection"),
        fail("server", status=503, body="<h1>no</h1>", headers={"X-Edge": "a"}),
    ],
)
def test_with_and_without_an_event_loop_the_same_comes_back(record: Record, path: str, body: bytes, step: Any) -> None:
    """Every kind of outcome, in every dialect, whole and streamed: status, headers and parts, to the byte."""
    first, second = ScriptedModel(step), ScriptedModel(step)
    assert _plain(*sync(first, asked(path, body))) == _plain(*looped(second, asked(path, body)))
    assert first.counts == second.counts


def _plain(found: Answer, parts: list[bytes | Break]) -> Any:
    return found.status, found.headers, found.streams, parts


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/chat/completions", "openai.chat"),
        ("/openai/deployments/m/chat/completions", "openai.chat"),
        ("/v1/responses/", "openai.responses"),
        ("/v1/messages", "anthropic.messages"),
        ("/anthropic/v1/messages", "anthropic.messages"),
        ("/v1/messages/batches", "anthropic.messages"),
        ("/", "openai.chat"),
    ],
)
def test_the_end_of_a_path_says_the_dialect(path: str, name: str) -> None:
    """Whatever a base URL puts before it; errors about other paths are written as their clients read them."""
    assert dialect_of(path).name == name


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/chat/completions"), ("POST", "/v1/embeddings"), ("GET", "/v1/messages/x")])
def test_what_is_asked_elsewhere_is_told_what_there_is(record: Record, method: str, path: str) -> None:
    """A 404 in the client's own dialect, recorded as it came, latched, and no step is taken."""
    model = ScriptedModel("kept")
    found, parts = sync(model, asked(path, b"\xff{", method=method))
    error = json.loads(b"".join(part for part in parts if isinstance(part, bytes)))["error"]
    assert found.status == 404
    assert all(endpoint in error["message"] for endpoint in endpoints())
    assert dict(model.requests[0]) == {"method": method, "path": path, "body": "\\xff{"}
    assert (model.pending, [finding.code for finding in record.latches]) == (1, ["ENDPOINT_UNKNOWN"])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("n", 2, "n is 1 where it is said, since a double has one choice; got 2"),
        ("n", True, "n is 1 where it is said"),
        ("best_of", 3, "best_of is 1 where it is said"),
        ("stream", "false", 'stream is true or false, got "false"'),
        ("stream", 1, "stream is true or false, got 1"),
        ("stream_options", "x", 'stream_options is an object, got "x"'),
    ],
)
@pytest.mark.parametrize("carry", [sync, looped])
def test_what_no_double_can_do_is_a_400_that_names_the_field(
    record: Record, path: str, field: str, value: Any, told: str, carry: Any
) -> None:
    """It is recorded as it was asked, refused and latched, and takes no step."""
    model = ScriptedModel("kept")
    found, parts = carry(model, asked(path, json.dumps({**ASKED, field: value}).encode()))
    assert found.status == 400
    assert told in json.loads(b"".join(parts))["error"]["message"]
    assert (model.calls[0].state, model.calls[0].request[field], model.pending) == ("refused", value, 1)
    assert [finding.code for finding in record.latches] == ["REQUEST_PROTOCOL"]


@pytest.mark.parametrize("more", [{"n": 1}, {"n": None, "best_of": 1}, {"stream": None}, {"stream_options": None}])
def test_what_says_nothing_new_is_fine(record: Record, more: dict[str, Any]) -> None:
    """One choice is what a double has."""
    assert sync(ScriptedModel("hi"), asked(body=json.dumps({**ASKED, **more}).encode()))[0].status == 200


_FIELDS = ("model", "messages", "input", "stream", "stream_options", "tools", "n", "best_of", "max_tokens", "system", "tool_choice")
_PARTS = ("role", "content", "type", "id", "tool_calls", "tool_call_id", "tool_use_id", "function", "name", "arguments", "call_id")
_scalar = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(("user", "tool", "tool_use", "tool_result", "text"))
)
_value = st.recursive(
    _scalar, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_PARTS), inner, max_size=4), max_leaves=9
)


@given(st.sampled_from(PATHS), st.dictionaries(st.sampled_from(_FIELDS), _value, max_size=7), st.booleans())
def test_whatever_is_asked_is_answered_or_refused(path: str, body: dict[str, Any], whole: bool) -> None:
    """No request makes an error of ours that has no code: a client never sees an AttributeError."""
    with opened(Record()) as held:
        model = ScriptedModel("hello")
        try:
            status = sync(model, asked(path, json.dumps({**ASKED, **body} if whole else body).encode()))[0].status
        except ScriptedModelError:
            status = 400
        assert status == (400 if held.latches else 200)
        assert [call.state for call in model.calls] == ["refused" if held.latches else "served"]


@pytest.mark.parametrize(("said", "attempt"), [("1", 1), ("\u00b2", 0), ("9" * 5000, 0), ("-1", 0), ("", 0)])
def test_an_attempt_that_is_none_is_the_first(record: Record, said: str, attempt: int) -> None:
    """Whatever a client writes into its header, the request is answered."""
    model = ScriptedModel("hi")
    assert sync(model, asked(x_stainless_retry_count=said))[0].status == 200
    assert model.calls[0].attempt == attempt


def test_a_call_knows_its_dialect_and_its_attempt(record: Record) -> None:
    """The SDKs count their own attempts on the wire; what is no number counts as the first."""
    model = ScriptedModel("a", "b", "c")
    for count in ("0", "2", "many"):
        sync(model, asked("/v1/messages", x_stainless_retry_count=count))
    assert [(call.method, call.attempt) for call in model.calls] == [
        ("anthropic.messages", 0),
        ("anthropic.messages", 2),
        ("anthropic.messages", 0),
    ]


def test_tokens_are_counted_without_asking_a_model(record: Record) -> None:
    """A quarter of the request's canonical bytes, rounded up, as usage is; it is no call."""
    model = ScriptedModel()
    found, parts = sync(model, asked("/v1/messages/count_tokens", b'{"model": "m"}'))
    assert (found.status, parts) == (200, [b'{"input_tokens":4}'])  # {"model":"m"} has 13 bytes
    assert model.calls == ()


def test_what_cannot_be_counted_is_told(record: Record) -> None:
    """The counting endpoint reads its body as strictly as the others."""
    assert sync(ScriptedModel(), asked("/v1/messages/count_tokens", b"{"))[0].status == 400


@pytest.mark.parametrize("body", [WHOLE, STREAM])
@pytest.mark.parametrize("carry", [sync, looped])
def test_what_a_step_raises_itself_is_raised(record: Record, body: bytes, carry: Any) -> None:
    """Also where it is a fault's exception: the app's own code raised it, so it is no response."""
    with pytest.raises(ModelFault, match="mine"):
        carry(ScriptedModel(fail(exception(Fault("server", "mine")))), asked(body=body))
    with pytest.raises(ScriptedModelError, match="call 1 of 0"):
        carry(ScriptedModel(), asked(body=body))


@pytest.mark.parametrize("carry", [sync, looped])
def test_what_a_factory_raises_in_the_middle_is_raised_there(record: Record, carry: Any) -> None:
    """What was streamed before has gone out."""

    def breaks(request: Any) -> Any:
        yield "hel"
        raise exception(Fault("server", "mine"))

    with pytest.raises(ModelFault, match="mine"):
        carry(ScriptedModel(breaks), asked(body=STREAM))


@pytest.mark.parametrize("carry", [sync, looped])
@pytest.mark.parametrize(
    ("kind", "last"),
    [
        ("cut", Break(Fault("cut", "the connection broke in the middle of the reply"))),
        ("timeout", Break(Fault("timeout", "the request timed out"), 600.0)),
    ],
)
def test_a_factory_s_stream_may_break(record: Record, carry: Any, kind: str, last: Break) -> None:
    """A fault without a status that ends a stream is the end of its connection."""

    def breaks(request: Any) -> Any:
        yield "hel"
        yield fail(kind)

    parts = carry(ScriptedModel(breaks), asked(body=STREAM))[1]
    assert b'"hel"' in parts[-2]
    assert parts[-1] == last


@pytest.mark.parametrize("body", [WHOLE, STREAM])
def test_a_stream_that_is_left_is_a_cancelled_call(record: Record, body: bytes) -> None:
    """Who leaves before the last chunk has not been served; who was answered whole has."""
    model = ScriptedModel(reply("two words", chunks="words"))
    parts = answer(model, asked(body=body)).parts
    next(parts)
    parts.close()
    assert [call.state for call in model.calls] == ["served" if body == WHOLE else "cancelled"]


def test_who_has_the_last_chunk_is_served(record: Record) -> None:
    """A client need not read the events that only end a stream."""
    model = ScriptedModel("word")
    parts = answer(model, asked(body=STREAM)).parts
    assert b'"word"' in [next(parts), next(parts)][1]
    parts.close()
    assert [call.state for call in model.calls] == ["served"]


def test_an_async_stream_that_is_left_is_a_cancelled_call(record: Record) -> None:
    """As without an event loop, and what answered it has cleaned up before who leaves goes on."""
    cleaned = []

    async def waits(request: Any) -> Any:
        try:
            yield "hel"
            yield "lo"
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    async def leave() -> None:
        parts = (await aanswer(model, asked(body=STREAM))).parts
        await anext(parts)
        await parts.aclose()
        assert cleaned == [True]

    model = ScriptedModel(waits)
    asyncio.run(leave())
    assert [call.state for call in model.calls] == ["cancelled"]


@pytest.mark.parametrize(
    ("body", "kind"), [("<p>no", "text/html; charset=utf-8"), (" {}", "application/json"), ("no", "text/plain; charset=utf-8")]
)
def test_a_body_of_the_script_s_own_is_sent_as_it_is(record: Record, body: str, kind: str) -> None:
    """Proxies answer in HTML and in plain words; a content type that the script gives wins."""
    own = fail("bad-gateway", body=body)
    given = fail("bad-gateway", body=body, headers={"Content-Type": "a/b"})
    model = ScriptedModel(own, given)
    (found, parts), (other, _) = sync(model, asked()), sync(model, asked())
    assert (found.status, parts, found.headers["content-type"], other.headers["content-type"]) == (502, [body.encode()], kind, "a/b")


def test_framing_has_headers_of_its_own(record: Record) -> None:
    """They go with whole replies, streams and broken streams."""
    framing = Framing(headers={"X-Edge": "a"})
    said = Reply((Text("hi"),), framing=framing)
    model = ScriptedModel(said, said, fail("cut", reply=said))
    answers = [sync(model, asked(body=body))[0] for body in (WHOLE, STREAM, STREAM)]
    assert [found.headers["x-edge"] for found in answers] == ["a", "a", "a"]


@pytest.mark.parametrize("path", [PATHS[0], PATHS[2]])
def test_a_broken_stream_keeps_the_framing_of_its_reply(record: Record, path: str) -> None:
    """What would have had no end marker has none, and its lines end as they would have."""
    said = Reply((Text("hi"),), framing=Framing("\r\n", done=False))

    def body(model: ScriptedModel) -> bytes:
        return b"".join(part for part in sync(model, asked(path, STREAM))[1] if isinstance(part, bytes))

    whole = body(ScriptedModel(said))
    assert body(ScriptedModel(fail("truncated", after=len(whole) - 1, reply=said))) == whole[:-1]


def test_a_stream_error_stands_between_events(record: Record) -> None:
    """Only whole events come before it, wherever the cut would fall."""
    whole = b"".join(part for part in sync(ScriptedModel("hello"), asked("/v1/messages", STREAM))[1] if isinstance(part, bytes))
    for after in range(0, len(whole), 7):
        parts = sync(ScriptedModel(fail("stream-error", after=after, reply="hello")), asked("/v1/messages", STREAM))[1]
        names = [event.name for event in sse.parse(b"".join(part for part in parts if isinstance(part, bytes)))]
        assert names == [event.name for event in sse.parse(whole[:after])] + ["error"]


def test_what_is_no_http_is_entered_without_a_path(record: Record) -> None:
    """A double of another trial says so instead."""
    model = ScriptedModel()
    assert malformed(model, "no request line").status == 400
    assert [(call.method, call.state) for call in model.calls] == [("HTTP", "refused")]
    with opened(Record()):
        assert malformed(model, "no request line").headers["x-should-retry"] == "false"


def test_a_refusal_names_no_code_where_there_is_none() -> None:
    """An exception of the user's own may have a code of its own, which is none of ours."""
    error = KeyError("gone")
    error.code = "E1"  # type: ignore[attr-defined]  # as SDKs' own errors have it
    found = refusal(asked("/v1/messages"), error, loop=False)
    body = json.loads(b"".join(found.parts))
    assert found.status == 500
    assert body["error"] == {"type": "api_error", "message": "the step that answers raised KeyError: 'gone'"}
