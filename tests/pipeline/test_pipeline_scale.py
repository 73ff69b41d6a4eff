"""What a run costs grows with its cases, not with their square; and what of a plan tells its shards apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from invcheck import _collect, _pipeline, _plan
from invcheck.canonical import packed
from invcheck.events import RunOptions
from tests.pipeline.conftest import Shop

YAML = "check: many\napp: shop:answer\ncases: {jsonl: rows.jsonl}\nexpect: [{type: {of: $.output, is: string}}]\n"
PYTHON = """
import invcheck
from invcheck.assertions import Type

@invcheck.check(cases=["a"], expect=[Type("$.output", "string")])
def speaks(trial):
    return trial.input
"""


def _bytes(shop: Shop, cases: int) -> int:
    """The bytes that workers are sent for the trials of one check with so many cases."""
    rows = "".join(json.dumps({"id": f"r{n:05}", "q": "x" * 20}) + "\n" for n in range(cases))
    shop.write({"checks/many.yaml": YAML, "checks/rows.jsonl": rows})
    checks, mistakes = _collect.yaml_checks(Path("checks/many.yaml"), shop.root)
    assert mistakes == []
    plan = _plan.plan(checks, RunOptions(shop.root))
    return sum(len(packed(_pipeline._task(unit))) for unit in plan.units)


def test_a_task_carries_its_own_case_only(shop: Shop) -> None:
    """Ten times the cases are ten times the bytes (but for longer line numbers): a check of thousands does not go along with each."""
    assert _bytes(shop, 1_000) < 10.1 * _bytes(shop, 100)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [("checks/many.yaml", "is: string", "is: [string, 'null']"), ("checks/check_speaks.py", '"string"', '["string", "null"]')],
)
def test_a_shard_of_changed_checks_is_no_part_of_the_old_run(file: str, old: str, new: str, shop: Shop) -> None:
    """A shard that was run before a claim was changed does not merge with one that was run after: nobody ran that whole."""
    rows = "".join(json.dumps({"id": n, "input": "x"}) + "\n" for n in range(4))
    shop.write({"shop.py": "def answer(q):\n    return q\n", "checks/many.yaml": YAML.replace(" q}", "}"), "checks/rows.jsonl": rows})
    shop.write({"checks/check_speaks.py": PYTHON})
    assert shop.run("--shard", "1/2", "-o", "1.jsonl").status == 0
    assert shop.run("--shard", "2/2", "-o", "2.jsonl").status == 0
    assert shop.command("invcheck merge 1.jsonl 2.jsonl").status == 0
    shop.plant(file, old, new)
    assert shop.run("--shard", "2/2", "-o", "2.jsonl").status == 0
    merged = shop.command("invcheck merge 1.jsonl 2.jsonl")
    assert (merged.status, "different plans" in merged.err) == (2, True)
