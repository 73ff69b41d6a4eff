"""Answers that lean on the time zone."""
# ruff: noqa: DTZ006  # what apps write

import time
from datetime import UTC, datetime
from string import Template
from typing import Any

PROMPT = Template("The user's zone is $zone. $question")
ORDERED = 1_898_000_000


def delivered(name: str) -> Any:
    return {"name": name, "on": datetime.fromtimestamp(ORDERED).isoformat()}


def opening(name: str) -> Any:
    hour = time.localtime(ORDERED).tm_hour
    return "open" if hour >= 12 else "closed"


def zoned_prompt(name: str, model: Any) -> Any:
    zone = time.tzname[0]
    return model(PROMPT.substitute(zone=zone, question=name)).text


def meeting(name: str) -> Any:
    moment = datetime(2030, 6, 1, 12, tzinfo=UTC)
    local = moment.astimezone()
    return f"{name}: {local:%Y-%m-%d %H:%M}"
