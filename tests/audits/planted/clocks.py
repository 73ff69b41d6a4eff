"""Answers that lean on the clock."""

import time
from datetime import UTC, datetime
from string import Template
from typing import Any

PROMPT = Template("It is $day. Answer briefly: $question")


def greeting(name: str) -> Any:
    part = "morning" if datetime.now(UTC).hour < 12 else "afternoon"
    return f"Good {part}, {name}"


def receipt(name: str) -> Any:
    number = int(time.time())
    return {"name": name, "number": number}


def dated_prompt(name: str, model: Any) -> Any:
    day = datetime.now(UTC).strftime("%A")
    return model(PROMPT.substitute(day=day, question=name)).text


def stamped(name: str, now: Any = time.time) -> Any:
    row = {"name": name}
    row["at"] = now()
    return row


def ticket(name: str) -> Any:
    tick = time.monotonic_ns()
    return f"{name}-{tick}"


def deadline(name: str, ledger: Any) -> Any:
    ledger.append({"name": name, "due": time.gmtime().tm_yday + 14})
    return name


def old_or_new(name: str) -> Any:
    if time.time() > 1_900_000_000:
        return "new"
    return "old"
