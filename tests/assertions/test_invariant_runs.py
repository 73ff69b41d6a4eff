"""Same-across-runs and distinct: claims over the runs of one case."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck.assertions import Distinct, SameAcrossRuns, build
from invcheck.errors import NotJson, UsageError


def judge(claim: Any, *documents: Any, first: int = 7) -> Any:
    """Take and compare, as the judge does, with seeds from 7."""
    return claim.across([(seed, claim.take(document)) for seed, document in enumerate(documents, first)])


def test_the_same_in_every_run() -> None:
    """Equal values are kept, whatever the order of their keys; one that differs names both seeds and the place."""
    claim = SameAcrossRuns("$.ledger")
    row = {"feature": "qa", "tokens": 120}
    assert judge(claim, {"ledger": [row]}, {"ledger": [dict(reversed(row.items()))]}, {"ledger": [row]}) is None
    broken = judge(claim, {"ledger": [row]}, {"ledger": [row]}, {"ledger": [row | {"tokens": 121}]})
    assert (broken.path, broken.expected, broken.got, broken.decided) == (
        "$.ledger[0].tokens",
        "120 in every run, as with seed 7",
        "121 with seed 9",
        True,
    )


@pytest.mark.parametrize(
    ("one", "two", "place", "expected", "got"),
    [
        ({"a": [1]}, {"a": [1, 2]}, "$.a[1]", "no such item", "2"),
        ({"a": {"x": 1}}, {"a": {"y": 1}}, "$.a.x", "1", "no such field"),
        ({"a": {}}, {"a": {"y": 1}}, "$.a.y", "no such field", "1"),
        ({"a": True}, {"a": 1}, "$.a", "true", "1"),
        ({"a": 1}, {"a": 1.0}, "$.a", '{"$.a":1}', '{"$.a":1.0}'),
        ({"a": "\ud800"}, {"a": "x"}, "$.a", r'"\ud800"', '"x"'),
    ],
)
def test_the_first_difference_is_told(one: Any, two: Any, place: Any, expected: Any, got: Any) -> None:
    """Byte for byte: 1 is not 1.0 here, since what a ledger holds is written out one day."""
    broken = judge(SameAcrossRuns("$.a"), one, two)
    assert (broken.path, broken.expected, broken.got) == (place, f"{expected} in every run, as with seed 7", f"{got} with seed 8")


def test_where_values_stand_counts() -> None:
    """The same values at other places are another result."""
    broken = judge(SameAcrossRuns("$.rows[*].error"), {"rows": [{"error": 1}, {}]}, {"rows": [{}, {"error": 1}]})
    assert (broken.path, broken.expected, broken.got) == ("$.rows[0].error", "1 in every run, as with seed 7", "nothing with seed 8")
    broken = judge(SameAcrossRuns("$[*]"), [1], [1, 2])
    assert (broken.path, broken.expected, broken.got) == ("$[1]", "nothing in every run, as with seed 7", "2 with seed 8")


def test_long_values_are_kept_small() -> None:
    """Of a long value only a digest and its ends are remembered; a difference is still found."""
    claim = SameAcrossRuns("$.a")
    long = "x" * 5000
    taken = claim.take({"a": long})
    assert len(str(taken)) < 400
    assert judge(claim, {"a": long}, {"a": long}) is None
    broken = judge(claim, {"a": long}, {"a": long + "y"})
    assert broken.path == "$.a"
    assert "(5011 characters) in every run, as with seed 7" in broken.expected
    assert judge(claim, {"a": 1}, {"a": long}).expected == '{"$.a":1} in every run, as with seed 7'


@pytest.mark.parametrize("claim", [SameAcrossRuns("$.a"), Distinct("$.a", at_least=2)])
def test_runs_that_cannot_be_compared(claim: Any) -> None:
    """A run in which nothing was selected is named; one run alone says nothing."""
    broken = judge(claim, {"a": 1}, {}, {"a": 2})
    assert (broken.path, broken.got, broken.code, broken.decided) == (
        "$.a",
        "nothing: the path matches no value (seed 8)",
        "EMPTY_SELECTION",
        False,
    )
    broken = judge(claim, {"a": 1})
    assert (broken.path, broken.code, broken.decided) == ("$.a", "TOO_FEW_RUNS", False)
    assert judge(claim).code == "TOO_FEW_RUNS"
    with pytest.raises(NotJson):
        claim.take({"a": float("nan")})


def test_runs_without_a_value_where_they_may_be() -> None:
    """Then all without one are the same, one without differs from one with, and none adds a distinct value."""
    same = SameAcrossRuns("$.a", allow_empty=True)
    assert judge(same, {}, {}) is None
    broken = judge(same, {"a": 1}, {})
    assert (broken.path, broken.got) == ("$.a", "nothing with seed 8")
    many = Distinct("$.a", at_least=2, allow_empty=True)
    assert judge(many, {}, {"a": 1}, {"a": 2}) is None
    assert judge(many, {}, {"a": 1}).got == "1 distinct value in 2 runs"
    assert judge(many, {}, {}).got == "0 distinct values in 2 runs"


def test_distinct() -> None:
    """So many different values as were asked for, among the runs; the finding says how many there were."""
    claim = build({"distinct": {"of": "$.a", "at-least": 3}})
    assert judge(claim, *({"a": each} for each in ("x", "y", "x", {"z": 1}))) is None
    broken = judge(claim, *({"a": each} for each in ("x", "y", "x", "y")))
    assert (broken.path, broken.expected, broken.got) == ("$.a", "at least 3 distinct values", "2 distinct values in 4 runs")
    assert len(claim.take({"a": "x" * 9999})) == 64


@pytest.mark.parametrize("least", [1, 0, -1])
def test_distinct_needs_at_least_two(least: Any) -> None:
    """One distinct value there always is."""
    with pytest.raises(UsageError, match="must be 2 or more") as caught:
        build({"distinct": {"of": "$.a", "at-least": least}})
    assert caught.value.fields["at"] == ("distinct", "at-least")
