"""Results as plain JSON and back."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from invcheck import results
from invcheck.vocabulary import Finding, Place, Result, Verdict

places = st.none() | st.builds(Place, st.text(min_size=1), st.none() | st.integers(1, 99), st.none() | st.integers(1, 99))
texts = st.none() | st.text(max_size=9)
findings = st.builds(
    Finding,
    st.text(min_size=1),
    st.sampled_from(Verdict),
    st.text(),
    claim=texts,
    path=texts,
    expected=texts,
    got=texts,
    call=texts,
    place=places,
    hint=texts,
    seed=st.none() | st.integers(0, 9),
    count=st.integers(1, 9),
)
whole = st.builds(
    Result,
    st.text(),
    st.text(),
    st.builds(Place, st.text(min_size=1)),
    st.integers(0, 9),
    st.integers(1, 9),
    st.dictionaries(st.sampled_from([verdict.value for verdict in Verdict]), st.integers(0, 9)),
    st.sampled_from(Verdict),
    st.lists(findings, max_size=3).map(tuple),
    tags=st.lists(st.text(), max_size=2).map(tuple),
    distinct=st.none() | st.integers(0, 9),
)


@given(whole)
def test_a_result_survives_the_wire(result: Result) -> None:
    """Plain, through a JSON text, and built again it is the same result."""
    assert results.build(json.loads(json.dumps(results.plain(result)))) == result


def test_a_finding_says_only_what_it_knows() -> None:
    """What is None is left out of a finding's plain form."""
    plain = results.plain_finding(Finding("EQUALS", Verdict.BROKEN, "no", place=Place("a.yaml", 3), seed=0))
    assert plain == {"code": "EQUALS", "verdict": "broken", "message": "no", "place": ["a.yaml", 3, None], "seed": 0, "count": 1}
