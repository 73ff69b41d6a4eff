"""The calls of one trial in short, for a person who looks at what the model was asked and what it answered."""

from __future__ import annotations

from collections.abc import Sequence

from invcheck.request import Request
from invcheck.show import show
from invcheck.vocabulary import Json

SHOWN, LONGEST = 20, 200
"""How many calls are shown, and how many code points of each text."""


def brief(calls: Sequence[Json]) -> list[Json]:
    """Give ``asked`` and ``got`` of the first calls of an observation, each a short text on one line.

    >>> brief([{"request": {"prompt": "hello"}, "state": "served", "outcome": {"text": "hi"}, "error": None}])
    [{'asked': '"hello"', 'got': '"hi"'}]
    """
    short = [{"asked": show(Request(call["request"]).last_user, LONGEST), "got": _got(call)} for call in calls[:SHOWN]]
    left = len(calls) - len(short)
    return [*short, {"asked": f"and {left} more", "got": ""}] if left else short


def _got(call: Json) -> str:
    outcome = call["outcome"]
    if not outcome:
        return f"{call['state']}: {call['error']}" if call["error"] else str(call["state"])
    for kind in ("fault", "raised"):
        if kind in outcome:
            return f"{kind} {outcome[kind]}"
    tools = [f"{tool['name']}({show(tool['arguments'], LONGEST)})" for tool in outcome.get("tool_calls") or ()]
    return " and ".join([show(outcome["text"], LONGEST), *tools] if outcome["text"] or not tools else tools)
