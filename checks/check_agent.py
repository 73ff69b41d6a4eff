"""A tool call, the tool's result, the final answer: two calls with the effect between them."""

from __future__ import annotations

from checks.doubles import scripted
from checks.helpdesk.agent import GAVE_UP, settle
from invcheck import Before, Calls, Distinct, Effects, Equals, LedgerRows, Reply, SameAcrossRuns, ToolCall, ToolCalled, Trial, Unique, check

REFUND = Reply((ToolCall("refund", {"order": "A-17", "amount": "25.00"}),), finish="tool_calls")
PAID = {"name": "refund", "order": "A-17", "amount": "25.00"}


def pay(order: str, amount: str) -> None:
    """Pay, in a test, nothing."""
    assert order
    assert amount


@check(
    runs=20,
    expect=[
        Distinct("$.output", at_least=2),
        SameAcrossRuns("$.effects"),
        Calls(2),
        ToolCalled("refund", count=1),
        Effects(["refund"]),
        Before(first={"kind": "call", "n": 0}, then={"kind": "effect", "name": "refund"}),
        Before(first={"kind": "effect", "name": "refund"}, then={"kind": "call", "n": 1}),
        LedgerRows(count=2, every={"feature": "agent", "ok": True, "tokens": 120}),
    ],
)
def a_refund_is_paid_between_two_calls(trial: Trial) -> str:
    model = scripted(REFUND, trial.rng.choice(["I sent 25.00 back to you.", "Your money is on its way."]))
    return settle("Order A-17 came broken, I want my money back.", model, trial.ledger, trial.wrap(pay, "refund"))


@check(
    expect=[Calls(2), Equals("$.calls[1].request.messages[3].content", "done"), Equals("$.effects", [PAID]), Equals("$.output", "Done.")]
)
def the_result_of_the_tool_is_told_to_the_model(trial: Trial) -> str:
    return settle("I want my money back.", scripted(REFUND, "Done."), trial.ledger, trial.wrap(pay, "refund"))


@check(
    cases=[
        {"id": "amount is a number", "input": {"order": "A-17", "amount": 25}},
        {"id": "amount without cents", "input": {"order": "A-17", "amount": "25"}},
        {"id": "an argument too many", "input": {"order": "A-17", "amount": "25.00", "to": "me"}},
    ],
    expect=[Calls(2), Effects([]), LedgerRows(count=2), Equals("$.output", "Sorry, I cannot do that.")],
)
def a_call_that_does_not_fit_the_tool_pays_nothing(trial: Trial) -> str:
    wrong = Reply((ToolCall("refund", dict(trial.input)),), finish="tool_calls")
    return settle("I want my money back.", scripted(wrong, "Sorry, I cannot do that."), trial.ledger, trial.wrap(pay, "refund"))


@check(expect=[Calls(4), Equals("$.output", GAVE_UP), Unique("$.calls[*].outcome.tool_calls[*].id")])
def an_agent_that_never_ends_is_stopped(trial: Trial) -> str:
    unknown = Reply((ToolCall("look_up", {}),), finish="tool_calls")
    model = scripted(unknown, unknown, unknown, unknown, relax=["tool-not-offered"])
    return settle("Hello?", model, trial.ledger, trial.wrap(pay, "refund"))
