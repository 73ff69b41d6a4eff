"""A bounded history: old calls are counted and forgotten, and no trial is judged on half of them."""

from __future__ import annotations

import pytest

from invcheck import Counts, ScriptedModel, testing
from invcheck.double import CROWDED
from invcheck.errors import DoubleError


def test_a_double_keeps_as_many_calls_as_it_was_told() -> None:
    """Requests and calls are the last ones, the counts are of all, and ordinals go on."""
    with testing() as record:
        model = ScriptedModel("a", "b", keep=2).then_always("c")
        for prompt in "vwxyz":
            model(prompt)
        assert [request["prompt"] for request in model.requests] == ["y", "z"]
        assert [call.n for call in model.calls] == [3, 4]
        assert model.counts == Counts(served=5)
        assert [(call["n"], call["request"]["prompt"]) for call in record.calls] == [(3, "y"), (4, "z")]
        assert [entry["n"] for entry in record.journal] == [3, 4]
        assert record.forgotten == 3


def test_a_call_in_hand_is_not_forgotten() -> None:
    """What is not over stays, also where it is the oldest; only what has ended is let go."""
    with testing():
        model = ScriptedModel("a", "b", "c", "d", keep=1)
        stream = model.stream("first")
        for prompt in "xyz":
            model(prompt)
        assert [request["prompt"] for request in model.requests] == ["first", "z"]
        assert stream.final().text == "d"


def test_the_chunks_of_a_forgotten_call_are_forgotten_too() -> None:
    """The journal holds no event of a call that is gone, and every other event."""
    with testing() as record:
        model = ScriptedModel("a b", "c d", "e f", chunks="words", keep=1)
        for _ in range(3):
            model.stream("x").final()
            record.effect("sent")
        kept = [(entry["kind"], entry.get("n")) for entry in record.journal]
        assert kept == [("effect", None), ("effect", None), ("call", 2), ("chunk", 2), ("chunk", 2), ("effect", None)]


@pytest.mark.parametrize("keep", [0, -1, True, 2.0])
def test_a_bound_is_a_number_of_calls(keep: object) -> None:
    """Anything else is refused."""
    with testing(), pytest.raises(DoubleError, match="keep is a number of calls from 1"):
        ScriptedModel(keep=keep)  # type: ignore[arg-type]  # the mistake


def test_a_history_without_a_bound_says_so() -> None:
    """At ten thousand calls the trial notes it, once, with the way out."""
    with testing() as record:
        model = ScriptedModel().then_always("a")
        for _ in range(CROWDED - 1):
            model("x")
        assert record.ambient == {}
        model("x")
        model("x")
        assert record.ambient == {("history", "a ScriptedModel holds every call; keep= bounds how many"): 1}
