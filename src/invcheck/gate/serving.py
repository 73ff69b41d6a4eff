"""Who serves a port, asked of the kernel: sock_diag(7) says it in microseconds, where proc(5) goes through every connection.

The socket that asks belongs to the network in which it was made, and speaks of that one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from struct import Struct
from sys import byteorder
from typing import Any

from invcheck.gate import world
from invcheck.gate.filters import INET, INET6
from invcheck.gate.handover import DIAGNOSES

_BY_FAMILY, _REQUEST_DUMP = 20, 0x301
_DONE, _ERROR = 3, 2
_LISTENING, _ANY = 1 << 10, 0xFFFF_FFFF
_TCP, _UDP = 6, 17
_HEADER = Struct("=IHHII")
_QUESTION = Struct("=BBBBI2s42s8s")  # struct inet_diag_req_v2 (linux/inet_diag.h)
_INODE = 68  # bytes into struct inet_diag_msg
_MOST = 1 << 16


class Serving:
    """Tells who serves a port: by ``asked``, a netlink socket, or where that is None or refused, by proc(5)."""

    def __init__(self, asked: int | None) -> None:
        import _socket  # noqa: PLC0415  # the C half alone

        self._asked: Any = None if asked is None else _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, DIAGNOSES, asked)
        self._turn = 0

    def close(self) -> None:
        """Close the socket that asks."""
        if self._asked is not None:
            self._asked.close()
            self._asked = None

    def ports(self, thread: int, port: int) -> dict[bytes, str]:
        """Give the sockets at which a port is served where a thread lives: the address of each inode."""
        if self._asked is not None:
            with suppress(OSError):
                return {inode: address for way in _WAYS for inode, address in self._told(*way, port)}
        return world.ports(thread, port)

    def _told(self, family: int, protocol: int, states: int, port: int) -> Iterator[tuple[bytes, str]]:
        self._turn = (self._turn + 1) & 0xFFFF_FFFF
        question = _QUESTION.pack(family, protocol, 0, 0, states, port.to_bytes(2, "big"), b"", b"\xff" * 8)
        self._asked.send(_HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, _REQUEST_DUMP, self._turn, 0) + question)
        while True:
            for kind, turn, said in _messages(self._asked.recv(_MOST)):
                if turn != self._turn:
                    continue  # of a question that failed
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    raise OSError("this kernel does not tell")
                yield _socket_of(said)


_WAYS = [(INET, _TCP, _LISTENING), (INET6, _TCP, _LISTENING), (INET, _UDP, _ANY), (INET6, _UDP, _ANY)]


def _messages(raw: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at + _HEADER.size <= len(raw):
        size, kind, _, turn, _ = _HEADER.unpack_from(raw, at)
        yield kind, turn, raw[at + _HEADER.size : at + size]
        at += (size + 3) & ~3


def _socket_of(said: bytes) -> tuple[bytes, str]:
    address = ip_address(said[8:24] if said[0] == INET6 else said[8:12])
    return str(int.from_bytes(said[_INODE : _INODE + 4], byteorder)).encode(), str(getattr(address, "ipv4_mapped", None) or address)
