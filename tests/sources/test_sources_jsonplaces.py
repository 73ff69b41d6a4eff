"""Where things stand in a JSON text, and where it goes wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invcheck.errors import NotJson
from invcheck.jsontext import loads
from invcheck.sources.jsonplaces import scan
from invcheck.vocabulary import DEEPEST
from invcheck.yamltext import KEY, read

texts = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=4)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=12)
pieces = st.lists(
    st.sampled_from(["{", "}", "[", "]", ",", ":", '"a"', '"b"', "1", "-", "1e999", "true", "nul", " ", "\n", '"', "\\"]), max_size=12
)


def refused(text: str) -> bool:
    try:
        loads(text)
    except NotJson:
        return True
    return False


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("", 1, 1, "the text ends, and a value is needed"),
        ("\n ", 2, 2, "the text ends, and a value is needed"),
        ("[1,\n 2", 2, 3, "the text ends, and a comma or ] is needed"),
        ("[1 2]", 1, 4, "a comma or ] is needed here"),
        ("[1,]", 1, 4, "a value is needed here"),
        ("[1}", 1, 3, "a comma or ] is needed here"),
        ("{a: 1}", 1, 2, "a key in double quotes is needed here"),
        ('{"a": 1,}', 1, 9, "a key in double quotes is needed here"),
        ('{"a" 1}', 1, 6, "a colon is needed here"),
        ('{"a": 1', 1, 8, "the text ends, and a comma or } is needed"),
        ('{"a":', 1, 6, "the text ends, and a value is needed"),
        ('{"a": 1,\r\n "a": 2}', 2, 2, 'the key "a" stands twice in one object: first in line 1'),
        ('{"é": 1, "\\u00e9": 2}', 1, 10, 'the key "é" stands twice in one object: first in line 1'),
        ('["a', 1, 2, "a text begins here that does not end in its line, or has an escape or a character that JSON has not"),
        ('["\\x"]', 1, 2, "a text begins here that does not end in its line, or has an escape or a character that JSON has not"),
        ('["a\tb"]', 1, 2, "a text begins here that does not end in its line, or has an escape or a character that JSON has not"),
        ('["\\ud800"]', 1, 2, "a text holds half of a surrogate pair"),
        ("[NaN]", 1, 2, "a value is needed here"),
        ("[01]", 1, 3, "a comma or ] is needed here"),
        ("[1e999]", 1, 2, "1e999 is too large for a number"),
        ("1" * 5000, 1, 1, "a number has more digits than can be read"),
        ("{}\n{}", 2, 1, "text stands after the value"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), 1, DEEPEST + 1, f"the value is nested deeper than {DEEPEST} levels"),
    ],
)
def test_the_first_fault_is_told_with_its_place(text: str, line: int, column: int, reason: str) -> None:
    """Line and column from 1, and what is needed there, in our words: those of decoders differ."""
    place, said = scan(text, "a.json")[1] or (None, None)
    assert said == reason
    assert place is not None
    assert (place.file, place.line, place.column) == ("a.json", line, column)
    assert refused(text)


@settings(deadline=None)
@given(pieces.map("".join) | values.map(json.dumps).flatmap(lambda text: st.integers(0, len(text)).map(lambda end: text[:end])))
def test_a_text_has_a_fault_where_it_is_refused(text: str) -> None:
    """What the strict decoder refuses has a place in the text, and nothing else has."""
    fault = scan(text, "a.json")[1]
    assert (fault is not None) is refused(text)
    assert fault is None or 1 <= fault[0].line <= text.count("\n") + 1


@settings(deadline=None)
@given(values, st.sampled_from([None, 1]))
def test_everything_stands_where_yaml_finds_it(value: Any, indent: int | None) -> None:
    """JSON is YAML, whose reader knows the places too; the table has each value and each key."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    places, fault = scan(text, "a.json")
    assert fault is None
    assert places == read(text, "a.json")[1]


def test_a_key_has_a_place_of_its_own() -> None:
    """Beside that of its value; blanks and tabs before either are none of it."""
    places, _ = scan('{\n\t"a" :\t[true, null]}', "a.json")
    found = {path: (place.line, place.column) for path, place in places.items()}
    assert found == {(): (1, 1), ("a", KEY): (2, 2), ("a",): (2, 8), ("a", 0): (2, 9), ("a", 1): (2, 15)}
