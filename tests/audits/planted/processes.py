"""Answers that lean on the number of the process."""

import os
from os import getpid
from typing import Any


def worker(name: str) -> Any:
    return {"worker": os.getpid()}


def run_row(name: str, ledger: Any) -> Any:
    run = f"run-{getpid()}"
    ledger.append({"name": name, "run": run})
    return name


def sampled(name: str) -> Any:
    if os.getpid() % 2:
        return "traced"
    return "not traced"


def parent(name: str) -> Any:
    return f"started by {os.getppid()}"
