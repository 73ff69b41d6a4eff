"""The record of a trial, and the place where doubles may be built outside of one."""

from __future__ import annotations

import pickle

import pytest

import invcheck
from invcheck import record, session
from invcheck.errors import NotInTest
from invcheck.record import Record, VerificationError
from invcheck.vocabulary import Finding, Verdict


def test_nothing_is_in_hand_outside_of_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A double is refused there, by name and with the way out."""
    monkeypatch.setattr(session, "_opens", None)  # the plugin makes this very test one
    assert record.current() is None
    with pytest.raises(NotInTest, match="ScriptedModel was built outside of a test") as caught:
        record.required("ScriptedModel")
    assert caught.value.hint == "build it in a check, or inside `with invcheck.testing():`"


def test_the_inner_record_wins_and_the_outer_one_comes_back() -> None:
    """Records that nest: the one in hand is the innermost, also after an error."""
    outer, inner = Record(1), Record(2)
    with record.opened(outer):
        with pytest.raises(ZeroDivisionError), record.opened(inner):  # noqa: PT012  # the block is what is tested
            assert record.required("x") is inner
            1 / 0  # noqa: B018  # it raises
        assert record.current() is outer
    assert record.current() is None


def test_the_same_finding_is_latched_once() -> None:
    """An app that runs into the same wall ten times is told of it once; another finding is another."""
    held = Record()
    for message in ("a", "a", "b"):
        held.latch(Finding("SCRIPT_EXHAUSTED", Verdict.BROKEN, message))
    assert [finding.message for finding in held.findings()] == ["a", "b"]


def test_reads_are_counted_by_source_and_place() -> None:
    """The note of an ambient read is one row with a count."""
    held = Record()
    for where in ("a.py:f", "a.py:f", "b.py:g"):
        held.read("clock", where)
    assert held.ambient == {("clock", "a.py:f"): 2, ("clock", "b.py:g"): 1}


def test_rows_that_stand_are_entered_before_the_next_event() -> None:
    """Whoever watches is asked before each event, so that rows keep their order."""
    held = Record()
    held.before_event.append(lambda: held.row({"n": len(held.ledger)}))
    held.effect("one")
    held.breach({"wanted": "x:1"})
    assert [entry["kind"] for entry in held.journal] == ["row", "effect", "row", "breach"]
    assert held.breaches == [{"wanted": "x:1"}]


def test_testing_is_quiet_where_all_is_used() -> None:
    """A script that was used to its end raises nothing, and gives the record."""
    with invcheck.testing(seed=3) as held:
        assert invcheck.ScriptedModel("hello")("hi").text == "hello"
    assert (held.seed, [call["state"] for call in held.calls]) == (3, ["served"])


def test_testing_raises_for_what_was_latched() -> None:
    """An exhausted script that the app swallowed, and a step that nobody used, are told at the end."""
    with pytest.raises(VerificationError) as caught, invcheck.testing():  # noqa: PT012  # as above
        model = invcheck.ScriptedModel("one")
        model("a")
        with pytest.raises(invcheck.ScriptedModelError):
            model("b")
        invcheck.ScriptedModel("unused")
    assert [finding.code for finding in caught.value.findings] == ["SCRIPT_EXHAUSTED", "SCRIPT_UNUSED"]
    assert str(caught.value).splitlines()[0].startswith("SCRIPT_EXHAUSTED: ")


def test_testing_masks_no_error() -> None:
    """An error that leaves the block is the one that is seen, whatever is left over."""
    with pytest.raises(ZeroDivisionError), invcheck.testing():  # noqa: PT012  # as above
        invcheck.ScriptedModel("unused")
        1 / 0  # noqa: B018  # it raises


def _rude(request: object) -> bool:
    raise ValueError("how rude")


def _swallowed(model: invcheck.ScriptedModel) -> str:
    try:
        return model("hi").text
    except ValueError:
        return "sorry"


def test_testing_tells_a_mistake_of_the_test_first() -> None:
    """With its reason; what follows from it is unjudged, and stands behind it."""
    with pytest.raises(VerificationError) as caught, invcheck.testing():
        _swallowed(invcheck.ScriptedModel(invcheck.step("x", when=_rude)))
    assert [(each.code, each.verdict, each.because) for each in caught.value.findings] == [
        ("DOUBLE_RAISED", Verdict.ERRORED, None),
        ("UNJUDGED", Verdict.UNJUDGED, "DOUBLE_RAISED"),
    ]
    assert str(caught.value).splitlines()[:3] == [
        "DOUBLE_RAISED: the test's own when=_rude raised ValueError",
        "  got: ValueError: how rude",
        "  hint: it makes what the app is given, so the app was not judged",
    ]
    assert str(caught.value).splitlines()[3].startswith("UNJUDGED: SCRIPT_UNUSED: 1 of 1 step was not used: ")


def test_an_error_that_leaves_the_block_is_noted_a_mistake_of_the_test() -> None:
    """An assert that does not hold, because a fake raised and the app swallowed it, says so; it stays the error."""
    with pytest.raises(AssertionError) as caught, invcheck.testing():
        assert _swallowed(invcheck.ScriptedModel(invcheck.step("x", when=_rude))) == "x"
    (note,) = caught.value.__notes__
    assert note.splitlines()[:2] == ["DOUBLE_RAISED: the test's own when=_rude raised ValueError", "  got: ValueError: how rude"]


def test_an_error_of_ours_and_one_without_a_mistake_have_no_note() -> None:
    """The one says itself what is wrong; the other has nothing to do with us."""
    with pytest.raises(invcheck.ScriptedModelError) as ours, invcheck.testing():
        invcheck.ScriptedModel(lambda request: 42)("hi")
    with pytest.raises(ZeroDivisionError) as other, invcheck.testing():
        1 / 0  # noqa: B018  # it raises
    assert not hasattr(ours.value, "__notes__")
    assert not hasattr(other.value, "__notes__")


def test_what_verification_raises_can_travel() -> None:
    """It is an AssertionError, and comes out of a pickle with its findings, as pools need it."""
    error = VerificationError([Finding("SCRIPT_UNUSED", Verdict.BROKEN, "one is left")])
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, AssertionError)
    assert (again.findings, str(again)) == (error.findings, "SCRIPT_UNUSED: one is left")


def test_a_public_name_is_loaded_when_asked_for() -> None:
    """Every public name is there and listed; any other is an AttributeError that names it."""
    assert dir(invcheck) == invcheck.__all__
    with pytest.raises(AttributeError, match="module 'invcheck' has no attribute 'Subste'"):
        _ = invcheck.Subste  # type: ignore[attr-defined]  # the point


def test_a_record_that_is_over_keeps_what_comes_late_apart() -> None:
    """A call, a row and an effect after the end are findings to hand over, each once; waits and reads alone are nothing."""
    over = Record(4)
    over.close()
    record.late()
    over.row({"refund": 5})
    over.effect("mailed", to="me")
    over.wait(3)
    over.note("row", row={})
    over.read("random", "shop.py:draw")
    with pytest.raises(NotInTest, match="a call came after the app had returned"):
        over.arrive({"n": 0})
    told = [(seed, found.code, found.message.partition(" came")[0]) for seed, found in record.late() if isinstance(found, Finding)]
    assert told == [(4, "AFTER_RETURN", "a row of the ledger"), (4, "AFTER_RETURN", "the effect 'mailed'"), (4, "AFTER_RETURN", "a call")]
    assert (record.late(), over.latches, over.journal, over.waits) == ([], [], [], [])


def test_what_a_child_does_is_told_of_the_trial_it_came_from() -> None:
    """It is a finding of the record in hand; where the trial is over, one to hand over with its seed."""
    now = Record(6)
    record.late()
    with record.opened(now):
        record.from_child("a call", 6)
    assert [(found.code, found.verdict) for found in now.latches] == [("CHILD_CALLED", Verdict.ERRORED)]
    assert record.late() == []
    record.from_child("a row", 7)
    assert [(seed, found.code) for seed, found in record.late() if isinstance(found, Finding)] == [(7, "CHILD_CALLED")]
