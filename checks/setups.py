"""What stands before the app is run; what a setup gives fills the app's parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from checks.helpdesk.quota import Quota
from checks.helpdesk.tickets import TicketStore
from invcheck import Trial


def quota_used_up(trial: Trial) -> dict[str, Any]:
    """Every one of a hundred requests is used."""
    return {"quota": _used(trial.tmp, 100)}


def quota_almost_used_up(trial: Trial) -> dict[str, Any]:
    """One of a hundred requests is left."""
    return {"quota": _used(trial.tmp, 99)}


def long_question(_trial: Trial) -> dict[str, Any]:
    """One character more than a question may have."""
    return {"question": "x" * 2_001}


def ticket_store(trial: Trial) -> dict[str, Any]:
    """No ticket yet."""
    return {"store": TicketStore(trial.tmp / "tickets.sqlite")}


def long_ticket(trial: Trial) -> dict[str, Any]:
    """No ticket yet, and one that is a character too long."""
    return {**ticket_store(trial), "text": "x" * 4_001}


def _used(folder: Path, times: int) -> Quota:
    quota = Quota(folder / "quota.sqlite", limit=100)
    for _ in range(times):
        quota.take("acme")
    return quota
