"""Canonical bytes: one form for one value, and the line that two processes exchange."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.canonical import canonical, digest, unpacked
from invcheck.errors import NotJson

texts = st.text(max_size=5)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts


values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=15)


@given(values)
def test_canonical_bytes_are_one_for_one_value(value: Any) -> None:
    """They read back as the value, whatever the order of its keys, and are UTF-8 without blanks between tokens."""
    written = canonical(value)
    assert json.loads(written.decode()) == value
    if isinstance(value, dict):
        assert canonical(dict(reversed(value.items()))) == written
        assert digest(dict(reversed(value.items()))) == digest(value)


def test_canonical_by_hand() -> None:
    """Sorted keys, no blanks, UTF-8, lone surrogates escaped; NaN and what is no JSON is refused."""
    assert canonical({"b": [1, 2.5, None], "a": "é\ud800"}) == b'{"a":"\xc3\xa9\\ud800","b":[1,2.5,null]}'
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    loop: list[Any] = []
    loop.append(loop)
    for value in (float("nan"), float("inf"), object(), {1: 2, "a": 3}, loop):
        with pytest.raises(NotJson, match="has no canonical form"):
            canonical(value)


@pytest.mark.parametrize(
    ("line", "said"),
    [(b"", "no JSON"), (b"tru\n", "no JSON"), (b"[" * 100_000, "no JSON"), (b"1 2\n", "after the value"), (b"{} x", "after the value")],
)
def test_a_line_that_is_not_one_value_is_refused(line: bytes, said: str) -> None:
    """Nothing, half a word, a depth that nobody packed, and whatever stands after the value: ValueError, never a part of it."""
    with pytest.raises(ValueError, match=said):
        unpacked(line)
