"""The -k expression."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.errors import UsageError
from invcheck.expression import keyword

NAME = "checks/qa.yaml::answers cite sources[Refund]"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("refund", True),
        ("REFUND", True),
        ("triage", False),
        ("not triage", True),
        ("not not refund", True),
        ("refund and cite", True),
        ("refund and triage", False),
        ("triage or cite", True),
        ("triage or quota", False),
        ("triage and quota or cite", True),
        ("cite or triage and quota", True),
        ("(cite or triage) and quota", False),
        ("not cite or refund", True),
        ("not (cite or refund)", False),
        ("'answers cite'", True),
        ('"cite answers"', False),
        ("'and'", False),
        ("qa.yaml::answers", True),
    ],
)
def test_a_keyword_expression_keeps_names_by_words(text: str, kept: bool) -> None:
    """Words are substrings whatever their case; not binds tighter than and, and tighter than or; quotes hold blanks."""
    assert keyword(text)(NAME) is kept


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ("", 0, "a word is missing"),
        ("a and", 5, "a word is missing"),
        ("and a", 0, "unexpected 'and'"),
        ("a b", 2, "unexpected 'b'"),
        ("(a", 0, "this parenthesis is not closed"),
        ("a)", 1, "unexpected ')'"),
        ("()", 1, "unexpected ')'"),
        ("a or 'b", 5, "this quote is not closed"),
    ],
)
def test_a_keyword_expression_that_cannot_be_read_is_refused_with_a_caret(text: str, column: int, what: str) -> None:
    """Whatever is no expression is a usage error that points at its place."""
    with pytest.raises(UsageError) as caught:
        keyword(text)
    assert caught.value.message == f"-k cannot be read: {what}\n    {text}\n    {' ' * column}^"
    assert (caught.value.code, caught.value.exit) == ("KEYWORD", 2)


WORDS = st.sampled_from(["refund", "cite", "triage", "quota"])
TREES = st.recursive(
    WORDS.map(lambda word: (word, word in NAME.lower())),
    lambda inner: st.one_of(
        inner.map(lambda a: (f"not ({a[0]})", not a[1])),
        st.tuples(inner, inner).map(lambda pair: (f"({pair[0][0]}) and ({pair[1][0]})", pair[0][1] and pair[1][1])),
        st.tuples(inner, inner).map(lambda pair: (f"({pair[0][0]}) or ({pair[1][0]})", pair[0][1] or pair[1][1])),
    ),
)


@given(TREES)
def test_a_keyword_expression_means_what_logic_says(tree: tuple[str, bool]) -> None:
    """Any nesting of and, or and not has its truth value from the words alone."""
    text, truth = tree
    assert keyword(text)(NAME) is truth
