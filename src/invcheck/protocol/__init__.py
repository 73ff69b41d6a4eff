"""What holds of every request whatever the app is: its history pairs calls of tools with their results."""

from invcheck.protocol.complaint import RULES, Complaint, refusal, relaxed_rules
from invcheck.protocol.dialects import DIALECTS
from invcheck.protocol.rules import complaints
from invcheck.protocol.toolset import tools_of

__all__ = ["DIALECTS", "RULES", "Complaint", "complaints", "refusal", "relaxed_rules", "tools_of"]
