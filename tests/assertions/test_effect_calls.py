"""Calls, requests, script-used and raises: kept, broken, vacuous, under `not-`, with the scenarios' values."""

from __future__ import annotations

import re
from typing import Any

import pytest

from invcheck.assertions import Calls, Not, Raises, Requests, ScriptUsed, build
from invcheck.errors import UsageError
from invcheck.paths import compile_path

COUNTS = {"attempted": 4, "served": 1, "failed": 2, "cancelled": 0, "refused": 1}
CALLS = [
    {"n": 0, "lane": "a", "state": "failed", "error": "RateLimited: 429", "request": {"prompt": "one", "max_tokens": 8}},
    {"n": 1, "lane": "b", "state": "failed", "error": "TimedOut", "request": {"prompt": "one", "max_tokens": 8}},
    {"n": 2, "lane": "a", "state": "served", "error": None, "request": {"prompt": "two", "max_tokens": 8}},
    {"n": 3, "lane": "a", "state": "refused", "error": "ScriptedModelError: call 4 of 3", "request": {"prompt": "three", "max_tokens": 16}},
]
DOCUMENT = {"counts": COUNTS, "calls": CALLS}
LEDGER = "4 attempted, 1 served, 2 failed, 0 cancelled, 1 refused"


@pytest.mark.parametrize(
    ("kept", "broken", "path", "expected", "got", "call"),
    [
        (
            Calls(4),
            Calls(3),
            "$.counts.attempted",
            "3 attempted",
            f"{LEDGER}; call 4 was refused: ScriptedModelError: call 4 of 3",
            "call 4 of 3",
        ),
        (
            Calls({"max": 4}),
            Calls({"max": 1}),
            "$.counts.attempted",
            "at most 1 attempted",
            f"{LEDGER}; call 2 failed: TimedOut",
            "call 2 of 1",
        ),
        (Calls({"min": 4}), Calls({"min": 5}), "$.counts.attempted", "at least 5 attempted", LEDGER, None),
        (Calls(served=1), Calls(served=2), "$.counts.served", "2 served", LEDGER, None),
        (Calls(served={"min": 1, "max": 2}), Calls(served=0), "$.counts.served", "0 served", f"{LEDGER}; call 3 was served", "call 3"),
        (Calls(failed=2, refused=1), Calls(failed=1), "$.counts.failed", "1 failed", f"{LEDGER}; call 2 failed: TimedOut", "call 2"),
        (Calls(4, cancelled=0), Calls(4, cancelled={"min": 1, "max": 2}), "$.counts.cancelled", "1 to 2 cancelled", LEDGER, None),
    ],
)
def test_calls(kept: Any, broken: Any, path: Any, expected: Any, got: Any, call: Any) -> None:
    """The finding prints all five counts, and the first call that is too many with what became of it."""
    assert kept.each(DOCUMENT) is None
    assert Not(kept).each(DOCUMENT).got == "it holds"
    found = broken.each(DOCUMENT)
    assert (found.path, found.expected, found.got, found.call, found.decided) == (path, expected, got, call, True)
    assert Not(broken).each(DOCUMENT) is None


def test_the_counts_of_a_recorded_row_are_enough() -> None:
    """Without the calls themselves a finding names none of them."""
    for calls in ({}, {"calls": None}, {"calls": [1, 2]}):
        found = Calls(1).each({"counts": {"attempted": 2}, **calls})
        assert (found.got, found.call) == ("2 attempted, null served, null failed, null cancelled, null refused", None)


@pytest.mark.parametrize(
    ("document", "code"), [({}, "EMPTY_SELECTION"), ({"counts": {}}, "EMPTY_SELECTION"), ({"counts": {"attempted": True}}, "WRONG_TYPE")]
)
def test_counts_that_are_not_there_are_undecided(document: Any, code: Any) -> None:
    """No count is no zero."""
    for claim in (Calls(1), Not(Calls(1)), Calls(0)):
        broken = claim.each(document)
        assert (broken.path, broken.code, broken.decided) == ("$.counts.attempted", code, False)


def test_calls_reads_the_counts() -> None:
    """It does not depend on the output."""
    assert Calls(1).reads() == (compile_path("$.counts"),)
    with pytest.raises(UsageError, match="calls: say at least one of attempted, served"):
        Calls()


@pytest.mark.parametrize(
    ("kept", "broken", "path", "call"),
    [
        (Requests(4), Requests(3), "$.calls", None),
        (Requests({"min": 2}), Requests({"max": 3}), "$.calls", None),
        (
            Requests(every={"prompt": {"contains": "o"}}, lane="b"),
            Requests(every={"max_tokens": 8}),
            "$.calls[3].request.max_tokens",
            "call 4",
        ),
        (Requests(first={"prompt": "one"}), Requests(first={"prompt": "two"}), "$.calls[0].request.prompt", "call 1"),
        (Requests(last={"max_tokens": 16}), Requests(last={"max_tokens": 8}), "$.calls[3].request.max_tokens", "call 4"),
        (Requests(call=3, like={"prompt": "two"}), Requests(call=2, like={"prompt": "two"}), "$.calls[1].request.prompt", "call 2"),
        (Requests(3, lane="a"), Requests(4, lane="a"), "$.calls", None),
        (
            Requests(call=2, like={"prompt": "two"}, lane="a"),
            Requests(first={"prompt": "two"}, lane="a"),
            "$.calls[0].request.prompt",
            "call 1",
        ),
    ],
)
def test_requests(kept: Any, broken: Any, path: Any, call: Any) -> None:
    """Calls count from 1 in words; a lane's own calls count from 1 too; places are told in the whole list."""
    assert kept.each(DOCUMENT) is None
    found = broken.each(DOCUMENT)
    assert (found.path, found.call, found.decided) == (path, call, True)
    assert (Not(broken).each(DOCUMENT) is None) is (broken.every is None)  # other requests keep it


@pytest.mark.parametrize(
    ("claim", "document", "expected"),
    [
        (Requests(every={"a": 1}), {"calls": []}, "at least one request"),
        (Requests(first={"a": 1}), {"calls": []}, "at least one request"),
        (Requests(last={"a": 1}, lane="c"), DOCUMENT, "at least one request"),
        (Requests(call=5, like={"a": 1}), DOCUMENT, "call 5"),
        (Requests(first={"a": 1}, allow_empty=True), {"calls": []}, "at least one request"),
        (Requests(every={"a": 1}), {}, "a list"),
        (Requests(every={"a": 1}), {"calls": 5}, "array"),
        (Requests(every={"a": 1}), {"calls": [5]}, "object with a"),
    ],
)
def test_requests_of_no_call_are_undecided(claim: Any, document: Any, expected: Any) -> None:
    """A request that was not sent is neither like nor unlike."""
    for asked in (claim, Not(claim)):
        broken = asked.each(document)
        assert (broken.expected, broken.decided) == (expected, False)


def test_every_request_of_none_where_that_is_fine() -> None:
    """Only `every` can be kept by nothing."""
    assert Requests(every={"a": 1}, allow_empty=True).each({"calls": []}) is None
    assert Requests(0).each({"calls": []}) is None
    assert Requests(every={"a": 1}, lane="c").each({"calls": [5]}).decided is False


@pytest.mark.parametrize(
    ("plain", "at", "says"),
    [
        ({"lane": "a"}, ("requests",), "say at least one of count, every, first, last, call"),
        ({"call": 1}, ("requests", "call"), "stand together"),
        ({"count": 1, "like": {"a": 1}}, ("requests", "like"), "stand together"),
        ({"call": 0, "like": {"a": 1}}, ("requests", "call"), "call counts from 1, got 0"),
        ({"first": {}}, ("requests", "first"), "first must be a mapping"),
    ],
)
def test_half_a_claim_about_requests_is_refused(plain: Any, at: Any, says: Any) -> None:
    """What is missing is told at the place of what stands there."""
    with pytest.raises(UsageError) as caught:
        build({"requests": plain})
    assert (caught.value.code, caught.value.fields["at"]) == ("ASSERTION_INVALID", at)
    assert says in caught.value.message


def test_script_used() -> None:
    """A step that is left over and a call that found none both break it."""
    claim = ScriptUsed()
    assert claim.each({"unused": [], "counts": {"refused": 0}}) is None
    found = claim.each({"unused": ["step 2"], "counts": {"refused": 0}})
    assert (found.path, found.expected, found.got) == ("$.unused", "no step left over", '["step 2"]')
    found = claim.each({"unused": [], **DOCUMENT})
    assert (found.path, found.call) == ("$.counts.refused", "call 4")
    assert Not(claim).each({"unused": ["x"]}) is None
    assert claim.each({"counts": {"refused": 0}}).code == "EMPTY_SELECTION"
    assert claim.each({"unused": []}).code == "EMPTY_SELECTION"
    assert claim.reads() == (compile_path("$.unused"), compile_path("$.counts"))


ERROR = {"type": "PromptTooLong", "module": "shop.errors", "message": "413 tokens of 360", "where": "shop/qa.py:answer"}
RAISED = {"error": ERROR, "counts": {"attempted": 1}}


class PromptTooLong(Exception):
    """An error of an app."""


@pytest.mark.parametrize(
    ("kept", "broken", "where"),
    [
        (Raises("PromptTooLong", 1), Raises("RateLimited", 1), ("$.error.type", "RateLimited", "PromptTooLong: 413 tokens of 360")),
        (Raises("shop.errors.PromptTooLong", calls=1), Raises("PromptTooLongish", 1), ("$.error.type", "PromptTooLongish", None)),
        (Raises(["RateLimited", "PromptTooLong"], 1), Raises(["A", "B"], 1), ("$.error.type", "A or B", None)),
        (
            Raises("shop.errors.PromptTooLong", 1),
            Raises("openai.PromptTooLong", 1),
            ("$.error.module", "openai.PromptTooLong", "shop.errors.PromptTooLong: 413 tokens of 360"),
        ),
        (
            Raises(["openai.PromptTooLong", "shop.errors.PromptTooLong"], 1),
            Raises(PromptTooLong, 1),
            ("$.error.module", f"{PromptTooLong.__module__}.PromptTooLong", "shop.errors.PromptTooLong: 413 tokens of 360"),
        ),
        (Raises("PromptTooLong", {"max": 1}), Raises(ValueError, 1), ("$.error.type", "builtins.ValueError", None)),
        (
            Raises("PromptTooLong", 1, match="^413"),
            Raises("PromptTooLong", 1, match="^360"),
            ("$.error.message", "a match of ^360", '"413 tokens of 360"'),
        ),
        (Raises("PromptTooLong", {"min": 1}), Raises("PromptTooLong", 0), ("$.counts.attempted", "0 attempted", None)),
    ],
)
def test_raises(kept: Any, broken: Any, where: Any) -> None:
    """The error's own class, its message, and always how many calls were spent."""
    assert kept.each(RAISED) is None
    found = broken.each(RAISED)
    assert (found.path, found.expected, found.decided) == (*where[:2], True)
    assert where[2] is None or found.got == where[2]
    assert Not(broken).each(RAISED) is None


def test_raises_where_nothing_was_raised() -> None:
    """No error is a decided break; an observation that does not say is undecided, and so is a message that is not kept."""
    claim = Raises("E", 0, match="x")
    found = claim.each({"error": None, "counts": {"attempted": 0}})
    assert (found.path, found.expected, found.got) == ("$.error", "raises E", "no error")
    assert claim.each({"counts": {"attempted": 0}}).code == "EMPTY_SELECTION"
    assert claim.each({"error": "E", "counts": {"attempted": 0}}).code == "WRONG_TYPE"
    assert claim.each({"error": {"type": 5}, "counts": {"attempted": 0}}).code == "WRONG_TYPE"
    found = claim.each({"error": {"type": "E", "message": None}, "counts": {"attempted": 0}})
    assert (found.path, found.code) == ("$.error.message", "WRONG_TYPE")
    assert claim.each({"error": {"type": "F", "message": None}, "counts": {"attempted": 0}}).got == "F"
    assert claim.reads() == (compile_path("$.error"), compile_path("$.counts"))


def test_a_module_that_is_named_must_be_the_errors() -> None:
    """A bare name means any module; an observation that does not tell the module cannot decide a claim that names one."""
    counts = {"attempted": 0}
    for error in ({"type": "shop.E"}, {"type": "E", "module": "shop"}):
        seen = {"error": error, "counts": counts}
        assert Raises("E", 0).each(seen) is None
        assert Raises("shop.E", 0).each(seen) is None
        assert Raises("other.E", 0).each(seen).path == "$.error.module"
        assert Not(Raises("other.E", 0)).each(seen) is None
    bare = {"error": {"type": "E", "message": "no"}, "counts": counts}
    assert Raises("E", 0).each(bare) is None
    assert Raises("F", 0).each(bare).path == "$.error.type"
    for claim in (Raises("shop.E", 0), Not(Raises("shop.E", 0))):
        found = claim.each(bare)
        assert (found.path, found.code, found.decided) == ("$.error.module", "EMPTY_SELECTION", False)


@pytest.mark.parametrize(
    ("plain", "code", "at"),
    [
        ({"type": "E"}, "MISSING_KEY", ("raises",)),
        ({"type": "not a name", "calls": 1}, "ASSERTION_INVALID", ("raises", "type")),
        ({"type": [], "calls": 1}, "ASSERTION_INVALID", ("raises", "type")),
        ({"type": 5, "calls": 1}, "ASSERTION_INVALID", ("raises", "type")),
        ({"type": "E", "calls": "1"}, "WRONG_TYPE", ("raises", "calls")),
        ({"type": "E", "calls": 1, "match": "("}, "BAD_PATTERN", ("raises", "match")),
    ],
)
def test_raises_is_refused_without_calls_or_a_name(plain: Any, code: Any, at: Any) -> None:
    """The count is part of the claim: a refusal that first spent a call is another behaviour."""
    with pytest.raises(UsageError) as caught:
        build({"raises": plain})
    assert (caught.value.code, caught.value.fields["at"]) == (code, at)


def test_one_pattern_in_two_places_is_two_claims() -> None:
    """That ``every`` of no request is fine makes no missing ``first`` fine, though both are one and the same mapping."""
    same = {"prompt": "one"}
    claim = Requests(first=same, every=same, allow_empty=True)
    for asked in (claim, Not(claim)):
        found = asked.each({"calls": []})
        assert (found.path, found.expected, found.got, found.decided) == ("$.calls", "at least one request", "0 requests", False)
    like = Requests(call=2, like=same, every=same, allow_empty=True)
    assert like.each({"calls": [{"request": same}]}).expected == "call 2"


def test_a_class_is_told_by_its_name() -> None:
    """The plain form of a class is its dotted name, which a check file can hold."""
    plain = Raises([PromptTooLong, "E"], 1).plain()
    assert re.fullmatch(r"[\w.]+\.PromptTooLong", plain["type"][0])
    assert Raises(PromptTooLong, 1) == build({"raises": {"type": plain["type"][0], "calls": 1}})
