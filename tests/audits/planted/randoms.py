"""Answers that lean on the one generator that everybody shares."""

import random
from random import randint
from typing import Any


def variant(name: str) -> Any:
    return {"variant": random.choice(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"])}


def shuffled(name: str, model: Any) -> Any:
    examples = [f"example {n}" for n in range(8)]
    random.shuffle(examples)
    return model(f"{examples} {name}").text


def jitter(name: str, sleep: Any) -> Any:
    delay = random.uniform(0.5, 1.5)
    sleep(delay)
    return name


def lottery(name: str) -> Any:
    number = randint(1, 1_000_000)
    return f"{name} drew {number}"
