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
    from invcheck.request import AbortSignal, Request
    from invcheck.sources import DriftingModel, ScriptedModel, fail, reply, step, tool_call
    from invcheck.sources.replay import ReplayModel
    from invcheck.suite import Case, check
    from invcheck.trial import Trial
    from invcheck.vocabulary import (
        Chunk,
        Counts,
        Delivery,
        Exchange,
        Fault,
        Finding,
        Framing,
        Refusal,
        Reply,
        Text,
        Thinking,
        ToolCall,
        ToolPart,
        Usage,
        Verdict,
    )

__all__ = [
    "AbortSignal",
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
    "Delivery",
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
    "Framing",
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
    "Refusal",
    "Regex",
    "ReplayModel",
    "Reply",
    "Request",
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
    "ToolPart",
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
    "fail",
    "partial",
    "port",
    "reply",
    "step",
    "testing",
    "tool_call",
]

_HOMES = {
    "errors": ("InvcheckError", "NetworkBlocked", "PortMismatch", "ScriptInvalid", "ScriptedModelError"),
    "faces": ("check_port", "partial", "port"),
    "record": ("VerificationError", "testing"),
    "request": ("AbortSignal", "Request"),
    "sources": ("DriftingModel", "ScriptedModel", "fail", "reply", "step", "tool_call"),
    "sources.replay": ("ReplayModel",),
    "suite": ("Case", "check"),
    "trial": ("Trial",),
    "vocabulary": (
        "Chunk",
        "Counts",
        "Delivery",
        "Exchange",
        "Fault",
        "Finding",
        "Framing",
        "Refusal",
        "Reply",
        "Text",
        "Thinking",
        "ToolCall",
        "ToolPart",
        "Usage",
        "Verdict",
    ),
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
