"""Probes: they read the app's own ledger, or any other state of it, and never change it."""

from invcheck.ledger.files import JsonLinesProbe, SqliteProbe
from invcheck.ledger.memory import CallProbe, ListProbe, LoggingProbe
from invcheck.ledger.probe import Probe
from invcheck.ledger.spec import probe
from invcheck.ledger.sql import SqlProbe

__all__ = ["CallProbe", "JsonLinesProbe", "ListProbe", "LoggingProbe", "Probe", "SqlProbe", "SqliteProbe", "probe"]
