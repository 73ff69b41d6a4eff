"""The ways in which a provider refuses or breaks off, as data: a kind, its HTTP status, its exception."""

from invcheck.faults.kinds import DELIVERY, KINDS, Kind, ModelConnectionError, ModelFault, ModelTimeout, completed, exception, known

__all__ = ["DELIVERY", "KINDS", "Kind", "ModelConnectionError", "ModelFault", "ModelTimeout", "completed", "exception", "known"]
