"""Plain JSON: what everything in a document is made of."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""Plain JSON: None, bool, int, float, str, list and dict with text keys, nothing else (the one place for ``Any``)."""

DEEPEST = 254
"""Levels that plain JSON may be nested: what orjson writes, since the interpreter's own limit differs between versions."""
