"""What is allowed by name passes the audit hook, and nothing that merely looks like it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from invcheck.sandbox import listeners

ALLOWED = ["tcp:127.0.0.1:5432", "tcp:[::1]:6379", "unix:/run/shop.sock"]
V4, V6 = socket.AF_INET, socket.AF_INET6


@pytest.fixture(autouse=True)
def only() -> Iterator[None]:
    """These addresses, as long as a test."""
    before = listeners.allowing(ALLOWED)
    yield
    listeners.allowing(before)


@pytest.mark.parametrize(
    ("family", "host", "port", "passes"),
    [
        (V4, "127.0.0.1", 5432, True),
        (V4, "localhost", 5432, True),
        (V4, "", 5432, True),
        (V4, "0.0.0.0", 5432, True),
        (V6, "::ffff:127.0.0.1", 5432, True),
        (V6, "::1", 6379, True),
        (V6, "LOCALHOST", 6379, True),
        (V6, "::", 6379, True),
        (V4, "127.0.0.1", 5433, False),
        (V4, "127.0.0.1", 6379, False),
        (V4, "127.0.0.2", 5432, False),
        (V6, "::1", 5432, False),
        (V4, "192.0.2.1", 5432, False),
    ],
)
def test_an_allowed_port_passes_in_every_spelling_of_its_address(family: int, host: str, port: int, passes: bool) -> None:
    """An unspecified address is dialled as loopback (ip(7)), a mapped one is an IPv4 one (RFC 4291)."""
    with socket.socket(family) as sock:
        assert listeners.own(sock, host, port) is passes


def test_a_datagram_does_not_pass_where_a_connection_does() -> None:
    """What is allowed is a port of TCP."""
    with socket.socket(V4, socket.SOCK_DGRAM) as sock:
        assert not listeners.own(sock, "127.0.0.1", 5432)


def test_an_allowed_path_passes_and_its_neighbours_do_not(tmp_path: Path) -> None:
    """Paths are compared as they are written."""
    assert listeners.own_path("/run/shop.sock")
    assert [listeners.own_path(path) for path in ("/run/shop.sock2", "/run/shop", "run/shop.sock", str(tmp_path))] == [False] * 4


def test_more_is_added_and_taken_back() -> None:
    """A test that allows something keeps what its run allows."""
    before = listeners.allowing(["unix:/run/more"], more=True)
    assert before == frozenset(ALLOWED)
    assert listeners.own_path("/run/more")
    assert listeners.own_path("/run/shop.sock")
    listeners.allowing(before)
    assert not listeners.own_path("/run/more")
