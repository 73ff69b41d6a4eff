"""How much there may be: numbers, lengths, words, counts; sums, tokens, money, virtual time. Both ends belong to a range."""

from __future__ import annotations

from invcheck.assertions.registry import HOMES, load


def __getattr__(name: str) -> object:
    if not HOMES.get(name, "").startswith("ranges."):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(name)
