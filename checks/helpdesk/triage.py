"""Tickets get a label of one word."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from checks.helpdesk.client import Client
from checks.helpdesk.errors import TooLarge, Truncated
from checks.helpdesk.llm import ChatModel, Message
from checks.helpdesk.prompts import render
from checks.helpdesk.retry import Jitter
from checks.helpdesk.usage import Ledger

LABELS = ("billing", "shipping", "account", "technical")
OTHER = "other"
LONGEST_TICKET = 4_000


def triage(
    ticket: str,
    model: ChatModel,
    ledger: Ledger,
    max_tokens: int = 8,
    sleep: Callable[[float], object] = time.sleep,
    rng: Jitter = random,
) -> str:
    """Give the ticket's label, `OTHER` where the model gives none of ours.

    Truncated where the label was cut: half a word is no label. TooLarge before the model is asked.
    """
    return label(ticket, Client(model, ledger, sleep, rng), max_tokens=max_tokens)


def triage_all(tickets: Sequence[str], model: ChatModel, ledger: Ledger) -> list[str]:
    """Label all tickets of one request; a text that stands in it twice is asked for once."""
    client = Client(model, ledger)
    known: dict[str, str] = {}
    for ticket in tickets:
        if ticket not in known:
            known[ticket] = label(ticket, client)
    return [known[ticket] for ticket in tickets]


def label(ticket: str, client: Client, *, max_tokens: int = 8) -> str:
    """Ask for the label of one ticket."""
    if len(ticket) > LONGEST_TICKET:
        raise TooLarge(f"a ticket has at most {LONGEST_TICKET} characters, this one has {len(ticket)}")
    messages = [Message("system", render("triage", labels=LABELS)), Message("user", ticket)]
    reply = client.ask("triage", messages, max_tokens=max_tokens)
    if reply.finish == "length":
        raise Truncated(f"the label was truncated at {max_tokens} tokens")
    word = reply.text.strip().lower()
    return word if word in LABELS else OTHER
