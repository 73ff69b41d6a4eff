"""The one primitive: logged, replayed, keyed, and benign at 0."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.choices import WIDEST, ReplayChoices, ReplaySource, SeededChoices, SeededSource, Source
from invcheck.seeds import derive


@given(st.integers(0, 2**63), st.lists(st.integers(1, 40), max_size=20))
def test_a_replayed_log_gives_the_same_choices(seed: int, widths: list[int]) -> None:
    """Behaviour is a pure function of the log: what a seed chose, its log chooses again."""
    seeded = SeededSource(seed)
    chosen = [seeded.choose(n) for n in widths]
    assert all(0 <= value < n for value, n in zip(chosen, widths, strict=True))
    replayed = ReplaySource(seeded.log)
    assert [replayed.choose(n) for n in widths] == chosen
    assert (replayed.log, replayed.widths) == (seeded.log, [n for n in widths if n > 1])


@given(st.integers(0, 2**63), st.lists(st.sampled_from([0, 0.0, 1, 2.5]), min_size=1, max_size=6).filter(any))
def test_an_option_of_weight_zero_is_impossible(seed: int, weights: list[float]) -> None:
    """Weight 0 is never chosen, from a seed or from any log."""
    for source in (SeededSource(seed), ReplaySource([seed % 7])):
        assert weights[source.choose(len(weights), weights)] > 0


def test_a_forced_choice_is_not_logged() -> None:
    """One option, or one possible option, costs no choice."""
    source = SeededSource(1)
    assert (source.choose(1), source.choose(3, [0, 1, 0]), source.flag(0), source.flag(1)) == (0, 1, False, True)
    assert source.log == []


def test_only_the_promised_method_of_random_is_used() -> None:
    """A choice is ``int(Random(seed).random() * n)``: the one sequence that Python promises to keep."""
    expected = Random(5)
    source = SeededSource(5)
    assert [source.choose(n) for n in (2, 10, 1000)] == [int(expected.random() * n) for n in (2, 10, 1000)]


def test_weights_are_kept_in_proportion() -> None:
    """Of 4,000 draws at 3 to 1, three quarters are the first option, within five standard deviations (137)."""
    source = SeededSource(3)
    counts = Counter(source.choose(2, [3, 1]) for _ in range(4000))
    assert abs(counts[0] - 3000) < 137


@pytest.mark.parametrize("n", [0, -1, WIDEST + 1])
def test_a_choice_needs_an_option_and_fits_one_draw(n: int) -> None:
    """No option, or more than a draw's 53 bits tell apart, is refused."""
    with pytest.raises(ValueError, match="1 to 2"):
        SeededSource(0).choose(n)
    assert SeededSource(0).choose(WIDEST) < WIDEST


@pytest.mark.parametrize(("n", "weights"), [(2, [1]), (2, [1, -1]), (2, [0, 0]), (0, [])])
def test_weights_that_allow_nothing_are_refused(n: int, weights: list[float]) -> None:
    """As many weights as options, none below 0, one above it."""
    with pytest.raises(ValueError, match="weight"):
        SeededSource(0).choose(n, weights)


def test_a_log_that_is_short_or_too_high_stays_in_range() -> None:
    """What is missing from a log is the benign option, what is out of range the last one."""
    source = ReplaySource([9])
    assert [source.integer(5, 7), source.pick("abc"), source.flag(0.5)] == [7, "a", False]


def test_the_primitive_alone_draws_nothing() -> None:
    """Where choices come from is the business of a source."""
    with pytest.raises(NotImplementedError):
        Source().choose(2)


def test_a_call_has_its_own_sub_stream() -> None:
    """Streams are keyed by seed, lane, request and occurrence, and by nothing else: no order moves a draw."""
    one, other = SeededChoices(7), SeededChoices(7)
    keys = [(None, "aa", 0), ("writer", "aa", 0), (None, "bb", 0), (None, "aa", 1)]
    first = {key: one.open(*key).choose(WIDEST) for key in keys}
    assert {key: other.open(*key).choose(WIDEST) for key in reversed(keys)} == first
    assert len(set(first.values())) == 4
    assert first[None, "aa", 0] == int(Random(derive(7, "", "aa", 0)).random() * WIDEST)
    assert SeededChoices(8).open(None, "aa", 0).choose(WIDEST) != first[None, "aa", 0]
    assert one.log == [[first[key]] for key in keys]


def test_a_log_of_calls_is_replayed_in_order_and_benign_beyond() -> None:
    """Calls are replayed one by one; a call beyond the log chooses 0."""
    choices = ReplayChoices([[2], [1, 1]])
    drawn = [[source.choose(3), source.choose(3)] for source in (choices.open(None, "x", n) for n in range(3))]
    assert drawn == choices.log == [[2, 0], [1, 1], [0, 0]]
