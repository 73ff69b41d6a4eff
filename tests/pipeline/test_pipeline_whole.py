"""Every unit of the plan comes back, or the run is no verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from invcheck import _pipeline, _trial
from invcheck.engines import confined
from invcheck.errors import Unevaluated
from invcheck.events import RunOptions

CHECK = "checks: [{check: a, app: 'shop:echo', cases: [{id: one, input: x}, {id: two, input: y}], expect: [{calls: 0}]}]\n"


@pytest.mark.parametrize(("do", "lost"), [("prepare", 0), ("case", 0), ("case", 1), ("collect", 0)])
def test_an_answer_that_is_lost_is_no_pass(do: str, lost: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever loses it: Unevaluated, never a summary of fewer cases."""
    (tmp_path / "checks").mkdir()
    (tmp_path / "shop.py").write_text("def echo(word):\n    return word\n", "utf-8")
    (tmp_path / "checks/a.yaml").write_text(CHECK, "utf-8")
    (tmp_path / "checks/check_b.py").write_text("import invcheck\n\n\n@invcheck.check()\ndef b(trial):\n    assert trial\n", "utf-8")
    real = confined.Pool.run

    def losing(self: confined.Pool, tasks: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        given = list(tasks)
        for index, message in real(self, given):
            if given[index]["do"] != do or index != lost:
                yield index, message

    monkeypatch.setattr(confined.Pool, "run", losing)
    with pytest.raises(Unevaluated, match="did not come back"):
        _pipeline.run(RunOptions(root=tmp_path), lambda event: None)


@pytest.mark.parametrize("stage", [_pipeline.prepare, _pipeline.run_trials])
def test_a_stage_without_a_plan_is_no_run_of_nothing(stage: Callable[[Any], None], tmp_path: Path) -> None:
    """Whoever calls it too early is told so."""
    course: Any = _pipeline.Course(RunOptions(tmp_path), lambda _event: None, None)  # type: ignore[arg-type]  # no worker is asked
    with pytest.raises(Unevaluated, match="no plan was made before it was needed") as caught:
        stage(course)
    assert caught.value.code == "INTERNAL"


def test_tokens_that_a_provider_does_not_say_count_for_nothing() -> None:
    """They are added over the calls that were served, whatever the others say."""
    used: list[Any] = [
        {"state": "served", "outcome": {"usage": {"input_tokens": 3, "output_tokens": None}}},
        {"state": "served", "outcome": {"usage": {"input_tokens": 4, "output_tokens": 2, "reasoning_output_tokens": 1}}},
        {"state": "served", "outcome": {"text": "no usage"}},
        {"state": "failed", "outcome": {"usage": {"input_tokens": 50}}},
    ]
    assert _trial._usage(used) == {"input_tokens": 7, "output_tokens": 2, "reasoning_output_tokens": 1}
