"""Answers that lean on what nothing can hold still."""

import sqlite3
import time
from pathlib import Path
from typing import Any

STARTED = time.time_ns()


class Session:
    """What has no text of its own."""


def described(name: str) -> Any:
    session = Session()
    return f"{name} in {session!r}"


def stored(name: str) -> Any:
    with sqlite3.connect(":memory:") as base:
        row = base.execute("select hex(randomblob(8))").fetchone()
    return row[0]


def counted(name: str) -> Any:
    file = Path("visits.txt")
    visits = int(file.read_text()) + 1
    file.write_text(str(visits))
    return visits


def uptime(name: str) -> Any:
    return {"name": name, "started": STARTED}
