"""What the app did, whatever the model said: calls, requests and errors; waits, ledger rows, effects and probes."""

from __future__ import annotations

from invcheck.assertions.registry import HOMES, load


def __getattr__(name: str) -> object:
    if not HOMES.get(name, "").startswith("effects."):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(name)
