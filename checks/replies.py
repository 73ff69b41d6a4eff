"""Replies that depend on what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from invcheck import Reply, Text


def cut_below_four_tokens(request: Mapping[str, Any]) -> Reply:
    """A label of three tokens and an end: it is cut where the request leaves less room."""
    if request["max_tokens"] < 4:
        return Reply((Text("bill"),), finish="length")
    return Reply((Text("billing"),))


def label_of_the_ticket(request: Mapping[str, Any]) -> str:
    """The first word of the ticket, as a model would write it."""
    return f" {request['messages'][-1]['content'].split()[0].title()}\n"
