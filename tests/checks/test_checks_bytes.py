"""The canonical report of the help desk's checks is the same bytes, however and wherever they are run."""

from __future__ import annotations

import pytest
from planted import CHECKS, Project


def test_the_committed_report_is_what_the_checks_give(whole: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the hash seed and the number of workers, in shards or at once, in another folder than the project's own."""
    committed = (CHECKS.parent / "reports/checks.json").read_bytes()
    for hash_seed, jobs in (("0", "1"), ("1", "2"), ("2", "4")):
        monkeypatch.setenv("PYTHONHASHSEED", hash_seed)
        assert whole.run("-q", "-j", jobs, "-o", "report.json").status == 0
        assert (whole.root / "report.json").read_bytes() == committed
    for shard in ("1/3", "2/3", "3/3"):
        assert whole.run("-q", "--shard", shard, "-o", f"{shard[0]}.jsonl").status == 0
    assert whole.command("invcheck merge 1.jsonl 2.jsonl 3.jsonl -o merged.json").status == 0
    assert (whole.root / "merged.json").read_bytes() == committed
    assert whole.command("invcheck merge 1.jsonl 3.jsonl").status == 2


def test_another_seed_gives_other_replies(whole: Project) -> None:
    """The negative twin: under another seed the claims are kept, and what drifted differs."""
    assert whole.run("checks/answers.yaml", "--seed", "1000", "-o", "other.json").status == 0
    assert whole.run("checks/answers.yaml", "-o", "one.json").status == 0
    assert (whole.root / "other.json").read_bytes() != (whole.root / "one.json").read_bytes()
