"""What is compared of two observations, and where they differ."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.audits.documents import Difference, compared, differences
from invcheck.paths import compile_path

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


def paths(one: Any, other: Any) -> list[str]:
    """Where two documents differ."""
    return [difference.path for difference in differences(one, other)]


@given(JSON)
def test_what_is_equal_does_not_differ(value: Any) -> None:
    """No difference is made up."""
    assert differences(value, value) == []


@given(JSON, JSON)
def test_a_difference_stands_where_it_is_said_to(one: Any, other: Any) -> None:
    """In both documents the path leads to what the difference tells, or to nothing where it says so."""
    for difference in differences(one, other):
        for document, value in ((one, difference.one), (other, difference.other)):
            assert [match.value for match in compile_path(difference.path).find(document)] in ([value], [])


@given(JSON, JSON)
def test_documents_without_a_difference_are_the_same(one: Any, other: Any) -> None:
    """None is missed: a boolean is no number, and the order of items counts."""
    assert (differences(one, other) == []) == (repr(_sorted(one)) == repr(_sorted(other)))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (["a", "b"], ["b", "a"], ["$"]),
        (["a", "b", "c"], ["a", "x", "c"], ["$[1]"]),
        (["a"], ["a", "b"], ["$"]),
        ([{"n": 1}, {"n": 2}], [{"n": 2}, {"n": 1}], ["$"]),
        ([{"n": 1, "at": 1}, {"n": 2, "at": 1}], [{"n": 1, "at": 3}, {"n": 2, "at": 3}], ["$[0].at", "$[1].at"]),
        ({"a": 1}, {}, ["$.a"]),
        (1, 1.5, ["$"]),
        (1, True, ["$"]),
        (1, 1.0, ["$"]),
    ],
)
def test_few_places_say_it(one: Any, other: Any, expected: list[str]) -> None:
    """A list in another order is one place; of objects whose fields differ each field is."""
    assert paths(one, other) == expected


def test_what_the_app_returned_comes_first() -> None:
    """Then what it asked, before what was answered; the order of things is last."""
    one = {"order": [], "waits": [1], "output": 1, "calls": [{"outcome": {"n": 1}, "request": {"q": "a"}}], "usage": 1}
    other = {"order": [1], "waits": [2], "output": 2, "calls": [{"outcome": {"n": 2}, "request": {"q": "b"}}], "usage": 2}
    assert paths(one, other) == ["$.output", "$.calls[0].request.q", "$.calls[0].outcome.n", "$.waits[0]", "$.usage", "$.order"]


def test_long_texts_are_told_by_the_part_that_differs() -> None:
    """With what stands right beside it, and dots for the rest."""
    one, other = "x" * 60 + "search, calc" + "y" * 60, "x" * 60 + "calc, search" + "y" * 60
    text = f'"...{"x" * 24}search, calc{"y" * 24}...", then "...{"x" * 24}calc, search{"y" * 24}..."'
    assert str(Difference("$", one, other)) == text


def test_a_long_text_that_only_goes_on_is_told_by_its_end() -> None:
    """Nothing stands where the shorter one ends."""
    assert str(Difference("$", "a" * 100, "a" * 100 + "b")) == f'"...{"a" * 24}", then "...{"a" * 24}b"'


def test_what_is_not_there_is_nothing() -> None:
    """A key that only one document has."""
    assert str(*differences({"a": 1}, {})) == "1, then nothing"


def test_reads_and_attempts_to_leave_are_not_compared() -> None:
    """Of the journal the order stays, without the attempts; everything else stays as it is."""
    document = {
        "output": 1, "ambient": [{"source": "wall clock"}], "breaches": [{"wanted": "x"}],
        "journal": [
            {"kind": "call", "n": 0, "lane": None}, {"kind": "breach", "wanted": "x"}, {"kind": "row", "row": {"at": 5}},
            {"kind": "effect", "name": "mail", "n": 7},
        ],
    }  # fmt: skip
    assert compared(document) == {"output": 1, "order": [["call", 0], ["row", None], ["effect", None]]}
