"""What a process that is being walled in makes inside its walls, and hands over to its supervisor.

The C half of the socket module alone: neither the supervisor nor the forked child needs anything else of it.
"""

from __future__ import annotations

import _socket
import os
import sys
from contextlib import closing
from errno import EADDRNOTAVAIL, EAFNOSUPPORT
from typing import TYPE_CHECKING, Any

from invcheck.gate.filters import HANDING

if TYPE_CHECKING:
    from invcheck.allowance import Tcp

DIAGNOSES = 4
"""NETLINK_SOCK_DIAG: the protocol by which the kernel tells of sockets."""

_AT_ONCE = 1 << 10  # connections that may wait at a listener of what is allowed
_CREDENTIALS, _PASS_CREDENTIALS = 2, 16  # socket(7), unix(7); Python has no name for either


def pair() -> tuple[Any, Any]:
    """Give the two ends of a connection; the first is told who sends."""
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    ours.setsockopt(_socket.SOL_SOCKET, _PASS_CREDENTIALS, 1)
    return ours, theirs


def send(supervisor: Any, letters: bytes, descriptors: list[int]) -> None:
    """Hand descriptors over, a letter for each, and close them here."""
    packed = b"".join(each.to_bytes(4, sys.byteorder) for each in descriptors)
    supervisor.sendmsg([letters], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)] if packed else [], HANDING)
    for each in descriptors:
        os.close(each)


def received(ours: Any, most: int) -> tuple[bytes, list[int], int | None]:
    """Take letters and descriptors, and the number that whoever sent them has out here."""
    letters, control, _, _ = ours.recvmsg(most, _socket.CMSG_SPACE(4 * most) + _socket.CMSG_SPACE(12))
    packed = b"".join(data for _, kind, data in control if kind == _socket.SCM_RIGHTS)
    handed = [int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed) - 3, 4)]
    for each in handed:
        os.set_inheritable(each, False)
    sender = next((int.from_bytes(data[:4], sys.byteorder) for _, kind, data in control if kind == _CREDENTIALS), None)
    return letters, handed, sender


def listening(port: Tcp) -> int | None:
    """Listen where an allowed port is expected; None where this machine has no such address, as ::1 without IPv6."""
    try:
        with closing(_socket.socket(_socket.AF_INET6 if ":" in port.host else _socket.AF_INET, _socket.SOCK_STREAM)) as made:
            made.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
            made.bind((port.host, port.port))
            made.listen(_AT_ONCE)
            return int(made.detach())
    except OSError as error:
        if error.errno in (EADDRNOTAVAIL, EAFNOSUPPORT):
            return None  # the other address of localhost is there all the same
        raise


def place(descriptor: int) -> Tcp:
    """Give the port at which a socket listens."""
    from invcheck.allowance import Tcp  # noqa: PLC0415  # only where something is allowed

    made: Any = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0, descriptor)
    host, port, *_ = made.getsockname()
    made.detach()
    return Tcp(host, port)


def asking() -> int | None:
    """Give a socket that can be asked which sockets there are in this network; None where the kernel has none."""
    try:
        return int(_socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, DIAGNOSES).detach())
    except OSError:
        return None


def bound(host: str, port: int) -> int:
    """Take datagrams there."""
    made: Any = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    made.bind((host, port))
    return int(made.detach())
