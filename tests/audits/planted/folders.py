"""Answers that lean on where the project stands."""
# ruff: noqa: PTH100, PTH109  # what apps write

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def working(name: str) -> Any:
    return {"folder": os.getcwd()}


def cited_prompt(name: str, model: Any) -> Any:
    source = HERE / "notes" / "a.md"
    return model(f"According to {source}: {name}").text


def cache_key(name: str) -> Any:
    place = os.path.abspath(name)
    return sha256(place.encode()).hexdigest()
