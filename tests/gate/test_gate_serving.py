"""Who serves a port: what the kernel says when it is asked is what it writes into its tables."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from invcheck.gate import handover, world
from invcheck.gate.serving import Serving

ROUTES = 0
"""NETLINK_ROUTE, which has no word of this question."""


@pytest.fixture
def serving() -> Iterator[Serving]:
    """One that asks the kernel."""
    made = Serving(handover.asking())
    yield made
    made.close()
    made.close()


def inode(one: socket.socket) -> bytes:
    """The number by which tables know a socket."""
    return str(os.fstat(one.fileno()).st_ino).encode()


@pytest.mark.parametrize(
    ("family", "kind", "host"),
    [
        (socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1"),
        (socket.AF_INET, socket.SOCK_STREAM, "127.3.2.1"),
        (socket.AF_INET, socket.SOCK_DGRAM, "127.0.0.1"),
        (socket.AF_INET6, socket.SOCK_STREAM, "::1"),
        (socket.AF_INET6, socket.SOCK_DGRAM, "::1"),
    ],
)
def test_a_socket_is_told_with_its_address(serving: Serving, family: int, kind: int, host: str) -> None:
    """Of both families and kinds, and by proc(5) alike where there is nobody to ask."""
    with socket.socket(family, kind) as one:
        one.bind((host, 0))
        port = one.getsockname()[1]
        if kind == socket.SOCK_STREAM:
            assert serving.ports(os.getpid(), port) == {}  # bound, but nobody listens
            one.listen()
        assert serving.ports(os.getpid(), port) == {inode(one): host} == Serving(None).ports(os.getpid(), port)
    assert serving.ports(os.getpid(), port) == {} == world.ports(os.getpid(), port)


def test_all_who_share_a_port_are_told(serving: Serving) -> None:
    """A mapped address is the one of version 4; a connection, which serves nobody, is none of them."""
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.socket(type=socket.SOCK_DGRAM) as two,
        socket.socket(socket.AF_INET6) as three,
    ):
        port = one.getsockname()[1]
        two.bind(("127.0.0.2", port))
        three.bind(("::ffff:127.0.0.3", port))
        three.listen()
        with socket.create_connection(("127.0.0.1", port)):
            told = serving.ports(os.getpid(), port)
    assert told == {inode_: host for inode_, host in told.items() if host in {"127.0.0.1", "127.0.0.2", "127.0.0.3"}}
    assert len(told) == 3


def test_a_kernel_that_does_not_tell_is_read() -> None:
    """The question is refused there, and what comes late of one is not taken for the next one's answer."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, ROUTES) as other, socket.create_server(("127.0.0.1", 0)) as one:
        deaf = Serving(os.dup(other.fileno()))
        port = one.getsockname()[1]
        assert deaf.ports(os.getpid(), port) == deaf.ports(os.getpid(), port) == {inode(one): "127.0.0.1"}
        deaf.close()


def test_an_answer_of_another_question_is_left_aside(serving: Serving) -> None:
    """Each answer bears the number of its question (netlink(7))."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        next(serving._told(socket.AF_INET, 6, 1 << 10, one.getsockname()[1]))  # and its end is never read
        assert serving.ports(os.getpid(), two.getsockname()[1]) == {inode(two): "127.0.0.1"}


def test_where_there_is_no_such_socket_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel may have none of them: 93 is EPROTONOSUPPORT, as of a protocol that does not exist."""
    monkeypatch.setattr(handover, "DIAGNOSES", 31)
    assert handover.asking() is None
