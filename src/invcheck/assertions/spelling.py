"""How a check file spells a claim's fields and their values."""

from __future__ import annotations

from collections.abc import Mapping

from invcheck import paths
from invcheck.show import show
from invcheck.vocabulary import Json


def spelling(name: str) -> str:
    """Give a field's name as a check file spells it.

    >>> spelling("if_"), spelling("allow_empty")
    ('if', 'allow-empty')
    """
    return name.rstrip("_").replace("_", "-")


def short(value: Json) -> str:
    """Give a value for a line of text: a path bare, all others as JSON."""
    return value if isinstance(value, str) and value.startswith("$") else show(value)


def plain_value(value: object) -> Json:
    """Give a field's value as a check file spells it: paths as text, inner claims as one-key mappings."""
    if isinstance(value, paths.Path):
        return value.text
    if isinstance(value, paths.Literal):
        return {"literal": value.value} if _needs_spelling(value.value) else value.value
    if callable(plain := getattr(value, "plain", None)):  # a claim, whose class stands on this module
        return {getattr(value, "key", ""): plain()}
    if isinstance(value, tuple | list):
        return [plain_value(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    return value


def _needs_spelling(value: Json) -> bool:
    return value.startswith("$") if isinstance(value, str) else isinstance(value, dict) and value.keys() == {"literal"}
