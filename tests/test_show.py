"""Values for people: short, on one line, and never an error."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from invcheck.show import listed, one_line, show

texts = st.text(max_size=5)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts


class Opaque:
    pass


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def test_show_is_one_short_line() -> None:
    """JSON in the order given, cut in the middle; whatever breaks a line, moves a cursor or is no text is escaped."""
    assert show({"b": [1, "x"], "a": None}) == '{"b": [1, "x"], "a": null}'
    assert show("a\nb\x9b\u2028\u202e\ud800é") == '"a\\nb\\u009b\\u2028\\u202e\\ud800é"'
    assert show("x" * 200, 40) == '"' + "x" * 19 + " ... " + "x" * 9 + '" (202 characters)'


@settings(deadline=None)
@given(
    st.recursive(
        scalars | st.just(Opaque()), lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.tuples(st.integers()), inner)
    )
)
def test_show_never_raises(value: Any) -> None:
    """Whatever it is handed, a message can be made of it."""
    text = show(value)
    assert len(text) <= 160
    assert len(text.splitlines()) == 1
    assert show(deep(5000))


def test_listed_counts_what_it_leaves_out() -> None:
    """Up to the limit all items, beyond it the first of them and a count."""
    assert listed([1, 2], limit=2) == "[1, 2]"
    assert listed(iter("abcd"), limit=2) == '["a", "b"] and 2 more'


def test_one_line() -> None:
    """Line breaks of every kind become single blanks."""
    assert one_line("a\r\n  b\u2028c\n") == "a b c"
    assert one_line("a  b") == "a  b"
