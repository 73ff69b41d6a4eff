"""Every unit of the plan comes back, or the run is no verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from invcheck import _pipeline
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
