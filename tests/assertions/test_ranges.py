"""The range assertions: each kept, broken, errored, vacuous and negated; exact numbers; what each refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.assertions import build, ranges
from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import Claim
from invcheck.assertions.negation import Not
from invcheck.assertions.ranges.sizes import Between, Count, Length, Range, Words
from invcheck.assertions.ranges.totals import Cost, Latency, Sum, Tokens
from invcheck.errors import PathError, UsageError
from tests.assertions.asking import kept_by

PRICES: dict[str, int | float] = {"input": 2.5, "output": 10}


class Bomb(dict[str, Any]):
    """An object that breaks down when anybody looks into it."""

    def __contains__(self, key: object) -> bool:
        raise RuntimeError("boom")


@dataclass(frozen=True)
class Row:
    """One assertion with a document that keeps it, one that breaks it, one of another type, and one with nothing to judge."""

    claim: Claim
    kept: Any
    broken: Any
    expected: str
    got: str
    wrong: Any
    vacuous: Any
    fused: bool = True


NONE: dict[str, Any] = {"other": 1}
USED = {"input_tokens": 300, "output_tokens": 60}
TABLE = [
    Row(Between("$.v", 0, 1), {"v": 1}, {"v": 1.5}, "between 0 and 1", "1.5", {"v": True}, NONE),
    Row(
        Between("$.v[*]", min="$.w"),
        {"v": [3, 2], "w": 2},
        {"v": [1, 0], "w": 2},
        "at least 2 ($.w)",
        "1",
        {"v": [3], "w": "2"},
        {"v": [], "w": 2},
    ),
    Row(Between("$.v", max=0.5), {"v": -7}, {"v": 0.75}, "at most 0.5", "0.75", {"v": "0.1"}, NONE),
    Row(
        Length("$.v", 2, 3), {"v": "日本"}, {"v": "日"}, "between 2 and 3 code points", '1 code point: "日"', {"v": {"a": 1, "b": 2}}, NONE
    ),
    Row(
        Length("$.v", min=1, max={"length-of": "$.w"}),
        {"v": ["a"], "w": ["a", "b"]},
        {"v": ["a", "b", "c"], "w": ["a", "b"]},
        "between 1 and 2 items (the length of $.w)",
        '3 items: ["a", "b", "c"]',
        {"v": ["a"], "w": 2},
        {"v": ["a"]},
    ),
    Row(Words("$.v", max=2), {"v": " two\twords\n"}, {"v": "one two three"}, "at most 2 words", '3 words: "one two three"', {"v": 2}, NONE),
    Row(
        Sum("$.v[*]", equals=0.3),
        {"v": [0.1, 0.2]},
        {"v": [0.1, 0.25]},
        "exactly 0.3",
        "0.35, the sum of [0.1, 0.25]",
        {"v": [0.3, "0"]},
        {"v": []},
        fused=False,
    ),
    Row(
        Sum("$.v[*]", max="$.w"),
        {"v": [1, 2], "w": 3},
        {"v": [3, 1], "w": 3},
        "at most 3 ($.w)",
        "4, the sum of [3, 1]",
        {"v": [True], "w": 3},
        {"v": [1]},
        fused=False,
    ),
    Row(
        Tokens(max=360),
        {"usage": USED},
        {"usage": {**USED, "output_tokens": 61}},
        "at most 360 tokens",
        "361 tokens",
        {"usage": {"input_tokens": "300", "output_tokens": 60}},
        {"usage": {}},
        fused=False,
    ),
    Row(
        Tokens("output", 1, 60),
        {"usage": USED},
        {"usage": {"output_tokens": 0}},
        "between 1 and 60 output tokens",
        "0 output tokens",
        {"usage": {"output_tokens": 1.0}},
        {"usage": {"input_tokens": 1}},
        fused=False,
    ),
    Row(
        Cost(max=0.00135, prices=PRICES),
        {"usage": USED},
        {"usage": {"input_tokens": 301, "output_tokens": 60}},
        "at most 0.00135",
        "0.0013525, for 301 input and 60 output tokens",
        {"usage": {"input_tokens": None, "output_tokens": 60}},
        {"usage": {}},
        fused=False,
    ),
    Row(
        Cost(max=0.3, of="$.v[*]"),
        {"v": ["0.1", 0.2]},
        {"v": ["0.1", "0.21"]},
        "at most 0.3",
        '0.31, the sum of ["0.1", "0.21"]',
        {"v": ["0.1 $"]},
        {"v": []},
        fused=False,
    ),
    Row(
        Latency(max=2),
        {"elapsed": 2.0},
        {"elapsed": 3.5},
        "at most 2 virtual seconds",
        "3.5 virtual seconds",
        {"elapsed": "1"},
        NONE,
        fused=False,
    ),
]
rows = pytest.mark.parametrize("row", TABLE, ids=[f"{row.claim.key}-{n}" for n, row in enumerate(TABLE)])


def broken(claim: Claim, document: Any) -> Break:
    """The break that a claim answers with."""
    found = claim.each(document)
    assert found is not None
    return found


def refused(make: Callable[[], Claim]) -> UsageError:
    """The error that a claim is refused with."""
    with pytest.raises(UsageError) as caught:
        make()
    return caught.value


@rows
def test_kept(row: Row) -> None:
    """What lies in the range, its ends included, keeps the claim and breaks its opposite."""
    assert row.claim.each(row.kept) is None
    assert broken(Not(row.claim), row.kept).decided


@rows
def test_broken(row: Row) -> None:
    """What lies outside breaks the claim, with the range and the number in words, and keeps its opposite."""
    found = broken(row.claim, row.broken)
    assert (found.expected, found.got, found.decided) == (row.expected, row.got, True)
    assert Not(row.claim).each(row.broken) is None


@rows
def test_wrong_type(row: Row) -> None:
    """A value of another type breaks the claim and its opposite."""
    for claim in (row.claim, Not(row.claim)):
        found = broken(claim, row.wrong)
        assert (found.decided, found.code) == (False, "WRONG_TYPE")


@rows
def test_vacuous(row: Row) -> None:
    """A selection of nothing, or an end that leads nowhere, breaks the claim and its opposite."""
    for claim in (row.claim, Not(row.claim)):
        found = broken(claim, row.vacuous)
        assert (found.decided, found.code) == (False, "EMPTY_SELECTION")


@rows
def test_errored(row: Row) -> None:
    """What raises while a claim is judged is let through, under its opposite too, and is never taken for kept."""
    for claim in (row.claim, Not(row.claim)):
        with pytest.raises(RuntimeError, match="boom"):
            claim.each(Bomb())
        assert kept_by([claim])(Bomb()) is False


@rows
def test_fused(row: Row) -> None:
    """The fused form says kept of what is kept, and of nothing else."""
    kept = kept_by([row.claim])
    assert [kept(document) for document in (row.kept, row.broken, row.wrong, row.vacuous)] == [True, False, False, False]


@rows
def test_spelling(row: Row) -> None:
    """A claim is the same after a way through a check file, and so is its opposite."""
    plain = json.loads(json.dumps(row.claim.plain()))
    assert build({row.claim.key: plain}) == row.claim
    assert build({f"not-{row.claim.key}": plain}) == Not(row.claim)


NUMBERS = st.integers(-3, 3) | st.sampled_from([0.5, 1.0, -0.5, 2**60, 1e300])
VALUES = st.none() | st.booleans() | NUMBERS | st.text("ab ", max_size=5) | st.lists(NUMBERS | st.just("x"), max_size=4) | st.just({"a": 1})
DOCUMENTS = st.fixed_dictionaries({}, optional={"v": VALUES, "w": VALUES, "elapsed": VALUES})
FUSED = [row.claim for row in TABLE if row.fused] + [
    Between("$.v[*]", -1, 2, allow_empty=True),
    Between("$.v", 1.0),
    Length("$.v", min="$.w"),
    Count("$.v[*]", exactly=2),
    Count("$.v[*]", min=1, max="$.w"),
    Count("$.v[*]", exactly=0),
    Count("$.v[*]", max={"length-of": "$.w"}),
    Count("$..v", exactly=1),
    Count("$.v", exactly=1),
]


@given(DOCUMENTS)
def test_fused_only_says_kept_of_what_is_kept(document: Any) -> None:
    """Whatever the document, a fused claim that says kept is kept when it is judged alone, and its opposite is not, but of nothing."""
    for claim in FUSED:
        if kept_by([claim])(document):
            assert claim.each(document) is None
            assert Not(claim).each(document) is not None or document.get("v") == []


def test_a_selection_is_undecided_where_one_value_is() -> None:
    """One value of another type makes a whole selection undecided, wherever it stands."""
    assert broken(Between("$.v[*]", max=1), {"v": [5, "x"]}).path == "$.v[1]"
    assert broken(Not(Between("$.v[*]", max=1)), {"v": [5, "x"]}).path == "$.v[1]"


@pytest.mark.parametrize("kind", [Between, Length, Words], ids=lambda kind: kind.key)
def test_allow_empty(kind: type[Claim]) -> None:
    """Where nothing is fine, a selection of nothing keeps the claim."""
    assert kind("$.v[*]", 1, 2, allow_empty=True).each({"v": []}) is None


def test_a_range_that_measures_nothing_is_errored() -> None:
    """A range of which nobody says what it measures cannot be judged."""
    with pytest.raises(NotImplementedError):
        Range("$.v", 1).each({"v": 1})


def test_nothing_adds_up_to_0() -> None:
    """A sum, tokens and costs of nothing, where that is fine, are 0, and are still held against the range."""
    for claim, document in (
        (Sum("$.v[*]", equals=0, allow_empty=True), {"v": []}),
        (Tokens(max=0, allow_empty=True), {"usage": {}}),
        (Cost(max=0, prices=PRICES, allow_empty=True), {"usage": {}}),
        (Cost(max=0, of="$.v[*]", allow_empty=True), {"v": []}),
    ):
        assert claim.each(document) is None
    assert broken(Sum("$.v[*]", min=1, allow_empty=True), {"v": []}).decided


def test_the_door_knows_its_own_assertions_only() -> None:
    """The package gives its assertions by name, and nothing else."""
    assert ranges.Sum is Sum
    with pytest.raises(AttributeError, match="Schema"):
        ranges.Schema  # noqa: B018  # asking is the test


@pytest.mark.parametrize("kind", [Between, Length, Words, Count, Sum], ids=lambda kind: kind.key)
def test_a_range_that_says_nothing_is_refused(kind: type[Claim]) -> None:
    """A range that is open, crossed, or has an end that is no number, is refused with the field that is wrong."""
    assert refused(lambda: kind("$.v[*]")).code == "ASSERTION_INVALID"
    assert refused(lambda: kind("$.v[*]", min=2, max=1)).fields["field"] == "min"
    for wrong in (True, "5", [1], float("nan"), float("inf"), {"length-of": "$.a", "more": 1}):
        assert refused(lambda wrong=wrong: kind("$.v[*]", max=wrong)).fields["field"] == "max"
    assert "may be many" in refused(lambda: kind("$.v[*]", max="$.w[*]")).message
    assert "may be many" in refused(lambda: kind("$.v[*]", max={"length-of": "$.w[*]"})).message
    with pytest.raises(PathError) as caught:
        kind("$.v[*]", max={"length-of": "$..["})
    assert caught.value.fields["field"] == "max"


@pytest.mark.parametrize(
    "make", [lambda **ends: Length("$.v", **ends), lambda **ends: Words("$.v", **ends), lambda **ends: Count("$.v[*]", **ends), Tokens]
)
def test_what_is_counted_is_a_whole_number_from_0(make: Callable[..., Claim]) -> None:
    """A length below 0 or between two numbers never is, and at least 0 always is."""
    assert refused(lambda: make(max=-1)).fields["field"] == "max"
    assert refused(lambda: make(max=1.5)).fields["field"] == "max"
    assert "always so" in refused(lambda: make(min=0)).message


def test_a_time_or_a_cost_below_0_is_refused() -> None:
    """No trial takes less than 0 seconds or costs less than nothing at given prices; a sum of costs may."""
    assert "from 0" in refused(lambda: Latency(max=-1)).message
    assert "always so" in refused(lambda: Latency(min=0)).message
    assert "from 0" in refused(lambda: Cost(max=-1, prices=PRICES)).message
    assert Cost(max=-1, of="$.v[*]").each({"v": [-2]}) is None


# count


@pytest.mark.parametrize(
    ("claim", "values", "expected", "got"),
    [
        (Count("$.v[*]", exactly=1), [1, 2], "exactly 1 value", "2 values: [1, 2]"),
        (Count("$.v[*]", min=1), [], "at least 1 value", "0 values"),
        (Count("$.v[*]", exactly=0), [1], "exactly 0 values", "1 value: [1]"),
        (Count("$.v[*]", 1, None, None), [], "exactly 1 value", "0 values"),
        (Count("$.v[?@ > 1]", max={"length-of": "$.w"}), [2, 3], "at most 1 value (the length of $.w)", "2 values: [2, 3]"),
    ],
)
def test_count_counts_what_is_selected(claim: Claim, values: list[int], expected: str, got: str) -> None:
    """The number of selected values is decided, also where it is 0, and the finding lists them."""
    document = {"v": values, "w": "a"}
    found = broken(claim, document)
    assert (found.expected, found.got, found.decided) == (expected, got, True)
    assert Not(claim).each(document) is None
    assert kept_by([claim])(document) is False


def test_count_of_nothing_is_0() -> None:
    """A path that matches nothing counts 0, which may be what is claimed; an end that leads nowhere is undecided."""
    assert Count("$.v[*]", exactly=0).each({}) is None
    assert Count("$.v[*]", max=3).each({}) is None
    assert broken(Count("$.v[*]", exactly="$.w"), {"v": [1]}).code == "EMPTY_SELECTION"
    assert Count("$.v[*]", exactly="$.w").reads()[1].text == "$.w"
    with pytest.raises(RuntimeError, match="boom"):
        Count("$.v[*]", exactly=1).each(Bomb())


def test_count_of_a_path_to_one_value() -> None:
    """A path without [*] counts 1 or 0: more can never be, and at most one always is, so both are refused with the hint."""
    assert Count("$.v", exactly=1).each({"v": [1, 2, 3]}) is None
    assert Count("$.v", max=0).each({}) is None
    assert Count("$.v", min=1, max=1).each({"v": 0}) is None
    assert Count("$.v", min="$.w", max=1).each({"v": 0, "w": 1}) is None
    for make in (
        lambda: Count("$.v", exactly=3),
        lambda: Count("$.v", min=2),
        lambda: Count("$.v", max=3),
        lambda: Count("$.v", min=0, max=3),
    ):
        assert "$.v[*]" in (refused(make).hint or "")
    assert "not both" in refused(lambda: Count("$.v[*]", exactly=1, max=1)).message
    assert json.loads(json.dumps(build({"count": {"of": "$.v[*]", "exactly": 0}}).plain())) == {"of": "$.v[*]", "exactly": 0}


# sums and costs


@given(st.lists(st.integers() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_a_sum_is_exact(numbers: list[float]) -> None:
    """A sum is the sum of what the texts of the numbers say, in any order of magnitude."""
    total = sum(Fraction(repr(number)) for number in numbers)
    for end in (0, 1, numbers[0], 1e300):
        kept = Sum("$.v[*]", min=end).each({"v": numbers}) is None
        assert kept is (total >= Fraction(repr(end)))


def test_sums_that_floats_get_wrong() -> None:
    """Sums that binary floating point gets wrong are right."""
    for numbers, equals in (([0.1] * 10, 1), ([2**53, 1, 1], 2**53 + 2), ([1e16, 1.0, -1e16], 1), ([0.1, 0.2], 0.3)):
        assert Sum("$.v[*]", equals=equals).each({"v": numbers}) is None


def test_sum_says_either_or() -> None:
    """Equals and a range exclude each other; either is read from a path."""
    assert "not both" in refused(lambda: Sum("$.v[*]", max=1, equals=1)).message
    assert [path.text for path in Sum("$.v[*]", equals={"length-of": "$.w"}).reads()] == ["$.v[*]", "$.w"]
    assert Sum("$.v[*]", equals={"length-of": "$.w"}).each({"v": [1, 1], "w": "ab"}) is None


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"input_tokens": 1_000_000, "output_tokens": 0}, "2.5"),
        ({"input_tokens": 0, "output_tokens": 1}, "0.00001"),
        ({"input_tokens": 1_000_000, "output_tokens": 0, "cache_read_input_tokens": 400_000}, "1.6"),
        ({"input_tokens": 100, "output_tokens": 0, "cache_creation_input_tokens": 100}, "0.00025"),
        ({"input_tokens": 0, "output_tokens": 0}, "0"),
    ],
)
def test_cost_is_prices_times_tokens(usage: dict[str, int], cost: str) -> None:
    """Tokens cost their price per million; cached tokens are part of the input, and cost their own price where they have one."""
    claim = Cost(min=1000, prices={**PRICES, "cache-read": 0.25})
    assert broken(claim, {"usage": usage}).got == f"{cost}, for {usage['input_tokens']} input and {usage['output_tokens']} output tokens"


def test_cost_of_usage_that_contradicts_itself() -> None:
    """More cached input than input is no usage, and is undecided; so are cached tokens that are no number."""
    more = {"input_tokens": 1, "output_tokens": 0, "cache_read_input_tokens": 2}
    for claim in (Cost(max=1, prices=PRICES), Not(Cost(max=1, prices=PRICES))):
        assert broken(claim, {"usage": more}).decided is False
        assert broken(claim, {"usage": {**more, "cache_read_input_tokens": "2"}}).code == "WRONG_TYPE"


def test_cost_refuses_prices_that_are_none() -> None:
    """Neither or both of prices and of, an unknown, negative or missing price, and what is no number, are refused."""
    for make in (
        lambda: Cost(max=1),
        lambda: Cost(max=1, prices=PRICES, of="$.v[*]"),
        lambda: Cost(max=1, prices={**PRICES, "cache": 1}),
        lambda: Cost(max=1, prices={**PRICES, "input": -1}),
        lambda: Cost(max=1, prices={"input": 1}),
        lambda: Cost(max=1, prices={**PRICES, "input": "1"}),  # type: ignore[dict-item]  # the mistake under test
    ):
        assert refused(make).fields["field"] == "prices"
    assert "say max or min" in refused(lambda: Cost(prices=PRICES)).message


def test_ends_of_totals_may_lead_nowhere() -> None:
    """An end that leads to nothing is undecided for each of the totals."""
    document = {"usage": USED, "elapsed": 1.0}
    for claim in (Tokens(max="$.w"), Cost(max="$.w", prices=PRICES), Latency(max="$.w")):
        assert broken(claim, document).path == "$.w"
        assert [path.text for path in claim.reads()][1:] == ["$.w"]
    assert refused(lambda: Tokens("all", max=1)).fields["field"] == "which"  # type: ignore[arg-type]  # the mistake under test


def test_tokens_of_a_kind_point_at_it() -> None:
    """A finding points at the kind of tokens that is meant."""
    document = {"usage": {"input_tokens": 1, "output_tokens": 9, "reasoning_output_tokens": 7, "cache_read_input_tokens": 3}}
    assert broken(Tokens("reasoning", max=1), document).path == "$.usage.reasoning_output_tokens"
    assert broken(Tokens("cache-read", max=1), document).got == "3 cache-read tokens"
    assert broken(Tokens("cache-creation", max=1), document).code == "EMPTY_SELECTION"
    assert broken(Tokens(max=1), document).path == "$.usage"
