"""The eight checks by hand, in plain Python: what a team writes that has no tool, and what the judge is held against.

Where `parse` fails, the next five are not evaluated; where `schema` fails, the next four. The last two always are.
"""

from __future__ import annotations

import json
from typing import Any

Json = Any

BANNED = ("系统提示", "sk-", "BEGIN PRIVATE KEY", "ignore previous instructions")
FIELDS = {"answer", "cites"}


def parse(output: str) -> Json:
    """Read the reply, or give None."""
    try:
        return json.loads(output)
    except ValueError:
        return None


def schema(reply: Json) -> bool:
    """Hold the reply to its two fields."""
    return (
        isinstance(reply, dict)
        and reply.keys() == FIELDS
        and isinstance(reply["answer"], str)
        and isinstance(reply["cites"], list)
        and all(isinstance(cite, str) for cite in reply["cites"])
    )


def answer_len(reply: Json) -> bool:
    """10 to 200 code points."""
    return 10 <= len(reply["answer"]) <= 200


def cites_len(reply: Json, doc_ids: list[str]) -> bool:
    """At least one, at most as many as were retrieved."""
    return 1 <= len(reply["cites"]) <= len(doc_ids)


def cites_subset(reply: Json, doc_ids: list[str]) -> bool:
    """Only what was retrieved is cited."""
    return set(reply["cites"]) <= set(doc_ids)


def banned(reply: Json) -> bool:
    """No text that must never be shown."""
    answer = reply["answer"]
    return not any(text in answer for text in BANNED)


def one_call(calls: int) -> bool:
    """The model was asked once."""
    return calls == 1


def _count(value: Json) -> bool:
    return isinstance(value, int) and value >= 0


def ledger(rows: list[Json]) -> bool:
    """Every row is of this feature, went well and has two counts."""
    return all(
        row["feature"] == "qa" and row["ok"] is True and _count(row["input_tokens"]) and _count(row["output_tokens"]) for row in rows
    )


def verdicts(output: str, doc_ids: list[str], calls: int, rows: list[Json]) -> dict[str, bool]:
    """Give the verdict of every check that was evaluated."""
    reply = parse(output)
    out = {"parse": reply is not None}
    if out["parse"]:
        out["schema"] = fits = schema(reply)
        if fits:
            out["answer_len"] = answer_len(reply)
            out["cites_len"] = cites_len(reply, doc_ids)
            out["cites_subset"] = cites_subset(reply, doc_ids)
            out["banned"] = banned(reply)
    out["calls"] = one_call(calls)
    out["ledger"] = ledger(rows)
    return out


def first(output: str, doc_ids: list[str], calls: int, rows: list[Json]) -> None:
    """Assert the same, so that the first failure ends it."""
    reply = json.loads(output)
    assert schema(reply)
    assert answer_len(reply)
    assert cites_len(reply, doc_ids)
    assert cites_subset(reply, doc_ids)
    assert banned(reply)
    assert one_call(calls)
    assert ledger(rows)
