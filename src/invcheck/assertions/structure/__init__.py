"""What a value must look like: its shape, type, text or equality; and how the model finished and called tools."""

from __future__ import annotations

from invcheck.assertions.registry import HOMES, load


def __getattr__(name: str) -> object:
    if not HOMES.get(name, "").startswith("structure."):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(name)
