"""A double that answers with recordings: which one, in what order, and what is said where none fits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import pytest

from invcheck import Fault, Finding, Reply, Text, VerificationError, testing
from invcheck.errors import DoubleError, FixtureInvalid, ScriptedModelError
from invcheck.faults import ModelFault
from invcheck.record import Record
from invcheck.request import AbortSignal
from invcheck.sources import build, fixtures, read
from invcheck.sources.recording import Fixture, Provenance, hash_of, prompt_hash
from invcheck.sources.replay import Replay, ReplayModel, gathered
from invcheck.vocabulary import Verdict

HAND = Provenance("hand-written")
RECORDED = Provenance("recorded", "2026-11-30", "acme", "m-1")


def said(prompt: str, text: str, *, provenance: Provenance = RECORDED, **fields: Any) -> Fixture:
    """A recording of a prompt, asked with at most 8 tokens."""
    return Fixture(provenance, Reply((Text(text),)), {"prompt": prompt, "max_tokens": 8}, **fields)


def turn(text: str, **fields: Any) -> Fixture:
    """A recording that names no request."""
    return Fixture(HAND, Reply((Text(text),)), **fields)


def ask(model: Any, prompt: str, **fields: Any) -> str:
    """What the model says to a prompt."""
    text: str = model(prompt=prompt, **{"max_tokens": 8, **fields}).text
    return text


def refused(model: Any, code: str, **asked: Any) -> ScriptedModelError:
    """The error of a call that no recording answers."""
    with pytest.raises(ScriptedModelError) as caught:
        model(**asked)
    assert caught.value.code == code
    return caught.value


@contextmanager
def ending(*codes: str) -> Iterator[tuple[Record, list[Finding]]]:
    """A place for doubles that ends with findings of these codes; the list holds them afterwards."""
    found: list[Finding] = []
    try:
        with testing() as record:
            yield record, found
    except VerificationError as error:
        found += error.findings
    assert [finding.code for finding in found] == [*codes]


# which recording answers


def test_a_request_gets_its_own_recording_in_any_order() -> None:
    """By the hash of the request, so that the order of different requests does not matter."""
    with testing():
        model = ReplayModel(said("a", "1"), said("b", "2"), said("c", "3"))
        assert [ask(model, prompt) for prompt in "cab"] == ["3", "1", "2"]
        assert model.pending == 0


def test_the_same_request_gets_its_recordings_in_turn() -> None:
    """Each occurrence takes the next line, whatever was asked between them."""
    with testing():
        model = ReplayModel(said("a", "1"), said("b", "2"), said("a", "3"), said("a", "4"))
        assert [ask(model, prompt) for prompt in "aaba"] == ["1", "3", "2", "4"]


def test_a_prompt_hash_alone_answers_whatever_else_is_asked() -> None:
    """A line that keeps only the hash of its prompt takes no notice of the settings; of two kinds of line the first answers."""
    bare = Fixture(RECORDED, Reply((Text("2"),)), prompt_hash=prompt_hash({"prompt": "a"}))
    with testing():
        model = ReplayModel(said("a", "1"), bare)
        assert [ask(model, "a"), ask(model, "a", max_tokens=9)] == ["1", "2"]
        model = ReplayModel(bare, said("a", "1"))
        assert [ask(model, "a"), ask(model, "a")] == ["2", "1"]


def test_without_a_request_recordings_answer_in_turn() -> None:
    """First in, first out, where no line names what was asked."""
    with testing():
        model = ReplayModel(turn("1"), turn("2"))
        assert [ask(model, "x"), ask(model, "y")] == ["1", "2"]


def test_lanes_have_recordings_of_their_own() -> None:
    """A lane is what its lines say, in the order of each lane; a lane that no line names is an error."""
    with testing():
        model = ReplayModel(turn("1", lane="a"), turn("2", lane="b"), turn("3", lane="a"), lane_by="agent")
        assert [model(prompt="x", agent=lane).text for lane in "aba"] == ["1", "2", "3"]
    with ending("LANE_UNDECLARED"):
        refused(ReplayModel(turn("1", lane="a", optional=True)), "LANE_UNDECLARED", prompt="x")


def test_what_is_ignored_may_differ() -> None:
    """By the line's own list and by the double's, which a line needs its request for."""
    with testing():
        model = ReplayModel(said("a", "1", ignore=("user",)), said("b", "2"), ignore=["max_tokens", "meta.trace"])
        assert ask(model, "a", user="u1", max_tokens=1, meta={"trace": 1}) == "1"
        assert ask(model, "b", meta={}, max_tokens=1) == "2"
    with pytest.raises(FixtureInvalid, match="it holds the hash of a request and not the request, so user cannot be ignored"):
        gathered(Fixture(HAND, Reply(), request_hash=hash_of({"prompt": "a"})), ignore=["user"])
    assert gathered(turn("1"), ignore=["user"]) == (turn("1"),)
    bare = Fixture(HAND, Reply(), request_hash=hash_of({"prompt": "a"}), ignore=("user",))
    assert gathered(bare, ignore=["user"]) == (bare,)


def test_one_that_is_not_strict_takes_a_recording_of_the_same_prompt() -> None:
    """The exact one goes first; then the next of the same prompt, whatever its settings; another prompt stays refused."""
    with ending("PROMPT_CHANGED"):
        model = ReplayModel(said("a", "1"), said("a", "2"), said("b", "3", optional=True), strict=False)
        assert [ask(model, "a", max_tokens=9), ask(model, "a")] == ["1", "2"]
        refused(model, "PROMPT_CHANGED", prompt="c", max_tokens=8)


def test_one_that_is_not_strict_prefers_the_exact_recording() -> None:
    """Wherever it stands in the file."""
    other = Fixture(RECORDED, Reply((Text("1"),)), {"prompt": "a", "max_tokens": 9})
    with testing():
        model = ReplayModel(other, said("a", "2"), strict=False)
        assert [ask(model, "a"), ask(model, "a")] == ["2", "1"]


def test_only_the_lines_with_these_labels_answer() -> None:
    """A file may serve several checks; a label that no line has is refused with the nearest."""
    lines = [said("a", "1", label="first"), said("b", "2", label="second"), said("c", "3")]
    with testing():
        assert ask(ReplayModel(lines, only=["second"]), "b") == "2"
    with pytest.raises(DoubleError, match="no recording has the label 'secnd'") as caught:
        gathered(lines, only=["secnd"])
    assert caught.value.hint == "did you mean second?"
    with pytest.raises(DoubleError, match="only is a list of names, got 'first'"):
        gathered(lines, only="first")


# where a reply comes from, and what it is


def test_a_call_says_where_its_reply_comes_from() -> None:
    """The entry of a replayed call has the kind of its provenance; one that was refused has none."""
    with ending("SCRIPT_EXHAUSTED") as (record, _):
        model = ReplayModel(said("a", "1"), said("b", "2", provenance=HAND), said("c", "3", provenance=Provenance("generated")))
        for prompt in "abc":
            ask(model, prompt)
        refused(model, "SCRIPT_EXHAUSTED", prompt="a", max_tokens=8)
        assert [call.get("provenance") for call in record.calls] == ["recorded", "hand-written", "generated", None]


def test_a_recorded_fault_is_raised() -> None:
    """A fault fails its call, as in a script, and its place in the file is used."""
    with testing() as record:
        model = ReplayModel(Fixture(RECORDED, Fault("rate-limit", retry_after=2), {"prompt": "a"}))
        with pytest.raises(ModelFault, match="too many requests") as caught:
            model(prompt="a")
        assert (caught.value.status, caught.value.retry_after) == (429, 2)
        assert record.calls[0]["state"] == "failed"
        assert (model.pending, model.counts.failed) == (0, 1)


def test_faces_are_those_of_every_double() -> None:
    """Plain, async, and the app's own port, with its own types and exceptions."""

    class Chat(Protocol):
        def complete(self, prompt: str, *, max_tokens: int) -> str: ...

    with testing():
        model = ReplayModel(said("a", "1"), said("b", "2"), said("c", "3"), usage={"input_tokens": 7})
        assert model.complete(prompt="a", max_tokens=8).usage.input_tokens == 7
        assert asyncio.run(model.acomplete(prompt="b", max_tokens=8)).text == "2"
        assert model.port(Chat).complete("c", max_tokens=8) == "3"


def test_a_call_that_was_cancelled_keeps_its_recording() -> None:
    """A signal that is aborted before the draw takes nothing."""
    signal = AbortSignal()
    signal.abort()
    with testing():
        model = ReplayModel(said("a", "1"))
        with pytest.raises(Exception, match="cancelled"):
            model(prompt="a", max_tokens=8, signal=signal)
        assert model.pending == 1
        assert ask(model, "a") == "1"


# where none fits


def test_a_changed_prompt_is_refused_and_says_what_changed() -> None:
    """The nearest recording with its line, its age, both hashes, and the first path at which the prompts differ."""
    text = fixtures.line(said("Refund of order A-17, please.", "yes")) + fixtures.line(said("Where is my parcel?", "there"))
    asked = {"prompt": "Where is your parcel?", "max_tokens": 9}
    old, new = (prompt_hash({"prompt": prompt})[:19] for prompt in ("Where is my parcel?", "Where is your parcel?"))
    with ending("PROMPT_CHANGED") as (record, found):
        error = refused(ReplayModel(text, optional=True), "PROMPT_CHANGED", **asked)
        assert record.calls[0]["state"] == "refused"
    assert error.message == (
        "call 1: its prompt is not the one that was recorded: the nearest is <text>:2, recorded 2026-11-30 of acme m-1, "
        f"with {old}, and this is {new}; they differ first at $.prompt"
    )
    assert error.fields["hashes"] == (prompt_hash({"prompt": "Where is my parcel?"}), prompt_hash(asked))
    (finding,) = found
    assert (finding.code, finding.verdict, finding.call) == ("PROMPT_CHANGED", Verdict.BROKEN, "call 1")
    assert (finding.expected, finding.got) == ('$.prompt: "Where is my parcel?"', '"Where is your parcel?"')
    assert finding.hint == "record it again, or undo the change"


def test_a_long_prompt_shows_where_it_differs() -> None:
    """Twenty characters before the first difference and forty from it on, of both."""
    long = "x" * 500
    with ending("PROMPT_CHANGED"):
        error = refused(ReplayModel(said(f"{long}one{long}", "1", optional=True)), "PROMPT_CHANGED", prompt=f"{long}two{long}")
    assert error.fields["expected"] == f'$.prompt: "{"x" * 20}one{"x" * 37}"'
    assert error.fields["got"] == f'"{"x" * 20}two{"x" * 37}"'


def test_a_prompt_that_is_shorter_or_of_another_type_differs_too() -> None:
    """The end of a text, a message more, and a text where a list stood."""
    message = {"role": "user", "content": "hi"}
    whole = Fixture(RECORDED, Reply(), {"messages": [message]}, optional=True)
    with ending("PROMPT_CHANGED"):
        model = ReplayModel(whole)
        error = refused(model, "PROMPT_CHANGED", messages=[{**message, "content": "h"}])
        assert (error.fields["expected"], error.fields["got"]) == ('$.messages[0].content: "hi"', '"h"')
        error = refused(model, "PROMPT_CHANGED", messages=[message, message])
        assert (error.fields["path"], error.fields["got"]) == ("$.messages[1]", '{"role": "user", "content": "hi"}')
        error = refused(model, "PROMPT_CHANGED", messages="hi")
        assert (error.fields["path"], error.fields["got"]) == ("$.messages", '"hi"')


def test_a_changed_setting_is_told_apart_from_a_changed_prompt() -> None:
    """The same prompt with another setting: REQUEST_CHANGED, with the path in the request."""
    with ending("REQUEST_CHANGED") as (record, _):
        error = refused(ReplayModel(said("a", "1", optional=True)), "REQUEST_CHANGED", prompt="a", max_tokens=9)
        assert record.calls[0]["state"] == "refused"
    assert "its prompt was recorded, and other fields of the request differ" in error.message
    assert (error.fields["expected"], error.fields["got"]) == ("$.max_tokens: 8", "9")
    assert error.hint == "record it again; strict: false also takes a recording of the same prompt"


@pytest.mark.parametrize(("kept", "code"), [
    ({"request_hash": hash_of({"prompt": "a", "max_tokens": 8})}, "REQUEST_CHANGED"),
    ({"prompt_hash": prompt_hash({"prompt": "a"})}, "PROMPT_CHANGED"),
])  # fmt: skip
def test_a_line_without_its_request_tells_by_its_hash(kept: dict[str, str], code: str) -> None:
    """There is no path where only the hash was kept."""
    (old,) = kept.values()
    with ending(code):
        error = refused(ReplayModel(Fixture(RECORDED, Reply(), **kept, optional=True)), code, prompt="b")
    assert error.fields["expected"] == old[:19]
    assert error.fields["got"].startswith("sha256:")
    assert "differ first" not in error.message


@pytest.mark.parametrize(("recorded", "asked"), [(8, 8.0), (8.0, 8), (0, -0.0), (-0.0, 0.0), (10**22, 1e22), ([{"n": 1}], [{"n": 1.0}])])
def test_numbers_that_are_equal_are_one_request(recorded: Any, asked: Any) -> None:
    """At any depth, with the request or its hash alone; and what is equal to ``when`` is the recorded one."""
    whole = Fixture(RECORDED, Reply((Text("1"),)), {"prompt": "a", "n": recorded})
    bare = Fixture(RECORDED, Reply((Text("2"),)), None, whole.request_hash)
    with testing():
        model = ReplayModel(whole, bare)
        assert [model(prompt="a", n=asked).text, model(prompt="a", n=recorded).text] == ["1", "2"]


@pytest.mark.parametrize(("recorded", "asked"), [(1, True), (0, False), (2**53, 2.0**53 + 2), (1, "1"), (0, None), (1, 1.5)])
def test_what_is_not_equal_is_told_with_its_path(recorded: Any, asked: Any) -> None:
    """A boolean is no number, and a large integer only the float that it equals."""
    with ending("REQUEST_CHANGED"):
        far = Fixture(RECORDED, Reply(), {"prompt": "a", "n": recorded, "x": 1}, optional=True)
        near = Fixture(RECORDED, Reply(), {"prompt": "a", "n": recorded}, optional=True, label="near")
        error = refused(ReplayModel(far, near), "REQUEST_CHANGED", prompt="a", n=asked)
    assert (error.fields["path"], error.fields["recording"]) == ("$.n", "a recording (near)")


def test_a_boolean_is_as_far_from_a_number_as_anything() -> None:
    """So a recording that differs in that alone is not taken for one that differs in nothing."""
    with ending("REQUEST_CHANGED"):
        apart = Fixture(RECORDED, Reply(), {"prompt": "a", "m": 1, "n": 1}, optional=True)
        near = Fixture(RECORDED, Reply(), {"prompt": "a", "m": True, "n": 2}, optional=True, label="near")
        error = refused(ReplayModel(apart, near), "REQUEST_CHANGED", prompt="a", m=True, n=True)
    assert (error.fields["path"], error.fields["recording"]) == ("$.n", "a recording (near)")


def test_the_nearest_recording_has_the_fewest_differences() -> None:
    """Then the most characters in common; one whose request is not known is the farthest."""
    unknown = Fixture(RECORDED, Reply(), prompt_hash=prompt_hash({"prompt": "z"}), optional=True)
    far = Fixture(RECORDED, Reply(), {"prompt": "hello you", "max_tokens": 9, "seed": 1}, optional=True)
    near = Fixture(RECORDED, Reply(), {"prompt": "hallo you", "max_tokens": 8}, optional=True, label="near")
    other = Fixture(RECORDED, Reply(), {"prompt": "bye", "max_tokens": 8}, optional=True)
    with ending("PROMPT_CHANGED"):
        error = refused(ReplayModel(unknown, far, other, near), "PROMPT_CHANGED", prompt="hello you!", max_tokens=8)
    assert error.fields["recording"] == "a recording (near)"


def test_a_call_too_many_is_refused() -> None:
    """What was recorded for a request is used up, also where other recordings wait."""
    with ending("SCRIPT_EXHAUSTED"):
        model = ReplayModel(fixtures.line(said("a", "1", label="first")) + fixtures.line(said("b", "2", optional=True)))
        ask(model, "a")
        error = refused(model, "SCRIPT_EXHAUSTED", prompt="a", max_tokens=8)
    assert error.message == "call 2 of 2: what was recorded for this request was used: <text>:1 (first)"
    assert (error.fields["expected"], error.fields["got"]) == ("at most 1 call of this request", 'call 2, which asked "a"')


def test_a_script_that_is_over_is_refused() -> None:
    """In turn as by request, with the lane where there is one."""
    with ending("SCRIPT_EXHAUSTED"):
        model = ReplayModel(turn("1", lane="x"), turn("2", lane="x"), lane_by="agent")
        for _ in range(2):
            model(prompt="p", agent="x")
        error = refused(model, "SCRIPT_EXHAUSTED", prompt="p", agent="x")
    assert error.message == 'call 3 of 2 on lane "x": every recording was used'
    assert error.fields["expected"] == 'at most 2 calls on lane "x"'


def test_a_prompt_hash_that_is_used_is_exhausted() -> None:
    """A line that keeps the hash of its prompt alone is found again by it."""
    bare = Fixture(RECORDED, Reply(), prompt_hash=prompt_hash({"prompt": "a"}))
    with ending("SCRIPT_EXHAUSTED"):
        model = ReplayModel(bare, said("b", "2", optional=True))
        ask(model, "a")
        assert "was used: a recording" in refused(model, "SCRIPT_EXHAUSTED", prompt="a").message


def test_no_except_in_the_app_hides_a_miss() -> None:
    """The error is latched as well as raised."""
    with ending("PROMPT_CHANGED"):
        model = ReplayModel(said("a", "1", optional=True))
        with suppress(Exception):
            ask(model, "b")


# what is left over


def test_recordings_that_were_not_used_are_a_finding() -> None:
    """With file, line and label of the first eight, by lane; an optional one may stay."""
    with ending("SCRIPT_UNUSED") as (_, found):
        ReplayModel(said("a", "1", label="x"), said("b", "2", optional=True))
    assert found[0].message == "1 of 2 recordings was not used: a recording (x)"
    assert (found[0].expected, found[0].got, found[0].verdict) == ("2 calls", "0 calls", Verdict.BROKEN)
    with ending("SCRIPT_UNUSED") as (_, found):
        ask(ReplayModel("".join(fixtures.line(turn(str(n))) for n in range(11))), "a")
    assert found[0].message == f"10 of 11 recordings were not used: {', '.join(f'<text>:{n}' for n in range(2, 10))} and 2 more"
    assert found[0].got == "1 call"
    with ending("SCRIPT_UNUSED") as (_, found):
        ReplayModel("".join(fixtures.line(turn(str(n))) for n in range(8)))
    assert found[0].message.endswith("<text>:7, <text>:8")
    with ending("SCRIPT_UNUSED", "SCRIPT_UNUSED") as (_, found):
        ReplayModel(turn("1", lane="a"), turn("1", lane="b"))
    assert found[0].message == '1 of 1 recording was not used on lane "a": a recording'
    assert (found[1].expected, found[1].got) == ('1 call on lane "b"', "0 calls")


def test_a_double_may_call_all_of_them_optional() -> None:
    """A file that serves many checks."""
    with testing():
        assert ask(ReplayModel(said("a", "1"), said("b", "2"), optional=True), "a") == "1"


# how it is built


def test_recordings_are_files_texts_fixtures_and_lists_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text holds a brace; any other is the name of a file, sought from the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(fixtures.line(said("a", "1")), "utf-8")
    Path("b.jsonl").write_text(fixtures.line(said("b", "2")), "utf-8")
    with testing():
        model = ReplayModel("a.jsonl", [Path("b.jsonl"), said("c", "3")], fixtures.line(said("d", "4")))
        assert [ask(model, prompt) for prompt in "abcd"] == ["1", "2", "3", "4"]
    with pytest.raises(FixtureInvalid, match=r"the same exchange stands at a\.jsonl:1 already"):
        gathered(["a.jsonl", "a.jsonl"])


@pytest.mark.parametrize(("given", "says"), [
    ([], "a ReplayModel has recordings, got none"),
    ([3], "recordings are files, their text or fixtures, got int"),
    ([said("a", "1"), turn("2")], "it names no request, and a recording names one"),
    ([turn("2"), said("a", "1")], "it names a request, and a recording names none"),
])  # fmt: skip
def test_what_cannot_be_replayed_is_refused(given: list[Any], says: str) -> None:
    """Nothing to say, nothing that can be read, and a lane in two ways at once."""
    with pytest.raises(DoubleError, match=says):
        gathered(given)


def test_a_double_that_was_refused_leaves_nothing_behind() -> None:
    """A file with one bad line answers nothing, and the trial knows of no double."""
    with testing() as record:
        with pytest.raises(FixtureInvalid):
            ReplayModel(fixtures.line(said("a", "1")) + "{")
        assert record.doubles == []


def test_fixtures_that_were_read_once_serve_every_trial() -> None:
    """What one double used up is there for the next."""
    found = gathered(said("a", "1"))
    for _ in range(2):
        with testing():
            assert ask(ReplayModel(found), "a") == "1"


# in a check file


def test_a_check_file_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a list of files, or a mapping with what a ReplayModel takes; the options of a double stand beside it."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(fixtures.line(said("a", "1", label="first")) + fixtures.line(said("b", "2")), "utf-8")
    with testing():
        for what in ("a.jsonl", ["a.jsonl"], {"file": "a.jsonl", "ignore": ["user"]}):
            model = build({"replay": what, "usage": {"input_tokens": 3}}, load=str)
            assert [ask(model, "a"), ask(model, "b")] == ["1", "2"]
            assert model.calls[0].outcome.usage.input_tokens == 3  # type: ignore[union-attr]  # it was served
        assert ask(build({"replay": {"file": "a.jsonl", "only": ["first"], "strict": False}}, load=str), "a", max_tokens=1) == "1"
        assert ask(build({"replay": {"file": ["a.jsonl"], "optional": True}}, load=str), "b") == "2"


WRONG: list[tuple[Any, str, str]] = [
    (3, "$.replay.file", "a list of names is needed"),
    ({}, "$.replay.file", "a list of names is needed"),
    ({"file": "a.jsonl", "onyl": []}, "$.replay.onyl", "did you mean only?"),
    ({"file": "a.jsonl", "strict": 1}, "$.replay.strict", "strict is true or false"),
    ({"file": "a.jsonl", "optional": "no"}, "$.replay.optional", "optional is true or false"),
    ({"file": "a.jsonl", "only": "x"}, "$.replay.only", "a list of names is needed"),
    ({"file": "a.jsonl", "ignore": [3]}, "$.replay.ignore", "a list of names is needed"),
]


@pytest.mark.parametrize(("what", "path", "says"), WRONG)
def test_a_mistake_in_it_has_its_path(what: Any, path: str, says: str) -> None:
    """As every mistake of a model."""
    with pytest.raises(DoubleError) as caught:
        read({"replay": what}, load=str)
    assert caught.value.fields["path"] == path
    assert says in str(caught.value)


def test_a_bad_line_is_told_by_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any trial, with file, line and column."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(fixtures.line(turn("1")) + json.dumps({"invcheck": 1})[:-1], "utf-8")
    with pytest.raises(FixtureInvalid) as caught:
        read({"replay": "a.jsonl"}, load=str)
    assert str(caught.value).startswith("a.jsonl:2:15: the file ends within this line")


@pytest.mark.parametrize(
    ("found", "ordered"), [([turn("1")], True), ([said("a", "1")], False), ([said("a", "1"), turn("2", lane="x")], True)]
)
def test_order_matters_only_where_a_line_names_no_request(found: list[Fixture], ordered: bool) -> None:
    """Calls that overlap are served by their requests; in turn, they have no order of their own."""
    source = Replay(found, strict=True)
    assert any(source.ordered(lane) for lane in source.lanes) is ordered
    assert not source.twice(None)
