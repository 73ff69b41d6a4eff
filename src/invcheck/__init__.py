"""Deterministic, offline tests for applications built on language models.

Every public name is loaded when it is first asked for: a check file pays for what it uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from invcheck.assertions import (
        Absent,
        Before,
        Between,
        Calls,
        Contains,
        Cost,
        Count,
        Disjoint,
        Distinct,
        Each,
        Effects,
        Equals,
        Fields,
        Finish,
        Implies,
        IsJson,
        Latency,
        LedgerRows,
        Length,
        Not,
        Predicate,
        Raises,
        Regex,
        Requests,
        SameAcrossRuns,
        SameSet,
        Schema,
        ScriptUsed,
        Sorted,
        StartsWith,
        Subset,
        Sum,
        Superset,
        Tokens,
        ToolCalled,
        Type,
        Unchanged,
        Unique,
        Waits,
        Words,
    )
    from invcheck.errors import InvcheckError, NetworkBlocked, PortMismatch, ScriptedModelError, ScriptInvalid
    from invcheck.faces import check_port, partial, port
    from invcheck.record import VerificationError, testing
    from invcheck.sources import DriftingModel, ScriptedModel, step
    from invcheck.suite import Case, check
    from invcheck.trial import Trial
    from invcheck.vocabulary import Chunk, Counts, Exchange, Fault, Finding, Reply, Text, Thinking, ToolCall, Usage, Verdict

__all__ = [
    "Absent",
    "Before",
    "Between",
    "Calls",
    "Case",
    "Chunk",
    "Contains",
    "Cost",
    "Count",
    "Counts",
    "Disjoint",
    "Distinct",
    "DriftingModel",
    "Each",
    "Effects",
    "Equals",
    "Exchange",
    "Fault",
    "Fields",
    "Finding",
    "Finish",
    "Implies",
    "InvcheckError",
    "IsJson",
    "Latency",
    "LedgerRows",
    "Length",
    "NetworkBlocked",
    "Not",
    "PortMismatch",
    "Predicate",
    "Raises",
    "Regex",
    "Reply",
    "Requests",
    "SameAcrossRuns",
    "SameSet",
    "Schema",
    "ScriptInvalid",
    "ScriptUsed",
    "ScriptedModel",
    "ScriptedModelError",
    "Sorted",
    "StartsWith",
    "Subset",
    "Sum",
    "Superset",
    "Text",
    "Thinking",
    "Tokens",
    "ToolCall",
    "ToolCalled",
    "Trial",
    "Type",
    "Unchanged",
    "Unique",
    "Usage",
    "Verdict",
    "VerificationError",
    "Waits",
    "Words",
    "__version__",
    "check",
    "check_port",
    "partial",
    "port",
    "step",
    "testing",
]

_HOMES = {
    "errors": ("InvcheckError", "NetworkBlocked", "PortMismatch", "ScriptInvalid", "ScriptedModelError"),
    "faces": ("check_port", "partial", "port"),
    "record": ("VerificationError", "testing"),
    "sources": ("DriftingModel", "ScriptedModel", "step"),
    "suite": ("Case", "check"),
    "trial": ("Trial",),
    "vocabulary": ("Chunk", "Counts", "Exchange", "Fault", "Finding", "Reply", "Text", "Thinking", "ToolCall", "Usage", "Verdict"),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'invcheck' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # only where a name is asked for

    home = next((home for home, names in _HOMES.items() if name in names), "assertions")
    value: object = getattr(import_module(f"invcheck.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
