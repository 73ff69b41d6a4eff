"""What holds of every request whatever the app is: its history pairs calls of tools with their results."""

from invcheck.protocol.history import tools_of
from invcheck.protocol.rules import RULES, Complaint, complaints, refusal, relaxed_rules

__all__ = ["RULES", "Complaint", "complaints", "refusal", "relaxed_rules", "tools_of"]
