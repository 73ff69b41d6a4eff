"""The words as data: what a person or the app reads off them."""

from __future__ import annotations

import pytest

from invcheck.vocabulary import Place, Reply, Text, Thinking, ToolCall, case_name


@pytest.mark.parametrize(
    ("place", "spelt"),
    [(Place("a.yaml"), "a.yaml"), (Place("a.yaml", 3), "a.yaml:3"), (Place("a.yaml", 3, 5), "a.yaml:3:5")],
)
def test_a_place_is_spelt_as_editors_read_it(place: Place, spelt: str) -> None:
    """File, line and column, as far as they are known."""
    assert str(place) == spelt


def test_a_replys_text_is_what_it_says_aloud() -> None:
    """Reasoning and tool calls are no part of the text, and the tool calls keep their order."""
    first, second = ToolCall("search", {}, "c1"), ToolCall("pay", {}, "c2")
    reply = Reply((Thinking("hm"), Text("one "), first, Text("two"), second))
    assert (reply.text, reply.tool_calls) == ("one two", (first, second))
    assert (Reply().text, Reply().tool_calls) == ("", ())


def test_a_case_is_named_as_it_is_selected() -> None:
    """The id of its check, then its own in brackets, whatever stands in either."""
    assert case_name("checks/a.yaml::two words", "x [y]") == "checks/a.yaml::two words[x [y]]"
