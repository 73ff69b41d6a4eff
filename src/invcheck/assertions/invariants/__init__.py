"""Relations that hold whatever the model says: between sets of values, in texts, for each item, in an order, across runs.

A side of a relation is a path or a literal. Values are compared as JSON: a boolean is no number, 1 equals 1.0.
"""

from __future__ import annotations

from invcheck.assertions.registry import HOMES, load


def __getattr__(name: str) -> object:
    if not HOMES.get(name, "").startswith("invariants."):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(name)
