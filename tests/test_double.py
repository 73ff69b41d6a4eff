"""The waist itself: order, lanes, counts, latching, and who may build a double."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from invcheck import Chunk, DriftingModel, Reply, ScriptedModel, Text, ToolCall, Usage, VerificationError, record, session, step, testing
from invcheck.double import Double
from invcheck.errors import DoubleError, NotInTest, ScriptedModelError
from invcheck.record import Record, opened
from invcheck.request import Request
from invcheck.vocabulary import Counts, Finding, State, Verdict

Build = Callable[..., Double]


@pytest.mark.parametrize(
    "build", [lambda: ScriptedModel("x"), lambda: DriftingModel(lambda rng, request: "x")], ids=["scripted", "drifting"]
)
def test_a_double_outside_of_a_test_is_refused(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """None can answer users: a double is built in a trial or in testing(), and nowhere else."""
    monkeypatch.setattr(session, "_opens", None)  # the plugin makes this very test one
    with pytest.raises(NotInTest, match="outside of a test"):
        build()


def test_a_double_of_another_trial_is_refused_and_latched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A double that outlives its trial answers nothing, and the trial that asked it turns red although it swallows that."""
    monkeypatch.setattr(session, "_opens", None)  # as above
    with testing():
        double = ScriptedModel("x").then_always("y")
        double("first")
    with pytest.raises(NotInTest, match="another trial"):
        double("outside")
    now = Record()
    with opened(now), pytest.raises(NotInTest):
        double("in the next trial")
    assert [(finding.code, finding.verdict) for finding in now.findings()] == [("NOT_IN_TEST", Verdict.ERRORED)]
    assert double.counts.attempted == 1


def test_a_double_registers_in_its_trial() -> None:
    """Every double of a trial is asked for what it has left over when the trial ends."""
    with testing() as record:
        first, second = ScriptedModel(), DriftingModel(lambda: "x")
        assert record.doubles == [first, second]
        assert first.leftover() == second.leftover() == []


def test_calls_of_two_doubles_are_one_list() -> None:
    """In the record calls are numbered over all doubles, in each double from 0; the journal has them in order."""
    with testing() as record:
        one, other = ScriptedModel("a", "b"), ScriptedModel("c")
        one("1")
        other("2")
        one("3")
        assert [(call["n"], call["outcome"]["text"]) for call in record.calls] == [(0, "a"), (1, "c"), (2, "b")]
        assert [entry["n"] for entry in record.journal] == [0, 1, 2]
        assert [exchange.n for exchange in one.calls] == [0, 1]


def test_an_exchange_says_everything_about_a_call() -> None:
    """An exchange is the frozen request, the outcome, the state, the error, the lane and the method."""
    with testing():
        double = ScriptedModel("a").fail("timeout")
        double("hi", max_tokens=8)
        with pytest.raises(TimeoutError):
            double("again")
        served, failed = double.calls
        assert (served.n, served.lane, served.method, served.state, served.error) == (0, None, None, State.SERVED, None)
        assert served.request == {"prompt": "hi", "max_tokens": 8}
        assert served.outcome == Reply((Text("a"),), usage=Usage(8, 1))
        assert (failed.state, failed.error) == (State.FAILED, "ModelTimeout")
        assert double.counts == Counts(served=1, failed=1)


def test_requests_are_recorded_before_anything_is_asked() -> None:
    """A step sees its own request already recorded, and the call as one that has not come back."""
    seen: list[Any] = []
    with testing() as record:
        double = ScriptedModel(lambda request: seen.append((len(record.calls), double.counts, request)) or "x")
        double("hi")
    assert seen == [(1, Counts(cancelled=1), {"prompt": "hi"})]


def test_taking_a_snapshot_consumes_no_iterator() -> None:
    """What cannot be copied becomes a typed placeholder, and the app's iterator is as it was."""
    mine = iter([1, 2])
    with testing():
        double = ScriptedModel("x")
        double(prompt="hi", items=mine)
        assert double.requests[0] == {"prompt": "hi", "items": {"$object": "builtins.list_iterator"}}
    assert list(mine) == [1, 2]


# verification

_WRONG: dict[str, tuple[object, str]] = {
    "finish": (lambda _: Reply((ToolCall("f", {}),)), "REPLY_INVALID"),
    "usage": (lambda _: Reply(usage=Usage(-1)), "REPLY_INVALID"),
    "type": (lambda _: 42, "REPLY_INVALID"),
}


@pytest.mark.parametrize("what", _WRONG)
def test_a_reply_that_is_none_is_errored_although_the_app_swallows_it(what: str) -> None:
    """A step function whose reply no provider could give is the test's mistake: it raises, and stays as errored."""
    step, code = _WRONG[what]
    record = Record()
    with opened(record):
        double = ScriptedModel(step)
        with pytest.raises(ScriptedModelError):
            double("hi")
    assert double.counts == Counts(failed=1)
    assert [(finding.code, finding.verdict) for finding in record.findings()] == [(code, Verdict.ERRORED)]


async def _no_reply(request: Any, signal: Any) -> AsyncIterator[Any]:
    yield "a"


async def _two(request: Any, signal: Any) -> AsyncIterator[Any]:
    yield Reply((Text("a"),))
    yield Reply((Text("a"),))


async def _after(request: Any, signal: Any) -> AsyncIterator[Any]:
    yield Reply((Text("a"),))
    yield "b"


async def _foreign(request: Any, signal: Any) -> AsyncIterator[Any]:
    yield Chunk("other", "a")
    yield Reply((Text("a"),))


async def _other_text(request: Any, signal: Any) -> AsyncIterator[Any]:
    yield "a"
    yield Reply((Text("b"),))


async def _other_tool(request: Any, signal: Any) -> AsyncIterator[Any]:
    yield Chunk(request.id, tool_call=ToolCall("f", {}))
    yield Reply((ToolCall("g", {}),), "tool_calls")


async def _no_chunk(request: Any, signal: Any) -> AsyncIterator[Any]:
    yield 3


_BROKEN_FACTORIES: dict[Any, tuple[str, str]] = {
    _no_reply: ("FACTORY_NO_REPLY", "no final reply"),
    _two: ("FACTORY_TWO_REPLIES", "two final replies"),
    _after: ("FACTORY_AFTER_REPLY", "a chunk after its final reply"),
    _foreign: ("REQUEST_MISMATCH", "belongs to request"),
    _other_text: ("CHUNKS_DIFFER", "join to"),
    _other_tool: ("CHUNKS_DIFFER", "other tools"),
    _no_chunk: ("REPLY_INVALID", "int, which is no chunk"),
}


@pytest.mark.parametrize("factory", _BROKEN_FACTORIES)
def test_what_is_wrong_with_a_factory_has_a_name(factory: Any) -> None:
    """No final reply, two, a chunk after it, a chunk of another request, chunks that do not join: each has its own code."""
    code, says = _BROKEN_FACTORIES[factory]
    record = Record()
    with opened(record):
        double = ScriptedModel(factory)
        with pytest.raises(ScriptedModelError, match=says) as caught:
            double("hi")
    assert caught.value.code == code
    assert [finding.code for finding in record.findings()] == [code]
    assert double.counts.failed == 1


def test_a_factorys_tool_call_arrives_in_chunk_and_reply() -> None:
    """Chunks that carry the reply's own tool calls are fine."""

    async def factory(request: Any, signal: Any) -> AsyncIterator[Any]:
        yield Chunk(request.id, tool_call=ToolCall("f", {"x": 1}))
        yield Reply((ToolCall("f", {"x": 1}),), "tool_calls")

    with testing():
        assert ScriptedModel(factory)("hi").tool_calls[0].arguments == {"x": 1}


def test_an_iterator_that_was_consumed_is_refused_also_across_doubles() -> None:
    """One iterator in two doubles answers once; the second use raises, counts as refused and is latched."""
    shared = iter([Reply((Text("a"),))])
    record = Record()
    with opened(record):
        one, other = ScriptedModel(shared), ScriptedModel(shared)
        assert one("hi").text == "a"
        with pytest.raises(ScriptedModelError, match="already consumed") as caught:
            other("hi")
    assert caught.value.code == "SCRIPT_ITERATOR_REUSED"
    assert other.counts == Counts(refused=1)
    assert [(finding.code, finding.verdict) for finding in record.findings()] == [("SCRIPT_ITERATOR_REUSED", Verdict.BROKEN)]


@pytest.mark.parametrize("kind", ["generator", "begun generator", "async generator"])
def test_a_generator_that_was_consumed_in_an_earlier_trial_is_refused(kind: str) -> None:
    """A generator remembers that it was begun, so no later trial takes it for a fresh one."""

    def plain() -> Iterator[Any]:
        yield Reply((Text("a"),))

    async def later() -> AsyncIterator[Any]:
        yield Reply((Text("a"),))

    step: Any = later() if kind == "async generator" else plain()
    if kind == "begun generator":
        next(step)
    else:
        with testing():
            ScriptedModel(step)("hi")
    record = Record()
    with opened(record), pytest.raises(ScriptedModelError, match="already consumed"):
        ScriptedModel(step)("hi")
    assert [finding.code for finding in record.findings()] == ["SCRIPT_ITERATOR_REUSED"]


def test_an_error_while_closing_never_replaces_the_first() -> None:
    """A factory whose clean-up fails as well still raises what came first, with a note; alone, its error is the step's."""

    async def both(request: Any, signal: Any) -> AsyncIterator[Any]:
        try:
            yield 3
        finally:
            raise KeyError("closing")

    class Closing:
        def __iter__(self) -> Closing:
            return self

        def __next__(self) -> Any:
            raise StopIteration

        def close(self) -> None:
            raise KeyError("closing")

    class Whole(Closing):
        given = False

        def __next__(self) -> Any:
            if self.given:
                raise StopIteration
            self.given = True
            return Reply((Text("a"),))

    record = Record()
    with opened(record):
        double = ScriptedModel(both, Closing(), Whole())
        with pytest.raises(ScriptedModelError, match="no chunk") as caught:
            double("hi")
        assert caught.value.__notes__ == ["and closing its response factory raised KeyError"]
        with pytest.raises(ScriptedModelError, match="no final reply"):
            double("hi")
        with pytest.raises(KeyError, match="closing"):
            double("hi")
    assert double.counts == Counts(failed=3)


def test_a_synchronous_call_of_a_step_that_waits_says_so() -> None:
    """A sync face drives a step without an event loop; a step that really waits is a clear error, even if it swallows it."""

    class Wait:
        def __await__(self) -> Iterator[None]:
            yield

    async def waits(request: Any) -> str:
        await Wait()
        return "never"

    async def swallows(request: Any) -> str:
        try:
            await Wait()
        except DoubleError:
            return "never"
        return "never"

    async def stubborn(request: Any) -> str:
        for _ in range(3):
            try:
                await Wait()
            except DoubleError:
                continue
        return "never"

    record = Record()
    with opened(record):
        double = ScriptedModel(waits, swallows, stubborn)
        for _ in range(3):
            with pytest.raises(DoubleError, match="waits for an event loop") as caught:
                double("hi")
            assert caught.value.code == "STEP_WAITS"
    assert [(finding.code, finding.verdict) for finding in record.findings()] == [("STEP_WAITS", Verdict.ERRORED)]


# lanes


def test_each_lane_has_its_own_queue() -> None:
    """Two agents never take each other's replies."""
    with testing() as record:
        double = ScriptedModel(lanes={"writer": ["w1", "w2"], "critic": ["c1"]})
        writer, critic = double.lane("writer"), double.lane("critic")
        assert [writer("1").text, critic("2").text, writer.complete("3").text] == ["w1", "c1", "w2"]
        assert [call["lane"] for call in record.calls] == ["writer", "critic", "writer"]
        assert [entry["lane"] for entry in record.journal] == ["writer", "critic", "writer"]


@pytest.mark.parametrize("by", ["agent", lambda request: request["agent"]], ids=["field", "function"])
def test_a_lane_can_be_named_by_the_request(by: Any) -> None:
    """A field of the request, or a function of it, says which queue answers."""
    with testing():
        double = ScriptedModel(lanes={"writer": ["w"], "critic": ["c"]}, lane_by=by)
        assert [double(agent="critic").text, double(agent="writer").text] == ["c", "w"]


@pytest.mark.parametrize("build", [
    lambda **how: ScriptedModel(lanes={"writer": []}, **how), lambda **how: DriftingModel(lambda: "x", lanes=["writer"], **how),
], ids=["scripted", "drifting"])  # fmt: skip
@pytest.mark.parametrize(
    ("given", "says"), [({"agent": "critic"}, "undeclared lane 'critic'"), ({}, "without a lane"), ({"agent": 3}, "lane 3")]
)
def test_an_undeclared_lane_is_refused_and_latched(build: Build, given: dict[str, Any], says: str) -> None:
    """Once lanes are named, a call on another one, or on none, is an error that stays; the call is recorded."""
    record = Record()
    with opened(record):
        double: Any = build(lane_by="agent")
        with pytest.raises(ScriptedModelError, match=says):
            double(prompt="hi", **given)
        with pytest.raises(DoubleError, match="no lane 'other'"):
            double.lane("other")
    assert double.counts == Counts(refused=1)
    assert [(finding.code, finding.verdict) for finding in record.findings()] == [("LANE_UNDECLARED", Verdict.BROKEN)]


def test_one_unnamed_lane_until_lanes_are_named() -> None:
    """A double without lanes has no lane of any name, and says so."""
    with testing(), pytest.raises(DoubleError, match="no lane 'writer'") as caught:
        ScriptedModel().lane("writer")
    assert "lanes=" in str(caught.value.hint)


def test_a_function_that_names_no_lane_raises_into_the_app() -> None:
    """What the user's own function raises arrives as it is, the call is recorded as failed, and it is told."""

    def by(request: Request) -> str:
        raise KeyError("agent")

    record = Record()
    with opened(record):
        double = ScriptedModel(lanes={"writer": []}, lane_by=by)
        with pytest.raises(KeyError, match="agent"):
            double("hi")
    assert double.counts == Counts(failed=1)
    assert [(found.code, found.message) for found in record.latches] == [("DOUBLE_RAISED", "the test's own lane_by=by raised KeyError")]


def test_concurrent_calls_lose_and_repeat_no_step() -> None:
    """Threads that ask one double at once take every step once, and every call is recorded."""
    with testing() as record:
        double = ScriptedModel(*(str(n) for n in range(200)))
        got: list[str] = []
        threads = [threading.Thread(target=lambda: got.extend(double(f"{n}").text for n in range(25))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(int, got)) == list(range(200))
        assert [call["n"] for call in record.calls] == list(range(200))
        assert double.counts == Counts(served=200)


# latching


def test_an_error_is_latched_once_per_lane() -> None:
    """A loop that asks on and on after the end leaves one finding, the first, and every request."""
    record = Record()
    with opened(record):
        double = ScriptedModel("a")
        double("0")
        for n in range(5):
            with pytest.raises(ScriptedModelError):
                double(str(n))
    assert [finding.call for finding in record.findings()] == ["call 2 of 1"]
    assert double.counts == Counts(served=1, refused=5)


def test_testing_raises_what_the_app_swallowed() -> None:
    """An app that catches everything still turns its test red."""

    def app(model: Any) -> str:
        try:
            return str(model("one too many"))
        except Exception:  # noqa: BLE001  # the app's own mistake, on purpose
            return "fallback"

    with pytest.raises(VerificationError, match="call 1 of 0"), testing():
        assert app(ScriptedModel()) == "fallback"


def test_an_error_that_leaves_testing_is_not_masked() -> None:
    """The first error stays the error, although steps are left over."""

    def app() -> None:
        with testing():
            ScriptedModel("unused")
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        app()


def test_unused_steps_are_a_finding_with_index_and_label() -> None:
    """What was not asked for is named, and one step may be optional."""
    record = Record()
    with opened(record):
        double = ScriptedModel("a", step("b", label="second"), step("c", optional=True), step(lambda: "d"))
        double("hi")
    assert record.findings() == [
        Finding(
            "SCRIPT_UNUSED", Verdict.BROKEN, "2 of 4 steps were not used: step 2 (second), step 4 (<lambda>)",
            expected="4 calls", got="1 call", hint="remove the step, or mark it optional: true (optional=True in Python)",
        )
    ]  # fmt: skip


def test_a_double_that_is_asked_when_no_trial_is_in_hand_tells_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call after the end, with nothing in hand to spoil, is a late finding of the double's trial, by its seed."""
    monkeypatch.setattr(session, "_opens", None)  # as above
    before = Record(9)
    with opened(before):
        double = ScriptedModel("x")
    before.close()
    record.late()
    with pytest.raises(NotInTest, match="another trial"):
        double("late")
    assert [(seed, found.code) for seed, found in record.late() if isinstance(found, Finding)] == [(9, "AFTER_RETURN")]


@pytest.mark.invcheck(unused="allow")
def test_a_stream_that_was_never_read_is_the_hint_of_what_is_left() -> None:
    """Opened and left alone it took no step, so another hint would send one astray; where all were read it does not stand."""
    model = ScriptedModel("a", "b")
    assert "remove the step" in str(model.leftover()[0].hint)
    stream = model.stream("hi")
    assert [each.hint for each in model.leftover()] == ["a stream was opened and never read: iterate it, or await its result"]
    assert stream.final().text == "a"
    assert "remove the step" in str(model.leftover()[0].hint)
    model.stream("again").final()
    assert model.leftover() == []
