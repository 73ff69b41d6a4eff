"""Which team reads a ticket."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FRONT_DESK = "front desk"
TEAMS: Mapping[str, str] = MappingProxyType(
    {"billing": "finance", "shipping": "warehouse", "account": "identity", "technical": "engineering"}
)


def team(label: str) -> str:
    """Give the team of a label; whatever has none is read at the front desk."""
    return TEAMS.get(label, FRONT_DESK)
