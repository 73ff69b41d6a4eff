"""The generated function: shared lookups, loops, nested bodies, and False for whatever it cannot decide."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import Claim, Selector
from invcheck.assertions.fuse import Fuser, fuse
from invcheck.paths import compile_path
from invcheck.vocabulary import Json

KEYS = ["a", "b c", "where", "答"]
scalars = st.sampled_from([None, True, 0, 1, 1.5, "x", ""])
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3), max_leaves=12
)
steps = st.sampled_from([".a", "['b c']", "['答']", ".where", "[0]", "[-1]", "[*]"])
simple = st.lists(steps, max_size=4).map(lambda parts: "$" + "".join(parts))


class Truthy(Claim):
    """A claim of the tests: every selected value is true; fused through the fuser's own loops."""

    key = "truthy"
    of: Selector
    allow_empty: bool = False

    def each(self, document: Json) -> Break | None:
        found = self.path().values(document)
        return None if all(found) and (found or self.allow_empty) else Break(self.of.text, "true values", repr(found))

    def fuse(self, fuser: Fuser) -> bool:
        loop = fuser.each(self.path(), allow_empty=self.allow_empty)
        if loop is None:
            return False
        body, name = loop
        body.require(name)
        return True


class Plain(Truthy):
    """The same without a fused form, though it has begun to write one."""

    def fuse(self, fuser: Fuser) -> bool:
        fuser.require("False")
        fuser.lookup(("never",))
        return False


@given(st.lists(st.builds(Truthy, simple, allow_empty=st.booleans()) | st.builds(Plain, simple), max_size=3), documents)
def test_true_only_where_every_claim_is_kept(claims: list[Claim], document: Any) -> None:
    """The fused function never says kept where one of its claims does not."""
    kept, others = fuse(claims)
    assert all(isinstance(claim, Plain) or ".." in claim.path().text for claim in others)
    if kept(document):
        assert all(claim.each(document) is None for claim in claims if claim not in others)


@given(simple, documents)
def test_it_is_no_dead_end(text: str, document: Any) -> None:
    """A selection without gaps is decided: where every list on the way is full and every member there, kept is kept."""
    claim = Truthy(text)
    found = compile_path(text).values(document)
    if "[*]" not in text and found and all(found):
        assert fuse([claim])[0](document)


def test_lookups_are_shared() -> None:
    """Two claims below one place walk to it once, and one test is written once."""
    fuser = Fuser()
    for text in ("$.a.b", "$.a.c", "$.a.b"):
        assert fuser.claim(Truthy(text))
    assert fuser.lines == [
        "v1 = document['a']",
        "v2 = v1['b']",
        "if not (v2): return False",
        "v3 = v1['c']",
        "if not (v3): return False",
    ]


def test_a_claim_without_a_fused_form_is_given_back() -> None:
    """What it had begun to write is taken back, lookups and tests too."""
    fuser = Fuser()
    assert not fuser.claim(Plain("$.a"))
    assert fuser.lines == []
    fuser.require("False")
    assert fuser.lines[-1] == "if not (False): return False"
    kept, others = fuse([Plain("$.a"), Truthy("$.a")])
    assert others == [Plain("$.a")]
    assert (kept({"a": 1}), kept({"a": 0}), kept({})) == (True, False, False)


def test_value_and_values_know_their_paths() -> None:
    """One value for a singular path, a list for a path that ends in its only wildcard, None for all others."""
    fuser = Fuser()
    assert fuser.value(compile_path("$")) == "document"
    assert fuser.value(compile_path("$.a")) == "v1"
    for text in ("$.a[*]", "$..a"):
        assert fuser.value(compile_path(text)) is None
    assert fuser.values(compile_path("$.a[*]")) == "v1"
    assert fuser.values(compile_path("$[*]")) == "document"
    for text in ("$.a", "$.a[*].b", "$.a[*][*]", "$..a"):
        assert fuser.values(compile_path(text)) is None
    assert fuser.each(compile_path("$..a")) is None


@pytest.mark.parametrize(
    ("text", "document", "kept"),
    [
        ("$.a[*].b[*]", {"a": [{"b": [1, 1]}, {"b": [1]}]}, True),
        ("$.a[*].b[*]", {"a": [{"b": [1, 0]}, {"b": [1]}]}, False),
        ("$.a[*].b[*]", {"a": [{"b": []}]}, False),
        ("$.a[*].b[*]", {"a": [{}]}, False),
        ("$.a[*]", {"a": {"b": 1}}, False),
        ("$.a[-1]", {"a": [0, 1]}, True),
        ("$.a[2]", {"a": [1]}, False),
        ("$.a[0]", {"a": "text"}, False),
        ("$.a.b", {"a": "text"}, False),
        ("$['it\\'s'][0]", {"it's": [1]}, True),
    ],
)
def test_loops_by_hand(text: str, document: Any, kept: bool) -> None:
    """Nested loops see every value; a gap, an empty list and another type are left to the claim itself."""
    assert fuse([Truthy(text)])[0](document) is kept


def test_texts_are_asked_once() -> None:
    """That a list holds only text is written once for each list."""
    fuser = Fuser()
    for text in ("$.a[*]", "$.a[*]", "$.b[*]"):
        name = fuser.values(compile_path(text))
        assert name
        fuser.texts(name)
    assert sum("is not str" in line for line in fuser.lines) == 2


def test_lines_may_come_first() -> None:
    """What is written before the claims is part of the answer."""
    kept, _ = fuse([Truthy("$.a")], lambda fuser: fuser.require('document["b"]'))
    assert (kept({"a": 1, "b": 1}), kept({"a": 1, "b": 0}), kept({"a": 1})) == (True, False, False)


@pytest.mark.parametrize("error", [ValueError, SystemExit, RecursionError])
def test_whatever_is_raised_is_false(error: type[BaseException]) -> None:
    """A document that raises where it is looked into is not kept; it is told when claims are judged alone."""

    class Frail(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise error

    assert not fuse([Truthy("$.a")])[0](Frail(a=1))


def test_users_texts_enter_as_constants() -> None:
    """No text of a user's becomes code, whatever it holds."""
    text = "a'] or [1][0]) or (document['x"
    assert not fuse([Truthy("$['" + text.replace("'", "\\'") + "']")])[0]({"a": 1, "x": 1})
    assert fuse([Truthy("$['" + text.replace("'", "\\'") + "']")])[0]({text: 1})
