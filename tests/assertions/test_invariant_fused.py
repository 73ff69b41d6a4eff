"""The fused form of invariants and effects says "kept" only where judging the claim itself does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.assertions import (
    Absent,
    Calls,
    Contains,
    Disjoint,
    Each,
    Implies,
    LedgerRows,
    Not,
    Predicate,
    SameSet,
    Sorted,
    Subset,
    Superset,
    Unique,
)
from invcheck.assertions.fuse import Fuser, fuse

SIDES = [["d1", "d2"], "d1", [1, True], [["d1"]], "$.a[*]", "$.a", "$.b[*]", "$.b", "$..a", "$.rows[*].a"]
RELATIONS = [
    kind(of, in_, allow_empty=allow_empty)
    for kind in (Subset, Superset, SameSet, Disjoint)
    for of in SIDES
    for in_ in SIDES
    for allow_empty in (False, True)
    if isinstance(of, str) and of.startswith("$") and of != in_
]
TEXTS = [
    claim
    for path in ("$.a", "$.a[*]", "$.rows[*].a", "$..a")
    for allow_empty in (False, True)
    for claim in (
        Contains(path, all=["d", "1"], allow_empty=allow_empty),
        Contains(path, any=["d1", "x"], pattern="[0-9]", allow_empty=allow_empty),
        Contains(path, any=[1], allow_empty=allow_empty),
        Contains(path, all="$.b", allow_empty=allow_empty),
        Absent(path, any=["d1", "x"], allow_empty=allow_empty),
        Absent(path, any="$.b", allow_empty=allow_empty),
        Absent(path, pattern="2$", allow_empty=allow_empty),
    )
]
ITEMS = [
    claim
    for path in ("$.a", "$.a[*]", "$.rows[*].a", "$.rows", "$..a")
    for allow_empty in (False, True)
    for claim in (
        Unique(path, allow_empty=allow_empty),
        Sorted(path, allow_empty=allow_empty),
        Each(path, Contains("$", any=["d"]), allow_empty=allow_empty),
        Each(path, [Subset("$.a[*]", ["d1", "d2"]), Unique("$.a")], allow_empty=allow_empty),
        Each(path, Not(Unique("$.a")), allow_empty=allow_empty),
        Each(path, Each("$.a", Implies(if_=Contains("$", any=["d"]), then=Contains("$", any=["1"]))), allow_empty=allow_empty),
    )
]
OTHERS = [
    Implies(if_=Contains("$.a", any=["d"]), then=Unique("$.b")),
    Implies(if_=[Contains("$.a[*]", any=["d"]), Not(Unique("$.b"))], then=Subset("$.a[*]", "$.b[*]")),
    Calls(1),
    Calls({"min": 1, "max": 2}, served={"max": 1}, failed=0),
    LedgerRows(1),
    LedgerRows({"max": 1}, every={"a": "d1", "b": True}),
    LedgerRows(every={"a": 1}, allow_empty=True),
    LedgerRows(every={"a": {"b": None}}),
    LedgerRows(every={"a": ["d1"]}),
    LedgerRows(every={"a": "$.a"}),
    LedgerRows(every={"a": {"contains": "d"}}),
    LedgerRows(every={"a": {"literal": "d1"}}),
    LedgerRows(every={"a": {}}),
    LedgerRows(sum={"a": 1}),
]
CLAIMS = RELATIONS + TEXTS + ITEMS + OTHERS

SCALARS = st.sampled_from(["d1", "d2", "x", "", 1, 0, 1.0, True, False, None])
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.sampled_from("ab"), SCALARS, max_size=2)
ROWS = st.lists(st.dictionaries(st.sampled_from("ab"), VALUES, max_size=2), max_size=2)
COUNTS = st.dictionaries(st.sampled_from(["attempted", "served", "failed"]), st.sampled_from([0, 1, 2, True, 1.0, "1"]), max_size=3)
DOCUMENTS = st.fixed_dictionaries({}, optional={"a": VALUES, "b": VALUES, "rows": ROWS | VALUES, "ledger": ROWS | VALUES, "counts": COUNTS})


@given(st.sampled_from(CLAIMS), DOCUMENTS)
def test_fused_says_kept_only_where_each_does(claim: Any, document: Any) -> None:
    """Alone, after itself, and in the company of another claim, the generated function never keeps what is broken."""
    kept = claim.each(document) is None
    for company in ([claim], [claim, Unique("$.a"), claim]):
        surely, others = fuse(company)
        assert claim in others or not surely(document) or kept


KEPT = {
    "a": ["d1", "d2"],
    "b": ["d2", "d1"],
    "label": "d1",
    "text": "a refund of d1",
    "rows": [{"a": ["d1"]}, {"a": ["d2"]}],
    "texts": [{"a": "refund"}],
    "counts": {"attempted": 2, "served": 1, "failed": 1},
    "ledger": [{"feature": "qa", "ok": True, "tokens": 120, "more": {"x": None}}],
    "none": [],
}


@pytest.mark.parametrize(
    "claim",
    [
        Subset("$.a[*]", "$.b[*]"),
        Subset("$.a", "$.b"),
        Subset("$.label", "$.a"),
        Subset("$.label", ["d1", "d3"]),
        Subset("$.none[*]", "$.a[*]", allow_empty=True),
        Superset("$.a[*]", ["d1"]),
        SameSet("$.a[*]", "$.b[*]"),
        Disjoint("$.a[*]", ["d3"]),
        Contains("$.text", all=["refund", "d1"], any=["x", "of"], pattern="^a "),
        Contains("$.a[*]", all="d"),
        Absent("$.text", any=["secret", "sk-"], pattern="x+"),
        Absent("$.a[*]", any=["x"]),
        Absent("$.texts[*].a", any=["x"]),
        Absent("$.none[*]", any=["x"], allow_empty=True),
        Unique("$.a[*]"),
        Unique("$.a"),
        Unique("$.none", allow_empty=True),
        Each("$.rows[*]", [Subset("$.a[*]", ["d1", "d2"]), Unique("$.a")]),
        Each("$.rows", Unique("$.a")),
        Each("$.none", Unique("$.a"), allow_empty=True),
        Implies(if_=Contains("$.text", any=["refund"]), then=Unique("$.a")),
        Implies(if_=Contains("$.text", any=["other"]), then=Unique("$.text")),
        Calls({"min": 2}, served=1, failed={"max": 1}),
        LedgerRows(1, every={"feature": "qa", "ok": True, "tokens": 120, "more": {"x": None}}),
        LedgerRows({"min": 1, "max": 2}),
    ],
)
def test_the_common_claims_are_fused(claim: Any) -> None:
    """They have a fused form, and it keeps what is kept: a check of them is judged by one function."""
    assert claim.each(KEPT) is None
    assert claim.fuse(Fuser())
    assert fuse([claim])[0](KEPT)


@pytest.mark.parametrize(
    "claim",
    [
        Subset("$..a", ["d1"]),
        Subset("$.rows[0,1].a", ["d1"]),
        Subset("$.a[*]", ["d1", 5]),
        Disjoint("$.a[*]", "$.rows[*].a"),
        Contains("$.a", any=[1]),
        Contains("$.text", all="$.label"),
        Contains("$..a", any=["d1"]),
        Absent("$.text", any="$.label"),
        Unique("$..a"),
        Each("$..a", Unique("$.a")),
        Each("$.rows[*].a", Unique("$")),
        LedgerRows(sum={"tokens": 120}),
        LedgerRows(every={"more": {"contains": "x"}}),
        LedgerRows(every={"feature": "$.label"}),
        LedgerRows(every={"feature": {"literal": "qa"}}),
        LedgerRows(every={"more": {}}),
        LedgerRows(every={"tokens": [120]}),
        Sorted("$.a"),
        Not(Calls(1)),
        Each("$.rows", Predicate(bool)),
        Implies(if_=Calls(2), then=Predicate(bool)),
        Implies(if_=Sorted("$.a"), then=Calls(2)),
    ],
)
def test_what_has_no_fused_form_is_asked_itself(claim: Any) -> None:
    """The generated function holds nothing of it, and it is given back."""
    assert not Fuser().claim(claim)
    assert fuse([claim])[1] == [claim]
