"""From a check file's mapping to a claim and back, and what is said of a mapping that does not fit."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest

import invcheck.assertions
from invcheck.assertions import KEYS, Calls, Contains, Each, Implies, Not, Subset, build, claim_class, effects, invariants
from invcheck.assertions.claim import Claim, hints, spelling
from invcheck.assertions.examples import EXAMPLES, hint
from invcheck.errors import PathError, UsageError

DESIGN = {
    "structure": "schema fields is-json type equals regex starts-with finish tool-call",
    "ranges": "between length count words sum tokens cost latency",
    "invariants": "subset superset same-set disjoint unique sorted contains absent each implies before same-across-runs distinct predicate",
    "effects": "calls waits ledger effects unchanged requests script-used raises",
}


def test_every_assertion_of_the_design_is_registered() -> None:
    """The registry holds the design's vocabulary, each word in its family, and nothing else."""
    families = {key: module.partition(".")[0] for key, (module, _) in KEYS.items()}
    assert families == {key: family for family, keys in DESIGN.items() for key in keys.split()}


def test_every_assertion_has_its_examples() -> None:
    """What is written wrongly is told how it is written, whichever it is."""
    assert EXAMPLES.keys() == KEYS.keys()
    assert hint("not-unchanged") == "such as unchanged: quota"


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_class_has_the_key_it_is_registered_by(key: Any) -> None:
    """The registry's literals agree with the classes, whose fields have types that can be resolved."""
    kind = claim_class(key)
    assert kind.key == key
    assert kind.__name__ == KEYS[key][1]
    assert set(hints(kind)) == set(kind._fields)
    assert kind.shorthand is None or kind.shorthand in kind._fields
    assert kind.arity in ("each", "across")
    assert kind.__doc__ is not None


ODD: list[Any] = [[1], ["$.a"], {"a": 1}, {"a": [{}]}, None, True, 1.5, -1, "$[", [], {}, [[1]], {"length-of": [1]}, {"literal": [1]}]


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_field_takes_a_value_or_says_why_not(key: Any) -> None:
    """Whatever stands at a field of a check file, the assertion is built or UsageError raised: no other error ends a run."""
    kind = claim_class(key)
    for name, odd, word in ((name, odd, word) for name in kind._fields for odd in ODD for word in (key, f"not-{key}")):
        fields = {spelling(each): "$.a" for each in kind.required()} | {spelling(name): odd}
        for value in (fields, odd):
            with suppress(UsageError):
                build({word: value})


def test_a_path_field_says_that_a_list_is_no_path() -> None:
    """A list or a mapping where a path belongs is of the wrong type, at that field."""
    for wrong in ([1], {"a": 1}):
        with pytest.raises(UsageError, match="a JSONPath is text, got") as told:
            build({"unique": {"of": wrong}})
        assert (told.value.code, told.value.fields["at"]) == ("WRONG_TYPE", ("unique", "of"))


def test_exports_are_sorted_and_complete() -> None:
    """Every registered class, and the two functions, can be imported from the package."""
    names = invcheck.assertions.__all__
    assert names == sorted(names, key=lambda name: (not name.isupper(), name))
    assert set(names) == {"KEYS", "Claim", "Not", "build", "claim_class"} | {name for _, name in KEYS.values()}
    assert all(getattr(invcheck.assertions, name) for name in names)
    assert dir(invcheck.assertions) == sorted(names)


@pytest.mark.parametrize("module", ["invcheck.assertions", "invcheck.assertions.invariants", "invcheck.assertions.effects"])
def test_an_unknown_name_is_an_attribute_error(module: Any) -> None:
    """A name that no assertion has is refused as of any module, and a family gives its own classes only."""
    space = __import__(module, fromlist=["x"])
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'Subsett'"):
        _ = space.Subsett
    with pytest.raises(AttributeError):
        _ = __import__("invcheck.assertions.invariants", fromlist=["x"]).Calls


def test_a_family_gives_its_own_classes() -> None:
    """A class can be imported from its family too."""
    assert invariants.Subset is Subset
    assert effects.Calls is Calls


def test_importing_the_package_loads_no_family() -> None:
    """A check pays for the families that it uses: the registry is literals."""
    code = "import sys, invcheck.assertions; print(sorted(m for m in sys.modules if m.startswith('invcheck.assertions.')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['invcheck.assertions.registry']"


@pytest.mark.parametrize(
    ("plain", "same"),
    [
        ({"calls": 1}, {"calls": {"attempted": 1}}),
        ({"calls": {"max": 3}}, {"calls": {"attempted": {"max": 3}}}),
        ({"calls": {"attempted": {"min": 1, "max": 3}}}, {"calls": {"attempted": {"min": 1, "max": 3}}}),
        ({"waits": [0.5, 1]}, {"waits": {"equals": [0.5, 1]}}),
        ({"ledger": {"min": 1}}, {"ledger": {"count": {"min": 1}}}),
        ({"ledger": {}}, None),
        ({"unique": "$.a"}, {"unique": {"of": "$.a"}}),
        ({"unchanged": "quota"}, {"unchanged": {"probe": "quota"}}),
        ({"effects": []}, {"effects": {"names": []}}),
        ({"requests": 2}, {"requests": {"count": 2}}),
        ({"script-used": None}, {"script-used": {}}),
        ("script-used", {"script-used": {}}),
        ("not-script-used", {"not-script-used": {}}),
        ({"same-across-runs": "$.ledger"}, {"same-across-runs": {"of": "$.ledger"}}),
        ({"distinct": {"of": "$.a", "at-least": 2, "allow-empty": True}}, {"distinct": {"of": "$.a", "at-least": 2, "allow-empty": True}}),
        ({"not-subset": {"of": "$.a[*]", "in": ["x"]}}, {"not-subset": {"of": "$.a[*]", "in": ["x"]}}),
        ({"contains": {"in": "$.a", "any": {"literal": "$5"}}}, {"contains": {"in": "$.a", "any": {"literal": "$5"}}}),
        (
            {"each": {"of": "$.a[*]", "expect": {"unique": "$.b"}}},
            {"each": {"of": "$.a[*]", "expect": [{"unique": {"of": "$.b"}}]}},
        ),
        (
            {"implies": {"if": [{"calls": 1}, {"not-unique": "$.a"}], "then": {"effects": ["x"]}}},
            {"implies": {"if": [{"calls": {"attempted": 1}}, {"not-unique": {"of": "$.a"}}], "then": [{"effects": {"names": ["x"]}}]}},
        ),
    ],
)
def test_a_mapping_becomes_a_claim(plain: Any, same: Any) -> None:
    """Shorthand, negation, nested claims and hyphens mean what the long form says, and the long form comes back."""
    if same is None:
        with pytest.raises(UsageError, match="say at least one of"):
            build(plain)
        return
    claim = build(plain)
    assert isinstance(claim, Claim)
    assert {claim.key: claim.plain()} == same
    assert build(same) == claim
    assert hash(build(same)) == hash(claim)


def test_classes_are_what_the_mapping_spells() -> None:
    """Both spellings give equal claims."""
    assert build({"subset": {"of": "$.a[*]", "in": "$.b[*]"}}) == Subset("$.a[*]", "$.b[*]")
    assert build({"not-contains": {"in": "$.a", "any": ["x"]}}) == Not(Contains("$.a", any=["x"]))
    assert build({"each": {"of": "$.a", "expect": {"unique": "$.b"}}}) == Each("$.a", claim_class("unique")("$.b"))
    assert build({"implies": {"if": {"calls": 1}, "then": {"calls": 1}}}) == Implies(if_=[Calls(1)], then=[Calls(1)])
    assert Calls(1) != Calls(2)
    assert Calls(1) != Not(Calls(1))


@pytest.mark.parametrize(
    ("plain", "code", "at", "says", "hint"),
    [
        ({"subsett": {}}, "UNKNOWN_ASSERTION", ("subsett",), "there is no assertion 'subsett'", "did you mean subset?"),
        ({"not-subsett": {}}, "UNKNOWN_ASSERTION", ("not-subsett",), "there is no assertion 'not-subsett'", "did you mean not-subset?"),
        ({"same_across_runs": "$"}, "UNKNOWN_ASSERTION", ("same_across_runs",), "no assertion", "did you mean same-across-runs?"),
        ("zzz", "UNKNOWN_ASSERTION", ("zzz",), "there is no assertion 'zzz'", "known: absent, before"),
        ({"not-not-calls": 1}, "UNKNOWN_ASSERTION", ("not-not-calls",), "no assertion", "did you mean not-calls?"),
        ({}, "WRONG_TYPE", (), "a mapping of one key, such as calls: 1; got {}", None),
        (7, "WRONG_TYPE", (), "a mapping of one key, such as calls: 1; got 7", None),
        ({1: 2}, "WRONG_TYPE", (), "got keys 1", None),
        ({"calls": 1, "waits": []}, "WRONG_TYPE", (), "got keys calls, waits", None),
        ({"subset": {"of": "$.a", "inn": "$.b"}}, "UNKNOWN_KEY", ("subset", "inn"), "subset has no field 'inn'", "did you mean in?"),
        ({"script-used": {"zzz": 1}}, "UNKNOWN_KEY", ("script-used", "zzz"), "script-used has no field 'zzz'", None),
        ({"subset": {"of": "$.a"}}, "MISSING_KEY", ("subset",), "subset needs in", None),
        ({"subset": ["$.a"]}, "WRONG_TYPE", ("subset",), "subset needs a mapping of of, in, allow-empty, got ['$.a']", None),
        ({"script-used": 1}, "WRONG_TYPE", ("script-used",), "script-used needs a mapping of nothing, got 1", None),
        ({"unique": "a"}, "PATH_UNSUPPORTED", ("unique",), "", None),
        ({"unique": {"of": 5}}, "WRONG_TYPE", ("unique", "of"), "", None),
        ({"subset": {"of": "$.a[", "in": "$.b"}}, "PATH_UNSUPPORTED", ("subset", "of"), "", None),
        ({"subset": {"of": "$.a", "in": "$.b["}}, "PATH_UNSUPPORTED", ("subset", "in"), "", None),
        ({"calls": "1"}, "WRONG_TYPE", ("calls",), 'calls: attempted must be a whole number from 0 or {min, max}, got "1"', None),
        ({"calls": True}, "WRONG_TYPE", ("calls",), "got true", None),
        ({"calls": {"min": 0}}, "WRONG_TYPE", ("calls",), 'got {"min": 0}', None),
        ({"calls": {"served": -1}}, "WRONG_TYPE", ("calls", "served"), "calls: served must be", None),
        ({"distinct": {"of": "$.a", "at-least": "9"}}, "WRONG_TYPE", ("distinct", "at-least"), "at-least must be a whole number", None),
        ({"sorted": {"of": "$.a", "order": "up"}}, "WRONG_TYPE", ("sorted", "order"), 'order must be asc or desc, got "up"', None),
        ({"unique": {"of": "$.a", "allow-empty": 1}}, "WRONG_TYPE", ("unique", "allow-empty"), "must be true or false, got 1", None),
        ({"not-distinct": {"of": "$.a", "at-least": 2}}, "ASSERTION_INVALID", ("not-distinct",), "not-distinct does not exist", None),
        ({"each": {"of": "$.a", "expect": []}}, "WRONG_TYPE", ("each", "expect"), "one or more assertions are needed", None),
        ({"each": {"of": "$.a", "expect": 5}}, "WRONG_TYPE", ("each", "expect"), "a mapping of one key", None),
        (
            {"each": {"of": "$.a", "expect": {"distinct": {"of": "$.a", "at-least": 2}}}},
            "ASSERTION_INVALID",
            ("each", "expect"),
            "distinct is a claim over all runs of a case",
            None,
        ),
        (
            {"each": {"of": "$.a", "expect": [{"calls": 1}, {"subset": {"of": "$.x", "in": "$.b["}}]}},
            "PATH_UNSUPPORTED",
            ("each", "expect", 1, "subset", "in"),
            "",
            None,
        ),
        (
            {"implies": {"if": {"each": {"of": "$.a", "expect": {"uniqe": "$"}}}, "then": {"calls": 1}}},
            "UNKNOWN_ASSERTION",
            ("implies", "if", "each", "expect", "uniqe"),
            "there is no assertion 'uniqe'",
            "did you mean unique?",
        ),
    ],
)
def test_what_does_not_fit_says_where_and_what_was_meant(plain: Any, code: Any, at: Any, says: Any, hint: Any) -> None:
    """Each mistake has its code, the way of keys to it, and a hint where a near word is known."""
    with pytest.raises(UsageError) as caught:
        build(plain)
    error = caught.value
    assert error.code == code
    assert error.fields["at"] == at
    assert says in error.message
    assert hint is None or (error.hint or "").startswith(hint)


def test_a_path_error_keeps_its_column() -> None:
    """The column in the path's own text is kept beside the way of keys."""
    with pytest.raises(PathError) as caught:
        build({"subset": {"of": "$.a", "in": "$.b["}})
    assert caught.value.fields["column"] == 5
