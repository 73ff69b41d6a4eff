"""A drifting model of the user's own, plain and seeded: two hundred answers of one instance in one trial."""

from __future__ import annotations

import json
from typing import Any

from checks.helpdesk.answers import answer
from checks.helpdesk.fakes import DriftyModel
from invcheck import Absent, Count, Each, Equals, Fields, LedgerRows, Length, Subset, Trial, check

DOCUMENTS = ["d1", "d2", "d3"]
QUESTIONS = [
    "How do I get a refund?",
    "When does my money arrive?",
    "Do I need the receipt?",
    "My lamp came broken.",
    "Who pays for the parcel?",
]

WELL_FORMED = Each(
    "$.output.answers[*]",
    [
        Fields("$", ["answer", "cites"]),
        Length("$.answer", min=10, max=200),
        Count("$.cites[*]", min=1, max=3),
        Subset("$.cites[*]", DOCUMENTS),
        Absent("$.answer", any=["system prompt", "sk-"]),
    ],
)


def replies(questions: list[str], trial: Trial, model: DriftyModel | None = None) -> dict[str, Any]:
    """Ask 200 times, the questions in turn, one model or each time a new one; whole replies are told apart."""
    texts = [answer(questions[n % len(questions)], DOCUMENTS, model or DriftyModel(seed=7), trial.ledger) for n in range(200)]
    return {"answers": [json.loads(text) for text in texts], "distinct": len(set(texts))}


@check(
    expect=[
        Equals("$.output.distinct", 134),
        Count("$.output.answers[*]", exactly=200),
        WELL_FORMED,
        LedgerRows(count=200, every={"feature": "qa", "ok": True, "tokens": 120}),
    ]
)
def one_question_two_hundred_times(trial: Trial) -> dict[str, Any]:
    return replies(QUESTIONS[:1], trial, DriftyModel(seed=7))


@check(expect=[Equals("$.output.distinct", 182), Count("$.output.answers[*]", exactly=200), WELL_FORMED])
def five_questions_in_turn(trial: Trial) -> dict[str, Any]:
    return replies(QUESTIONS, trial, DriftyModel(seed=7))


@check(expect=[Equals("$.output.distinct", 1), Count("$.output.answers[*]", exactly=200), WELL_FORMED])
def a_new_instance_for_each_call_never_drifts(trial: Trial) -> dict[str, Any]:
    return replies(QUESTIONS[:1], trial)
