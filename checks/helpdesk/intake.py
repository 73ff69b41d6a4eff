"""A ticket comes in: sorted once for each idempotency key, sent to its team, or buried."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from checks.helpdesk.client import Client
from checks.helpdesk.errors import BadRequest
from checks.helpdesk.llm import ChatModel
from checks.helpdesk.retry import Jitter
from checks.helpdesk.routing import team
from checks.helpdesk.tickets import Ticket, TicketStore
from checks.helpdesk.triage import label
from checks.helpdesk.usage import Ledger


def submit(
    key: str,
    text: str,
    store: TicketStore,
    model: ChatModel,
    ledger: Ledger,
    sleep: Callable[[float], object] = time.sleep,
    rng: Jitter = random,
) -> Ticket | None:
    """Give the ticket of this key, sorted now or earlier; None where the provider refuses it, which is a dead letter."""
    known = store.find(key)
    if known:
        return known
    try:
        word = label(text, Client(model, ledger, sleep, rng))
    except BadRequest as error:
        store.bury(key, text, str(error))
        return None
    return store.add(Ticket(key, text, word, team(word)))
