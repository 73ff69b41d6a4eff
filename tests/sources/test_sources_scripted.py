"""What a script holds, how it is built, and what makes a step none."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from invcheck import Fault, Reply, ScriptedModel, Text, ToolCall, Usage, step, testing
from invcheck.errors import DoubleError, ScriptedModelError, ScriptInvalid
from invcheck.record import Record, opened
from invcheck.request import AbortSignal
from invcheck.sources import fail, reply, tool_call
from invcheck.vocabulary import Counts, Thinking


@given(st.lists(st.text()))
def test_replies_come_in_the_order_of_the_script(texts: list[str]) -> None:
    """First in, first out, whatever the texts; afterwards nothing is pending."""
    with testing():
        double = ScriptedModel(*texts)
        assert double.pending == len(texts)
        assert [double("q").text for _ in texts] == texts
        assert double.pending == 0


def test_a_script_is_built_in_one_chain() -> None:
    """reply, fail and then_always append and give the model itself."""
    with testing():
        double = ScriptedModel().reply("a", usage={"input_tokens": 3}).fail("server").reply(thinking="hm", text="b").then_always("c")
        assert double("1").usage == Usage(3)
        with pytest.raises(Exception, match="internal server error"):
            double("2")
        assert double("3").blocks == (Thinking("hm"), Text("b"))
        assert [double("4").text, double("5").text] == ["c", "c"]
        assert double.always_used == 2
        assert double.counts == Counts(served=4, failed=1)


def test_then_always_can_be_an_error_and_ends_the_script() -> None:
    """Every call beyond the script gets it, and nothing can be appended behind it."""
    with testing() as record:
        double = ScriptedModel("a").then_always(Fault("server"))
        double("1")
        for _ in range(2):
            with pytest.raises(Exception, match="internal"):
                double("2")
        with pytest.raises(ScriptInvalid, match="then_always ends"):
            double.reply("b")
        assert [call["error"] for call in record.calls] == [None, "ModelFault", "ModelFault"]
        assert double.always_used == 2


def test_an_unused_then_always_is_fine() -> None:
    """It says what may be asked, not what must be."""
    with testing():
        ScriptedModel().then_always(step("x"), label="tail")


def test_the_same_exception_instance_can_be_raised_again() -> None:
    """An instance that is raised twice does not gather the tracebacks of both."""
    error = ValueError("mine")
    with testing():
        double = ScriptedModel().then_always(error)
        depths = []
        for _ in range(2):
            with pytest.raises(ValueError, match="mine") as caught:
                double("hi")
            depths.append(len(list(caught.traceback)))
        assert depths[0] == depths[1]


def test_set_responses_replaces_and_append_response_appends() -> None:
    """What is left is replaced, then_always included; what was taken stays taken, and ordinals go on."""
    record = Record()
    with opened(record):
        double = ScriptedModel("a", "b").then_always("c")
        double("1")
        assert double.set_responses(["x"]) is double
        double.append_response(step("y", label="last"))
        assert [double("2").text, double("3").text] == ["x", "y"]
        with pytest.raises(ScriptedModelError, match="call 4 of 3"):
            double("4")


@pytest.mark.parametrize("change", [
    lambda double: double.set_responses(["x", 3]), lambda double: double.append_response(3), lambda double: double.then_always(3),
], ids=["set", "append", "always"])  # fmt: skip
def test_an_invalid_script_leaves_the_queue_as_it_was(change: Any) -> None:
    """ScriptInvalid names index and reason, and nothing of the script was taken over."""
    with testing():
        double = ScriptedModel("a", "b")
        with pytest.raises(ScriptInvalid, match="int is no step") as caught:
            change(double)
        assert "index" in caught.value.fields
        assert "int" in caught.value.fields["reason"]
        assert [double("1").text, double("2").text] == ["a", "b"]


def _two(one: Any, two: Any, three: Any) -> str:
    return ""


def _keyword(request: Any, *, needed: int) -> str:
    return ""


@dataclasses.dataclass
class _Thing:
    x: int = 1


INVALID: list[tuple[Any, str]] = [
    (None, "NoneType is no step"),
    (3, "int is no step"),
    (["a"], "pass the steps one by one"),
    (("a",), "a tuple is no step"),
    ({"a": 1}, "a dict is no step"),
    (_Thing(), "_Thing is no step"),
    (_Thing, "the class _Thing is no step"),
    (UnicodeDecodeError, "needs arguments; pass an instance"),
    (Fault("ratelimit"), "did you mean 'rate-limit'"),
    (Fault("no such thing at all"), "there are bad-request"),
    (Fault("server", status=42), "200 to 599"),
    (Fault("server", status=True), "200 to 599"),
    (Fault("server", message=3), "message is text"),  # type: ignore[arg-type]  # the mistake
    (Fault("server", retry_after=-1), "retry_after"),
    (Fault("server", retry_after=float("nan")), "retry_after"),
    (Fault("server", retry_after=True), "retry_after"),
    (Reply((ToolCall("f", {}),)), 'finish is "stop"'),
    (_two, "takes other arguments"),
    (_keyword, "takes other arguments"),
    (step("a", label=3), "its label is int"),  # type: ignore[arg-type]  # the mistake
    (step("a", optional="no"), "optional is True or False"),  # type: ignore[arg-type]  # the mistake
    (step(step("a")), "Step is no step"),
]


@pytest.mark.parametrize(("wrong", "says"), INVALID)
def test_what_is_no_step_is_refused_with_index_and_reason(wrong: Any, says: str) -> None:
    """Every kind of mistake says what it is, and where it stands."""
    with testing(), pytest.raises(ScriptInvalid) as caught:
        ScriptedModel("fine", wrong)
    assert says in caught.value.message
    assert caught.value.message.startswith("step 2 (index 1) is invalid: ")
    assert caught.value.fields["index"] == 1


def test_a_coroutine_is_refused_and_closed() -> None:
    """A coroutine answers once: the function is what a script holds (and no warning of a coroutine never awaited)."""

    async def answer() -> str:
        return "x"

    with testing(), pytest.raises(ScriptInvalid, match="pass the async function itself"):
        ScriptedModel(answer())


def test_an_invalid_double_registers_nowhere() -> None:
    """A script that was refused leaves no half-built double in the trial."""
    with testing() as record:
        with pytest.raises(ScriptInvalid):
            ScriptedModel(3)
        with pytest.raises(DoubleError, match="steps or lanes"):
            ScriptedModel("a", lanes={"x": []})
        for name in ("", 3):
            with pytest.raises(DoubleError, match="a lane's name"):
                ScriptedModel(lanes={name: []})  # type: ignore[dict-item]  # the mistake
        assert record.doubles == []


def test_lanes_can_be_named_after_the_double_was_built() -> None:
    """A script without steps may still be given lanes; after that the unnamed one is gone."""
    with testing():
        double = ScriptedModel().reply("w", lane="writer").set_responses(["c"], lane="critic").then_always("e", lane="editor")
        assert [double.lane(name)("q").text for name in ("critic", "writer", "editor")] == ["c", "w", "e"]
        with pytest.raises(DoubleError, match="no unnamed lane"):
            double.reply("x")
        with pytest.raises(DoubleError, match="a lane's name"):
            double.reply("x", lane="")


def test_a_script_with_steps_on_the_unnamed_lane_names_no_other() -> None:
    """Its steps would stand where nobody can ask for them."""
    with testing():
        double = ScriptedModel("a")
        with pytest.raises(DoubleError, match="no lane 'writer'"):
            double.reply("w", lane="writer")
        double("q")


def test_exhaustion_names_the_nearest_step_of_another_lane() -> None:
    """A call that was meant for another lane shows what still waits there, by its label."""
    record = Record()
    with opened(record):
        double = ScriptedModel(lanes={"writer": [], "critic": [step("c", label="verdict")]})
        with pytest.raises(ScriptedModelError) as caught:
            double.lane("writer")("q")
    message = 'call 1 of 0 on lane "writer": the script is over; the nearest unmatched step is step 1 (verdict) of lane "critic"'
    assert caught.value.message == message
    exhausted, unused = record.findings()
    assert (exhausted.expected, exhausted.got) == ('at most 0 calls on lane "writer"', 'call 1, which asked "q"')
    assert unused.message == '1 of 1 step was not used on lane "critic": step 1 (verdict)'


def test_many_unused_steps_are_listed_shortly() -> None:
    """A message lists eight, and counts the rest."""
    record = Record()
    with opened(record):
        ScriptedModel(*(str(n) for n in range(11)))
    (finding,) = record.findings()
    assert finding.message.startswith('11 of 11 steps were not used: step 1 ("0"), step 2 ("1")')
    assert finding.message.endswith("and 3 more")


# functions


def test_a_function_gets_as_much_as_it_takes() -> None:
    """(), (request), (request, signal), an optional signal, star arguments, a callable object: each is called as it asks to be."""
    seen: list[Any] = []

    class Callable_:  # noqa: N801  # a class that is called
        __hash__ = None  # type: ignore[assignment]  # an object that cannot be hashed is a function all the same

        def __call__(self, request: Any) -> str:
            seen.append((request,))
            return "object"

    def both(request: Any, signal: Any) -> str:
        seen.append((request, signal))
        return "both"

    def perhaps(request: Any, signal: Any = None) -> str:
        seen.append((request, signal))
        return "perhaps"

    def defaulted(request: Any = None, other: int = 3) -> str:
        seen.append((request, other))
        return "defaulted"

    def stars(*args: Any) -> str:
        seen.append(args)
        return "stars"

    with testing():
        double = ScriptedModel(lambda: "none", Callable_(), both, perhaps, defaulted, stars, "{}".format)
        texts = ["none", "object", "both", "perhaps", "defaulted", "stars", "{'x': 1}"]
        assert [double(x=1).text for _ in texts] == texts
    request = {"x": 1}
    assert [entry[0] for entry in seen] == [request] * 5
    assert [type(entry[1]) for entry in seen if len(entry) > 1] == [AbortSignal, AbortSignal, int]


class _Answer(BaseModel):
    answer: str
    cites: tuple[str, ...] = ()


def test_a_function_may_answer_in_any_form() -> None:
    """Text, a reply, JSON, a dataclass, a pydantic model, a fault, an exception: each becomes what it says."""
    answer = _Answer(answer="yes", cites=("d1",))
    forms: list[Any] = ["text", Reply((Text("r"),)), {"b": [1], "a": "é"}, [1, None], _Thing(2), answer]
    with testing():
        double = ScriptedModel(
            *(lambda _, form=form: form for form in forms), lambda: KeyError, lambda: KeyError("k"), lambda: Fault("server")
        )
        replies = [double("q") for _ in forms]
        assert [each.text for each in replies] == [
            "text", "r", '{"b": [1], "a": "é"}', "[1, null]", '{"x": 2}', '{"answer": "yes", "cites": ["d1"]}'
        ]  # fmt: skip
        assert [each.value for each in replies] == [None, None, None, None, _Thing(2), answer]
        for _ in range(2):
            with pytest.raises(KeyError):
                double("q")
        with pytest.raises(Exception, match="internal"):
            double("q")


@pytest.mark.parametrize("wrong", [None, 3, _Thing, float("nan"), {"x": float("nan")}, {"x": object()}, _Thing(object()), Fault("no")])  # type: ignore[arg-type]  # the mistake
def test_a_function_that_answers_nothing_is_errored(wrong: Any) -> None:
    """What is no answer raises REPLY_INVALID, and the finding stays."""
    record = Record()
    with opened(record):
        double = ScriptedModel(lambda: wrong)
        with pytest.raises(ScriptedModelError, match="the answer to call 1 is none"):
            double("q")
    assert [finding.code for finding in record.findings()] == ["REPLY_INVALID"]


def test_a_static_reply_is_detached_from_the_test() -> None:
    """What the test changes after the script was built changes no step."""
    arguments = {"ids": [1]}
    value = {"ids": [1]}
    with testing():
        double = ScriptedModel(Reply((ToolCall("f", arguments),), "tool_calls"), reply(value=value))
        arguments["ids"].append(2)
        value["ids"].append(2)
        assert double("q").tool_calls[0].arguments == {"ids": [1]}
        assert double("q").value == {"ids": [1]}


def test_builders_make_the_parts() -> None:
    """reply, fail and tool_call build plain values that a script, a function or a factory can use."""
    assert reply("a") == Reply((Text("a"),))
    assert reply("a", finish=None).finish is None
    assert reply(tool_calls=[tool_call("f")]) == Reply((ToolCall("f", {}),), "tool_calls")
    assert reply("a", tool_calls=[tool_call("f", {"x": 1}, id="c")]).blocks == (Text("a"), ToolCall("f", {"x": 1}, "c"))
    assert reply(value={"a": 1}) == Reply((Text('{"a": 1}'),), value={"a": 1})
    assert reply("own", value=3) == Reply((Text("own"),), value=3)
    assert reply().text == ""
    with pytest.raises(DoubleError, match="no JSON text"):
        reply(value=object())
    with pytest.raises(DoubleError, match="usage has no 'x'"):
        reply(usage={"x": 1})
    error = KeyError("mine")
    assert fail(error) is error
    assert fail("server", "m", status=599, retry_after=1) == Fault("server", "m", 599, 1)


def test_call_ids_are_the_same_in_every_run() -> None:
    """An id that no step gives is derived from request and ordinal: the same twice, another in the next call."""

    def ids() -> list[str | None]:
        with testing():
            double = ScriptedModel().then_always(reply(tool_calls=[tool_call("f"), tool_call("g")]))
            return [call.id for _ in range(2) for call in double("q").tool_calls]

    first = ids()
    assert first == ids()
    assert len(set(first)) == 4


def test_a_generator_step_may_be_the_function_or_the_generator() -> None:
    """A function of a generator answers every call; a generator itself answers one."""

    def each() -> Iterator[Any]:
        yield "a"
        yield Reply((Text("a"),))

    async def aeach() -> AsyncIterator[Any]:
        yield "b"
        yield Reply((Text("b"),))

    with testing():
        double = ScriptedModel(each, each, aeach, each(), aeach(), lambda _: each())
        assert [double("q").text for _ in range(6)] == ["a", "a", "b", "a", "b", "a"]


def test_an_async_iterator_that_cannot_be_closed_is_fine() -> None:
    """Any async iterator can be a step, also one that is no generator."""

    class Pieces:
        def __init__(self) -> None:
            self.left = ["a", Reply((Text("a"),))]

        def __aiter__(self) -> Pieces:
            return self

        async def __anext__(self) -> Any:
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop(0)

    with testing():
        assert ScriptedModel(Pieces())("q").text == "a"


def test_a_factory_may_end_in_a_fault() -> None:
    """Half a stream, then the fault: what was emitted stands, and the call failed."""

    async def half(request: Any, signal: Any) -> AsyncIterator[Any]:
        yield "half"
        yield Fault("connection")

    with testing():
        double = ScriptedModel(half)
        with pytest.raises(ConnectionError):
            double("q")
        assert double.counts == Counts(failed=1)


def test_a_factory_sees_its_signal_and_is_stopped_by_it() -> None:
    """Cancellation is checked before each chunk; a taken step never returns."""
    signal = AbortSignal()
    closed = []

    async def factory(request: Any, given: AbortSignal) -> AsyncIterator[Any]:
        assert given is signal
        try:
            yield "a"
            signal.abort()
            yield "b"
        finally:
            closed.append(True)

    with testing():
        double = ScriptedModel(factory, "next")
        with pytest.raises(DoubleError.__mro__[1], match="was cancelled"):
            double("q", signal=signal)
        assert closed == [True]
        assert double.counts == Counts(cancelled=1)
        assert double.pending == 1
        assert double("q").text == "next"
