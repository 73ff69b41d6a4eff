"""Children by fork that the app leaves behind."""

from __future__ import annotations

import pytest

from invcheck.record import Record
from invcheck.sandbox import children


def test_a_child_that_ends_while_it_is_looked_at_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the list of children and a child's own files it may go: nothing is left of it, and nothing is latched."""
    real = children._read
    gone = 2**22 + 1  # above the kernel's highest process id
    monkeypatch.setattr(children, "_read", lambda name: f"{gone} ".encode() if name.endswith("/children") else real(name))
    record = Record()
    children.settle(record)
    assert (children._left(), record.latches) == ({}, [])
