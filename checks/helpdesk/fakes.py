"""Models for tests: they answer as ours does, in words that differ each time."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from checks.helpdesk.llm import Completion, Message, Tool, Usage
from checks.helpdesk.triage import LABELS

OPENINGS = ("Yes:", "In short,", "Good question.", "Here is how it works:")
PADDING = " Write to us if anything is unclear."
CLOSINGS = ("", " Thank you for asking.", " We are glad to help.", " Have a nice day.")

_HEAD = re.compile(r"^\[(\w+)\] ", re.MULTILINE)


def answer(rng: random.Random, request: Mapping[str, Any]) -> str:
    """Answer in JSON and cite only ids that stand in the request."""
    ids = _HEAD.findall(request["messages"][0]["content"])
    cites = rng.sample(ids, rng.randint(1, min(3, len(ids))))
    text = f"{rng.choice(OPENINGS)} {_body(cites)}{PADDING * rng.randint(0, 2)}{rng.choice(CLOSINGS)}"
    return json.dumps({"answer": text, "cites": cites})


def label(rng: random.Random, request: Mapping[str, Any]) -> str:
    """Answer with a label of ours, in some spelling, or with a word that is none."""
    assert request["max_tokens"] == 8
    word = rng.choice((*LABELS, "complaint"))
    return rng.choice((word, word.title(), word.upper(), f" {word}\n"))


class DriftyModel:
    """A whole model in one object: from one seed, answers whose words and citations wander from call to call.

    It cites three documents at most, by the ids that it finds in the request, and always uses as many tokens.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)  # seeded on purpose: its answers are repeatable

    def complete(self, messages: Sequence[Message], *, max_tokens: int = 512, tools: Sequence[Tool] = ()) -> Completion:
        """Answer the last message in JSON."""
        assert max_tokens >= 256, "an answer of ours needs room"
        assert not tools, "whoever answers questions has no tools"
        ids = _HEAD.findall(messages[0].content)[:3]
        count = self._rng.randint(1, 3)
        cites = self._rng.sample(ids, count)
        opening = self._rng.choice(OPENINGS)
        padding = self._rng.randint(0, 3)
        text = f"{opening} {messages[-1].content} {_body(cites)}{PADDING * padding}"
        return Completion(json.dumps({"answer": text, "cites": cites}), usage=Usage(100, 20))


class UpperBound:
    """A jitter that always waits as long as it may."""

    def uniform(self, _low: float, high: float, /) -> float:
        """Give the upper bound."""
        return high


def _body(cites: Sequence[str]) -> str:
    return f"See {' and '.join(cites)}."
