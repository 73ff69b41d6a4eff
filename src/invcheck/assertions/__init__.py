"""What must hold: the registry of all assertions, by the name that a check file uses; none is loaded before it is asked for.

An assertion is written in Python as a class (`Subset("$.output.cites[*]", "$.input.doc_ids[*]")`) and in YAML as a
mapping of one key (``subset: {of: ..., in: ...}``); `build` turns the second into the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from invcheck.assertions.registry import HOMES, KEYS, claim_class, load
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.claim import Claim
    from invcheck.assertions.effects.calls import Calls, Raises, Requests, ScriptUsed
    from invcheck.assertions.effects.world import Effects, LedgerRows, Unchanged, Waits
    from invcheck.assertions.invariants.items import Each, Sorted, Unique
    from invcheck.assertions.invariants.logic import Before, Implies, Predicate
    from invcheck.assertions.invariants.runs import Distinct, SameAcrossRuns
    from invcheck.assertions.invariants.sets import Disjoint, SameSet, Subset, Superset
    from invcheck.assertions.invariants.texts import Absent, Contains
    from invcheck.assertions.negation import Not
    from invcheck.assertions.ranges.sizes import Between, Count, Length, Words
    from invcheck.assertions.ranges.totals import Cost, Latency, Sum, Tokens
    from invcheck.assertions.structure.outcomes import Finish, ToolCalled
    from invcheck.assertions.structure.shape import Fields, IsJson, Schema, Type
    from invcheck.assertions.structure.texts import Equals, Regex, StartsWith

__all__ = [
    "KEYS",
    "Absent",
    "Before",
    "Between",
    "Calls",
    "Claim",
    "Contains",
    "Cost",
    "Count",
    "Disjoint",
    "Distinct",
    "Each",
    "Effects",
    "Equals",
    "Fields",
    "Finish",
    "Implies",
    "IsJson",
    "Latency",
    "LedgerRows",
    "Length",
    "Not",
    "Predicate",
    "Raises",
    "Regex",
    "Requests",
    "SameAcrossRuns",
    "SameSet",
    "Schema",
    "ScriptUsed",
    "Sorted",
    "StartsWith",
    "Subset",
    "Sum",
    "Superset",
    "Tokens",
    "ToolCalled",
    "Type",
    "Unchanged",
    "Unique",
    "Waits",
    "Words",
    "build",
    "claim_class",
]


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = load(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def build(plain: Mapping[str, Json] | str) -> Claim:
    """Give the assertion that a check file spells as a mapping of one key; see `building.build`.

    >>> build({"calls": 1}).attempted
    1
    """
    from invcheck.assertions.building import build as made  # noqa: PLC0415  # importing this package loads no assertion

    return made(plain)
