"""A check that cannot be red says nothing: each of these mistakes in the help desk turns the check that names it red."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from planted import Project


@dataclass(frozen=True)
class Mistake:
    """One place of the help desk, written wrongly, and the check file that must find it."""

    module: str
    old: str
    new: str
    check: str


MISTAKES = {
    "gives up too early": Mistake("retry", "tries: int = 4", "tries: int = 3", "check_retry.py"),
    "tries again whatever it was": Mistake(
        "retry", "(RateLimited, TimeoutError, ConnectionError)", "(Exception,)", "check_retry.py::a_bad_request_is_not_tried_again"
    ),
    "does not try a timeout again": Mistake("retry", "(RateLimited, TimeoutError, ", "(RateLimited, ", "check_retry.py"),
    "backs off linearly": Mistake("retry", "self.base * 2**n", "self.base * (n + 1)", "check_retry.py"),
    "jitters around the bound": Mistake(
        "retry", "rng.uniform(0, policy.bound(n))", "rng.uniform(0, 2 * policy.bound(n))", "check_retry.py::jitter_stays_below_its_bound"
    ),
    "forgets the budget": Mistake("client", "self.budget.check()", "pass", "budget.yaml"),
    "serves one reply too many": Mistake("client", "self.spent >= self.limit", "self.spent > self.limit", "budget.yaml"),
    "books before it asks": Mistake(
        "client",
        "        completion = with_retry(",
        "        self.ledger.append(row(feature, Completion(), ok=True))\n        completion = with_retry(",
        "check_retry.py::a_bad_request_is_not_tried_again",
    ),
    "charges another price": Mistake("pricing", 'Decimal("15.00")', 'Decimal("16.00")', "budget.yaml"),
    "reads documents of every tenant": Mistake("library", "document.tenant == tenant", "tenant", "refusals.yaml"),
    "searches documents of every tenant": Mistake("retrieval", "AND tenant = ?", "AND tenant != '?' || ?", "refusals.yaml"),
    "takes any question": Mistake("answers", "LONGEST_QUESTION = 2_000", "LONGEST_QUESTION = 2_001", "refusals.yaml"),
    "takes any ticket": Mistake("triage", "LONGEST_TICKET = 4_000", "LONGEST_TICKET = 4_001", "intake.yaml"),
    "lets request 101 pass": Mistake("quota", "used < ?", "used <= ?", "refusals.yaml"),
    "does not count": Mistake("quota", "SET used = used + 1", "SET used = used", "refusals.yaml"),
    "shows half a JSON": Mistake("answers", "else _plain(second.text)", "else second.text", "half_json.yaml"),
    "asks a third time": Mistake(
        "answers",
        "    return second.text if",
        '    client.ask("qa", messages, accept=_is_answer)\n    return second.text if',
        "half_json.yaml",
    ),
    "takes half a word as a label": Mistake("triage", 'reply.finish == "length"', "not reply", "triage.yaml"),
    "does not strip a label": Mistake("triage", "reply.text.strip().lower()", "reply.text.lower()", "triage.yaml"),
    "asks for another length": Mistake("triage", "max_tokens: int = 8,", "max_tokens: int = 9,", "triage.yaml"),
    "sorts a ticket for each delivery": Mistake("intake", "    if known:", "    if not key:", "check_intake.py"),
    "drops what was refused": Mistake("intake", "        store.bury(key, text, str(error))\n", "", "intake.yaml"),
    "sends every ticket to one team": Mistake("routing", "TEAMS.get(label, FRONT_DESK)", "FRONT_DESK", "intake.yaml"),
    "pays whatever it is asked for": Mistake("agent", "not _valid(call.arguments)", "not call", "check_agent.py"),
    "pays what chance says": Mistake(
        "agent",
        "    refund(**call.arguments)\n",
        '    refund(**call.arguments | {"amount": f"{__import__(\'random\').random():.2f}"})\n',
        "check_agent.py::a_refund_is_paid_between_two_calls",
    ),
    "pays twice": Mistake("agent", "    refund(**call.arguments)\n", "    refund(**call.arguments)\n" * 2, "check_agent.py"),
    "offers no tool": Mistake("agent", "tools=[REFUND]", "tools=[]", "check_agent.py::a_refund_is_paid_between_two_calls"),
    "goes on for ever": Mistake("agent", "MOST_TURNS = 4", "MOST_TURNS = 5", "check_agent.py"),
    "waits less for the relay": Mistake("notify", "2.0 * tried", "2.0", "check_retry.py"),
}


def test_without_a_mistake_all_is_kept(whole: Project) -> None:
    """The copy as it is: status 0, and nothing is told but the summary."""
    ran = whole.run()
    assert (ran.status, ran.codes()) == (0, []), ran.out + ran.err


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_found(name: str, whole: Project) -> None:
    """The check that names it is broken, status 1."""
    mistake = MISTAKES[name]
    whole.plant(f"checks/helpdesk/{mistake.module}.py", mistake.old, mistake.new)
    ran = whole.run(f"checks/{mistake.check}")
    assert ran.status == 1, ran.out + ran.err
    assert ran.codes()
