"""What a waiting call wants to reach, read from the memory of whoever calls."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from ipaddress import ip_address
from struct import unpack_from

from invcheck.gate import seccomp
from invcheck.gate.filters import INET, INET6, UNIX
from invcheck.gate.seccomp import Request
from invcheck.gate.syscalls import Numbers

_LONGEST = 128  # sockaddr_storage
_MESSAGE = 64  # struct mmsghdr: a msghdr of 56 bytes and a length
_SOCKADDR_IN = 16
_MOST = 1_024  # messages of one call (UIO_MAXIOV)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An address that is wanted: an internet one with ``host`` and ``port``, a Unix one with its ``path``, or neither.

    An abstract path begins with a zero character. ``family`` is the kernel's number.
    """

    family: int
    host: str = ""
    port: int | None = None
    path: str = ""

    @property
    def wanted(self) -> str:
        """The address as reports spell it.

        >>> Attempt(2, "192.0.2.1", 443).wanted, Attempt(10, "2001:db8::1", 443).wanted, Attempt(1, path="/run/x").wanted
        ('192.0.2.1:443', '[2001:db8::1]:443', 'unix:/run/x')
        """
        if self.family in (INET, INET6):
            return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        return f"unix:{self.path}".replace("\0", "@") if self.family == UNIX else f"address family {self.family}"

    @property
    def loopback(self) -> bool:
        """Whether it is this machine's own address, or none in particular, which leads there too."""
        if self.family not in (INET, INET6):
            return False
        address = ip_address(self.host)
        return address.is_loopback or address.is_unspecified


UNREADABLE = Attempt(-1)
"""An address that cannot be read."""


def attempted(request: Request, numbers: Numbers) -> list[Attempt]:
    """Give the addresses that a call wants, in order; none for one that names none."""
    given = request.arguments
    if request.number == numbers.socket:
        return [Attempt(given[0] & 0xFFFF_FFFF)]
    try:
        read = [seccomp.memory(request.thread, at, min(size, _LONGEST)) for at, size in _named(request, numbers)]
        found = [address(raw, sends=request.number != numbers.connect) for raw in read]
    except (OSError, struct.error):
        return [UNREADABLE]
    return [each for each in found if each is not None]


def _named(request: Request, numbers: Numbers) -> list[tuple[int, int]]:
    """Give where the addresses of a call stand, and how long they are."""
    given = request.arguments
    if request.number == numbers.connect:
        named = [(given[1], given[2])]
    elif request.number == numbers.sendto:
        named = [(given[4], given[5])]
    else:
        count = 1 if request.number == numbers.sendmsg else min(given[2] & 0xFFFF_FFFF, _MOST)
        headers = seccomp.memory(request.thread, given[1], _MESSAGE * count - (_MESSAGE - 12) if count else 0)
        named = [unpack_from("=QI", headers, _MESSAGE * index) for index in range(count)]
    return [(at, size & 0xFFFF_FFFF) for at, size in named if at and size & 0xFFFF_FFFF]


def address(raw: bytes, *, sends: bool = False) -> Attempt | None:
    """Read a sockaddr; `struct.error` where it is too short.

    None for one of no family (AF_UNSPEC): it takes an association back. A socket that ``sends`` takes it for an address of
    version 4 (udp_sendmsg in net/ipv4/udp.c).

    >>> address(bytes.fromhex("02000050c0000201") + bytes(8)).wanted
    '192.0.2.1:80'
    """
    (family,) = unpack_from("=H", raw)
    if family == INET or (sends and not family and len(raw) >= _SOCKADDR_IN):
        (port,) = unpack_from(">H", raw, 2)
        return Attempt(INET, str(ip_address(unpack_from("4s", raw, 4)[0])), port)
    if family == INET6:
        (port,) = unpack_from(">H", raw, 2)
        full = ip_address(unpack_from("16s", raw, 8)[0])
        return Attempt(family, str(getattr(full, "ipv4_mapped", None) or full), port)
    if family == UNIX:
        path = raw[2:]
        return Attempt(family, path=os.fsdecode(path if path[:1] == b"\0" else path.split(b"\0")[0]))
    return Attempt(family) if family else None
