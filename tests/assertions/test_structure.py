"""The structure assertions: each kept, broken, errored, vacuous and negated; what each refuses; where each points."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, field_validator

from invcheck.assertions import build, structure
from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import Claim
from invcheck.assertions.negation import Not
from invcheck.assertions.structure.outcomes import Finish, ToolCalled
from invcheck.assertions.structure.shape import Fields, IsJson, Schema, Type
from invcheck.assertions.structure.texts import Equals, Regex, StartsWith
from invcheck.errors import InvcheckError, UsageError
from invcheck.paths import compile_path
from tests.assertions.asking import kept_by

IDS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
OFFER = {"tools": [{"name": "search", "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}}]}


class Answer(BaseModel):
    """A user's own model."""

    model_config = ConfigDict(extra="forbid")

    answer: str
    cites: list[str]
    best: int | str | None = None

    @field_validator("answer")
    @classmethod
    def speaks(cls, answer: str) -> str:
        """Refuse one word as a validator should, and break down over another."""
        if answer == "sorry":
            raise ValueError("no apologies")
        if answer == "boom":
            raise RuntimeError("the validator itself is broken")
        return answer


class Bomb(dict[str, Any]):
    """An object that breaks down when anybody looks into it."""

    def __contains__(self, key: object) -> bool:
        raise RuntimeError("boom")


def called(*tools: tuple[str, Any], request: Any = OFFER) -> dict[str, Any]:
    """One call whose reply asks for these tools."""
    asked = [{"id": f"t{n}", "name": name, "arguments": arguments} for n, (name, arguments) in enumerate(tools)]
    return {"n": 0, "request": request, "outcome": {"text": "", "finish": "tool_calls", "tool_calls": asked}}


def finished(*reasons: str | None) -> dict[str, Any]:
    """A trial whose calls finished so."""
    return {"calls": [{"n": n, "request": {}, "outcome": {"text": "", "finish": reason}} for n, reason in enumerate(reasons)]}


FAULT = {"n": 0, "request": {}, "outcome": {"fault": "rate_limit", "message": "", "status": 429}}


@dataclass(frozen=True)
class Row:
    """One assertion with a document that keeps it, one that breaks it, and one of which it cannot say anything."""

    claim: Claim
    kept: Any
    broken: Any
    where: str
    vacuous: Any
    fused: bool = True


NONE: dict[str, Any] = {"other": 1}
TABLE = [
    Row(Schema("$.v", IDS), {"v": ["d1"]}, {"v": ["d1", 2]}, "$.v[1]", NONE),
    Row(Schema("$.rows[*].v", IDS), {"rows": [{"v": ["d1"]}]}, {"rows": [{"v": []}, {"v": []}]}, "$.rows[0].v", {"rows": []}),
    Row(
        Schema("$.v", Answer),
        {"v": {"answer": "yes", "cites": []}},
        {"v": {"answer": "yes", "cites": [1]}},
        "$.v.cites[0]",
        NONE,
        fused=False,
    ),
    Row(Fields("$.v", ["a", "b"]), {"v": {"b": 1, "a": 2}}, {"v": {"a": 1}}, "$.v", NONE),
    Row(Fields("$.v", ["a"], optional=["b"]), {"v": {"a": 1, "b": 2}}, {"v": {"b": 2}}, "$.v", NONE),
    Row(Fields("$.v[*]", ["a"]), {"v": [{"a": 1}]}, {"v": [{"c": 1}, {}]}, "$.v[0]", {"v": []}),
    Row(IsJson("$.v"), {"v": "[1]"}, {"v": "[1"}, "$.v", NONE, fused=False),
    Row(IsJson(), {"output_text": "{}"}, {"output_text": "{} and more"}, "$.output_text", NONE, fused=False),
    Row(Type("$.v", "number"), {"v": 1}, {"v": "1"}, "$.v", NONE),
    Row(Type("$.v[*]", ["string", "null"]), {"v": ["a", None]}, {"v": [False, 1]}, "$.v[0]", {"v": []}),
    Row(Equals("$.v", 1), {"v": 1.0}, {"v": True}, "$.v", NONE),
    Row(Equals("$.v", {"a": [1]}), {"v": {"a": [1]}}, {"v": {"a": [2]}}, "$.v.a[0]", NONE, fused=False),
    Row(Equals("$.v", "$.w"), {"v": "x", "w": "x"}, {"v": "x", "w": "y"}, "$.v", {"v": 1}),
    Row(Equals("$.v[*]", "$.w[*]"), {"v": [1, 2], "w": [1, 2]}, {"v": [1, 2], "w": [1, 3]}, "$.v[1]", {"v": [], "w": [1]}, fused=False),
    Row(Regex("$.v", "^d[0-9]"), {"v": "d1"}, {"v": "e1"}, "$.v", NONE),
    Row(StartsWith("$.v", "Dear "), {"v": "Dear Ada"}, {"v": "dear Ada"}, "$.v", NONE),
    Row(StartsWith("$.v", "$.w"), {"v": "Dear Ada", "w": "Dear"}, {"v": "Ada", "w": "Dear"}, "$.v", {"v": "Ada"}),
    Row(StartsWith("$.v", {"literal": "$5"}), {"v": "$5 off"}, {"v": "5 off"}, "$.v", NONE),
    Row(Finish("stop"), finished("length", "stop"), finished("stop", "length"), "$.calls[1].outcome.finish", {"calls": []}, fused=False),
    Row(
        ToolCalled("search"),
        {"calls": [called(("search", {"q": "x"}))]},
        {"calls": [called()]},
        "$.calls[*].outcome.tool_calls",
        NONE,
        fused=False,
    ),
]
IDS_OF_ROWS = [f"{row.claim.key}-{n}" for n, row in enumerate(TABLE)]
rows = pytest.mark.parametrize("row", TABLE, ids=IDS_OF_ROWS)


def broken(claim: Claim, document: Any) -> Break:
    """The break that a claim answers with."""
    found = claim.each(document)
    assert found is not None
    return found


def refused(make: Callable[[], Claim]) -> UsageError:
    """The error that a claim is refused with."""
    with pytest.raises(UsageError) as caught:
        make()
    return caught.value


@rows
def test_kept(row: Row) -> None:
    """A document that fits keeps the claim and breaks its opposite, which points at a value that fits."""
    assert row.claim.each(row.kept) is None
    opposite = broken(Not(row.claim), row.kept)
    assert opposite.decided
    assert opposite.path is not None
    assert compile_path(opposite.path).values(row.kept)


@rows
def test_broken(row: Row) -> None:
    """A document that does not fit breaks the claim where it first does not, and keeps its opposite."""
    found = broken(row.claim, row.broken)
    assert (found.decided, found.path) == (True, row.where)
    assert found.expected
    assert found.got
    assert found.expected != found.got
    assert Not(row.claim).each(row.broken) is None


@rows
def test_vacuous(row: Row) -> None:
    """A document that holds nothing to judge breaks the claim and its opposite."""
    found = broken(row.claim, row.vacuous)
    assert (found.decided, found.code) == (False, "EMPTY_SELECTION")
    assert broken(Not(row.claim), row.vacuous).code == "EMPTY_SELECTION"


@rows
def test_errored(row: Row) -> None:
    """What raises while a claim is judged is let through, under its opposite too, and is never taken for kept."""
    for claim in (row.claim, Not(row.claim)):
        with pytest.raises(RuntimeError, match="boom"):
            claim.each(Bomb())
        assert kept_by([claim])(Bomb()) is False


@rows
def test_fused(row: Row) -> None:
    """The fused form says kept of what is kept, and not of what is broken or vacuous."""
    kept = kept_by([row.claim])
    assert (kept(row.kept), kept(row.broken), kept(row.vacuous)) == (True, False, False)


@rows
def test_spelling(row: Row) -> None:
    """A claim is the same after a way through a check file, and so is its opposite."""
    plain = json.loads(json.dumps(row.claim.plain()))
    if row.claim.plain().get("is") == f"{__name__}:Answer":
        assert plain["is"] == f"{__name__}:Answer"
        return
    assert build({row.claim.key: plain}) == row.claim
    assert build({f"not-{row.claim.key}": plain}) == Not(row.claim)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "", "a", "d1", "Dear Ada", "x", "$5", "[1]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abv"), inner, max_size=3),
    max_leaves=6,
)
DOCUMENTS = st.fixed_dictionaries(
    {}, optional={"v": VALUES, "w": VALUES, "rows": st.lists(st.fixed_dictionaries({}, optional={"v": VALUES}))}
)
FUSED = [row.claim for row in TABLE if row.fused] + [
    Schema("$.v[*]", IDS, allow_empty=True),
    Schema("$.v", {"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": {"enum": [1, "a"]}}, "required": ["a"]}),
    Schema("$.v", {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]}),
    Type("$.v[*]", "boolean", allow_empty=True),
    Equals("$.v[*]", "$.w", allow_empty=True),
    Equals("$.v", None),
    Equals("$.v", False),
    Regex("$..v", "d"),
    Equals("$.v", "$.w[0]"),
]


@given(DOCUMENTS)
def test_fused_only_says_kept_of_what_is_kept(document: Any) -> None:
    """Whatever the document, a fused claim that says kept is kept when it is judged alone."""
    for claim in FUSED:
        if kept_by([claim])(document):
            assert claim.each(document) is None


@given(DOCUMENTS)
def test_an_opposite_never_agrees(document: Any) -> None:
    """A claim and its opposite are never both kept, but of nothing, where nothing is fine."""
    for claim in FUSED:
        assert not claim.path().values(document) or claim.each(document) is not None or Not(claim).each(document) is not None


@pytest.mark.parametrize(
    ("claim", "value"),
    [(Fields("$.v", ["a"]), ["a"]), (IsJson("$.v"), 5), (Regex("$.v", "5"), 5), (StartsWith("$.v", "5"), 5)],
    ids=lambda value: value.key if isinstance(value, Claim) else "",
)
def test_wrong_type(claim: Claim, value: Any) -> None:
    """A value of another type than the claim needs breaks the claim and its opposite, and is named with its type."""
    for each in (claim, Not(claim)):
        found = broken(each, {"v": value})
        assert (found.decided, found.code, found.path) == (False, "WRONG_TYPE", "$.v")
    assert kept_by([claim])({"v": value}) is False


@pytest.mark.parametrize("claim", [Regex("$.v[*]", "a"), StartsWith("$.v[*]", "a")], ids=lambda claim: claim.key)
def test_one_value_that_cannot_be_judged_is_enough(claim: Claim) -> None:
    """A selection with a value of another type is undecided, although an earlier value already breaks the claim."""
    assert broken(claim, {"v": ["x", 1]}).path == "$.v[1]"
    assert broken(Not(claim), {"v": ["x", 1]}).path == "$.v[1]"


@pytest.mark.parametrize("kind", [Schema, Fields, IsJson, Type, Equals, Regex, StartsWith], ids=lambda kind: kind.key)
def test_allow_empty(kind: type[Claim]) -> None:
    """Where nothing is fine, a selection of nothing keeps the claim."""
    second = {Schema: IDS, Fields: ["a"], Type: "null", Equals: 1, Regex: "a", StartsWith: "a"}
    values = [second[kind]] if kind in second else []
    assert kind("$.v[*]", *values, allow_empty=True).each({"v": []}) is None


def test_only_what_later_claims_rest_on_is_structural() -> None:
    """A broken schema, fields, type or is-json makes what is read below it moot; the others do not."""
    assert [kind.key for kind in (Schema, Fields, IsJson, Type, Equals, Regex, StartsWith, Finish, ToolCalled) if kind.structural] == [
        "schema",
        "fields",
        "is-json",
        "type",
    ]


def test_the_door_knows_its_own_assertions_only() -> None:
    """The package gives its assertions by name, and nothing else."""
    assert structure.Schema is Schema
    with pytest.raises(AttributeError, match="Between"):
        structure.Between  # noqa: B018  # asking is the test


# schema


def test_schema_reads_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema may stand in a JSON file, with a byte order mark or without, and is spelled by its name."""
    monkeypatch.chdir(tmp_path)
    Path("ids.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(IDS).encode())
    claim = Schema("$.v", "ids.json")
    assert claim.each({"v": ["d1"]}) is None
    assert broken(claim, {"v": [1]}).path == "$.v[0]"
    assert claim.plain() == {"of": "$.v", "is": "ids.json"}
    assert kept_by([claim])({"v": ["d1"]}) is True


def test_schema_files_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema file that is missing, unreadable, no JSON or no schema is refused when the claim is built."""
    monkeypatch.chdir(tmp_path)
    Path("twice.json").write_text('{"type": "object", "type": "array"}')
    Path("bytes.json").write_bytes(b"\xff")
    Path("list.json").write_text("[]")
    codes = {name: refused(lambda name=name: Schema("$", name)).code for name in ("gone.json", "bytes.json", "twice.json", "list.json")}
    assert codes == {"gone.json": "MISSING_FILE", "bytes.json": "MISSING_FILE", "twice.json": "BAD_SCHEMA", "list.json": "BAD_SCHEMA"}
    assert refused(lambda: Schema("$", "gone.json")).fields["field"] == "is_"


@pytest.mark.parametrize("given_", ["Answer", "models.Answer", 5, "a b:C", ["x"]])
def test_schema_needs_something_that_is_one(given_: Any) -> None:
    """What is neither module:Model, nor a .json file, nor a mapping is refused."""
    assert refused(lambda: Schema("$", given_)).code == "ASSERTION_INVALID"


def test_schema_by_the_name_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model is imported by its name when the claim is first judged, not before."""
    claim = build({"schema": {"of": "$.v", "is": "users_models:Answer"}})
    monkeypatch.setitem(sys.modules, "users_models", sys.modules[__name__])
    assert claim.each({"v": {"answer": "yes", "cites": ["d1"]}}) is None
    assert broken(claim, {"v": {"answer": "yes"}}).expected == 'the field "cites"'
    assert kept_by([claim])({"v": {"answer": "yes", "cites": ["d1"]}}) is True


def test_schema_by_a_name_that_leads_nowhere_is_errored() -> None:
    """A model that cannot be imported raises when the claim is judged, so that it is errored and never kept."""
    for name in ("no_such_module_anywhere:Answer", "json:Answer"):
        with pytest.raises(InvcheckError, match=r"no_such_module_anywhere|Answer"):
            Schema("$.v", name).each({"v": 1})


@pytest.mark.parametrize(
    ("value", "where", "expected", "got"),
    [
        ({"answer": "yes"}, "$.v", 'the field "cites"', 'object {"answer": "yes"}'),
        ({"answer": "yes", "cites": [], "note": 1}, "$.v.note", "no such field", "integer 1"),
        ({"answer": 5, "cites": []}, "$.v.answer", "a valid string", "integer 5"),
        ({"answer": 5, "cites": ["d1", None]}, "$.v.cites[1]", "a valid string", "null"),
        ({"answer": "sorry", "cites": []}, "$.v.answer", "Value error, no apologies", 'string "sorry"'),
        ({"answer": "yes", "cites": [], "best": 1.5}, "$.v.best", "a valid integer", "number 1.5"),
        ("yes", "$.v", "an object", 'string "yes"'),
    ],
)
def test_schema_of_a_model_names_the_deepest_fault(value: Any, where: str, expected: str, got: str) -> None:
    """A finding of a model names where it is, what was expected there and what was found, without union branches."""
    found = broken(Schema("$.v", Answer), {"v": value})
    assert (found.path, found.expected, found.got) == (where, expected, got)


def test_schema_of_a_model_is_strict() -> None:
    """Text is no number and a boolean no integer, although pydantic would convert them when it is lax."""

    class Row(BaseModel):
        n: int

    claim = Schema("$.v", Row)
    assert claim.each({"v": {"n": 1}}) is None
    assert [claim.each({"v": {"n": value}}) is None for value in ("1", True, 1.0)] == [False, False, False]


def test_schema_whose_validator_breaks_down_is_errored() -> None:
    """An error of a user's validator that is no validation error is let through, under the opposite too."""
    for claim in (Schema("$.v", Answer), Not(Schema("$.v", Answer))):
        with pytest.raises(RuntimeError, match="the validator itself"):
            claim.each({"v": {"answer": "boom", "cites": []}})


def test_schema_half_a_surrogate_breaks_a_model() -> None:
    """A text that is no Unicode text fits no model, and is a finding, not a crash."""
    assert broken(Schema("$.v", Answer), {"v": {"answer": "\ud800", "cites": []}}).decided


def test_schema_that_is_no_json_is_refused() -> None:
    """A schema in Python that holds what JSON cannot hold is refused with the place."""
    assert "$.enum[0]" in refused(lambda: Schema("$.v", {"enum": [float("nan")]})).message


# fields


@pytest.mark.parametrize(
    ("claim", "value", "expected", "got"),
    [
        (Fields("$.v", ["a", "b"]), {"c": 1, "b": 1}, 'exactly the fields "a", "b"', 'missing "a"; extra "c"'),
        (Fields("$.v", ["a"], ["b"]), {"a": 1, "c": 1}, 'exactly the fields "a", perhaps "b"', 'extra "c"'),
        (Fields("$.v", []), {"a": 1}, "an object without fields", 'extra "a"'),
    ],
)
def test_fields_names_what_is_missing_and_what_is_extra(claim: Claim, value: Any, expected: str, got: str) -> None:
    """A finding of fields names the missing and the extra ones, by name."""
    found = broken(claim, {"v": value})
    assert (found.expected, found.got) == (expected, got)


def test_fields_refuses_what_can_never_fit() -> None:
    """A name twice, and a text instead of a list, are refused with the field that holds them."""
    assert refused(lambda: Fields("$", ["a", "a"])).fields["field"] == "exactly"
    assert refused(lambda: Fields("$", ["a"], optional=["a"])).fields["field"] == "optional"
    assert refused(lambda: Fields("$", "answer")).code == "WRONG_TYPE"
    assert refused(lambda: Fields("$", [1])).code == "WRONG_TYPE"  # type: ignore[list-item]  # the mistake under test


# is-json


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": 1, "a": 1}', "DUPLICATE_KEY"),
        ("[NaN]", "NOT_A_NUMBER"),
        ("[1e999]", "NUMBER_OVERFLOW"),
        ('{"a": 1} done', "TRAILING_TEXT"),
        ('["\\ud800"]', "LONE_SURROGATE"),
        ("[" * 100_000, "TOO_DEEP"),
        ("", "EMPTY"),
        ("[1,]", "SYNTAX"),
        ("```json\n[1]\n```", "SYNTAX"),
        ("5", "SCALAR_TOP_LEVEL"),
        ("null", "SCALAR_TOP_LEVEL"),
    ],
)
def test_is_json_names_each_defect(text: str, code: str) -> None:
    """Each defect that other parsers let through, or die of, breaks the claim with its own code."""
    found = broken(IsJson("$.v"), {"v": text})
    assert (found.code, found.decided, found.path) == (code, True, "$.v")


def test_is_json_says_where_the_text_goes_wrong() -> None:
    """Where the place of a defect is known, it is told by line and column."""
    assert "at line 2, column 3" in broken(IsJson("$.v"), {"v": "\n  so"}).got


def test_is_json_with_scalar() -> None:
    """With scalar a text, number, boolean or null may stand alone."""
    assert [IsJson("$.v", scalar=True).each({"v": text}) for text in ("5", "null", '"a"', "{}")] == [None] * 4


# type


def test_types_are_those_of_json() -> None:
    """Each value has its JSON type only; an integer is a number too, a boolean is neither, and 1.0 is no integer."""
    values = {"null": None, "boolean": True, "integer": 1, "number": 1.0, "string": "1", "array": [], "object": {}}
    for name in values:
        claim = Type("$.v", name)
        fits = {other for other, value in values.items() if claim.each({"v": value}) is None}
        assert fits == ({"integer", "number"} if name == "number" else {name})
        assert {other for other, value in values.items() if kept_by([claim])({"v": value})} == fits


@pytest.mark.parametrize(
    ("given_", "hint"),
    [
        ("int", "integer"),
        ("strng", "string"),
        ("xyz", "one of"),
        ([], None),
        (["null", "boolean", "number", "string", "array", "object"], None),
    ],
)
def test_type_refuses_names_and_lists_that_say_nothing(given_: Any, hint: str | None) -> None:
    """An unknown name is refused with the nearest one; an empty list fits nothing and a full one everything."""
    error = refused(lambda: Type("$", given_))
    assert error.fields["field"] == "is_"
    assert hint is None or hint in (error.hint or "")


# equals


@pytest.mark.parametrize(
    ("want", "got", "place"),
    [
        ({"a": [0, {"b": 1}]}, {"a": [0, {"b": 2}]}, ("$.v.a[1].b", "1", "2")),
        ({"a": 1}, {}, ("$.v.a", "1", "no such field")),
        ({}, {"odd key": 1}, ("$.v['odd key']", "no such field", "1")),
        ([1, 2], [1], ("$.v[1]", "2", "no such item")),
        ([1], [1, 2], ("$.v[1]", "no such item", "2")),
        ([1], {"0": 1}, ("$.v", "[1]", '{"0": 1}')),
        ("1", 1, ("$.v", '"1"', "1")),
        (None, False, ("$.v", "null", "false")),
    ],
)
def test_equals_names_the_first_difference(want: Any, got: Any, place: tuple[str, str, str]) -> None:
    """A finding names the first place that differs, what was expected there and what stands there."""
    found = broken(Equals("$.v", {"literal": want}), {"v": got})
    assert (found.path, found.expected, found.got) == place


def test_equals_is_equality_of_json() -> None:
    """1 equals 1.0, the order of keys is free, a boolean is no number, large integers are exact."""
    assert Equals("$.v", {"a": 1, "b": 2}).each({"v": {"b": 2.0, "a": 1}}) is None
    assert broken(Equals("$.v", 9007199254740993), {"v": 9007199254740992})
    assert broken(Equals("$.v", 1), {"v": True})


def test_equals_with_a_path() -> None:
    """A path on the other side stands for its one value, and the finding says whose value was expected."""
    assert broken(Equals("$.v", "$.w"), {"v": 1, "w": 2}).expected == "2, as at $.w"
    assert broken(Equals("$.v[*]", "$.w"), {"v": [2, 1], "w": 2}).path == "$.v[1]"
    assert broken(Equals("$.v", "$.w"), {"v": 1}).path == "$.w"
    assert broken(Equals("$.v[*]", "$.w[*]"), {"v": [], "w": [1]}).path == "$.v[*]"
    uneven = broken(Equals("$.v[*]", "$.w[*]"), {"v": [1], "w": [1, 2]})
    assert (uneven.expected, uneven.got) == ("2 values, as at $.w[*]", "1 value")
    assert Equals("$.v[*]", "$.w[*]", allow_empty=True).each({"v": [], "w": []}) is None
    assert broken(Equals("$.v[*]", "$.w", allow_empty=True), {"v": [1]}).got == "1 value"


def test_equals_refuses_what_is_always_or_never_so() -> None:
    """A value compared with itself, with many, with nothing, or with what is no JSON, is refused."""
    assert "itself" in refused(lambda: Equals("$.v", "$.v")).message
    assert "may be many" in refused(lambda: Equals("$.v", "$.w[*]")).message
    assert refused(lambda: Equals("$.v")).code == "MISSING_KEY"  # type: ignore[call-arg]  # the mistake under test
    assert refused(lambda: Equals("$.v", {1, 2}.__class__)).code == "ASSERTION_INVALID"
    assert Equals("$.v", None).each({"v": None}) is None


# regex and starts-with


def test_regex_searches() -> None:
    """The pattern is sought anywhere, as by re.search; flags stand inside of it."""
    assert Regex("$.v", "(?i)REFUND").each({"v": "the refund is due"}) is None
    assert broken(Regex("$.v", r"\Arefund"), {"v": "the refund"}).expected == r"a text in which \Arefund is found"


def test_regex_refuses_a_bad_pattern_with_its_column() -> None:
    """A pattern that does not compile is refused, with the column; so is the empty one, which every text holds."""
    error = refused(lambda: Regex("$.v", "ab(c"))
    assert (error.code, error.fields["column"], error.fields["field"]) == ("BAD_PATTERN", 3, "pattern")
    assert "position 3" in error.message
    assert refused(lambda: Regex("$.v", "")).fields["field"] == "pattern"
    assert refused(lambda: Regex("$.v", 5)).code == "WRONG_TYPE"  # type: ignore[arg-type]  # the mistake under test


def test_starts_with_takes_its_text_from_a_path() -> None:
    """A path stands for its one text; one that may be many is refused, and one that is no text breaks the claim."""
    assert broken(StartsWith("$.v", "$.w"), {"v": "a", "w": 1}).path == "$.w"
    assert kept_by([StartsWith("$.v", "$.w")])({"v": "a", "w": 1}) is False
    assert "may be many" in refused(lambda: StartsWith("$.v", "$.w[*]")).message
    assert refused(lambda: StartsWith("$.v", "")).fields["field"] == "text"
    assert refused(lambda: StartsWith("$.v", 5)).fields["field"] == "text"


# finish


def test_finish_of_a_call() -> None:
    """Calls are counted from 1, as findings count them; all means every one, last the last."""
    document = finished("stop", "length", None)
    assert Finish("stop", call=1).each(document) is None
    assert Finish(["length", "stop"], call=2).each(document) is None
    assert Finish(None).each(document) is None
    found = broken(Finish("stop", call="all"), document)
    assert (found.path, found.call, found.expected, found.got) == ("$.calls[1].outcome.finish", "call 2", '"stop"', '"length"')


def test_finish_of_a_call_that_there_is_not() -> None:
    """A call that was never made cannot be judged."""
    found = broken(Finish("stop", call=4), finished("stop"))
    assert (found.expected, found.got, found.decided, found.code) == ("call 4", "1 call", False, "EMPTY_SELECTION")
    assert broken(Finish("stop"), {}).code == "EMPTY_SELECTION"


@pytest.mark.parametrize("outcome", [FAULT["outcome"], None, {"raised": "ValueError"}, "stop"])
def test_finish_of_a_call_without_a_reply(outcome: Any) -> None:
    """A fault, a cancelled call or a step that raised has no finish: the claim and its opposite are broken, naming the call."""
    document = {"calls": [*finished("stop")["calls"], {**FAULT, "outcome": outcome}]}
    for claim in (Finish("stop"), Not(Finish("stop")), Finish("length", call="all")):
        found = broken(claim, document)
        assert (found.code, found.decided, found.call, found.path) == ("NO_REPLY", False, "call 2", "$.calls[1].outcome")


def test_finish_refuses_what_no_trial_has() -> None:
    """No reason, an empty one, a call before the first, and a word that names no call are refused."""
    assert [refused(make).fields["field"] for make in (lambda: Finish([]), lambda: Finish(""))] == ["is_", "is_"]
    assert refused(lambda: Finish("stop", call=0)).fields["field"] == "call"
    assert refused(lambda: Finish("stop", call="first")).code == "WRONG_TYPE"  # type: ignore[arg-type]  # the mistake under test
    assert refused(lambda: Finish("stop", call=True)).code == "WRONG_TYPE"
    assert build({"finish": "stop"}) == Finish("stop")


# tool-call


PARAMETERS = {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}, "additionalProperties": False}


@pytest.mark.parametrize(
    "request_",
    [
        {"tools": [{"type": "function", "function": {"name": "search", "parameters": PARAMETERS}}]},
        {"tools": [{"type": "function", "name": "search", "parameters": PARAMETERS}]},
        {"tools": [{"name": "search", "input_schema": PARAMETERS}]},
        {"tools": [{"name": "search", "inputSchema": PARAMETERS}]},
        {"request": {"tools": [{"name": "search", "parameters": PARAMETERS}]}},
    ],
)
def test_tool_call_reads_the_offer_as_providers_spell_it(request_: Any) -> None:
    """The offered schema is found in every usual spelling, and arguments that it refuses break the claim and its opposite."""
    assert ToolCalled("search").each({"calls": [called(("search", {"q": "x"}), request=request_)]}) is None
    for claim in (ToolCalled("search"), Not(ToolCalled("search"))):
        found = broken(claim, {"calls": [called(("search", {"q": 5}), request=request_)]})
        assert (found.code, found.path, found.call) == ("BAD_ARGUMENTS", "$.calls[0].outcome.tool_calls[0].arguments.q", "call 1")
        assert (found.expected, found.got) == ("string, as offered", "integer 5")


@pytest.mark.parametrize(
    "offer", [{}, {"tools": None}, {"tools": {}}, {"tools": []}, {"tools": [{"name": "buy"}, {}]}, ["search"], {"messages": [{"a": 1}]}]
)
def test_tool_call_that_was_not_offered(offer: Any) -> None:
    """A call for a tool that the request did not offer breaks the claim and its opposite."""
    for claim in (ToolCalled("search"), Not(ToolCalled("search")), ToolCalled("search", count=0)):
        found = broken(claim, {"calls": [called(("search", {"q": "x"}), request=offer)]})
        assert (found.code, found.decided) == ("NOT_OFFERED", False)


def test_tool_calls_of_a_recording_in_another_shape() -> None:
    """What is no call, no reply or no tool call is not counted, and a call without arguments has none that fit."""
    odd = [5, {}, {"outcome": {"finish": None, "tool_calls": None}}, {"outcome": {"finish": None, "tool_calls": [5, {"id": "t"}]}}]
    assert broken(ToolCalled("search"), {"calls": odd}).got == "0 calls of search in 4 calls of the model"
    assert broken(Finish("stop", call=1), {"calls": odd}).code == "NO_REPLY"
    bare = {"request": OFFER, "outcome": {"finish": None, "tool_calls": [{"name": "search"}]}}
    assert broken(ToolCalled("search"), {"calls": [bare]}).code == "BAD_ARGUMENTS"


def test_tool_offered_by_name_alone_takes_any_arguments() -> None:
    """A tool that is offered without a schema says nothing of its arguments; those of the claim still hold."""
    document = {"calls": [called(("search", {"q": 5}), request={"tools": ["search"]})]}
    assert ToolCalled("search").each(document) is None
    found = broken(ToolCalled("search", arguments=PARAMETERS), document)
    assert (found.decided, found.path, found.call) == (True, "$.calls[0].outcome.tool_calls[0].arguments.q", "call 1")
    assert ToolCalled("search", arguments={"type": "object"}).each(document) is None


def test_tool_offered_with_a_schema_that_is_none() -> None:
    """An offered schema that JSON Schema refuses is the app's fault, and is named."""
    offer = {"tools": [{"name": "search", "parameters": {"type": "nothing"}}]}
    found = broken(ToolCalled("search"), {"calls": [called(("search", {}), request=offer)]})
    assert (found.code, found.decided) == ("BAD_SCHEMA", False)


@pytest.mark.parametrize(
    ("count", "times", "expected"),
    [
        (None, 0, "at least 1 call of search"),
        (2, 1, "2 calls of search"),
        (0, 1, "0 calls of search"),
        ({"min": 2}, 1, "at least 2 calls of search"),
        ({"max": 1}, 2, "between 0 and 1 call of search"),
        ({"min": 2, "max": 3}, 4, "between 2 and 3 calls of search"),
    ],
)
def test_tool_calls_are_counted(count: Any, times: int, expected: str) -> None:
    """The number of calls is over all calls of the model, and decided also where there is none."""
    document = {"calls": [called(*[("search", {"q": "x"})] * times), called(), FAULT]}
    found = broken(ToolCalled("search", count=count), document)
    assert (found.expected, found.decided) == (expected, True)
    assert found.got == f"{times} call{'' if times == 1 else 's'} of search in 3 calls of the model"
    assert ToolCalled("search", count={"min": times, "max": times + 1}).each(document) is None


def test_tool_call_refuses_what_is_always_or_never_so() -> None:
    """No name, a schema that is none, and a count that is always or never so, are refused."""
    assert refused(lambda: ToolCalled("")).fields["field"] == "name"
    assert refused(lambda: ToolCalled("a", arguments={"tpye": "object"})).fields["field"] == "arguments"
    for count in (-1, {"min": 0}, {"min": 3, "max": 2}, {}, {"most": 1}, True):
        assert refused(lambda count=count: ToolCalled("a", count=count)).code == "WRONG_TYPE"


def test_arguments_that_are_no_schema_say_how_values_are_claimed() -> None:
    """Where no key is a word of JSON Schema the values were meant; a slip in a schema keeps its own hint."""
    with pytest.raises(UsageError, match='no keyword "q"') as caught:
        ToolCalled("search", {"q": "x"})
    assert caught.value.hint == 'arguments is a JSON Schema; to claim these values write {"properties": {"q": {"const": "x"}}}'
    with pytest.raises(UsageError) as slip:
        ToolCalled("search", {"type": "object", "requird": ["q"]})
    assert slip.value.hint == "did you mean required?"
