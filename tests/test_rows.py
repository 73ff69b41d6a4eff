"""JSON Lines, streamed: strict row by row, exact, and no row lost for another."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invcheck import jsontext
from invcheck.canonical import canonical
from invcheck.errors import NotJson
from invcheck.rows import read
from invcheck.vocabulary import DEEPEST

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=15)
styles = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "separators": st.sampled_from([None, (",", ":"), (" , ", " : ")])})


def rows(data: bytes) -> list[tuple[int, Any, str | None]]:
    return [(line, row, None if error is None else error.fields["defect"]) for line, row, error in read(BytesIO(data))]


@settings(deadline=None)
@given(st.lists(values, max_size=4), styles, st.booleans())
def test_every_row_is_read_exactly(written: list[Any], style: dict[str, Any], ended: bool) -> None:
    """In every style of writing, with and without a last newline, each value comes back with its line."""
    data = "\n".join(json.dumps(value, **style) for value in written).encode() + (b"\n" if ended and written else b"")
    found = rows(data)
    assert [(line, defect) for line, _, defect in found] == [(line, None) for line in range(1, len(written) + 1)]
    assert canonical([row for _, row, _ in found]) == canonical(written)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet='{}[],:"\\u0d8e1.-ab ', max_size=16))
def test_the_fast_way_takes_nothing_that_the_strict_one_refuses(text: str) -> None:
    """A line gives the value of the strict decoder, or an error where that gives one."""
    ((_, row, error),) = read(BytesIO(text.encode() + b"\n"))
    refused = None
    try:
        strict = jsontext.loads(text)
    except NotJson as problem:
        refused = problem
    assert (error is None) == (refused is None)
    assert error is not None or canonical(row) == canonical(strict)


@pytest.mark.parametrize(
    ("line", "defect"),
    [
        (b'{"a":1,"a":1}', "DUPLICATE_KEY"),
        (b'{"a" :1, "b":2, "b":3}', "DUPLICATE_KEY"),
        (b'{"a b":1,"ab":2,"a b":3}', "DUPLICATE_KEY"),
        (b'{"a":{"b":1,"b":"x"}}', "DUPLICATE_KEY"),
        (b"[NaN]", "NOT_A_NUMBER"),
        (b"[1e400]", "NUMBER_OVERFLOW"),
        (b'["\\ud800"]', "LONE_SURROGATE"),
        (b'["\xff"]', "ENCODING"),
        (b'{"a":', "SYNTAX"),
        (b"{} {}", "TRAILING_TEXT"),
        (b"", "EMPTY"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "TOO_DEEP"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(line: bytes, defect: str) -> None:
    """One bad line costs that line, never its neighbours."""
    assert rows(b"[1]\n" + line + b"\n[3]\n") == [(1, [1], None), (2, None, defect), (3, [3], None)]


def test_a_file_that_was_cut_off_says_so() -> None:
    """The last line of a killed writer is TRUNCATED, with its number; a whole last line without newline is a row."""
    assert rows(b'{"a": 1}\n{"a": ') == [(1, {"a": 1}, None), (2, None, "TRUNCATED")]
    assert rows(b'{"a": 1}\r\n{"a": 2}') == [(1, {"a": 1}, None), (2, {"a": 2}, None)]
    assert rows(b"") == []


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 2**64, 10**20, -(2**63) - 1, 10**300])
def test_integers_are_exact(number: int) -> None:
    """No integer becomes a float, whatever its size."""
    ((_, row, error),) = read(BytesIO(b'{"n":%d, "m": 1.50}\n' % number))
    assert error is None
    assert type(row["n"]) is int
    assert row == {"n": number, "m": 1.5}


def test_as_deep_as_the_limit_is_read() -> None:
    """What the strict decoder reads, rows read too."""
    text = b"[" * DEEPEST + b"]" * DEEPEST
    assert rows(text + b"\n") == [(1, jsontext.loads(text.decode()), None)]
