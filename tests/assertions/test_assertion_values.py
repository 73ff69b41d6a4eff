"""Under ``not-`` a claim that judges values one by one is turned for each of them; all others are turned as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck.assertions import (
    Absent,
    Between,
    Contains,
    Count,
    Disjoint,
    Each,
    Effects,
    Equals,
    Fields,
    Finish,
    IsJson,
    LedgerRows,
    Length,
    Not,
    Regex,
    Requests,
    Schema,
    Sorted,
    StartsWith,
    Subset,
    Sum,
    Type,
    Waits,
    Words,
)
from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import Selector
from invcheck.assertions.values import Values

FINISHED = {"calls": [{"outcome": {"text": "", "finish": reason}} for reason in ("length", "stop", "length")]}
SENT = {"calls": [{"lane": None, "request": {"system": text}} for text in ("be kind", "the secret", "be kind")]}
ROWS = [{"name": "search"}, {"name": "refund"}, {"name": "search"}]

ONE_BY_ONE = [
    (Contains("$.v[*]", any=["secret"]), {"v": ["fine", "a secret", "fine"]}, "$.v[1]"),
    (Contains("$.v[*]", pattern="sk-[0-9]"), {"v": ["fine", "sk-1", "fine"]}, "$.v[1]"),
    (Absent("$.v[*]", any=["secret"]), {"v": ["a secret", "fine", "a secret"]}, "$.v[1]"),
    (Regex("$.v[*]", "^sk-"), {"v": ["fine", "sk-1", "fine"]}, "$.v[1]"),
    (StartsWith("$.v[*]", "sk-"), {"v": ["fine", "sk-1", "fine"]}, "$.v[1]"),
    (StartsWith("$.v[*]", "$.w"), {"v": ["fine", "sk-1", "fine"], "w": "sk"}, "$.v[1]"),
    (Equals("$.v[*]", "secret"), {"v": ["fine", "secret", "fine"]}, "$.v[1]"),
    (Equals("$.v[*]", "$.w"), {"v": ["fine", "secret", "fine"], "w": "secret"}, "$.v[1]"),
    (Type("$.v[*]", "null"), {"v": [1, None, 1]}, "$.v[1]"),
    (Schema("$.v[*]", {"type": "integer"}), {"v": ["a", 1, "b"]}, "$.v[1]"),
    (Fields("$.v[*]", ["secret"]), {"v": [{"a": 1}, {"secret": 1}, {"b": 1}]}, "$.v[1]"),
    (IsJson("$.v[*]"), {"v": ["no", "{}", "no"]}, "$.v[1]"),
    (Between("$.v[*]", 0, 1), {"v": [5, 1, 5]}, "$.v[1]"),
    (Length("$.v[*]", max=1), {"v": ["long", "a", "long"]}, "$.v[1]"),
    (Words("$.v[*]", max=1), {"v": ["two words", "one", "two words"]}, "$.v[1]"),
    (Each("$.v[*]", Contains("$.t", any=["secret"])), {"v": [{"t": "fine"}, {"t": "a secret"}, {"t": "fine"}]}, "$.v[1]"),
    (Finish("stop", call="all"), FINISHED, "$.calls[1].outcome.finish"),
    (Requests(every={"system": {"contains": "secret"}}), SENT, "$.calls[1].request"),
    (LedgerRows(every={"name": "refund"}), {"ledger": ROWS}, "$.ledger[1]"),
    (Effects(every={"name": "refund"}), {"effects": ROWS}, "$.effects[1]"),
    (Waits(max=1), {"waits": [2, 1, 2]}, "$.waits[1]"),
]


@pytest.mark.parametrize(("claim", "document", "where"), ONE_BY_ONE, ids=lambda value: getattr(value, "key", ""))
def test_not_is_broken_by_the_one_value_that_keeps_the_claim(claim: Any, document: Any, where: str) -> None:
    """Both the claim and its opposite are broken where some values keep it and others do not; the finding names one that does."""
    assert claim.each(document).decided
    found = Not(claim).each(document)
    assert (found.path, found.expected, found.got, found.decided) == (where, f"not {claim.describe()}", "it holds", True)


@pytest.mark.parametrize(("claim", "document", "where"), ONE_BY_ONE, ids=lambda value: getattr(value, "key", ""))
def test_not_is_kept_where_every_value_breaks_the_claim(claim: Any, document: Any, where: str) -> None:
    """Without the one value the opposite is kept."""
    name = next(name for name in document if where.startswith(f"$.{name}[1]"))
    others = {**document, name: [document[name][0], document[name][2]]}
    assert Not(claim).each(others) is None


@pytest.mark.parametrize(
    ("claim", "document", "code"),
    [
        (Contains("$.v[*]", any=["x"]), {"v": ["a", 5, "x"]}, "WRONG_TYPE"),
        (Between("$.v[*]", max="$.w"), {"v": [1, 2]}, "EMPTY_SELECTION"),
        (Each("$.v[*]", Contains("$.t", any=["x"])), {"v": [{"t": "a"}, {}]}, "EMPTY_SELECTION"),
        (LedgerRows(every={"name": "x"}), {"ledger": [{"name": "x"}, {}]}, "EMPTY_SELECTION"),
        (LedgerRows(every={"name": "x"}), {"ledger": []}, "EMPTY_SELECTION"),
        (LedgerRows(every={"name": "x"}), {"ledger": 1}, "WRONG_TYPE"),
        (Effects(every={"name": "x"}), {}, "EMPTY_SELECTION"),
        (Requests(every={"name": "x"}), {"calls": []}, "EMPTY_SELECTION"),
        (Requests(every={"name": "x"}), {"calls": {}}, "WRONG_TYPE"),
        (Waits(max=1), {"waits": [2, "3"]}, "WRONG_TYPE"),
        (Waits(max=1), {"waits": []}, "EMPTY_SELECTION"),
        (Waits(max=1), {}, "EMPTY_SELECTION"),
    ],
)
def test_one_value_that_cannot_be_judged_breaks_both(claim: Any, document: Any, code: str) -> None:
    """An undecided value speaks before all others, in the claim and in its opposite."""
    for asked in (claim, Not(claim)):
        found = asked.each(document)
        assert (found.code, found.decided) == (code, False)


@pytest.mark.parametrize(
    ("claim", "document"),
    [
        (Subset("$.v[*]", ["a"]), {"v": ["a", "b"]}),
        (Disjoint("$.v[*]", ["a"]), {"v": ["a", "b"]}),
        (Sorted("$.v[*]"), {"v": [1, 2, 0]}),
        (Sum("$.v[*]", max=2), {"v": [1, 2]}),
        (Count("$.v[*]", max=1), {"v": [1, 2]}),
        (Equals("$.v[*]", "$.w[*]"), {"v": [1, 2], "w": [1, 3]}),
        (LedgerRows(3, every={"name": "refund"}), {"ledger": ROWS}),
        (LedgerRows(every={"name": "refund"}, sum={"n": 0}), {"ledger": [{"name": "refund", "n": 1}]}),
        (Effects(["search"], every={"name": "refund"}), {"effects": ROWS}),
        (Requests(3, every={"system": "be kind"}), SENT),
        (Waits(count=3, max=1), {"waits": [2, 1, 2]}),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_relations_and_several_statements_are_turned_as_a_whole(claim: Any, document: Any) -> None:
    """What compares sets, counts, adds up, looks at an order or says several things is broken as one, and so is turned as one."""
    assert claim.each(document).decided
    assert Not(claim).each(document) is None


@pytest.mark.parametrize(
    "claim",
    [
        Contains("$.v[*]", any=["x"], allow_empty=True),
        Between("$.v[*]", max=1, allow_empty=True),
        LedgerRows(every={"name": "x"}, allow_empty=True),
        Requests(every={"name": "x"}, allow_empty=True),
        Waits(max=1, allow_empty=True),
    ],
)
def test_of_nothing_both_hold_where_nothing_is_fine(claim: Any) -> None:
    """With allow-empty a claim about each of no values is kept, and so is its opposite."""
    document: dict[str, Any] = {"v": [], "ledger": [], "calls": [], "waits": []}
    assert claim.each(document) is None
    assert Not(claim).each(document) is None


def test_a_family_says_how_it_judges() -> None:
    """A claim about values that does not say what came of each of them is an error, not an answer."""

    class Empty(Values):
        key = "empty"
        of: Selector

    with pytest.raises(NotImplementedError):
        Empty("$").each({})


def test_what_breaks_all_values_at_once_is_turned() -> None:
    """A break that was decided before any value was judged keeps the opposite."""

    class Whole(Values):
        key = "whole"

        def judged(self, document: Any) -> Break:
            return Break("$", "something", "nothing", decided=document["decided"])

    assert Not(Whole()).each({"decided": True}) is None
    assert not Not(Whole()).each({"decided": False}).decided
