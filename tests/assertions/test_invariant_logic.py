"""Implies, before and predicate: kept, broken, errored, vacuous, under `not-`."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck.assertions import Before, Contains, Implies, Not, Predicate, Subset, build
from invcheck.errors import InvcheckError, Unevaluated, UsageError
from invcheck.freeze import FrozenDict
from invcheck.paths import compile_path

REFUND = Contains("$.answer", any=["refund"])
CITED = Subset("$.cites[*]", ["d1"])
CLAIM = Implies(if_=REFUND, then=CITED)


def test_implies() -> None:
    """Where the condition holds, what follows must; where it does not, the claim is kept."""
    assert CLAIM.each({"answer": "a refund", "cites": ["d1"]}) is None
    assert CLAIM.each({"answer": "no", "cites": ["d2"]}) is None
    broken = CLAIM.each({"answer": "a refund", "cites": ["d2"]})
    assert (broken.path, broken.expected) == ("$.cites[0]", '⊆ ["d1"], because contains: in=$.answer any=["refund"]')
    assert Not(CLAIM).each({"answer": "a refund", "cites": ["d2"]}) is None
    assert Not(CLAIM).each({"answer": "no", "cites": ["d2"]}).got == "it holds"


@pytest.mark.parametrize(
    ("document", "path"),
    [({"cites": ["d1"]}, "$.answer"), ({"answer": 5, "cites": ["d1"]}, "$.answer"), ({"answer": "a refund"}, "$.cites[*]")],
)
def test_implies_is_undecided_where_a_part_is(document: Any, path: Any) -> None:
    """A condition that cannot be judged is not false, and a consequence that cannot be judged is not true."""
    for claim in (CLAIM, Not(CLAIM)):
        broken = claim.each(document)
        assert (broken.path, broken.decided) == (path, False)


def test_implies_takes_several_claims_and_reads_them_all() -> None:
    """All conditions must hold; one that cannot be judged speaks even beside one that is false."""
    claim = Implies(if_=[REFUND, Contains("$.mood", any=["angry"])], then=[CITED])
    assert claim.each({"answer": "a refund", "mood": "calm", "cites": ["d2"]}) is None
    assert claim.each({"answer": "no", "cites": ["d2"]}).path == "$.mood"
    assert claim.each({"answer": "a refund", "mood": "angry", "cites": ["d2"]}).path == "$.cites[0]"
    assert claim.reads() == tuple(map(compile_path, ("$.answer", "$.mood", "$.cites[*]")))


JOURNAL = [
    {"kind": "call", "n": 0, "lane": None},
    {"kind": "wait", "seconds": 0.5},
    {"kind": "effect", "name": "search", "query": "refund"},
    {"kind": "call", "n": 1, "lane": None},
    {"kind": "row", "row": {"feature": "qa"}},
]
CALLS = [{"n": 0, "request": {"tools": ["search"]}, "state": "served"}, {"n": 1, "request": {"tools": []}, "state": "served"}]
DOCUMENT = {"journal": JOURNAL, "calls": CALLS}


@pytest.mark.parametrize(
    ("first", "then", "broken"),
    [
        ("call", "wait", None),
        ({"kind": "effect", "name": "search"}, {"kind": "call", "n": 1}, None),
        ({"kind": "call", "request": {"tools": ["search"]}}, {"kind": "row", "row": {"feature": "qa"}}, None),
        ("effect", {"kind": "call", "request": {"tools": []}}, None),
        ("row", "effect", ("$.journal[2]", '"row" before "effect"', "the first stands at $.journal[4] only")),
        ({"kind": "call", "state": "served"}, {"kind": "call", "n": 0}, ("$.journal[0]", None, None)),
    ],
)
def test_before(first: Any, then: Any, broken: Any) -> None:
    """The first match of one event stands before the first match of the other; calls are known by their requests too."""
    found = Before(first, then).each(DOCUMENT)
    if broken is None:
        assert found is None
    else:
        assert (found.path, found.decided) == (broken[0], True)
        assert broken[1] is None or (found.expected, found.got) == broken[1:]
    assert (Not(Before(first, then)).each(DOCUMENT) is None) is (broken is not None)


@pytest.mark.parametrize(
    ("document", "first", "path", "names"),
    [
        (DOCUMENT, {"kind": "effect", "name": "refund"}, "$.journal", "first"),
        (DOCUMENT, {"kind": "call", "n": 7}, "$.journal", "first"),
        ({"journal": []}, "call", "$.journal", "first"),
        ({}, "call", "$.journal", "the journal"),
        ([], "call", "$.journal", "the journal"),
    ],
)
def test_an_event_that_never_came_is_undecided(document: Any, first: Any, path: Any, names: Any) -> None:
    """The claim and its opposite are about events that happened; the finding says which did not."""
    for claim in (Before(first, "row"), Not(Before(first, "row"))):
        broken = claim.each(document)
        assert (broken.path, broken.code, broken.decided) == (path, "EMPTY_SELECTION", False)
        assert names in broken.expected
    assert Before("call", "breach").each(DOCUMENT).expected == 'an event like then: {"kind": "breach"}'


@pytest.mark.parametrize(
    ("first", "then", "field", "says", "hint"),
    [
        ("calls", "row", "first", 'first needs the kind of an event, got "calls"', "did you mean call?"),
        ("call", "chunks", "then", 'then needs the kind of an event, got "chunks"', "did you mean chunk?"),
        ({"name": "x"}, "row", "first", "first needs the kind of an event, got null", None),
        ("call", {}, "then", "then must be a mapping", None),
        ("call", {"kind": "call"}, "then", "match the same event", "name one of them"),
        ("call", {"kind": "row", "row": "$.ledger[*]"}, "then", "can select several values", None),
    ],
)
def test_events_that_cannot_be_told_apart_are_refused(first: Any, then: Any, field: Any, says: Any, hint: Any) -> None:
    """A kind that no journal has, an event without one, and one event twice are mistakes of the check."""
    with pytest.raises(UsageError) as caught:
        build({"before": {"first": first, "then": then}})
    assert (caught.value.code, caught.value.fields["at"]) == ("ASSERTION_INVALID", ("before", field))
    assert says in caught.value.message
    assert hint is None or (caught.value.hint or "").startswith(hint)


def test_a_journal_of_a_recorded_row_may_be_poor() -> None:
    """Entries that are no events, and calls that are not there, match nothing and raise nothing."""
    claim = Before({"kind": "call", "state": "served"}, "row")
    journal = [5, {}, {"kind": "call"}, {"kind": "call"}, {"kind": "row"}]
    assert claim.each({"journal": journal, "calls": [5, {"state": "served"}]}) is None
    assert claim.each({"journal": journal}).code == "EMPTY_SELECTION"


def test_before_reads_the_journal() -> None:
    """It looks at the journal alone."""
    assert Before("call", "row").reads() == (compile_path("$.journal"),)


@pytest.mark.parametrize(
    ("answer", "got"),
    [(True, None), (False, "it does not"), ("too short", "too short"), ("", "it does not")],
)
def test_predicate_answers(answer: Any, got: Any) -> None:
    """True is kept; False and a reason are broken, and their opposite is kept."""
    claim = Predicate(lambda value: answer, of="$.a")
    found = claim.each({"a": 1})
    assert (found and (found.path, found.got)) == (got and ("$.a", got))
    assert (Not(claim).each({"a": 1}) is None) is (got is not None)


async def _later(value: Any) -> bool:
    return True


@pytest.mark.parametrize(
    ("function", "name"), [(lambda value: 1, "int"), (lambda value: [], "list"), (lambda value: None, "None"), (_later, "coroutine")]
)
def test_another_answer_cannot_be_judged(function: Any, name: Any) -> None:
    """A function that forgets to compare gives no verdict: that is errored, not kept."""
    with pytest.raises(Unevaluated, match=f"the predicate gave {name}") as caught:
        Predicate(function, of="$.a").each({"a": 1})
    assert caught.value.code == "PREDICATE_RESULT"


def test_what_a_predicate_raises_passes_through() -> None:
    """A crash is errored, under `not-` too."""
    for claim in (Predicate(lambda value: value["x"]), Not(Predicate(lambda value: value["x"]))):
        with pytest.raises(KeyError):
            claim.each({})


def test_predicate_gets_frozen_values() -> None:
    """One value where the path can select one, else a list; neither can be changed."""
    seen = []
    for of in ("$.a", "$.a[*]", "$"):
        Predicate(lambda value: seen.append(value) is None, of=of).each({"a": [1, 2]})
    assert seen == [[1, 2], [1, 2], {"a": [1, 2]}]
    assert type(seen[2]) is FrozenDict
    with pytest.raises(TypeError, match="frozen"):
        seen[0].append(3)


def test_predicate_over_nothing() -> None:
    """Nothing selected is broken unless it may be; then one value that is not there is no question at all."""
    asked = []
    for path in ("$.a", "$.a[*]"):
        claim = Predicate(lambda value: asked.append(value) is None, of=path, allow_empty=True)
        assert Predicate(claim.function, of=path).each({}).code == "EMPTY_SELECTION"
        assert claim.each({}) is None
    assert asked == [[]]


def test_predicate_by_name() -> None:
    """In a check file a function is named, loaded when it is first asked, and spelled so in the finding."""
    claim = build({"predicate": {"function": "operator:not_", "of": "$.a"}})
    assert claim.each({"a": 0}) is None
    assert claim.each({"a": 1}).expected == "operator:not_ holds"
    assert build({"predicate": "operator:not_"}).plain() == {"function": "operator:not_"}
    assert Predicate(_later).plain() == {"function": f"{__name__}:_later"}


@pytest.mark.parametrize("function", ["operator.not_", "", 5, "a:"])
def test_what_names_no_function_is_refused(function: Any) -> None:
    """The form is checked when the claim is made; nothing is imported for it."""
    with pytest.raises(UsageError, match="names no function") as caught:
        build({"predicate": {"function": function}})
    assert (caught.value.code, caught.value.fields["at"]) == ("REFERENCE_INVALID", ("predicate", "function"))


def test_a_function_that_is_not_there_is_told_when_it_is_asked() -> None:
    """A missing module cannot make the claim kept."""
    with pytest.raises(InvcheckError) as caught:
        Predicate("no_such_module:f").each({})
    assert caught.value.code == "REFERENCE_MISSING"
