"""How much rests on recordings: counted by claim, told in one sentence, and part of the compared bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from invcheck import Verdict, results
from invcheck.events import CaseDone, Started, summarise
from invcheck.report import canonical, jsonlines, markdown
from invcheck.report.explain import summary
from invcheck.report.gathered import Report
from invcheck.report.provenance import replayed, resting
from invcheck.vocabulary import Place, Result


def case(name: str, claims: int, **replies: int) -> Result:
    """A kept case of one trial."""
    spelt = {kind.replace("_", "-"): count for kind, count in replies.items()}
    return Result("a.yaml::x", name, Place("a.yaml"), 0, 1, {"kept": 1}, Verdict.KEPT, claims=claims, replies=spelt)


def report(*cases: Result) -> Report:
    """A run of these cases."""
    done = tuple(CaseDone(n, each) for n, each in enumerate(cases))
    return Report(Started(len(cases), len(cases), 0, None, len(cases), "", ""), done, (), summarise(cases))


@pytest.mark.parametrize(("cases", "count"), [
    ([], (0, 0)),
    ([case("a", 3, recorded=2)], (3, 3)),
    ([case("a", 3, recorded=2), case("b", 2, invented=1), case("c", 5)], (3, 5)),
    ([case("a", 3, recorded=2, invented=1)], (0, 3)),
    ([case("a", 3, recorded=2, hand_written=1), case("b", 1, generated=1)], (0, 4)),
])  # fmt: skip
def test_a_claim_rests_on_recordings_where_every_reply_is_one(cases: list[Result], count: tuple[int, int]) -> None:
    """One invented reply is enough not to; a case that asked no model rests on none."""
    assert resting(cases) == count


@pytest.mark.parametrize(("cases", "says"), [
    ([case("a", 3, invented=1)], None),
    ([case("a", 3)], None),
    ([case("a", 3, hand_written=1), case("b", 2, recorded=1), case("c", 1, invented=1)], "2 of 6 claims rest on recorded replies."),
    ([case("a", 1, recorded=1)], "1 of 1 claim rests on recorded replies."),
    ([case("a", 1, generated=1)], "0 of 1 claim rests on recorded replies."),
])  # fmt: skip
def test_the_summary_tells_it_where_anything_is_replayed(cases: list[Result], says: str | None) -> None:
    """A run of scripts alone says nothing of recordings; every summary says the same."""
    told = summary(report(*cases))
    assert ("recorded replies" in told) is (says is not None)
    assert says is None or says in told
    assert says is None or says in markdown.encode(report(*cases)).decode().replace("\\", "")


def test_the_canonical_report_holds_it_where_a_case_replays() -> None:
    """Replies by where they come from; other cases keep the form that they had."""
    first, second = json.loads(canonical.encode(report(case("a", 1, invented=2, recorded=1), case("b", 1, invented=2))))["cases"]
    assert first["replies"] == {"invented": 2, "recorded": 1}
    assert "replies" not in second
    assert "claims" not in first


def test_it_travels_with_a_result() -> None:
    """From a worker, and through the streamed report that shards are merged from."""
    made = case("a", 3, recorded=1)
    plain: Any = json.loads(json.dumps(results.plain(made)))
    assert results.build(plain) == made
    events = jsonlines.read(jsonlines.encode(report(made)).decode().splitlines(keepends=True), "a")
    assert resting([event.result for event in events if isinstance(event, CaseDone)]) == (3, 3)
    assert replayed(made)
