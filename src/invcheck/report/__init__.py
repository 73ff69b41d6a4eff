"""What a run came to, as text or bytes for people, machines and CI; nothing here prints or opens a file."""

from invcheck.report.gathered import Report

__all__ = ["Report"]
