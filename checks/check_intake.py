"""An idempotency key: however often a ticket is sent, it is one ticket and one row."""

from __future__ import annotations

from typing import Any

from checks.doubles import scripted
from checks.helpdesk.intake import submit
from checks.helpdesk.tickets import TicketStore
from checks.helpdesk.usage import SqliteLedger
from invcheck import Calls, Count, Equals, LedgerRows, Trial, Unique, check

TICKETS = {"sqlite": "tickets.sqlite", "query": "SELECT key, label, team FROM ticket"}
USAGE = {"sqlite": "usage.sqlite", "query": "SELECT feature, ok, tokens, cost FROM usage ORDER BY id"}


def stores(trial: Trial) -> None:
    """No ticket and no usage yet."""
    TicketStore(trial.tmp / "tickets.sqlite")
    SqliteLedger(trial.tmp / "usage.sqlite")


def send(trial: Trial, *keys: str) -> list[Any]:
    """Send one ticket under each key, to a model that has as many answers as there are different keys."""
    store, ledger = TicketStore(trial.tmp / "tickets.sqlite"), SqliteLedger(trial.tmp / "usage.sqlite")
    model = scripted(*["billing"] * len(set(keys)))
    return [submit(key, "card declined", store, model, ledger) for key in keys]


@check(
    setup=stores,
    ledger=USAGE,
    probes={"tickets": TICKETS},
    expect=[
        Calls(1),
        Count("$.output[*]", exactly=3),
        Equals("$.probes.tickets.after", [{"key": "k1", "label": "billing", "team": "finance"}]),
        LedgerRows(count=1, every={"feature": "triage", "ok": 1, "tokens": 120, "cost": "0.000600"}),
    ],
)
def the_same_key_three_times_is_one_ticket(trial: Trial) -> list[Any]:
    return send(trial, "k1", "k1", "k1")


@check(
    setup=stores, ledger=USAGE, probes={"tickets": TICKETS}, expect=[Calls(2), Unique("$.probes.tickets.after[*].key"), LedgerRows(count=2)]
)
def two_keys_are_two_tickets(trial: Trial) -> list[Any]:
    return send(trial, "k1", "k2", "k1")
