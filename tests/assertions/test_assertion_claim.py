"""What all claims share: binding of fields, freezing, equality, one-line texts, negation."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck import paths
from invcheck.assertions import Calls, Contains, Distinct, Each, Not, ScriptUsed, Subset, Unique
from invcheck.assertions.breaks import Break, nothing, wrong_type
from invcheck.assertions.claim import Claim, inner
from invcheck.assertions.fitting import fits, worded
from invcheck.assertions.spelling import plain_value, spelling
from invcheck.assertions.values import all_keep, over
from invcheck.errors import UsageError


def test_fields_bind_by_position_and_by_name() -> None:
    """Positional order is the order of the fields; a path is compiled, an operand read."""
    claim = Subset("$.a[*]", in_=["x"])
    assert claim.of == paths.compile_path("$.a[*]")
    assert claim.in_ == paths.Literal(["x"])
    assert claim.allow_empty is False
    assert claim.path("of").text == "$.a[*]"


@pytest.mark.parametrize(
    ("make", "code", "says"),
    [
        (lambda: Subset("$.a"), "MISSING_KEY", "subset needs in"),
        (lambda: Unique("$.a", True, 3), "UNKNOWN_KEY", "Unique takes at most 2 values, got 3"),
        (lambda: Unique("$.a", off=1), "UNKNOWN_KEY", "Unique has no field 'off'"),
        (lambda: Unique("$.a", of="$.b"), "UNKNOWN_KEY", "Unique: of is given twice"),
        (lambda: Each("$.a", "calls"), "WRONG_TYPE", "one or more assertions are needed, got 'calls'"),
        (lambda: Not(Distinct("$.a", 2)), "ASSERTION_INVALID", "not-distinct does not exist"),
        (lambda: Not(Not(Calls(1))), "ASSERTION_INVALID", "not-not-calls does not exist"),
    ],
)
def test_what_cannot_be_bound_is_refused_at_construction(make: Any, code: Any, says: Any) -> None:
    """A claim that is written wrongly never gets as far as a trial."""
    with pytest.raises(UsageError) as caught:
        make()
    assert caught.value.code == code
    assert says in caught.value.message


def test_a_claim_is_frozen_and_shows_its_fields() -> None:
    """Claims are values: no field can be set, equal fields make equal claims with equal hashes."""
    claim = Unique("$.a")
    with pytest.raises(AttributeError, match="Unique is frozen"):
        claim.of = "$.b"
    assert repr(ScriptUsed()) == "ScriptUsed()"
    assert "allow_empty=False" in repr(claim)
    assert claim == Unique("$.a", allow_empty=False)
    assert len({claim, Unique("$.a"), Unique("$.b")}) == 2


def test_a_claim_in_one_line() -> None:
    """A shorthand alone is shown bare, other fields by name, as a check file spells them."""
    assert Calls(1).describe() == "calls: 1"
    assert Unique("$.a").describe() == "unique: $.a"
    assert Subset("$.a[*]", ["x"], allow_empty=True).describe() == 'subset: of=$.a[*] in=["x"] allow-empty=true'
    assert Not(Calls(1)).describe() == "not-calls: attempted=1"


def test_a_base_claim_answers_nothing() -> None:
    """What a subclass does not write is an error, not an answer; there is no fused form unless one is written."""

    class Empty(Claim):
        key = "empty"

    for asked in (lambda: Empty().each({}), lambda: Empty().take({}), lambda: Empty().across([])):
        with pytest.raises(NotImplementedError):
            asked()
    assert Empty().fuse(None) is False
    assert Empty().reads() == ()


def test_not_turns_what_could_be_decided() -> None:
    """Kept becomes broken, broken kept; an undecided break stays as it is."""
    claim = Not(Contains("$.a", any=["x"]))
    broken = claim.each({"a": "x"})
    assert (broken.path, broken.expected, broken.got) == ("$.a", 'not contains: in=$.a any=["x"]', "it holds")
    assert claim.each({"a": "y"}) is None
    assert claim.each({}).code == "EMPTY_SELECTION"
    assert claim.each({"a": 5}).code == "WRONG_TYPE"
    assert claim.reads() == (paths.compile_path("$.a"),)
    assert claim.plain() == {"in": "$.a", "any": ["x"]}


def test_not_of_a_claim_that_reads_nothing_has_no_place() -> None:
    """A claim without a path cannot say where it holds."""

    class Always(Claim):
        key = "always"

        def each(self, document: Any) -> None:
            return None

    assert Not(Always()).each({}).path is None


def test_all_values_are_judged_and_the_undecided_speaks_first() -> None:
    """The first break speaks, unless a later value could not be judged at all."""
    path = paths.compile_path("$[*]")

    def small(match: Any) -> Any:
        if isinstance(match.value, str):
            return wrong_type(match.path, "number", match.value)
        return Break(match.path, "small", str(match.value)) if match.value > 9 else None

    for document, where in (([1, 2], None), ([1, 10, 11], "$[1]"), ([10, "a", 11], "$[1]")):
        found = all_keep(over(path, document, small, allow_empty=False))
        assert (found and found.path) == where
    assert all_keep(over(path, [], small, allow_empty=False)).code == "EMPTY_SELECTION"
    assert all_keep(over(path, [], small, allow_empty=True)) is None


def test_breaks_about_nothing_and_types_are_undecided() -> None:
    """Neither is a decision, so `not-` cannot turn them."""
    assert not nothing(paths.compile_path("$.a")).decided
    broken = wrong_type("$.a", "number", "5")
    assert (broken.decided, broken.got) == (False, 'string "5"')


def test_spellings() -> None:
    """Python's names become a check file's; a literal that looks like a path keeps its own spelling."""
    assert [spelling(name) for name in ("if_", "from_", "at_least", "of")] == ["if", "from", "at-least", "of"]
    assert plain_value(paths.Literal("$5")) == {"literal": "$5"}
    assert plain_value(paths.Literal({"literal": 1})) == {"literal": {"literal": 1}}
    assert plain_value(paths.Literal("x")) == "x"
    assert plain_value({"a": (paths.compile_path("$.b"),)}) == {"a": ["$.b"]}
    assert inner(Calls(1)) == (Calls(1),)


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        ("bool", [True, False], [0, 1, "true", None]),
        ("int | None", [0, -1, None], [True, 1.0, "1"]),
        ("float", [0, 1.5], [True, "1", float("inf")]),
        ("str", ["", "a"], [None, 1]),
        ("list[str]", [[], ["a"], ("a",)], [["a", 1], "a", {"a": 1}]),
        ("Sequence", [[1]], [1]),
        ("dict[str, int]", [{}, {"a": 1}], [{"a": "1"}, {1: 1}, []]),
        ("Mapping", [{"a": []}], [[]]),
        ("dict[str, list[int]]", [{"a": [1]}], [{"a": 1}]),
        ("Literal['a', 3]", ["a", 3], ["b", "3", 3.0]),
        (
            "Amount",
            [0, 3, {"min": 1}, {"max": 0}, {"min": 1, "max": 1}],
            [-1, True, {}, {"min": 0}, {"min": 2, "max": 1}, {"most": 1}, {"min": "1"}],
        ),
        ("Whatever", [1, None, object()], []),
    ],
)
def test_values_are_held_to_the_types_of_fields(annotation: Any, good: Any, bad: Any) -> None:
    """Strict: a boolean is no number, text is no number, a range is neither crossed nor everything."""
    assert all(fits(annotation, value) for value in good)
    assert not any(fits(annotation, value) for value in bad)


def test_types_are_worded_for_people() -> None:
    """The message names types as a writer of YAML knows them."""
    assert worded("bool") == "true or false"
    assert worded("list[int] | Amount | None") == "a list of whole number or a whole number from 0 or {min, max}"
    assert worded("dict[str, Json] | list") == "a mapping or a list"
    assert worded("Thing") == "Thing"
