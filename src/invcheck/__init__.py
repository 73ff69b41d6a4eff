"""Deterministic, offline tests for applications built on language models."""

__version__ = "0.1.0"
