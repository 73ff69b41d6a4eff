"""The one door to JSONPath: the guaranteed subset, plain lookups, normalised locations."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import jsonpath_rfc9535
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonpath_ng.ext import parse

from invcheck import paths
from invcheck.canonical import canonical
from invcheck.errors import PathError, Unevaluated
from invcheck.paths import STAR, Literal, Match, Path, below, compile_path, equal, kind, operand

KEYS = ["a", "b", "doc_id", "x y", "答案", "it's", 'say "hi"', "back\\slash", "a-b", "*", "0", "length", "where"]

scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([1.5, "", "x", "d1", "1", "答"]))
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4), max_leaves=20
)


def refusal(text: str) -> PathError | None:
    try:
        compile_path(text)
    except PathError as error:
        return error
    return None


def quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


names = st.sampled_from([".a", ".b", ".doc_id"]) | st.sampled_from(KEYS).map(lambda name: f"[{quoted(name)}]")
indices = st.integers(-3, 3).map(lambda index: f"[{index}]")
stars = st.sampled_from(["[*]", ".*"])
simple = st.lists(names | indices | stars, max_size=5).map(lambda steps: "$" + "".join(steps))

singular = st.lists(names | st.integers(-2, 2).map(lambda index: f"[{index}]"), max_size=2).map("".join)
literals = st.sampled_from(["0", "1", "-1", "1.5", "'x'", "'d1'", "''", "true", "false", "null", "'答'", '"x"'])
signs = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
comparisons = st.builds("@{} {} {}".format, singular, signs, literals | singular.map("@{}".format))
existences = singular.filter(bool).map("@{}".format) | singular.filter(bool).map("!@{}".format)
conditions = st.recursive(
    comparisons | existences,
    lambda inner: st.builds("({})".format, inner) | st.builds("{} {} {}".format, inner, st.sampled_from(["&&", "||"]), inner),
    max_leaves=4,
)
rich = st.one_of(
    names,
    indices,
    stars,
    st.sampled_from(["[0,1]", "[0, -1]", "['a','b']", "['b', 'x y']", "..a", "..*", "..[0]", "..[*]", "..['a']"]),
    st.builds(
        "[{}:{}{}]".format, st.sampled_from(["", "0", "1", "-2"]), st.sampled_from(["", "2", "-1"]), st.sampled_from(["", ":2", ":-1"])
    ),
    conditions.map("[?{}]".format),
    conditions.map("[?({})]".format),
)
queries = st.lists(rich, min_size=1, max_size=3).map(lambda steps: "$" + "".join(steps))


ROWS = {"rows": [{"id": "d1", "n": 1, "ok": True}, {"id": "d2", "n": 2.5}, {"id": "d 3", "n": None, "to": "d1"}], "to": "d2"}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("$.rows[0,2].id", ["$.rows[0].id", "$.rows[2].id"]),
        ("$.rows[0]['id', 'n']", ["$.rows[0].id", "$.rows[0].n"]),
        ("$.rows[1:].id", ["$.rows[1].id", "$.rows[2].id"]),
        ("$.rows[::2].n", ["$.rows[0].n", "$.rows[2].n"]),
        ("$.rows[-1:].n", ["$.rows[2].n"]),
        ("$..to", ["$.to", "$.rows[2].to"]),
        ("$.rows[?@.ok].n", ["$.rows[0].n"]),
        ("$.rows[?!@.ok].n", ["$.rows[1].n", "$.rows[2].n"]),
        ("$.rows[?@.id == 'd 3'].n", ["$.rows[2].n"]),
        ('$.rows[?@["id"] != "d1" && (@.n > 2 || @.n == null)].n', ["$.rows[1].n", "$.rows[2].n"]),
        ("$.rows[?@.to == @.id || @.ok == true].id", ["$.rows[0].id"]),
        ("$.rows[?@.n <= 1.0].id", ["$.rows[0].id"]),
        ("$.rows[?(@.missing[0])].id", []),
        ("$.rows.id", []),
        ("$.to[0]", []),
    ],
)
def test_the_subset_by_hand(text: str, places: list[str]) -> None:
    """Unions, slices, descendants and filters select what one reads in them."""
    assert [match.path for match in compile_path(text).find(ROWS)] == places


@settings(deadline=None)
@given(simple.filter(lambda text: ".where" not in text), documents)
def test_lowered_paths_select_what_the_engine_finds(text: str, document: Any) -> None:
    """Plain lookups give exactly the values of jsonpath-ng's find, in its order."""
    path = compile_path(text)
    expected = [datum.value for datum in parse(text).find(document)]
    assert path.steps is not None
    assert path.values(document) == expected
    assert [match.value for match in path.find(document)] == expected


@settings(deadline=None, max_examples=300)
@given(queries, documents)
def test_every_accepted_query_means_what_rfc_9535_says(text: str, document: Any) -> None:
    """Values, order and locations are those of the reference implementation."""
    path = compile_path(text)
    expected = jsonpath_rfc9535.find(text, document)
    found = path.find(document)
    assert canonical([match.value for match in found]) == canonical(expected.values())
    assert canonical(path.values(document)) == canonical(expected.values())
    places = [jsonpath_rfc9535.find_one(match.path, document) for match in found]
    assert [place and place.path() for place in places] == [node.path() for node in expected]


@given(simple, documents)
def test_a_location_is_a_path_to_its_value(text: str, document: Any) -> None:
    """Every location that is given selects exactly that value again, and is already normal."""
    for match in compile_path(text).find(document):
        again = compile_path(match.path)
        assert again.singular
        assert again.find(document) == [match]


@given(simple)
def test_a_simple_path_is_read_into_steps(text: str) -> None:
    """Spelling the steps again gives a path of the same steps: parse and print are inverse."""
    path = compile_path(text)
    again = "$"
    for step in path.steps or ():
        again = f"{again}[*]" if step is STAR else below(again, step)
    assert compile_path(again).steps == path.steps
    assert path.singular is (STAR not in (path.steps or ()))


@given(st.text(alphabet="$.[]*?@'\"\\,:-0129aex ()!=<>&|_é\n", max_size=12).map(lambda text: "$" + text))
def test_whatever_is_refused_is_refused_with_a_column(text: str) -> None:
    """A text is a path, or a PathError with a column inside of it, a caret under that column, and nothing else."""
    error = refusal(text)
    if error is not None:
        column = error.fields["column"]
        assert 1 <= column <= len(text) + 1
        said, shown, caret = error.message.split("\n")
        assert said.startswith(f"JSONPath not supported at column {column}: ")
        assert len(shown) == len(text) + 2
        assert caret == " " * (column + 1) + "^"


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("", 1, "whole observation"),
        ("output.a", 1, "whole observation"),
        ("$output", 2, ".name"),
        ("$.", 3, "quote it"),
        ("$.答案", 3, "quote it"),
        ("$.a-b", 4, ".name"),
        ("$..where", 4, "quote it: ['where']"),
        ("$[a]", 3, "quoted"),
        ("$['a',0]", 7, "escapes"),
        ("$[0,'a']", 5, "cannot be mixed"),
        ("$[-0]", 3, "write 0"),
        ("$[01]", 3, "quoted"),
        ("$[0", 4, None),
        (r"$['\n']", 3, "escapes"),
        ("$[?length(@.a) > 2]", 4, "functions"),
        ("$[?@]", 5, "compare it"),
        ("$[?!@]", 6, None),
        ("$[?!(@.a == 1)]", 5, "rewrite"),
        ("$[?@.a == x]", 11, "texts are quoted"),
        ("$[?@.a == 1e2]", 11, "texts are quoted"),
        ("$[?@.a == truest]", 11, "texts are quoted"),
        ("$[?@.a[*] == 1]", 7, None),
        ("$[?@.a[0,1] == 1]", 7, None),
        ("$[?@..a == 1]", 5, None),
        ("$[?@[?@.a] == 1]", 5, None),
        ("$[?@.where == 1]", 6, "quote it"),
        ("$[?(@.a == 1]", 13, None),
        ("$[?" + "(" * 21 + "@.a" + ")" * 21 + "]", 25, None),
        ("$[?@.a =~ 'x']", 8, None),
        ("$.`len`", 3, "quote it"),
        ("$.a " + "\t", 4, ".name"),
    ],
)
def test_refusals_point_at_the_fault(text: str, column: int, hint: str | None) -> None:
    """What engines disagree on is refused where it stands, with a way out where there is one."""
    with pytest.raises(PathError) as caught:
        compile_path(text)
    error = caught.value
    assert error.fields == {"column": column, "path": text}
    assert error.code == "PATH_UNSUPPORTED"
    assert (error.hint is None) if hint is None else (hint in str(error.hint))


def test_a_refusal_reads_like_this() -> None:
    """The message shows the path with a caret under the fault, then the hint."""
    with pytest.raises(PathError) as caught:
        compile_path("$[?length(@.a) > 2]")
    assert str(caught.value) == (
        "JSONPath not supported at column 4: a filter's operand starts with @\n"
        "  $[?length(@.a) > 2]\n"
        "     ^\n"
        "  hint: functions (length, count, match, search, value) are not supported"
    )


def test_a_long_path_is_shown_around_its_caret() -> None:
    """501 characters are too many, and the message still fits a screen."""
    assert compile_path("$" + ".abc" * 124 + ".ab").singular
    with pytest.raises(PathError, match="at most 500 characters, this one has 501") as caught:
        compile_path("$" + ".abcd" * 100)
    shown, caret = caught.value.message.split("\n")[1:]
    assert max(len(shown), len(caret)) <= 120
    assert shown.startswith("  ...")


def test_too_many_steps_for_the_engine_are_refused() -> None:
    """The engine is recursive, so a path that needs it has at most 60 steps; plain lookups have no such limit."""
    assert compile_path("$" + ".a" * 200).values({}) == []
    with pytest.raises(PathError, match="at most 60 steps"):
        compile_path("$" + ".a" * 60 + "..b")


@pytest.mark.parametrize("value", [None, 5, ["$"], True])
def test_a_path_is_text(value: Any) -> None:
    """Anything but text is refused with what it is."""
    with pytest.raises(PathError, match="a JSONPath is text, got"):
        compile_path(value)


def test_an_engine_that_refuses_is_a_path_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever jsonpath-ng raises while it reads a path stays inside of the door."""

    def broken(_text: str) -> None:
        raise RecursionError

    monkeypatch.setattr("jsonpath_ng.ext.parser.parse", broken)
    with pytest.raises(PathError, match="the engine refuses it"):
        paths._compiled.__wrapped__("$..a")


def test_an_engine_that_fails_is_unevaluated() -> None:
    """Whatever jsonpath-ng raises while it looks is an error of the judge, never a selection of nothing."""

    def broken(_document: Any) -> None:
        raise RecursionError

    path = replace(compile_path("$..a"), _engine=broken)
    for ask in (path.find, path.values):
        with pytest.raises(Unevaluated) as caught:
            ask({})
        assert caught.value.code == "PATH_FAILED"


def test_our_own_words_need_no_quotes() -> None:
    """`where` is a word of the observation, though jsonpath-ng reads it as an operator."""
    document = {"error": {"where": "shop.py:answer", "wherenot": [1]}}
    assert compile_path("$.error.where").values(document) == ["shop.py:answer"]
    assert compile_path("$.error.wherenot[0:1]").find(document) == [Match("$.error.wherenot[0]", 1)]


def test_simple_paths_do_not_load_the_engine() -> None:
    """A worker that only looks up names, indices and wildcards never imports jsonpath-ng."""
    code = "import sys; from invcheck.paths import compile_path as c; c('$.a[0][*]').find({}); print('jsonpath_ng' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "False\n"


def test_locations_are_spelled_for_people() -> None:
    """Plain names with a dot, all others quoted, indices counted from the front, control characters visible."""
    document = {"odd key": {"it's": [1, 2]}, "b\\": {"\n": 0}}
    assert [match.path for match in compile_path("$['odd key'].*[-1]").find(document)] == [r"$['odd key']['it\'s'][1]"]
    assert [match.path for match in compile_path(r"$['b\\'].*").find(document)] == [r"$['b\\']['\u000a']"]


@pytest.mark.parametrize(
    ("above", "path", "covered"),
    [
        ("$", "$.output", True),
        ("$.output", "$.output", True),
        ("$.output", "$['output'].cites[*]", True),
        ("$.output", "$.output_text", False),
        ("$.output.a", "$.output", False),
        ("$.output", "$..cites", True),
        ("$.output", "$.ledger..cites", False),
        ("$.rows[*]", "$.rows[0].ok", True),
        ("$.rows[0]", "$.rows[*].ok", False),
        ("$.rows[?@.a]", "$.rows[?@.a].b", True),
        ("$.rows[?@.a]", "$.rows[?@.b].b", False),
    ],
)
def test_covers(above: str, path: str, covered: bool) -> None:
    """A path covers what looks at or below what it selects, step by step, not letter by letter."""
    assert compile_path(above).covers(compile_path(path)) is covered


def test_paths_are_values() -> None:
    """Equal texts are equal paths; they hash, print as their text and survive a pickle."""
    path = compile_path("$..a[?@.b]")
    assert pickle.loads(pickle.dumps(path)) is path
    assert {path: 1}[compile_path("$..a[?@.b]")] == 1
    assert path != compile_path("$..a")
    assert str(path) == "$..a[?@.b]"
    assert "_engine" not in repr(path)


def test_operands() -> None:
    """A text that begins with $ is a path, everything else a literal, and a mapping spells a literal one."""
    assert operand("$.a") is compile_path("$.a")
    assert operand("a$") == Literal("a$")
    assert operand({"literal": "$5"}) == Literal("$5")
    assert operand({"literal": 1, "more": 2}) == Literal({"literal": 1, "more": 2})
    for done in (Literal(1), compile_path("$")):
        assert operand(done) is done
    with pytest.raises(PathError) as caught:
        operand("$5.00")
    assert caught.value.hint == "a step is .name, ['name'], [0], [*] or ..name"
    with pytest.raises(PathError) as caught:
        operand("$[0")
    assert '{"literal": "$5"}' in str(caught.value.hint)


def test_kinds() -> None:
    """The seven names of JSON types; a boolean is no integer, 1.0 is no integer, subclasses are what they extend."""

    class Text(str):
        __slots__ = ()

    values = [None, True, 1, 1.0, "", [], {}]
    assert [kind(value) for value in values] == ["null", "boolean", "integer", "number", "string", "array", "object"]
    assert kind(Text()) == "string"
    assert kind({1}) == "set"


@given(documents, documents)
def test_equality_is_that_of_json(one: Any, other: Any) -> None:
    """Equal means the same canonical bytes, but for a whole number that is written as a float."""
    assert equal(one, one)
    assert equal(one, other) is (canonical(one) == canonical(other))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(1, 1.0, True), (1, True, False), (0, False, False), ([1], [True], False), ({"a": 0}, {"a": False}, False), ([1], [1, 2], False),
     ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True), ([], {}, False), ("1", 1, False), (None, False, False), (2**70, 2**70, True)],
)  # fmt: skip
def test_equality_of_numbers_and_booleans(one: Any, other: Any, same: bool) -> None:
    """A boolean is no number, 1 equals 1.0, the order of keys is free."""
    assert equal(one, other) is same
    assert equal(other, one) is same


def test_path_is_public_in_its_module() -> None:
    """A path says whether it is singular, and what it is made of."""
    path = compile_path("$.a[0]['b c'][*]")
    assert isinstance(path, Path)
    assert path.steps == ("a", 0, "b c", STAR)
    assert path.steps[3] is STAR
    assert pickle.loads(pickle.dumps(STAR)) is STAR
    assert not path.singular
    assert compile_path("$.a[0,1]").steps is None
