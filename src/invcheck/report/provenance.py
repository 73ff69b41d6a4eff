"""How much of a run rests on what a model once really said, and how much on what people made up for it."""

from __future__ import annotations

from collections.abc import Sequence

from invcheck.vocabulary import INVENTED, RECORDED, Result


def replayed(result: Result) -> bool:
    """Whether any reply of a case came from a fixture file."""
    return bool(result.replies.keys() - {INVENTED})


def resting(results: Sequence[Result]) -> tuple[int, int]:
    """Give how many claims rest on recorded replies alone, of how many that rest on replies at all.

    A claim of a case whose app asked no model rests on none; one is counted once a case, however often that ran.

    >>> from invcheck.vocabulary import Place, Verdict
    >>> case = Result("a.yaml::x", "1", Place("a.yaml"), 0, 2, {"kept": 2}, Verdict.KEPT, claims=3, replies={"recorded": 4})
    >>> resting([case])
    (3, 3)
    """
    asked = [result for result in results if result.replies]
    recorded = [result for result in asked if result.replies.keys() == {RECORDED}]
    return sum(result.claims for result in recorded), sum(result.claims for result in asked)
