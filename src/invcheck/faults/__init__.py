"""The ways in which a provider refuses or breaks off, as data: a kind, its HTTP status, its exception."""

from invcheck.faults.kinds import KINDS, Kind, ModelConnectionError, ModelFault, ModelTimeout, completed, exception, known

__all__ = ["KINDS", "Kind", "ModelConnectionError", "ModelFault", "ModelTimeout", "completed", "exception", "known"]
