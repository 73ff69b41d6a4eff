"""The one way in for JSON text: what is refused, under which name, and where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invcheck.canonical import canonical
from invcheck.errors import NotJson
from invcheck.jsontext import loads, parse_output
from invcheck.vocabulary import DEEPEST

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=15)


def refusal(text: str) -> NotJson | None:
    try:
        loads(text)
    except NotJson as error:
        return error
    return None


def defect(text: str) -> tuple[str, int | None, int | None]:
    with pytest.raises(NotJson) as caught:
        loads(text)
    fields = caught.value.fields
    return fields["defect"], fields.get("line"), fields.get("column")


@settings(deadline=None)
@given(values, st.booleans(), st.sampled_from([None, 1]), st.sampled_from(["", " ", "\n", "\t \r\n"]))
def test_reading_undoes_writing(value: Any, ascii_only: bool, indent: int | None, blanks: str) -> None:
    """Every plain value that any style of writing gives is read back, exactly: parse after print is identity."""
    text = blanks + json.dumps(value, ensure_ascii=ascii_only, indent=indent) + blanks
    assert loads(text) == value
    assert canonical(loads(text)) == canonical(value)


@settings(deadline=None)
@given(st.text(alphabet='{}[],:"\\u0d8e1.-+tfnNI \n', max_size=14))
def test_every_text_is_read_or_named(text: str) -> None:
    """No text makes anything but a value or a NotJson with a defect; what is read, Python's own decoder reads alike."""
    error = refusal(text)
    if error is None:
        assert loads(text) == json.loads(text)
    else:
        assert error.fields["defect"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("EMPTY", 1, 1)),
        (" \n", ("EMPTY", 1, 1)),
        ("no", ("SYNTAX", 1, 1)),
        ("\n  no", ("SYNTAX", 2, 3)),
        ("\ufeff{}", ("SYNTAX", 1, 1)),
        ("'a'", ("SYNTAX", 1, 1)),
        ("```json\n{}\n```", ("SYNTAX", 1, 1)),
        ('{"a": ', ("SYNTAX", None, None)),
        ('{"a": 1,}', ("SYNTAX", None, None)),
        ('"a\tb"', ("SYNTAX", None, None)),
        ("[1, 2] done", ("TRAILING_TEXT", 1, 8)),
        ('{"a": 1}\n{"a": 2}', ("TRAILING_TEXT", 2, 1)),
        ("0123", ("TRAILING_TEXT", 1, 2)),
        ('{"a": 1, "a": 1}', ("DUPLICATE_KEY", None, None)),
        ('[{"b": {"a": 1, "c": 2, "a": 3}}]', ("DUPLICATE_KEY", None, None)),
        ('{"a": 1, "\\u0061": 2}', ("DUPLICATE_KEY", None, None)),
        ("NaN", ("NOT_A_NUMBER", None, None)),
        ("[-Infinity]", ("NOT_A_NUMBER", None, None)),
        ("[1e400]", ("NUMBER_OVERFLOW", None, None)),
        ("-1e400", ("NUMBER_OVERFLOW", None, None)),
        ("9" * 5000, ("NUMBER_OVERFLOW", None, None)),
        ('"\\ud800"', ("LONE_SURROGATE", None, None)),
        ('["\\uDC00\\uD83D"]', ("LONE_SURROGATE", None, None)),
        ('{"\\ud800": 1}', ("LONE_SURROGATE", None, None)),
        ('"\ud800"', ("LONE_SURROGATE", None, None)),
        ("[" * 100_000, ("TOO_DEEP", None, None)),
        ('{"a":' * 5000, ("TOO_DEEP", None, None)),
    ],
)
def test_each_defect_has_a_name(text: str, expected: tuple[str, int | None, int | None]) -> None:
    """What Python's decoder lets through, dies of or words differently between versions is named, and placed where known."""
    assert defect(text) == expected


def test_the_key_that_stands_twice_is_told() -> None:
    """The message of a duplicate names the first key that repeats."""
    with pytest.raises(NotJson, match='the key "答" stands twice in one object'):
        loads('{"答": 1, "b": 2, "答": 3, "b": 4}')


@pytest.mark.parametrize("text", ['"\\ud83d\\ude00"', '["😀"]', '{"a": "\\\\ud800"}', '"\\u00e9"', '["a", "a"]', '[{"a": 1}, {"a": 1}]'])
def test_what_only_looks_like_a_defect_is_read(text: str) -> None:
    """A whole pair, an escaped backslash, and the same key in two objects are fine."""
    assert loads(text) == json.loads(text)


@pytest.mark.parametrize(("levels", "deep"), [(DEEPEST, False), (DEEPEST + 1, True)])
def test_nesting_has_a_limit_of_ours(levels: int, deep: bool) -> None:
    """As deep as DEEPEST is read on every Python, and not one level more."""
    text = "[" * levels + '"]}[{"' + "]" * levels
    if deep:
        assert defect(text)[0] == "TOO_DEEP"
    else:
        assert json.dumps(loads(text)) == text


@pytest.mark.parametrize("text", ['["' + "[{" * 500 + '"]', '"' + '\\"[' * 500, "[]," * 500, '"[' * 300 + "\\"])
def test_brackets_in_strings_and_side_by_side_are_no_depth(text: str) -> None:
    """Only open brackets outside of strings count, also where the text is broken."""
    error = refusal(text)
    assert error is None or error.fields["defect"] in {"SYNTAX", "TRAILING_TEXT"}


def test_reading_is_linear_in_a_hostile_text() -> None:
    """Half a million escaped quotes without an end are refused, and not by trying from each of them."""
    assert defect("[" * 300 + '"' + '\\"' * 250_000)[0] == "TOO_DEEP"


def test_integers_are_exact() -> None:
    """Integers beyond 64 bits stay integers."""
    assert loads("[18446744073709551616]") == [2**64]


def test_parse_output_moves_the_text() -> None:
    """The value stands at output, the raw text at output_text; a second time changes nothing."""
    document: dict[str, Any] = {"output": ' {"n": 1}\n'}
    for _ in range(2):
        assert parse_output(document) is None
        assert document == {"output": {"n": 1}, "output_text": ' {"n": 1}\n'}


@pytest.mark.parametrize(
    ("document", "name", "message"),
    [
        ({"output": "no"}, "SYNTAX", "this is no JSON"),
        ({"output": {"n": 1}}, "NOT_TEXT", 'the output is no text but {"n": 1}'),
        ({}, "NOT_TEXT", "the output is no text but null"),
    ],
)
def test_parse_output_tells_what_is_wrong(document: dict[str, Any], name: str, message: str) -> None:
    """A text that is no JSON leaves output null and says so, as often as it is asked."""
    raw = document.get("output")
    for _ in range(2):
        error = parse_output(document)
        assert error is not None
        assert (error.fields["defect"], error.message) == (name, message)
        assert document == {"output": None, "output_text": raw}


def test_a_null_is_a_value() -> None:
    """The text null is read, and read again."""
    document: dict[str, Any] = {"output": "null"}
    assert parse_output(document) is None
    assert parse_output(document) is None
    assert document == {"output": None, "output_text": "null"}
