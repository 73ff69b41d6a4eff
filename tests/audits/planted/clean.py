"""Answers that are functions of their input, though they come near to everything that is not."""
# ruff: noqa: T201, PTH109  # what apps write

import os
import random
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def sorted_tags(name: str) -> Any:
    return sorted({"refund", "urgent", "billing", name})


def seeded(name: str) -> Any:
    return random.Random(name).sample(range(1000), 5)


def measured(name: str, sleep: Any) -> Any:
    began = time.monotonic()
    sleep(0.25)
    return {"name": name, "took": round(time.monotonic() - began, 3)}


def unused(name: str) -> Any:
    moment = datetime.now(UTC)
    number = uuid.uuid4()
    draw = random.random()
    assert moment
    assert number
    assert draw < 1
    print(moment, number, draw, os.getpid(), os.getcwd())
    return {"name": name}


def all_notes(name: str) -> Any:
    return [note.read_text() for note in sorted(Path("notes").glob("*.md"))]


def joined(name: str) -> Any:
    found = {}
    threads = [threading.Thread(target=found.update, args=({n: n * n},)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[n] for n in range(4)]
