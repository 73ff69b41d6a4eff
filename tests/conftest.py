"""The whole suite runs under our own gate: a test reaches nothing but listeners that its process holds itself."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from invcheck import record
from invcheck.errors import NetworkBlocked
from invcheck.gate.confinement import SINK
from invcheck.sandbox import network

_refused: list[str] = []


def _gate(event: str, args: tuple[Any, ...]) -> None:
    judge = network.JUDGES.get(event)
    if judge is None or network._armed or record.current() is not None:  # then the product's own hook answers
        return
    wanted = judge(*args)
    if wanted is not None and not (event == "socket.sendto" and args[0].getsockname() == SINK):  # an answer into a cell
        _refused.append(f"{wanted[0]}:{wanted[1]}")
        raise NetworkBlocked(f"a test wanted {wanted[0]}:{wanted[1]}")


def pytest_configure() -> None:
    """Close the gate before any test module is imported; a law may take as long as a busy machine needs."""
    sys.addaudithook(_gate)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job begins so, and hands it on to what tests start
        signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile("house", deadline=None)
    settings.load_profile("house")


@pytest.fixture(autouse=True)
def refused() -> Iterator[list[str]]:
    """What a test wanted of the network: it fails for it, whether it swallowed the refusal or not."""
    yield _refused
    wanted = [*_refused]
    _refused.clear()
    assert wanted == []
