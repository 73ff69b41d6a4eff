"""YAML text: strict, by the 1.2 core schema, the same under both composers, and every value has a place."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from invcheck.errors import CheckFileError
from invcheck.vocabulary import Place
from invcheck.yamltext import KEY, decode, read

BOTH = pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "pure"])


def value(text: str, *, pure: bool = False) -> object:
    """Give the value alone."""
    return read(text, "a.yaml", pure=pure)[0]


def refused(text: str, *, pure: bool = False) -> CheckFileError:
    """Give the error that a text is refused with."""
    with pytest.raises(CheckFileError) as caught:
        read(text, "a.yaml", pure=pure)
    return caught.value


@BOTH
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # YAML 1.2.2, chapter 10.3.2, Core Schema
        ("null", None), ("Null", None), ("NULL", None), ("~", None), ("", None),
        ("true", True), ("True", True), ("TRUE", True), ("false", False), ("False", False), ("FALSE", False),
        ("no", "no"), ("on", "on"), ("y", "y"), ("off", "off"), ("nuLL", "nuLL"),
        ("0", 0), ("-19", -19), ("+12", 12), ("012", 12), ("0o14", 12), ("0x3A", 58), ("1_000", "1_000"), ("0b1", "0b1"), ("-0o7", "-0o7"),
        ("9007199254740993", 9007199254740993),
        ("0.5", 0.5), (".5", 0.5), ("-2E+05", -200000.0), ("1e3", 1000.0), ("1.", 1.0), ("12e03", 12000.0), ("+12.3", 12.3),
        ("2001-01-01", "2001-01-01"), ("12:30:45", "12:30:45"), ("1.2.3", "1.2.3"), (".", "."), ("-x", "-x"), ("0x", "0x"),
        ("'null'", "null"), ('"1"', "1"), ("''", ""), ("|\n  a\n  b\n", "a\nb\n"), (">\n  a\n  b\n", "a b\n"), ('"\\t\\u00e9"', "\té"),
    ],
)  # fmt: skip
def test_a_scalar_means_what_the_core_schema_says(text: str, expected: object, pure: bool) -> None:
    """Each scalar has the type and value of YAML 1.2, not of YAML 1.1."""
    found = value(f"a: {text}", pure=pure)
    assert found == {"a": expected}
    assert type(found["a"]) is type(expected)  # type: ignore[index]  # it was just compared with a dict


@BOTH
@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("a: 1\nb: 2\na: 3", "DUPLICATE_KEY", "3:1"),
        ("a: {b: 1, b: 2}", "DUPLICATE_KEY", "1:11"),
        ("a: &x 1\nb: *x", "ALIAS", "1:4"),
        ("a: &x 1", "ALIAS", "1:4"),
        ("a: *x", "ALIAS", "1:4"),
        ("a: !!int 3", "TAG", "1:4"),
        ("a: !mine {b: 1}", "TAG", "1:4"),
        ("a: ! x", "TAG", "1:4"),
        ("a: ! [x]", "TAG", "1:4"),
        ("a: {b: 1}\n<<: {c: 1}", "MERGE_KEY", "2:1"),
        ("1: a", "KEY_NOT_TEXT", "1:1"),
        ("true: a", "KEY_NOT_TEXT", "1:1"),
        ("? ~\n: b", "KEY_NOT_TEXT", "1:3"),
        ("? [a]\n: b", "KEY_NOT_TEXT", "1:3"),
        ("? {a: 1}\n: b", "KEY_NOT_TEXT", "1:3"),
        ("--- 1\n--- 2\n", "SEVERAL_DOCUMENTS", "2:1"),
        ("--- &x 1\n--- 2\n", "ALIAS", "1:5"),
        ("--- a & b\n--- &x 2\n", "SEVERAL_DOCUMENTS", "2:1"),
        ("%YAML 1.1\n---\na: 1", "DIRECTIVE", "1:1"),
        ("%TAG !e! tag:example.com,2000:\n---\na: 1", "DIRECTIVE", "1:1"),
        ("a: .inf", "NOT_A_NUMBER", "1:4"),
        ("a: -.INF", "NOT_A_NUMBER", "1:4"),
        ("a: .NaN", "NOT_A_NUMBER", "1:4"),
        ("a: 1e999", "NOT_A_NUMBER", "1:4"),
        ("a: " + "9" * 5000, "NOT_A_NUMBER", "1:4"),
        ("a: 0x" + "f" * 5000, "NOT_A_NUMBER", "1:4"),
        ("[" * 150 + "]" * 150, "TOO_DEEP", "1:102"),
        ("a:\n\tb: 1", "TAB", "2:1"),
        ("a: x\ty", "TAB", "1:5"),
        ("a: {b: what? no}", "YAML_SYNTAX", None),
        ("a: [b: c]", "YAML_SYNTAX", "1:5"),
        ("a: {b:, c: 1}", "YAML_SYNTAX", None),
        ("a: |#\n  b", "YAML_SYNTAX", None),
        ('a: "\\ud800"', "YAML_SYNTAX", None),
        ("a: b: c", "YAML_SYNTAX", "1:5"),
        ("a: @b", "YAML_SYNTAX", "1:4"),
        ("a: \x07", "YAML_SYNTAX", "1:4"),
        ("a: [1,\n", "YAML_SYNTAX", "2:1"),
    ],
)  # fmt: skip
def test_what_readers_disagree_on_is_refused(text: str, code: str, where: str | None, pure: bool) -> None:
    """Each refusal has its own code and names file, line and column."""
    error = refused(text, pure=pure)
    assert error.code == code
    assert error.place is not None
    assert error.place.file == "a.yaml"
    if where is not None:
        assert str(error.place) == f"a.yaml:{where}"


@BOTH
def test_nesting_that_no_composer_can_follow_is_refused(pure: bool) -> None:
    """Thousands of levels are TOO_DEEP as well, not a crash."""
    assert refused("[" * 3000 + "]" * 3000, pure=pure).code == "TOO_DEEP"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a: {of: $.a[*].b, in: x}", "quote a path inside {} or []: '$.a[*].b'"),
        ("a: [$.a[*]]", "quote a path inside {} or []: '$.a[*]'"),
        ("a: {path: $.a[0]}", "quote a path inside {} or []: '$.a[0]'"),
        ("a: @b", "quote a text that begins with @"),
        ("a: %b", "quote a text that begins with %"),
        ("a: b: c", "quote a text that holds a colon and a blank"),
        ("a: {b: What?}", "quote it: 'What?'"),
        ("1: a", "quote it: '1'"),
        ("a:\tb", 'use blanks; inside "double quotes" a tab is \\t'),
        ("a: [1,", None),
    ],
)
def test_a_refusal_says_what_to_write(text: str, hint: str | None) -> None:
    """The hint names the fix, above all for a path that must be quoted inside braces."""
    assert refused(text).hint == hint


@BOTH
def test_every_value_and_key_has_its_place(pure: bool) -> None:
    """Lines and columns count from 1; a value that is not there stands where its key stands."""
    _, places = read("a:\n  - b: 1\n    'c d': [x, 'y']\ne:\n", "a.yaml", pure=pure)
    assert {path: (place.line, place.column) for path, place in places.items()} == {
        (): (1, 1),
        ("a", KEY): (1, 1), ("a",): (2, 3),
        ("a", 0): (2, 5),
        ("a", 0, "b", KEY): (2, 5), ("a", 0, "b"): (2, 8),
        ("a", 0, "c d", KEY): (3, 5), ("a", 0, "c d"): (3, 12),
        ("a", 0, "c d", 0): (3, 13), ("a", 0, "c d", 1): (3, 16),
        ("e", KEY): (4, 1), ("e",): (4, 1),
    }  # fmt: skip


def test_an_empty_document_is_null_and_has_a_place() -> None:
    """A file of comments alone holds nothing, which its reader decides about."""
    assert read("# nothing\n", "a.yaml") == (None, {(): Place("a.yaml", 1, 1)})


def test_marks_that_look_like_syntax_may_stand_in_text() -> None:
    """An ampersand, a percent sign, an exclamation mark and a question mark are fine where YAML takes them as text."""
    assert value("a: R&D, 100 % sure!\nb: what?\nc: {d: 'why?'}") == {"a": "R&D, 100 % sure!", "b": "what?", "c": {"d": "why?"}}


def test_a_byte_order_mark_is_tolerated() -> None:
    """Neither the bytes' nor the text's mark moves a column."""
    assert decode(b"\xef\xbb\xbfa: 1", "a.yaml") == "a: 1"
    assert read("\ufeffa: 1", "a.yaml")[1]["a",] == Place("a.yaml", 1, 4)


def test_bytes_that_are_no_utf8_are_refused_with_their_place() -> None:
    """Line and column count characters, not bytes."""
    with pytest.raises(CheckFileError) as caught:
        decode("a: é\nb: é".encode() + b"\xff", "a.yaml")
    assert (caught.value.code, str(caught.value.place)) == ("NOT_UTF8", "a.yaml:2:5")


def _meaning(text: str, *, pure: bool) -> object:
    try:
        return read(text, "a.yaml", pure=pure)
    except CheckFileError:
        return "refused"


_MARKS = st.text(alphabet="{}[],:-?&*!|>'\"%@`# \n\tab1.$~é\u2028\x85😀", max_size=14)
_FILE = """check: answers cite
runs: 200
cases:
  - id: refund
    input: {q: "How?", ids: [d1, 'd2'], n: 1e3}
expect:
  - subset:
      of: $.output.cites[*]
  - calls: 1
note: |
  text
"""


@given(_MARKS)
def test_marks_mean_the_same_under_both_composers(text: str) -> None:
    """Whatever stands in a file, both read the same value at the same places, or both refuse."""
    assert _meaning(text, pure=False) == _meaning(text, pure=True)


@given(st.integers(0, len(_FILE)), st.integers(0, 3), _MARKS)
def test_a_changed_file_means_the_same_under_both_composers(at: int, cut: int, new: str) -> None:
    """So does a check file with a typing mistake anywhere."""
    text = _FILE[:at] + new[:3] + _FILE[at + cut :]
    assert _meaning(text, pure=False) == _meaning(text, pure=True)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_json_is_read_as_it_is(value_: object) -> None:
    """JSON is YAML: what the standard encoder writes comes back equal, in ASCII where no character can be refused."""
    text = json.dumps(value_)
    if "\\ud" not in text and "?" not in text:  # the encoder spells characters beyond U+FFFF as surrogates, which YAML has not
        assert value(text) == value_


_TEXTS = st.recursive(st.text(), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12)


@given(_TEXTS, st.booleans())
def test_quoted_text_is_read_back_as_it_was(texts: object, pure: bool) -> None:
    """Parse after print is the identity for quoted texts: quotes always make a text."""
    written = yaml.safe_dump(texts, default_style='"')
    assert read(written, "a.yaml", pure=pure)[0] == texts
