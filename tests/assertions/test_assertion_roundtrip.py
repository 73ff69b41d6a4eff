"""Every assertion comes back from its plain form: what a worker builds is what the supervisor read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.assertions import KEYS, build, claim_class

PATHS = st.sampled_from(["$", "$.output", "$.output.cites[*]", "$['odd key'][0]", "$..x"])
ONE = st.sampled_from(["$", "$.output", "$.input.n"])
FLAG = st.booleans()
WORD = st.sampled_from(["a", "sk-", "d1", "refund"])
WORDS = st.lists(WORD, min_size=1, max_size=3)
COUNT = st.integers(0, 9) | st.sampled_from([{"min": 1}, {"max": 3}, {"min": 1, "max": 1}])
NUMBER = st.integers(1, 9) | st.sampled_from([0.5, 2.0])
LITERAL = st.sampled_from([{"literal": "$5"}, {"literal": {"literal": 1}}, 5, None, True, "text", [1, "a"]])
PATTERN = st.fixed_dictionaries(
    {"a": WORD | NUMBER | ONE | st.just({"contains": "x"}) | st.just({"literal": "$5"}) | st.lists(NUMBER, max_size=2)},
    optional={"b": FLAG},
)
SET = st.sampled_from(["$.a[*]", "$.b", ["d1", 2, None], "d1", {"literal": "$5"}])
CLAIM = st.deferred(lambda: st.sampled_from(sorted(FIELDS)).flatmap(one))
INNER = st.sampled_from([{"calls": {"attempted": 1}}, {"not-unique": {"of": "$.a"}}, {"equals": {"of": "$.a", "to": {"literal": "$5"}}}])


def some(required: tuple[str, ...] = (), **fields: Any) -> st.SearchStrategy[Any]:
    """A mapping with these fields, all but the required ones optional."""
    given_ = {name.rstrip("_").replace("_", "-"): value for name, value in fields.items()}
    return st.fixed_dictionaries(
        {name: given_[name] for name in required}, optional={name: value for name, value in given_.items() if name not in required}
    )


RELATION = some(("of", "in"), of=PATHS, in_=SET, allow_empty=FLAG)
FIELDS = {
    "absent": some(("from", "any"), from_=PATHS, any=WORDS | ONE, pattern=WORD, allow_empty=FLAG),
    "before": some(("first", "then"), first=st.sampled_from(["call", {"kind": "effect", "name": "x"}]), then=st.just("row")),
    "between": some(("of", "min"), of=PATHS, min=st.integers(-9, 0), max=NUMBER | ONE, allow_empty=FLAG),
    "calls": some(("attempted",), attempted=COUNT, served=COUNT, failed=COUNT, cancelled=COUNT, refused=COUNT),
    "contains": some(("in", "all"), in_=PATHS, all=WORDS | ONE | st.just([1, {"a": 2}]), any=WORDS, pattern=WORD, allow_empty=FLAG),
    "cost": some(("max", "of"), of=PATHS, max=NUMBER),
    "count": some(("of", "exactly"), of=st.just("$.a[*]"), exactly=st.integers(0, 9)),
    "disjoint": RELATION,
    "distinct": some(("of", "at-least"), of=PATHS, at_least=st.integers(2, 99), allow_empty=FLAG),
    "each": some(("of", "expect"), of=PATHS, expect=st.lists(INNER, min_size=1, max_size=2), allow_empty=FLAG),
    "effects": some(("names",), names=st.lists(WORD, max_size=2), count=COUNT, every=PATTERN, allow_empty=FLAG),
    "equals": some(("of", "to"), of=st.just("$.a"), to=LITERAL | ONE),
    "fields": some(("of", "exactly"), of=PATHS, exactly=st.just(["a"]), optional=st.just(["b"])),
    "finish": some(("is",), is_=st.sampled_from(["stop", "length"]), call=st.sampled_from(["last", "all", 1])),
    "implies": some(("if", "then"), if_=st.lists(INNER, min_size=1, max_size=2), then=st.lists(INNER, min_size=1, max_size=2)),
    "is-json": some((), of=PATHS, scalar=FLAG),
    "latency": some(("max",), max=NUMBER),
    "ledger": some(("count",), count=COUNT, every=PATTERN, sum=st.fixed_dictionaries({"cost": NUMBER | ONE}), allow_empty=FLAG),
    "length": some(("of", "min"), of=PATHS, min=st.integers(1, 3), max=st.integers(3, 9) | ONE),
    "predicate": some(("function",), function=st.just("shop.rules:polite"), of=PATHS, allow_empty=FLAG),
    "raises": some(("type", "calls"), type=st.sampled_from(["E", "shop.E", ["E", "F"]]), calls=COUNT, match=WORD),
    "regex": some(("of", "pattern"), of=PATHS, pattern=WORD),
    "requests": some(("count",), count=COUNT, every=PATTERN, first=PATTERN, last=PATTERN, lane=WORD, allow_empty=FLAG),
    "same-across-runs": some(("of",), of=PATHS, allow_empty=FLAG),
    "same-set": RELATION,
    "schema": some(("of", "is"), of=PATHS, is_=st.sampled_from([{"type": "string"}, "shop.models:Answer"])),
    "script-used": some(),
    "sorted": some(("of",), of=PATHS, order=st.sampled_from(["asc", "desc"]), allow_empty=FLAG),
    "starts-with": some(("of", "text"), of=PATHS, text=WORD),
    "subset": RELATION,
    "sum": some(("of", "equals"), of=PATHS, equals=NUMBER),
    "superset": RELATION,
    "tokens": some(("max",), max=st.integers(1, 99)),
    "tool-call": some(("name",), name=WORD),
    "type": some(("of", "is"), of=PATHS, is_=st.sampled_from(["string", ["string", "null"]])),
    "unchanged": some(("probe",), probe=WORD),
    "unique": some(("of",), of=PATHS, allow_empty=FLAG),
    "waits": some(
        ("equals",), equals=st.lists(NUMBER, max_size=2), count=COUNT, min=st.just(0), max=NUMBER, total=NUMBER, allow_empty=FLAG
    ),
    "words": some(("of", "max"), of=PATHS, max=st.integers(1, 99)),
}


def one(key: str) -> st.SearchStrategy[Any]:
    """A mapping of one key, or its opposite where it has one."""
    keys = st.just(key) if claim_class(key).arity == "across" else st.sampled_from([key, f"not-{key}"])
    return st.tuples(keys, FIELDS[key]).map(lambda pair: {pair[0]: pair[1]})


def test_every_assertion_takes_part() -> None:
    """The law below leaves none out."""
    assert FIELDS.keys() == KEYS.keys()


@pytest.mark.parametrize("key", sorted(KEYS))
def test_plain_and_build_are_each_others_inverse(key: Any) -> None:
    """What `plain` gives is JSON, builds an equal claim, and says the same again; the one-line text has one line."""

    @given(one(key))
    def law(spelled: Any) -> None:
        claim = build(spelled)
        plain = {claim.key: claim.plain()}
        assert json.loads(json.dumps(plain)) == plain
        again = build(plain)
        assert again == claim
        assert {again.key: again.plain()} == plain
        assert plain[claim.key].keys() <= spelled[claim.key].keys()
        assert "\n" not in claim.describe()
        assert claim.describe().startswith(f"{claim.key}: ") or not plain[claim.key]

    law()
