"""The ways in which a provider refuses or breaks off, as data: a kind, its HTTP status, its exception."""

from invcheck.faults.kinds import (
    DELIVERY,
    KINDS,
    Kind,
    ModelConnectionError,
    ModelFault,
    ModelTimeout,
    breaks_nothing,
    completed,
    exception,
    headers_wrong,
    known,
)

__all__ = [
    "DELIVERY",
    "KINDS",
    "Kind",
    "ModelConnectionError",
    "ModelFault",
    "ModelTimeout",
    "breaks_nothing",
    "completed",
    "exception",
    "headers_wrong",
    "known",
]
