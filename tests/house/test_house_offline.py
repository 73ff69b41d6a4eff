"""The suite itself is offline: every test process stands behind the same gate as a trial."""

from __future__ import annotations

import socket
import urllib.request

import pytest

from invcheck.errors import NetworkBlocked


def connect(address: tuple[str, int]) -> None:
    """Connect, and close the socket whatever comes."""
    with socket.socket() as sock:
        sock.connect(address)


ATTEMPTS = {
    "a connection": (lambda: connect(("192.0.2.1", 443)), "192.0.2.1:443"),
    "a lookup": (lambda: socket.getaddrinfo("model.invalid", 443), "model.invalid:443"),
    "a page": (lambda: urllib.request.urlopen("http://model.invalid/"), "model.invalid:80"),
    "a neighbour": (lambda: connect(("127.0.0.1", 9)), "127.0.0.1:9"),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_test_that_leaves_is_refused(name: str, refused: list[str]) -> None:
    """Outside of any trial too an attempt raises, and is noted, so that a test that swallows it fails at its end."""
    attempt, wanted = ATTEMPTS[name]
    with pytest.raises(NetworkBlocked):
        attempt()
    assert refused == [wanted]
    refused.clear()


def test_a_test_reaches_its_own_listener(refused: list[str]) -> None:
    """The negative twin: a listener of the test's own process is reached."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()
    assert refused == []
