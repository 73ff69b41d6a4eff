"""Answers that lean on the system's entropy."""

import os
import random
import secrets
import tempfile
import uuid
from pathlib import Path
from typing import Any


def request_id(name: str, model: Any) -> Any:
    number = uuid.uuid4()
    return model(f"{name} (request {number})").text


def token(name: str) -> Any:
    return {"token": secrets.token_hex(8)}


def own_generator(name: str) -> Any:
    generator = random.Random()
    return generator.randrange(1_000_000)


def salted(name: str, ledger: Any) -> Any:
    salt = os.urandom(4).hex()
    ledger.append({"name": name, "salt": salt})
    return name


def scratch(name: str) -> Any:
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        return Path(file.name).name
