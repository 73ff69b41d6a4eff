"""The planted answers, audited in one run: each is named with its axis and line, and what is clean is left alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.audits.conftest import Audited
from tests.audits.corpus import CLEAN, PLANTED, Planted

Findings = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def told(shared: Audited) -> tuple[int, Findings]:
    """What an audit of all of them tells."""
    shared.plant_answers([*(planted.function for planted in PLANTED), *CLEAN])
    return shared.findings("-j", "2")


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.function)
def test_a_planted_answer_is_named_with_its_axis(planted: Planted, told: tuple[int, Findings]) -> None:
    """There is one finding, AUDIT, of the axis that was written down before the run, and of no other."""
    (finding,) = told[1][planted.function]
    nothing = planted.axis == "uncontrolled"
    assert (finding["code"], finding["verdict"]) == ("AUDIT", "broken")
    assert finding["expected"] == ("the same each time" if nothing else f"the same whatever the {planted.axis} is")
    assert finding["message"].startswith("differs from run to run" if nothing else f"differs when the {planted.axis} changes; ")


@pytest.mark.parametrize("planted", [planted for planted in PLANTED if planted.line], ids=lambda planted: planted.function)
def test_a_planted_answer_is_named_with_its_line(planted: Planted, told: tuple[int, Findings]) -> None:
    """File and line are those where it comes in, and the message says them too."""
    (finding,) = told[1][planted.function]
    file, line = planted.place
    assert finding["place"] == [file, line, None]
    assert finding["message"].endswith(f" at {file}:{line}")


@pytest.mark.parametrize("function", CLEAN)
def test_a_clean_answer_is_left_alone(function: str, told: tuple[int, Findings]) -> None:
    """No false alarm, also where clock, randomness, identifiers and folder are read without an effect."""
    assert told[1][function] == []


def test_a_difference_is_a_broken_claim(told: tuple[int, Findings]) -> None:
    """Status 1."""
    assert told[0] == 1


def test_each_axis_is_planted_three_times() -> None:
    """Ten axes and what nothing holds still, three at least of each; 40 at least in all, and four clean ones."""
    counts = Counter(planted.axis for planted in PLANTED)
    assert len(counts) == 11
    assert min(counts.values()) >= 3
    assert (len(PLANTED) >= 40, len(CLEAN) >= 4) == (True, True)


PATHS = {
    "hashes:tags": ("$.output.tags", "iteration over a set at hashes.py:12"),
    "clocks:dated_prompt": ("$.calls[0].request.prompt", "reads the clock at clocks.py:22"),
    "entropies:request_id": ("$.calls[0].request.prompt", "makes a uuid at entropies.py:13"),
    "entropies:salted": ("$.ledger[0].salt", "draws from the system's entropy at entropies.py:27"),
    "randoms:jitter": ("$.waits[0]", "draws from the generator that everybody shares at randoms.py:19"),
    "hashes:bucket": ("$.output.bucket", "hash() of a text at hashes.py:23"),
    "hashes:popped": ("$.output.chosen", "takes one out of a set at hashes.py:34"),
}


@pytest.mark.parametrize("function", PATHS)
def test_the_place_that_differs_is_named_with_words_for_the_line(function: str, told: tuple[int, Findings]) -> None:
    """The span is a path of the observation, and the line is put into words."""
    (finding,) = told[1][function]
    path, words = PATHS[function]
    assert finding["path"] == path
    assert finding["message"].endswith(f"; {words}")


def test_no_folder_of_this_machine_is_told(told: tuple[int, Findings], shared: Audited) -> None:
    """The project and the folder in which the app ran elsewhere are called so."""
    assert told[1]["folders:working"][0]["got"] == '"<project>", then "<elsewhere>"'
    assert str(shared.root) not in str(told[1])
    assert "/invcheck-" not in str(told[1])


def test_nothing_of_an_audit_is_left(told: tuple[int, Findings], shared: Audited) -> None:
    """The project holds what it held, what the app wrote itself aside."""
    left = {path.name for path in shared.root.iterdir()} - {"__pycache__", ".invcheck", "checks", "told.jsonl"}
    assert left == {path.name for path in (Path(__file__).parent / "planted").iterdir()} - {"__pycache__"}
