"""Answers that an event loop awaits from what the trial may reach outside: a timer must not come before them for no reason.

Who asked last waits for an answer, and an answer may come in parts. Of a TCP connection the kernel counts both ways (tcp(7),
TCP_INFO), which is compared from look to look; of a Unix socket nobody does, so that one counts as asked for a while.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from invcheck.sandbox import clock
from invcheck.sandbox.inherited import inherited

QUIET = 0.05
"""Real seconds without a byte after which an answer counts as whole."""

PATIENCE = 1.0
"""Real seconds for which a Unix socket that a loop looks at counts as asked."""

_RECEIVED, _SENT = 128, 156  # where tcpi_bytes_received and tcpi_data_segs_out stand in struct tcp_info (linux/tcp.h)
_LENGTH = 160
_UNREAD = 0x541B  # FIONREAD


def allowed() -> tuple[str, ...]:
    """Give what the trial may reach outside, in its one spelling."""
    given = inherited()
    return () if given is None else given.allow


class Answers:
    """What is known, from look to look, of the connections of one event loop that lead outside."""

    __slots__ = ("_known", "_may")

    def __init__(self) -> None:
        self._may = allowed()
        self._known: dict[int, _Known] = {}

    def look(self, looked_at: Callable[[], Iterable[int]]) -> None:
        """Take note of what was sent and read since the last time; to be asked before each poll."""
        if self._may:
            for descriptor in looked_at():
                found = _connection(descriptor, self._may)
                if found is not None:
                    own, sent, read = found
                    known = self._known.get(descriptor)
                    if known is None or known.own != own:  # numbers of descriptors come again
                        known = self._known[descriptor] = _Known(own)
                    known.note(sent, read)

    def awaited(self, looked_at: Callable[[], Iterable[int]]) -> bool:
        """Say whether one of the descriptors that the loop looks at brings an answer that is not whole yet."""
        if not self._known:
            return False
        now = clock.real_monotonic()
        return any(descriptor in self._known and self._known[descriptor].awaits(now) for descriptor in looked_at())


class _Known:
    """One connection: how often it was sent something, how much of it was read, and whether what came last was a question."""

    __slots__ = ("_asked", "_heard", "_read", "_sent", "own")

    def __init__(self, own: object) -> None:
        self.own = own
        self._sent, self._read, self._asked, self._heard = 0, 0, False, 0.0

    def note(self, sent: int | None, read: int) -> None:
        now = clock.real_monotonic()
        if sent is None:
            self._heard = now + PATIENCE - QUIET
        elif read != self._read:
            self._read, self._asked, self._heard = read, False, now
        if sent is not None and sent != self._sent:  # within one turn of a loop what is sent comes after what is read
            self._sent, self._asked = sent, True

    def awaits(self, now: float) -> bool:
        return self._asked or now - self._heard < QUIET


def _connection(descriptor: int, may: tuple[str, ...]) -> tuple[object, int | None, int] | None:
    """Give of a connection that leads outside its own address, what was sent, and what of it was read."""
    import socket  # noqa: PLC0415  # as below
    import struct  # noqa: PLC0415  # only where a trial may reach something

    try:
        looked = socket.socket(fileno=os.dup(descriptor))
    except OSError:  # no socket
        return None
    with looked:
        try:
            peer, own = looked.getpeername(), looked.getsockname()
        except OSError:  # it listens
            return None
        if looked.family == socket.AF_UNIX:
            return (own, None, 0) if f"unix:{peer}" in may else None
        if looked.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        host = f"[{peer[0]}]" if ":" in peer[0] else peer[0]
        if f"tcp:{host}:{peer[1]}" not in may:
            return None
        told = looked.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LENGTH)
    (received,), (sent,) = struct.unpack_from("Q", told, _RECEIVED), struct.unpack_from("I", told, _SENT)
    return own, sent, received - _unread(descriptor)


def _unread(descriptor: int) -> int:
    from fcntl import ioctl  # noqa: PLC0415  # as above

    return int.from_bytes(ioctl(descriptor, _UNREAD, bytes(4)), "little")
