"""A double from the plain JSON of a check file: the same as in Python, and every mistake with its path."""

from __future__ import annotations

import builtins
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from invcheck import DriftingModel, Fault, Reply, ScriptedModel, Text, Usage, testing
from invcheck.errors import CheckFileError, DoubleError, InvcheckError, ScriptedModelError, ScriptInvalid
from invcheck.faults import ModelFault
from invcheck.record import Record, opened
from invcheck.sandbox.clock import VirtualClock
from invcheck.sources import build, read
from invcheck.sources.written import Reader
from invcheck.vocabulary import Delivery, Framing, Refusal, Thinking, ToolCall

_READ = Reader()


class Slow(Exception):  # the app's own name
    """The app's own exception."""


class Answer(BaseModel):
    """A schema of one value."""

    answer: bool


class Fake:
    """A fake with a state of its own."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, request: Any) -> str:
        self.asked += 1
        return str(self.asked)


async def _factory(request: Any, signal: Any) -> AsyncIterator[Any]:
    yield "fac"
    yield Reply((Text("fac"),))


NAMES: dict[str, Any] = {
    "app:Slow": Slow,
    "app:Answer": Answer,
    "app:Fake": Fake,
    "app:fake": lambda rng, request: rng.choice([request["prompt"]]),
    "app:three": lambda request: "one two three",
    "app:function": lambda request: request["prompt"].upper(),
    "app:factory": _factory,
    "app:upper": lambda reply: reply.text.upper(),
    "app:lane": lambda request: request["agent"],
    "app:number": 3,
    "builtins:TimeoutError": builtins.TimeoutError,
}


def load(name: str) -> object:
    """Give what a name stands for."""
    return NAMES[name]


def _texts(spec: Any, calls: int) -> list[str]:
    with testing():
        double = build(spec, load=load)
        return [double("hi").text for _ in range(calls)]


def test_every_kind_of_step_can_be_written() -> None:
    """Text, replies, JSON, functions, factories: what a check file writes is what Python would build."""
    script = ["a", {"reply": "b"}, {"reply": {"text": "c", "finish": "length"}}, {"json": {"y": [1], "x": "é"}}, {"call": "app:function"}]
    assert _texts({"script": [*script, {"call": "app:factory"}]}, 6) == ["a", "b", "c", '{"y": [1], "x": "é"}', "HI", "fac"]


def test_a_reply_has_all_its_parts() -> None:
    """Finish, usage, tool calls and thinking; a null finish or usage is absent, a missing one is derived or counted."""
    reply = {"text": "a", "finish": None, "usage": None, "tool-calls": [{"name": "f", "arguments": {"x": 1}, "id": "c"}], "thinking": "hm"}
    with testing():
        double = build(
            {"script": [{"reply": reply}, {"tool-call": {"name": "g"}}, {"tool-call": [{"name": "g"}, {"name": "h"}]}]}, load=load
        )
        first, second, third = double("q"), double("q"), double("q")
    assert first.blocks == (Thinking("hm"), Text("a"), ToolCall("f", {"x": 1}, "c"))
    assert (first.finish, first.usage) == (None, Usage())
    assert (second.finish, second.tool_calls[0].name, [call.name for call in third.tool_calls]) == ("tool_calls", "g", ["g", "h"])
    assert second.usage is not None
    assert second.usage.output_tokens == 1


def test_failing_steps_can_be_written() -> None:
    """A kind, a fault with its fields, an exception by name; an app's own exceptions stand for kinds in raises."""
    with testing():
        fails: list[Any] = [{"fail": "timeout"}, {"fail": {"kind": "overloaded", "message": "m", "status": 503, "retry-after": 2}}]
        double = build({"script": [*fails, {"raise": "app:Slow"}, {"fail": "rate-limit"}], "raises": {"rate-limit": "app:Slow"}}, load=load)
        with pytest.raises(TimeoutError):
            double("q")
        with pytest.raises(ModelFault, match="m") as caught:
            double("q")
        assert (caught.value.status, caught.value.retry_after) == (503, 2)
        with pytest.raises(Slow):
            double("q")
        with pytest.raises(Slow, match="too many requests"):
            double("q")


def test_a_reply_says_what_it_refuses_and_how_it_travels() -> None:
    """Refusal, blocks in their order, chunks, latency and pace in virtual seconds, and framing for a wire."""
    blocks = ["a", {"thinking": "hm"}, {"text": "b"}, {"tool-call": {"name": "f"}}, {"refusal": "no"}]
    framing = {"newline": "cr", "comments": True, "pings": True, "done": False, "headers": {"x-a": "b"}}
    script = [
        {"reply": {"refusal": "I cannot."}},
        {"reply": {"blocks": blocks, "chunks": ["a", "b"], "latency": 2, "pace": 0.5}},
        {"reply": {"text": "c", "chunks": "words", "framing": framing}},
    ]
    with testing():
        model = build({"script": script}, load=load)
        assert model("q").blocks == (Refusal("I cannot."),)
        assert model("q").blocks[:3] == (Text("a"), Thinking("hm"), Text("b"))
        model("q")
    assert _READ.reply(script[1]["reply"], "$").delivery == Delivery(("a", "b"), 2, 0.5)
    held = _READ.reply(script[2]["reply"], "$")
    assert (held.delivery, held.framing) == (Delivery("words"), Framing("\r", comments=True, pings=True, done=False, headers={"x-a": "b"}))
    assert _READ.reply({"blocks": blocks}, "$").finish == "tool_calls"
    assert _READ.reply({"chunks": 3}, "$").delivery == Delivery(3)
    assert _READ.reply({}, "$").blocks == (Text(""),)
    assert _READ.reply({"tool-calls": [{"name": "f"}]}, "$").blocks == (ToolCall("f", {}),)
    assert _READ.reply({"thinking": "hm", "refusal": "no"}, "$").blocks == (Thinking("hm"), Refusal("no"))


def test_a_fault_says_what_it_sends_and_what_it_breaks() -> None:
    """Headers and body as they are; a fault of delivery with its reply, after how many bytes, and how long a stall lasts."""
    fault = _READ.fault({"kind": "server", "headers": {"x": "y"}, "body": "<html>"}, "$")
    assert fault == Fault("server", "internal server error", 500, None, {"x": "y"}, "<html>")
    broken = _READ.fault({"kind": "stall", "reply": {"text": "héllo"}, "after": "character", "seconds": 3}, "$")
    assert (broken.reply, broken.after, broken.seconds) == (Reply((Text("héllo"),)), "character", 3)


def test_a_step_may_say_what_it_expects() -> None:
    """A text or a mapping, as `when` of a step in Python."""
    with testing():
        script = [{"reply": "a", "when": {"prompt": "x"}}, {"reply": "b", "when": "refund", "label": "second"}]
        model = build({"script": script}, load=load)
        assert [model(prompt="x").text, model(prompt="a refund").text] == ["a", "b"]
    record = Record()
    with opened(record):
        model = build({"script": [{"reply": "a", "when": {"prompt": "x"}}]}, load=load)
        with pytest.raises(ScriptedModelError, match=r"\$\.prompt"):
            model(prompt="y")
    assert [finding.code for finding in record.latches] == ["STEP_MISMATCH"]


def test_a_double_says_how_its_replies_are_handed_over_and_what_it_keeps() -> None:
    """Chunks, latency, pace, cached and keep, whatever answers."""
    options = {"chunks": "words", "latency": 1.5, "pace": 0.25, "cached": True, "keep": 1}
    texts = ["one two three"] * 2
    for spec in ({"script": texts}, {"drifting": "app:three"}, {"lanes": {"x": texts}, "lane-by": "agent"}):
        record = Record()
        record.clock = clock = VirtualClock(record)
        with opened(record):
            model = build({**spec, **options}, load=load)
            last = [model(prompt="hi", agent="x") for _ in range(2)][-1]
        assert clock.elapsed == 2 * (1.5 + 2 * 0.25)
        assert len(model.calls) == 1
        assert last.usage.cache_read_input_tokens > 0


def test_a_double_may_relax_a_rule_of_the_protocol() -> None:
    """What is relaxed is no breach, as with `relax` in Python."""
    asked = {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}
    with testing():
        assert build({"script": ["a"], "relax": ["empty-text"]}, load=load)(**asked).text == "a"
    record = Record()
    with opened(record), pytest.raises(ScriptedModelError):
        build({"script": ["a"]}, load=load)(**asked)
    assert [finding.code for finding in record.latches] == ["REQUEST_PROTOCOL"]


def test_labels_optional_steps_and_then_always() -> None:
    """Modifiers stand beside the step, and the last one may answer for ever."""
    with testing():
        script: list[Any] = [{"reply": "a", "label": "first"}, {"then-always": {"reply": "z", "label": "tail"}}]
        double: Any = build({"script": script}, load=load)
        assert [double("q").text for _ in range(3)] == ["a", "z", "z"]
        assert double.always_used == 2
        labelled: Any = build({"script": [{"reply": "b", "optional": True}, {"then-always": "x", "label": "tail"}]}, load=load)
        assert labelled.pending == 1


def test_lanes_options_and_drift_can_be_written() -> None:
    """Lanes with a field or a function that names them; usage, returns, attributes; drift from function, class, schema."""
    with testing(seed=5):
        for by in ("agent", "app:lane"):
            double = build({"lanes": {"x": ["a"], "y": [{"then-always": "b"}]}, "lane-by": by}, load=load)
            assert [double(agent="y").text, double(agent="x").text] == ["b", "a"]
        model = build(
            {"drifting": "app:fake", "usage": {"input_tokens": 1}, "returns": "app:upper", "attributes": {"name": "n"}}, load=load
        )
        assert model("hi") == "HI"
        assert (model.calls[0].outcome.usage, model.attributes) == (Usage(1), {"name": "n"})  # type: ignore[union-attr]  # it was served
        for schema in ("app:Answer", {"type": "object", "properties": {"answer": {"const": True}}, "required": ["answer"]}):
            assert build({"drifting": {"schema": schema}}, load=load)("q").text in ('{"answer": true}', '{"answer": false}')


def test_a_schema_may_stand_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that ends with .json is a file, sought from the working directory; what is wrong with it is told by its name."""
    monkeypatch.chdir(tmp_path)
    Path("answer.json").write_text('{"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}', "utf-8")
    with testing():
        assert build({"drifting": {"schema": "answer.json"}}, load=load)("q").text == '{"a": 1}'
    Path("half.json").write_text('{"type": ', "utf-8")
    Path("latin.json").write_bytes(b'"\xe9"')
    for name, says in (("none.json", "there is no file none.json"), ("half.json", "is no JSON"), ("latin.json", "it is not UTF-8")):
        with pytest.raises(DoubleError, match=says) as caught:
            read({"drifting": {"schema": name}}, load=load)
        assert caught.value.fields["path"] == "$.drifting.schema"


def test_every_trial_gets_its_own_double() -> None:
    """A spec is read once; what it makes is new each time, a class of fakes included."""
    make = read({"drifting": "app:Fake"}, load=load)
    scripted = read({"script": ["a"]}, load=load)
    for _ in range(2):
        with testing():
            double, other = make(), scripted()
            assert [double("q").text, double("q").text] == ["1", "2"]
            assert other("q").text == "a"
            assert (type(double), type(other)) == (DriftingModel, ScriptedModel)


def test_the_seed_of_a_drifting_double_is_the_trials() -> None:
    """A check file names no seed: the trial's decides."""
    NAMES["app:draw"] = lambda rng, request: str(rng.random())
    texts = []
    for seed in (1, 2, 1):
        with testing(seed=seed):
            texts.append(build({"drifting": "app:draw"}, load=load)("q").text)
    assert texts[0] == texts[2] != texts[1]
    assert isinstance(random.Random(1).random(), float)


WRONG: list[tuple[Any, str, str]] = [
    (3, "$", "a mapping is needed"),
    ({}, "$", "got none"),
    ({"script": [], "drifting": "app:fake"}, "$", "got script and drifting"),
    ({"scirpt": []}, "$.scirpt", "did you mean script?"),
    ({"script": [], "zzzzzz": 1}, "$.zzzzzz", "there are: script"),
    ({"script": "a"}, "$.script", "a list of steps"),
    ({"script": [3]}, "$.script[0]", "a mapping is needed"),
    ({"script": ["a", {}]}, "$.script[1]", "got none"),
    ({"script": [{"reply": "a", "json": 1}]}, "$.script[0]", "got reply and json"),
    ({"script": [{"replly": "a"}]}, "$.script[0].replly", "did you mean reply?"),
    ({"script": [{"reply": {"text": 3}}]}, "$.script[0].reply.text", "text is needed"),
    ({"script": [{"reply": {"usage": {"input": 1}}}]}, "$.script[0].reply.usage", "usage has no 'input'"),
    ({"script": [{"reply": {"usage": {"input_tokens": True}}}]}, "$.script[0].reply.usage", "bool True"),
    ({"script": [{"reply": {"finish": "tool_calls"}}]}, "$.script[0].reply", "calls no tool"),
    ({"script": [{"reply": {"tool-calls": {}}}]}, "$.script[0].reply.tool-calls", "is a list"),
    ({"script": [{"tool-call": {"arguments": {}}}]}, "$.script[0].tool-call.name", "text is needed"),
    ({"script": [{"tool-call": {"name": "f", "arguments": []}}]}, "$.script[0].tool-call.arguments", "a mapping is needed"),
    ({"script": ["a", {"fail": "ratelimit"}]}, "$.script[1].fail", "did you mean 'rate-limit'"),
    ({"script": [{"fail": {"message": "m"}}]}, "$.script[0].fail.kind", "text is needed"),
    ({"script": [{"raise": 3}]}, "$.script[0].raise", "text is needed"),
    ({"script": [{"raise": "app:number"}]}, "$.script[0].raise", "app:number is int, and no exception"),
    ({"script": [{"call": "app:number"}]}, "$.script[0].call", "app:number is int, and no function"),
    ({"script": ["a"], "returns": "app:number"}, "$.returns", "app:number is int, and no function"),
    ({"script": ["a"], "lane-by": "app:number"}, "$.lane-by", "app:number is int, and no function"),
    ({"script": [{"reply": "a", "optional": "no"}]}, "$.script[0].optional", "true or false"),
    ({"script": [{"reply": "a", "label": 3}]}, "$.script[0].label", "text is needed"),
    ({"script": [{"then-always": "a"}, "b"]}, "$.script[1]", "last step"),
    ({"script": [{"then-always": {"then-always": "a"}}]}, "$.script[0]", "one plain step"),
    ({"script": [{"then-always": "a", "optional": True}]}, "$.script[0]", "one plain step"),
    ({"lanes": []}, "$.lanes", "a mapping is needed"),
    ({"lanes": {"x": [3]}}, "$.lanes.x[0]", "a mapping is needed"),
    ({"script": [], "usage": {"input_tokens": -1}}, "$.usage", "int -1"),
    ({"script": [], "raises": {"ratelimit": "app:Slow"}}, "$.raises.ratelimit", "did you mean rate-limit?"),
    ({"script": [], "raises": {"server": 3}}, "$.raises.server", "text is needed"),
    ({"script": [], "returns": 3}, "$.returns", "text is needed"),
    ({"script": [], "lane-by": 3}, "$.lane-by", "text is needed"),
    ({"script": [], "attributes": 3}, "$.attributes", "a mapping is needed"),
    ({"script": [{"reply": {"refusal": 3}}]}, "$.script[0].reply.refusal", "text is needed"),
    ({"script": ["a", {"reply": {"text": "ab", "chunks": ["a", "c"]}}]}, "$.script[1].reply.chunks[1]", 'where "b" stands, got "c"'),
    ({"script": [{"reply": {"text": "ab", "chunks": ["a"]}}]}, "$.script[0].reply.chunks", '"b" is missing at their end'),
    ({"script": [{"reply": {"text": "ab", "chunks": ["a", 3]}}]}, "$.script[0].reply.chunks[1]", "a chunk is text, got 3"),
    ({"script": [{"reply": {"chunks": "wrods"}}]}, "$.script[0].reply.chunks", "one of whole, words, keyed"),
    ({"script": [{"reply": {"chunks": 0}}]}, "$.script[0].reply.chunks", "code points from 1"),
    ({"script": [{"reply": {"chunks": True}}]}, "$.script[0].reply.chunks", "code points from 1"),
    ({"script": [{"reply": {"latency": -1}}]}, "$.script[0].reply.latency", "seconds from 0"),
    ({"script": [{"reply": {"pace": True}}]}, "$.script[0].reply.pace", "seconds from 0"),
    ({"script": [{"reply": {"framing": {"newline": "\n"}}}]}, "$.script[0].reply.framing.newline", "one of lf, crlf, cr"),
    ({"script": [{"reply": {"framing": {"newline": []}}}]}, "$.script[0].reply.framing.newline", "one of lf, crlf, cr"),
    ({"script": [{"reply": {"framing": {"pings": 1}}}]}, "$.script[0].reply.framing.pings", "pings is true or false"),
    ({"script": [{"reply": {"framing": {"headers": {"a": 1}}}}]}, "$.script[0].reply.framing.headers.a", "text is needed"),
    ({"script": [{"reply": {"blocks": "a"}}]}, "$.script[0].reply.blocks", "blocks is a list"),
    ({"script": [{"reply": {"blocks": [{}]}}]}, "$.script[0].reply.blocks[0]", "refusal; got none"),
    ({"script": [{"reply": {"blocks": [{"text": "a", "refusal": "b"}]}}]}, "$.script[0].reply.blocks[0]", "got text and refusal"),
    ({"script": [{"reply": {"blocks": [{"tool-call": {}}]}}]}, "$.script[0].reply.blocks[0].tool-call.name", "text is needed"),
    ({"script": [{"reply": {"blocks": [], "text": "a"}}]}, "$.script[0].reply.text", "nothing stands beside them"),
    ({"script": [{"tool-call": {"name": "f", "id": 3}}]}, "$.script[0].tool-call.id", "text is needed"),
    ({"script": [{"fail": {"kind": "server", "headers": {"a": 1}}}]}, "$.script[0].fail.headers.a", "text is needed"),
    ({"script": [{"fail": {"kind": "server", "body": {}}}]}, "$.script[0].fail.body", "text is needed"),
    ({"script": [{"fail": {"kind": "cut", "reply": {"txt": 1}}}]}, "$.script[0].fail.reply.txt", "did you mean text?"),
    ({"script": [{"fail": {"kind": "cut", "after": "word"}}]}, "$.script[0].fail", "after is a number of bytes"),
    ({"script": [{"fail": {"kind": "stall", "seconds": -1}}]}, "$.script[0].fail", "seconds is a number from 0"),
    ({"script": [{"fail": {"kind": "server", "after": 3}}]}, "$.script[0].fail", "after belongs to a fault of delivery"),
    ({"script": [{"reply": "a", "when": 3}]}, "$.script[0].when", "when is a text or a mapping"),
    ({"script": [{"reply": "a", "when": {"$.a[": 1}}]}, "$.script[0].when", "JSONPath not supported"),
    ({"script": [{"then-always": "a", "when": "b"}]}, "$.script[0]", "one plain step"),
    ({"script": [], "chunks": ["a"]}, "$.chunks", "chunks that are given belong to one reply"),
    ({"script": [], "chunks": "a"}, "$.chunks", "one of whole, words, keyed"),
    ({"script": [], "latency": "1"}, "$.latency", "seconds from 0"),
    ({"script": [], "cached": 1}, "$.cached", "cached is true or false"),
    ({"script": [], "keep": 0}, "$.keep", "a number of calls from 1"),
    ({"script": [], "relax": "empty-text"}, "$.relax", "a list of names"),
    ({"script": [], "relax": ["empty-text", "empty-txt"]}, "$.relax[1]", "did you mean empty-text?"),
    ({"drifting": {"schema": 3}}, "$.drifting.schema", "a schema is a mapping"),
    ({"drifting": {"schema": "app:number"}}, "$.drifting.schema", "a schema is a mapping"),
    ({"drifting": {"scema": {}}}, "$.drifting.scema", "did you mean schema?"),
]


@pytest.mark.parametrize(("spec", "path", "says"), WRONG)
def test_every_mistake_is_refused_with_its_path(spec: Any, path: str, says: str) -> None:
    """A spec is checked whole before any trial, and what is wrong is said with where it stands."""
    with pytest.raises(DoubleError) as caught:
        read(spec, load=load)
    assert caught.value.fields["path"] == path
    assert says in str(caught.value)
    assert caught.value.message.startswith(path)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"lanes": {"a": ["x"]}, "lane-by": "nosuch:x"}, "$.lane-by"),
        ({"script": ["a"], "returns": "nosuch:x"}, "$.returns"),
        ({"script": ["a"], "raises": {"server": "app:error", "timeout": "nosuch:x"}}, "$.raises.timeout"),
        ({"script": ["a"], "raises": {"timeout": "app:number"}}, "$.raises.timeout"),
        ({"script": ["a", {"raise": "nosuch:x"}]}, "$.script[1].raise"),
        ({"lanes": {"a": [{"call": "nosuch:x", "label": "l"}]}}, "$.lanes.a[0].call"),
        ({"script": [{"then-always": {"call": "nosuch:x"}}]}, "$.script[0].then-always.call"),
        ({"drifting": "nosuch:x"}, "$.drifting"),
        ({"drifting": "app:number"}, "$.drifting"),
        ({"drifting": {"schema": "nosuch:x"}}, "$.drifting.schema"),
        ({"replay": "none.jsonl"}, "$.replay.file"),
    ],
)
def test_what_loading_a_name_finds_is_told_where_the_name_stands(spec: Any, path: str) -> None:
    """A name that is not there, or names what does not fit, is a mistake of its own field."""

    def missing(name: str) -> object:
        if name.startswith("nosuch"):
            raise CheckFileError("there is no module 'nosuch'", code="REFERENCE_MISSING")
        return {"app:error": ValueError}.get(name, 3)

    with pytest.raises(InvcheckError) as caught:
        read(spec, load=missing)
    assert caught.value.fields["path"] == path


def test_a_wrong_step_knows_its_index() -> None:
    """The index of a step that is none is a field, as in Python."""
    with pytest.raises(ScriptInvalid) as caught:
        read({"script": ["a", {"fail": "no"}]}, load=load)
    assert caught.value.fields["index"] == 1


@pytest.mark.parametrize(("spec", "says"), [
    ({"drifting": {"schema": {"type": "string", "pattern": "a"}}}, '$.pattern: the keyword "pattern" is not supported'),
    ({"drifting": "app:number"}, "got int"),
    ({"script": [], "raises": {"server": "app:number"}}, "server needs an exception class"),
])  # fmt: skip
def test_what_other_rooms_refuse_is_refused_at_load_too(spec: Any, says: str) -> None:
    """A schema, a fake or an exception that cannot be used is found when the file is loaded, not in the first trial."""
    with pytest.raises(DoubleError) as caught:
        read(spec, load=load)
    assert says in caught.value.message
