"""What a check accepts to differ."""

from __future__ import annotations

import pytest

from invcheck.audits.accepting import accepted, masked, without
from invcheck.errors import PathError

MARK = {"$accepted": True}


@pytest.mark.parametrize("text", ["$", "$[*]", "$.*", "$['output','error']", "$..*", "$..[*]", "$[0:2]"])
def test_nothing_accepts_everything(text: str) -> None:
    """A path that takes in the whole observation, or sweeps over it, is refused with a hint."""
    with pytest.raises(PathError) as caught:
        accepted(text)
    assert caught.value.hint == "name what may differ, such as $.ledger[*].created_at"


@pytest.mark.parametrize("text", ["$.output", "$.ledger[*].created_at", "$..created_at", "$.output[?@.n == 1].at"])
def test_a_path_that_names_something_is_accepted(text: str) -> None:
    """Also one that looks for a name anywhere."""
    assert accepted(text).text == text


def test_what_is_no_path_is_refused() -> None:
    """As everywhere, with a column."""
    with pytest.raises(PathError):
        accepted("output")


def test_what_is_accepted_is_marked_in_a_copy() -> None:
    """The document itself stays; an item of a list keeps its place."""
    document = {"rows": [{"at": 1}, {"at": 2, "n": 3}], "ids": ["a", "b"]}
    marked, stray = without(document, [accepted("$.rows[*].at"), accepted("$.ids[1]")])
    assert (marked, stray) == ({"rows": [{"at": MARK}, {"at": MARK, "n": 3}], "ids": ["a", MARK]}, [])
    assert document == {"rows": [{"at": 1}, {"at": 2, "n": 3}], "ids": ["a", "b"]}


@pytest.mark.parametrize(
    ("document", "text", "stray"),
    [
        ({"rows": []}, "$.rows[*].at", False),
        ({"output": None}, "$.output.at", False),
        ({"rows": [{"when": 1}]}, "$.rows[*].at", True),
        ({"rows": [{"when": 1}]}, "$..at", True),
        ({"rows": [{"at": 1}, {}]}, "$.rows[*].at", False),
        ({"rows": [{"n": []}]}, "$.rows[*].n[*].at", False),
        ({}, "$.rows[*].at", False),
    ],
)
def test_a_path_that_leads_nowhere_is_given_back(document: dict[str, object], text: str, stray: bool) -> None:
    """Unless there was nothing on its way: an empty list, or null where the app has failed."""
    path = accepted(text)
    assert without(document, [path])[1] == ([path] if stray else [])


def test_places_are_marked_where_a_document_has_them() -> None:
    """What another document lacks stays as it is."""
    assert masked({"a": [1, 2]}, ["$.a[1]", "$.b", "$.a[7]"]) == {"a": [1, MARK]}
