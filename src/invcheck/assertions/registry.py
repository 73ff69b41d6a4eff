"""All assertions by the name that a check file uses, as literals: reading this loads none of them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from invcheck.errors import UsageError

if TYPE_CHECKING:
    from invcheck.assertions.claim import Claim

KEYS: dict[str, tuple[str, str]] = {
    "absent": ("invariants.texts", "Absent"),
    "before": ("invariants.logic", "Before"),
    "between": ("ranges.sizes", "Between"),
    "calls": ("effects.calls", "Calls"),
    "contains": ("invariants.texts", "Contains"),
    "cost": ("ranges.totals", "Cost"),
    "count": ("ranges.sizes", "Count"),
    "disjoint": ("invariants.sets", "Disjoint"),
    "distinct": ("invariants.runs", "Distinct"),
    "each": ("invariants.items", "Each"),
    "effects": ("effects.world", "Effects"),
    "equals": ("structure.texts", "Equals"),
    "fields": ("structure.shape", "Fields"),
    "finish": ("structure.outcomes", "Finish"),
    "implies": ("invariants.logic", "Implies"),
    "is-json": ("structure.shape", "IsJson"),
    "latency": ("ranges.totals", "Latency"),
    "ledger": ("effects.world", "LedgerRows"),
    "length": ("ranges.sizes", "Length"),
    "predicate": ("invariants.logic", "Predicate"),
    "raises": ("effects.calls", "Raises"),
    "regex": ("structure.texts", "Regex"),
    "requests": ("effects.calls", "Requests"),
    "same-across-runs": ("invariants.runs", "SameAcrossRuns"),
    "same-set": ("invariants.sets", "SameSet"),
    "schema": ("structure.shape", "Schema"),
    "script-used": ("effects.calls", "ScriptUsed"),
    "sorted": ("invariants.items", "Sorted"),
    "starts-with": ("structure.texts", "StartsWith"),
    "subset": ("invariants.sets", "Subset"),
    "sum": ("ranges.totals", "Sum"),
    "superset": ("invariants.sets", "Superset"),
    "tokens": ("ranges.totals", "Tokens"),
    "tool-call": ("structure.outcomes", "ToolCalled"),
    "type": ("structure.shape", "Type"),
    "unchanged": ("effects.world", "Unchanged"),
    "unique": ("invariants.items", "Unique"),
    "waits": ("effects.world", "Waits"),
    "words": ("ranges.sizes", "Words"),
}
"""The name of each assertion in a check file -> (module of this package, class)."""

HOMES = {name: module for module, name in KEYS.values()} | {"Claim": "claim", "Not": "negation"}
"""The name of each class -> module of this package."""


def load(name: str) -> type[Claim]:
    """Give an assertion's class by its own name; its family is loaded when it is first asked for."""
    kind: type[Claim] = getattr(import_module(f"invcheck.assertions.{HOMES[name]}"), name)
    return kind


def claim_class(key: str) -> type[Claim]:
    """Give the class of an assertion by its name in a check file, without ``not-``.

    A name that no assertion has raises UsageError, code UNKNOWN_ASSERTION, with the nearest name as its hint.

    >>> claim_class("subset").__name__
    'Subset'
    """
    if key not in KEYS:
        bare = key.removeprefix("not-")
        raise UsageError(
            f"there is no assertion {key!r}", code="UNKNOWN_ASSERTION", hint=nearest(bare, KEYS, "" if bare == key else "not-"), at=(key,)
        )
    return load(KEYS[key][1])


def nearest(word: str, known: Iterable[str], prefix: str = "") -> str | None:
    """Give a hint for a word that is not known: the nearest one that is, else all of them."""
    from invcheck.resolve import did_you_mean  # noqa: PLC0415  # only an error pays for it

    names = list(known)
    near = did_you_mean(word.replace("_", "-"), names)
    if near:
        return f"did you mean {prefix}{near}?"
    return f"known: {', '.join(names)}" if names else None
