"""Fixture files: what a line says, what it may not say, and that what is printed is read as it was."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from invcheck import Exchange, Fault, Reply, ScriptedModel, Text, Thinking, ToolCall, Usage, testing
from invcheck.errors import DoubleError, FixtureInvalid, ScriptInvalid
from invcheck.faults import KINDS
from invcheck.freeze import FrozenDict
from invcheck.paths import equal
from invcheck.sources import fixtures, writing
from invcheck.sources.recording import Fixture, Provenance, fixture_of, hash_of, prompt_hash, prompt_of, without
from invcheck.vocabulary import Delivery, Framing, Json, Place, Refusal, State

BY_HAND = {"kind": "hand-written"}
RECORDED = Provenance("recorded", "2026-11-30", "acme", "m-1")


def row(**fields: Any) -> str:
    """A line with these fields."""
    answer = {} if {"reply", "fault", "body"} & fields.keys() else {"reply": {"text": "hi"}}
    return json.dumps({"invcheck": 1, "provenance": BY_HAND, **answer, **fields}) + "\n"


def one(**fields: Any) -> Fixture:
    """The fixture of a line with these fields."""
    return fixtures.read_line(row(**fields))


def sha(text: str) -> str:
    """The hash of a text that a person wrote down as canonical JSON."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_a_line_says_what_was_answered_and_where_it_comes_from() -> None:
    """Provenance, label, lane and a reply with all its parts."""
    reply = {"text": "a", "thinking": "hm", "tool_calls": [{"name": "f", "arguments": {"x": 1}, "id": "c1"}], "usage": {"input_tokens": 7}}
    provenance = {"kind": "recorded", "when": "2026-11-30", "provider": "acme", "model": "m-1"}
    made = one(provenance=provenance, label="first", lane="qa", optional=True, reply=reply)
    assert made.provenance == RECORDED
    assert str(made.provenance) == "recorded 2026-11-30 of acme m-1"
    assert (made.label, made.lane, made.optional, made.keyed) == ("first", "qa", True, False)
    assert made.outcome == Reply((Thinking("hm"), Text("a"), ToolCall("f", {"x": 1}, "c1")), "tool_calls", Usage(7))
    assert str(made) == "<text>:1 (first)"


def test_a_reply_may_hold_blocks_in_their_order_and_how_it_travels() -> None:
    """Blocks, chunks, latency, pace and framing; a refusal is a block of its own."""
    blocks = [{"text": "a"}, {"refusal": "no"}, {"tool_call": {"name": "f"}}, "b"]
    made = one(reply={"blocks": blocks, "chunks": ["a", "b"], "latency": 1, "pace": 0.5, "framing": {"newline": "crlf", "pings": True}})
    assert made.outcome == Reply(
        (Text("a"), Refusal("no"), ToolCall("f", {}), Text("b")),
        "tool_calls",
        delivery=Delivery(("a", "b"), 1.0, 0.5),
        framing=Framing("\r\n", pings=True),
    )
    assert one(reply={"refusal": "I cannot."}).outcome == Reply((Refusal("I cannot."),))


def test_a_fault_stands_in_place_of_a_reply() -> None:
    """A kind with what it says on the wire; what it does not say is the kind's own."""
    fault = {"kind": "rate-limit", "retry_after": 20, "headers": {"x": "y"}, "body": "<html>"}
    assert one(fault=fault).outcome == Fault("rate-limit", "too many requests", 429, 20, {"x": "y"}, "<html>")
    broken = one(fault={"kind": "stall", "reply": "partly", "after": 3, "seconds": 5}).outcome
    assert isinstance(broken, Fault)
    assert (broken.reply, broken.after, broken.seconds) == (Reply((Text("partly"),)), 3, 5.0)


def test_a_providers_own_json_is_read_by_its_codec() -> None:
    """A body with its dialect is kept as it is, and its outcome is what the codec of that dialect reads there."""
    body = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "billing"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 2, "total_tokens": 32},
    }  # fmt: skip
    made = one(body=body, dialect="openai.chat")
    assert made.body == body
    outcome = made.outcome
    assert isinstance(outcome, Reply)
    assert (outcome.text, outcome.finish) == ("billing", "length")
    assert outcome.usage is not None
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (30, 2)
    assert fixtures.read_line(fixtures.line(made)) == made
    assert json.loads(fixtures.line(made)).keys() == {"invcheck", "provenance", "dialect", "body"}


@pytest.mark.parametrize("dialect", ["openai.chat", "openai.responses", "anthropic.messages"])
def test_every_dialect_has_its_codec(dialect: str) -> None:
    """What is no body of its dialect is refused by its name."""
    with pytest.raises(FixtureInvalid, match=f"this is no body of {dialect}"):
        one(body={"nothing": 1}, dialect=dialect)


FUNCTION = {"name": "f", "arguments": "{}"}
BODIES: list[tuple[str, Json, str]] = [
    ("openai.responses", {"status": "failed", "error": {"code": "server_error", "message": "m"}, "output": []}, "server_error: m"),
    ("openai.responses", {"status": "failed", "error": None, "output": []}, 'its status is "failed"'),
    ("openai.chat", {"error": {"message": "m", "type": "t"}}, "t: m"),
    ("openai.chat", {"object": "chat.completion", "choices": []}, "it has no choices"),
    ("anthropic.messages", {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "overloaded_error: m"),
]


@pytest.mark.parametrize(("dialect", "body", "reason"), BODIES)
def test_a_body_that_holds_no_reply_is_refused(dialect: str, body: Json, reason: str) -> None:
    """What failed upstream is a fault, and is written as one: it is no empty reply."""
    with pytest.raises(FixtureInvalid) as caught:
        fixtures.parse(row(body=body, dialect=dialect), "a.jsonl")
    assert str(caught.value.place) == "a.jsonl:1"
    assert caught.value.message.endswith(reason)


odd = st.none() | st.just([]) | st.just({}) | st.just("x") | st.just(-1) | st.just(["x"]) | st.just({"x": 1})
WHOLE: list[tuple[str, Json]] = [
    ("openai.chat", {"choices": [{"message": {"content": "a", "tool_calls": [{"id": "c", "function": FUNCTION}]}}], "usage": {}}),
    ("openai.chat", {"choices": [{"index": 0, "message": {"function_call": FUNCTION}, "finish_reason": "stop"}], "error": None}),
    ("openai.responses", {"output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}], "status": "completed"}),
    ("openai.responses", {"output": [{"type": "reasoning", "summary": [{"text": "a"}]}], "status": "incomplete", "incomplete_details": {}}),
    ("openai.responses", {"output": [{"type": "function_call", "call_id": "c", **FUNCTION}], "usage": {"input_tokens_details": {}}}),
    ("anthropic.messages", {"content": [{"type": "text", "text": "a"}], "usage": {"input_tokens": 1, "output_tokens_details": {}}}),
    ("anthropic.messages", {"content": [{"type": "tool_use", "name": "f", "input": {}, "id": "c"}], "stop_reason": "tool_use"}),
]


@given(st.sampled_from(WHOLE), st.data())
def test_a_body_of_another_shape_is_a_fixture_or_refused(whole: tuple[str, Json], data: st.DataObject) -> None:
    """Whatever stands in place of any part of a body: it is read, or told as FixtureInvalid."""
    dialect, body = whole[0], json.loads(json.dumps(whole[1]))
    at = body
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.booleans()):
            break
        at = at[key]
    at[key] = data.draw(odd)
    with suppress(FixtureInvalid):
        assert isinstance(one(body=body, dialect=dialect).outcome, Reply)


def test_a_hash_is_of_the_request_and_of_its_prompt() -> None:
    """The sha256 of canonical JSON: of all of the request, and of what is no setting and no tool."""
    request = {"temperature": 0, "messages": [{"role": "user", "content": "é"}], "tools": [], "system": "s"}
    made = one(request=request)
    assert made.request_hash == sha('{"messages":[{"content":"é","role":"user"}],"system":"s","temperature":0,"tools":[]}')
    assert made.prompt_hash == sha('{"messages":[{"content":"é","role":"user"}],"system":"s"}')
    assert prompt_of({"question": "hi", "limit": 1}) == {"question": "hi", "limit": 1}
    assert [prompt_of({name: 1, "x": 2}) for name in ("messages", "prompt", "input", "system", "instructions")] == [
        {name: 1} for name in ("messages", "prompt", "input", "system", "instructions")
    ]


def test_what_is_ignored_enters_no_hash() -> None:
    """Dotted names tell fields inside of others; one that is not there changes nothing."""
    ignore = ["user", "metadata.trace", "a.b", "absent"]
    request = {"prompt": "hi", "user": "u1", "metadata": {"trace": "t", "kind": "k"}, "a": 3}
    assert without(request, ignore) == {"prompt": "hi", "metadata": {"kind": "k"}, "a": 3}
    assert one(request=request, ignore=ignore).request_hash == sha('{"a":3,"metadata":{"kind":"k"},"prompt":"hi"}')
    assert one(request=request, ignore=["prompt"]).prompt_hash == sha('{"a":3,"metadata":{"kind":"k","trace":"t"},"user":"u1"}')


def test_a_call_of_a_double_becomes_a_fixture() -> None:
    """What was asked and answered, with where it comes from; what was not answered is none."""
    with testing():
        model = ScriptedModel(Reply((Text("hi"),), usage=Usage(1, 2)), usage=Usage(1, 2))
        model(prompt="hello", user="u1")
        made = fixture_of(model.calls[0], RECORDED, label="first", ignore=["user"])
    request = {"prompt": "hello", "user": "u1"}
    assert made == Fixture(RECORDED, Reply((Text("hi"),), usage=Usage(1, 2)), request, ignore=("user",), label="first")
    laned = Exchange(0, "qa", {}, Reply(), State.SERVED)
    assert (fixture_of(laned, RECORDED).lane, fixture_of(laned, RECORDED, lane="x").lane) == ("qa", "x")
    with pytest.raises(DoubleError, match="got none"):
        fixture_of(Exchange(0, None, {}, None, State.REFUSED), RECORDED)


def test_what_a_fixture_holds_cannot_be_changed() -> None:
    """Request and body are deep copies, frozen."""
    request: dict[str, Any] = {"messages": []}
    made = Fixture(RECORDED, Reply(), request)
    request["messages"].append(1)
    assert made.request == {"messages": []}
    assert isinstance(made.request, FrozenDict)
    message = {"role": "assistant", "content": "a"}
    body: dict[str, Any] = {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    wired = Fixture(RECORDED, body=body, dialect="openai.chat")
    body["model"] = "other"
    assert wired.body == {**body, "model": "m"}
    assert isinstance(wired.body, FrozenDict)
    with pytest.raises(TypeError, match="frozen"):
        made.request["messages"].append(1)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    """Some editors write one."""
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + row().encode())
    assert len(fixtures.read(tmp_path / "a.jsonl")) == 1


# what is refused

WRONG: list[tuple[str | bytes, int, int | None, str]] = [
    ("", 1, None, "the file holds no recording"),
    (row() + row()[:60], 2, 61, "the file ends within this line"),
    (row() + row()[:60] + "\n" + row(), 2, None, "this is no JSON"),
    (row() + "\n", 2, 1, "the text is empty"),
    ("nothing\n", 1, 1, "this is no JSON"),
    (row().encode() + b'{"label": "\xff"}\n', 2, None, "the line is no UTF-8"),
    (row()[:-2] + ', "label": "a", "label": "b"}\n', 1, None, 'the key "label" stands twice'),
    ("[]\n", 1, None, "a mapping is needed here"),
    (row(replly=1), 1, None, '$.replly: there is no "replly" here'),
    (row(reply={"tool-calls": []}), 1, None, '$.reply.tool-calls: there is no "tool-calls" here'),
    (row(invcheck=2), 1, None, "$.invcheck: the version of this format is 1, got 2"),
    (row(invcheck=True), 1, None, "$.invcheck: the version of this format is 1, got True"),
    ('{"provenance": {"kind": "recorded"}, "reply": "a"}', 1, None, "$.invcheck: the version of this format is 1, got None"),
    (row(fault="timeout", reply="a"), 1, None, "one of reply, fault, body; got reply and fault"),
    ('{"invcheck": 1, "provenance": {"kind": "recorded"}}', 1, None, "one of reply, fault, body; got none"),
    ('{"invcheck": 1, "reply": "a"}', 1, None, "$.provenance: a mapping is needed here, got null"),
    (row(provenance={}), 1, None, "$.provenance: the provenance of a recording has a kind"),
    (row(provenance={"kind": "real"}), 1, None, "kind is one of recorded, hand-written, generated, got 'real'"),
    (row(provenance={"kind": "recorded", "when": "30.11.2026"}), 1, None, "$.provenance.when: when is a day such as 2026-11-30"),
    (row(provenance={"kind": "recorded", "model": 3}), 1, None, "$.provenance.model: text is needed here"),
    (row(provenance={"kind": "recorded", "who": "me"}), 1, None, '$.provenance.who: there is no "who" here'),
    (row(reply={"usage": {"input": 1}}), 1, None, "$.reply.usage: usage has no 'input'"),
    (row(reply={"usage": {"input_tokens": -1}}), 1, None, "$.reply.usage: usage.input_tokens is an integer from 0 to 2**53 - 1"),
    (row(reply={"text": "a", "chunks": ["b"]}), 1, None, "$.reply.chunks[0]: the chunks join to the text"),
    (row(reply={"text": "a", "blocks": []}), 1, None, "$.reply.text: the blocks hold all of the reply"),
    (row(reply={"finish": "tool_calls"}), 1, None, '$.reply: finish is "tool_calls", but the reply calls no tool'),
    (row(fault="rate-limits"), 1, None, "$.fault: 'rate-limits' is no kind of fault; did you mean 'rate-limit'?"),
    (row(request_hash="md5:1"), 1, None, '$.request_hash: a hash is "sha256:" and 64 hexadecimal digits'),
    (row(prompt_hash="sha256:" + "A" * 64), 1, None, '$.prompt_hash: a hash is "sha256:" and 64 hexadecimal digits'),
    (row(request={"prompt": "a"}, request_hash="sha256:" + "0" * 64), 1, None, "$.request_hash: it is not that of the request"),
    (row(request={"prompt": "a"}, prompt_hash="sha256:" + "0" * 64), 1, None, "$.prompt_hash: it is not that of the request"),
    (row(request=[]), 1, None, "$.request: a mapping is needed here"),
    (row(ignore="user"), 1, None, "$.ignore: a list of names is needed here"),
    (row(ignore=[""]), 1, None, "$.ignore: a list of names is needed here"),
    (row(optional="no"), 1, None, "$.optional: optional is true or false"),
    (row(label=3), 1, None, "$.label: text is needed here, got 3"),
    (row(dialect="openai.chat"), 1, None, "a body and its dialect stand together"),
    (row(body={}), 1, None, "a body and its dialect stand together"),
    (row(body={}, dialect="openai.chats"), 1, None, "$.dialect: a body has a dialect, one of openai.chat,"),
    (row(body=[], dialect="openai.chat"), 1, None, "$.body: a mapping is needed here"),
    (row(request={"prompt": "a"}) * 2, 2, None, "the same exchange stands at <text>:1 already"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "says"), WRONG, ids=range(len(WRONG)))
def test_what_is_no_recording_is_refused_with_its_place(text: str | bytes, line: int, column: int | None, says: str) -> None:
    """File, line, where known the column, and the reason; the error is one of an invalid script, whose index counts from 0."""
    with pytest.raises(FixtureInvalid) as caught:
        fixtures.parse(text)
    assert caught.value.place == Place("<text>", line, column)
    assert says in caught.value.message
    assert not caught.value.message.startswith("$: ")
    assert isinstance(caught.value, ScriptInvalid)
    assert caught.value.exit == 2
    assert caught.value.fields.get("index", line - 1) == line - 1


def test_what_is_said_twice_may_be_told_apart_by_a_label() -> None:
    """The same request answered the same twice is two recordings where each has a label of its own, or no request at all."""
    asked = {"prompt": "a"}
    assert len(fixtures.parse(row(request=asked, label="1") + row(request=asked, label="2"))) == 2
    assert len(fixtures.parse(row() + row())) == 2
    assert len(fixtures.parse(row(request=asked) + row(request=asked, reply="other"))) == 2


def test_a_file_that_is_not_there_or_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The name as it was given, and where it is sought."""
    with pytest.raises(FixtureInvalid, match=r"the fixture file none\.jsonl cannot be read: No such file") as caught:
        fixtures.read("none.jsonl")
    assert caught.value.hint == "it is sought from the project's folder"
    with pytest.raises(FixtureInvalid, match="Is a directory") as caught:
        fixtures.read(tmp_path)
    assert caught.value.hint is None


@pytest.mark.parametrize(("outcome", "says"), [
    (Reply((Text("a"),), finish="tool_calls"), "calls no tool"),
    (Reply((Text("a"),), delivery=Delivery(("b",))), "chunks join to"),
    (Fault("nothing"), "is no kind of fault"),
    (None, "got none"),
])  # fmt: skip
def test_a_fixture_of_code_is_held_to_the_same_rules(outcome: Any, says: str) -> None:
    """What no file may say cannot be built either."""
    with pytest.raises(DoubleError, match=says):
        Fixture(RECORDED, outcome)


def test_a_reply_is_printed_by_its_parts() -> None:
    """In blocks only where their order says more; what a reader would add itself is left out."""
    call = ToolCall("f", {"x": 1}, "c1")
    whole = Reply((Thinking("hm"), Text("a"), Refusal("no"), call), "tool_calls", Usage(7))
    assert writing.reply(whole) == {
        "text": "a",
        "thinking": "hm",
        "refusal": "no",
        "tool_calls": [{"name": "f", "arguments": {"x": 1}, "id": "c1"}],
        "usage": {"input_tokens": 7},
    }
    turned = {"blocks": [{"tool_call": {"name": "f", "arguments": {}}}, {"text": "a"}], "finish": None, "usage": None}
    assert writing.reply(Reply((ToolCall("f", {}), Text("a")), None, Usage())) == turned
    assert writing.reply(Reply((Text("a"),), delivery=Delivery("words"))) == {"text": "a", "chunks": "words", "latency": 0.0, "pace": 0.0}
    assert writing.reply(Reply((Text(""),), framing=Framing("\r"))) == {"framing": {"newline": "cr"}}


# parse after print gives what was printed

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), plain, max_size=3)
tokens = st.none() | st.integers(0, 2**53 - 1)
usages = st.none() | st.builds(Usage, tokens, tokens, tokens, tokens, tokens)
seconds = st.floats(0, 1e6) | st.integers(0, 100)
headers = st.dictionaries(st.from_regex(r"[A-Za-z-]{1,8}", fullmatch=True), st.from_regex(r"[!-~]{0,8}", fullmatch=True), max_size=2)
framings = st.none() | st.builds(Framing, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans(), st.booleans(), headers)
chunkings = st.none() | st.sampled_from(["whole", "words", "keyed"]) | st.integers(1, 50)
deliveries = st.none() | st.builds(Delivery, chunkings, seconds, seconds)
texts = st.builds(Text, st.text()) | st.builds(Thinking, st.text()) | st.builds(Refusal, st.text())
calls = st.builds(ToolCall, st.text(min_size=1), objects, st.none())


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    """Any reply that no rule refuses, but for a value of the app's own type."""
    blocks = tuple(draw(st.lists(texts | calls, max_size=4)))
    called = any(isinstance(block, ToolCall) for block in blocks)
    finish = draw(st.none() | st.sampled_from(["tool_calls" if called else "stop", "length", "content_filter", "pause"]))
    reply = Reply(blocks, finish, draw(usages), delivery=draw(deliveries), framing=draw(framings))
    if draw(st.booleans()):
        cut = draw(st.integers(0, len(reply.text)))
        return Reply(blocks, finish, reply.usage, delivery=Delivery((reply.text[:cut], reply.text[cut:])), framing=reply.framing)
    return reply


@st.composite
def faults(draw: st.DrawFn) -> Fault:
    """A fault of delivery with the reply that it breaks, or any other."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    breaks = kind in ("cut", "truncated", "stream-error", "stall")
    return Fault(
        kind,
        draw(st.text()),
        draw(st.none() | st.integers(400, 599)),
        draw(st.none() | seconds),
        draw(st.none() | headers),
        None if breaks else draw(st.none() | st.text()),
        draw(replies()) if breaks else None,
        draw(st.integers(0, 99) | st.just("character")) if breaks else None,
        draw(st.none() | seconds) if kind == "stall" else None,
    )


days = st.dates().map(str)
words = st.none() | st.text(min_size=1)
provenances = st.builds(Provenance, st.sampled_from(["recorded", "hand-written", "generated"]), st.none() | days, words, words)
ignored = st.lists(st.text(min_size=1), max_size=2)


@given(provenances, replies() | faults(), st.none() | objects, ignored, words, st.booleans())
def test_what_is_printed_is_read_as_it_was(
    provenance: Provenance, outcome: Any, request: Any, ignore: list[str], name: str | None, optional: bool
) -> None:
    """Parse after print is the identity, for every reply and fault; a line is one line."""
    made = Fixture(provenance, outcome, request, ignore=tuple(ignore), label=name, lane=name, optional=optional)
    line = fixtures.line(made)
    assert line.count("\n") == 1
    assert fixtures.read_line(line) == made
    assert fixtures.line(fixtures.read_line(line)) == line


@given(objects, st.lists(st.sampled_from(["a", "b", "a.b", "messages"]), max_size=3))
def test_a_hash_alone_finds_what_its_request_finds(request: Any, ignore: list[str]) -> None:
    """A line may keep the hashes of a request and not the request."""
    whole = Fixture(RECORDED, Reply(), request, ignore=tuple(ignore))
    bare = Fixture(RECORDED, Reply(), None, hash_of(request, ignore), prompt_hash(request, ignore), tuple(ignore))
    assert (whole.request_hash, whole.prompt_hash) == (bare.request_hash, bare.prompt_hash)
    assert fixtures.read_line(fixtures.line(bare)) == bare
    assert bare.keyed


alike = st.sampled_from([0, -0.0, 1, 1.0, True, False, "1", None, 2**53, 2.0**53, 2**53 + 1, 1.5])
small = st.recursive(
    alike, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2), max_leaves=3
)


@given(alike | small, alike | small, st.sampled_from(["prompt", "limit"]))
@example([1], [1.0], "prompt")
@example({"a": True}, {"a": 1}, "limit")
def test_requests_have_one_hash_where_they_are_the_same_json(one: Any, other: Any, field: str) -> None:
    """As every comparison of JSON here: 1 and 1.0 are one value, true is none of them."""
    first, second = {field: one}, {field: other}
    assert (hash_of(first) == hash_of(second)) is (prompt_hash(first) == prompt_hash(second)) is equal(first, second)


def test_a_hash_writes_a_number_without_a_fraction_as_an_integer() -> None:
    """So it can be written down by hand."""
    assert hash_of({"a": 1.0, "b": [-0.0, {"c": 2.5}]}) == sha('{"a":1,"b":[0,{"c":2.5}]}')
