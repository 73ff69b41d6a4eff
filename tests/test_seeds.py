"""Derived seeds: the same on every machine and for ever, and another for every label."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from invcheck.seeds import derive

labels = st.lists(st.integers() | st.text(st.characters(exclude_characters="/"), min_size=1), max_size=3)


def test_a_derived_seed_is_the_head_of_a_digest() -> None:
    """64 bits of sha256 over version, root and labels: anybody can compute it, so no release may move it."""
    expected = hashlib.sha256(b"invcheck/1/7/chance/2").hexdigest()[:16]
    assert derive(7, "chance", 2) == int(expected, 16)


@given(st.integers(), labels)
def test_roots_and_labels_make_another_seed(root: int, names: list[int | str]) -> None:
    """Equal parts give one seed in its 64 bits; another root or one more label gives another."""
    assert derive(root, *names) == derive(root, *names) < 2**64
    assert len({derive(root, *names), derive(root + 1, *names), derive(root, *names, "x")}) == 3


def test_a_lone_surrogate_has_a_seed_too() -> None:
    """A lane may be called anything that is text."""
    assert derive(0, "\ud800") != derive(0, "\ud801")
