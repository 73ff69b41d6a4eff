"""The adapter of our provider, fed with its own JSON from the fixture files: what the app makes of the bytes of a reply."""

from __future__ import annotations

import json
from typing import Any

from checks.helpdesk.agent import settle
from checks.helpdesk.answers import answer
from checks.helpdesk.provider import ChatCompletions
from invcheck import Effects, Equals, LedgerRows, Trial, check
from invcheck.sources import fixtures


def provider(file: str, *labels: str, sent: list[Any]) -> ChatCompletions:
    """The adapter over a provider that answers with these lines of a file, in their order."""
    bodies = iter([dict(each.body or {}) for each in fixtures.read(file) if each.label in labels])

    def send(body: bytes) -> tuple[int, bytes]:
        sent.append(json.loads(body))
        return 200, json.dumps(next(bodies)).encode()

    return ChatCompletions(send, "desk-small")


@check(
    expect=[
        Equals("$.output.answer.cites", ["d2"]),
        Equals("$.output.sent[1].messages[2].role", "assistant"),
        Equals("$.output.sent[0].max_tokens", 512),
        LedgerRows(count=2, sum={"tokens": 500}),
    ]
)
def a_cut_reply_on_the_wire_is_asked_for_once_more(trial: Trial) -> dict[str, Any]:
    sent: list[Any] = []
    model = provider("checks/fixtures/answers.jsonl", "cut", sent=sent)
    text = answer("How do I send it back?", ["d1", "d2"], model, trial.ledger)
    return {"answer": json.loads(text), "sent": sent}


@check(
    expect=[
        Effects(["refund"]),
        Equals("$.effects[0].amount", "25.00"),
        Equals("$.output.sent[0].tools[0].function.name", "refund"),
        Equals("$.output.sent[1].messages[2].tool_calls[0].id", "call_pay"),
        Equals("$.output.sent[1].messages[3].tool_call_id", "call_pay"),
        LedgerRows(count=2, every={"feature": "agent", "ok": True}),
    ]
)
def a_tool_call_on_the_wire_pays_and_is_answered(trial: Trial) -> dict[str, Any]:
    sent: list[Any] = []
    model = provider("checks/fixtures/agent.jsonl", "pays", sent=sent)
    said = settle("Order A-17 came broken, I want my money back.", model, trial.ledger, trial.wrap(lambda **_: None, "refund"))
    return {"said": said, "sent": sent}
