"""The trial as a check sees it, driven here without the sandbox around it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from invcheck.record import Record, opened
from invcheck.resolve import resolve
from invcheck.sandbox import clock
from invcheck.trial import Trial, begin, close, end


@pytest.fixture
def made(tmp_path: Path) -> Iterator[tuple[Trial, Record]]:
    """A trial whose folder would stand at tmp/trial, and its record."""
    record = Record(5)
    record.clock = time = clock.make(record, None)
    with opened(record):
        trial = Trial(record, time, case="a", input={"ids": [1]}, folder=tmp_path / "trial", load=resolve)
        yield trial, record
        close(trial)


def test_the_folder_is_made_when_asked_for(made: tuple[Trial, Record], tmp_path: Path) -> None:
    """Nothing stands before; what an earlier trial left is gone; it is the same folder each time, and gone at the end."""
    trial, _ = made
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "left").write_text("x")
    assert trial.tmp == tmp_path / "trial"
    assert list(trial.tmp.iterdir()) == []
    (trial.tmp / "new").write_text("x")
    assert [path.name for path in trial.tmp.iterdir()] == ["new"]
    close(trial)
    assert list(tmp_path.iterdir()) == []


def test_an_unused_folder_is_not_made(made: tuple[Trial, Record], tmp_path: Path) -> None:
    """Most trials need none, and pay for none."""
    begin(made[0])
    end(made[0])
    close(made[0])
    assert list(tmp_path.iterdir()) == []


def test_the_rng_is_the_trials_own(made: tuple[Trial, Record]) -> None:
    """The same object each time; equal under the same seed, different under another."""
    trial, record = made
    again, other = (Trial(Record(seed), trial.clock, case="a", input=None, folder=Path("x"), load=resolve) for seed in (5, 6))
    assert trial.rng is trial.rng
    first = trial.rng.random()
    assert (again.rng.random() == first, other.rng.random() == first) == (True, False)
    assert trial.seed == record.seed == 5


def test_the_input_cannot_be_changed(made: tuple[Trial, Record]) -> None:
    """It is frozen to its depth."""
    with pytest.raises(TypeError):
        made[0].input["ids"].append(2)
    assert made[0].input == {"ids": [1]}


def test_waits_and_effects_are_in_one_order(made: tuple[Trial, Record]) -> None:
    """The journal holds effects, waits and rows as they happened; fields are snapshots."""
    trial, record = made
    begin(trial)
    seen = ["x"]
    trial.effect("sent", to=seen)
    seen.append("y")
    trial.ledger.append({"n": 1})
    trial.sleep(2)
    trial.wrap(seen.append)("z")
    end(trial)
    assert [entry["kind"] for entry in record.journal] == ["effect", "row", "wait", "effect"]
    assert record.effects == [{"name": "sent", "to": ["x"]}, {"name": "append", "args": ["z"]}]
    assert (record.waits, record.ledger, seen) == ([2.0], [{"n": 1}], ["x", "y", "z"])


class Nameless:
    """A callable without a name."""

    def __call__(self, **kwargs: int) -> dict[str, int]:
        return kwargs


@pytest.mark.parametrize(("name", "wanted"), [(None, "Nameless"), ("post", "post")])
def test_a_wrapped_callable_has_a_name(name: str | None, wanted: str, made: tuple[Trial, Record]) -> None:
    """The one given, else its own, else its type's; what it returns comes through, and no empty args are noted."""
    trial, record = made
    assert trial.wrap(Nameless(), name)(n=1) == {"n": 1}
    assert record.effects == [{"name": wanted, "n": 1}]


def test_probes_are_read_before_and_after(made: tuple[Trial, Record]) -> None:
    """One that was set before the app is read when it begins, one that is set later at once."""
    trial, _ = made
    state = ["a"]
    trial.probe("early", lambda: list(state))
    state.append("b")
    begin(trial)
    state.append("c")
    trial.probe("late", lambda: list(state))
    state.append("d")
    seen = end(trial)
    assert seen.problems == ()
    assert seen.probes == {
        "early": {"before": ["a", "b"], "after": ["a", "b", "c", "d"]},
        "late": {"before": ["a", "b", "c"], "after": ["a", "b", "c", "d"]},
    }


@pytest.mark.parametrize("late", [False, True])
def test_rows_that_stand_are_not_the_apps(late: bool, made: tuple[Trial, Record]) -> None:
    """A ledger that is watched before or while the app runs enters only what comes after."""
    trial, record = made
    rows: list[Any] = ["old"]
    if late:
        begin(trial)
    trial.watch_ledger(lambda: list(rows))
    if not late:
        begin(trial)
    rows.append("new")
    end(trial)
    assert record.ledger == ["new"]
    with pytest.raises(TypeError, match="no list to append to"):
        _ = trial.ledger


def test_what_cannot_be_read_at_the_end_is_told(made: tuple[Trial, Record], tmp_path: Path) -> None:
    """A ledger and a probe whose file went away: both are problems with their paths, and neither hides the other."""
    trial, _ = made
    (trial.tmp / "rows.jsonl").write_text('{"n": 1}\n')
    trial.watch_ledger({"jsonl": "rows.jsonl"})
    trial.probe("rows", {"jsonl": "rows.jsonl"})
    begin(trial)
    (trial.tmp / "rows.jsonl").unlink()
    seen = end(trial)
    assert [(what, path, problem.code) for what, path, problem in seen.problems] == [
        ("the ledger", "$.ledger", "PROBE_MISSING"),
        ("the probe 'rows'", "$.probes", "PROBE_MISSING"),
    ]
    assert seen.probes == {"rows": {"before": [{"n": 1}]}}
