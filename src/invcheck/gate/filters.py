"""The two filters: one that asks a listener about everything that may leave, one that refuses it by itself."""

from __future__ import annotations

from errno import EACCES, ENOSYS, EPERM, EPROTONOSUPPORT

from invcheck.gate.bpf import (
    ALLOW,
    ARCH,
    AT_LEAST,
    EQUAL,
    ERRNO,
    LISTENER,
    LOAD,
    NUMBER,
    RETURN,
    Instruction,
    Label,
    Line,
    argument,
    assemble,
)
from invcheck.gate.syscalls import Numbers

UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
HANDING = 0x4000 | 0x0800 | 0x0080 | 0x0004
"""Flags of the one message that passes unasked: it hands the listener over, whom nobody could ask before it has arrived.

MSG_NOSIGNAL, MSG_CONFIRM, MSG_EOR and MSG_DONTROUTE together have no use anywhere (send(2)).
"""
_X32 = 0x4000_0000
_SCTP = 132
"""A protocol whose sockets are connected by options too (SCTP_SOCKOPT_CONNECTX), which no filter can look into."""
_PACKET = [10 | flags for flags in (0, 0x800, 0x8_0000, 0x8_0800)]
"""SOCK_PACKET with and without SOCK_NONBLOCK and SOCK_CLOEXEC: what looks like an internet socket and is none (packet(7))."""


def notifying(numbers: Numbers) -> bytes:
    """Give the filter of K1 and K2: who connects, sends to an address or wants an odd kind of socket waits for the listener.

    What cannot be looked into is refused by itself: another processor's calls, io_uring, taking another's descriptors, and
    internet sockets that send by other calls.
    """
    return assemble(
        [
            *_refused(numbers),
            *(Instruction(EQUAL, number, "ask") for number in (numbers.connect, numbers.sendmmsg)),
            Instruction(EQUAL, numbers.sendmsg, "sendmsg"),
            Instruction(EQUAL, numbers.sendto, "sendto"),
            Instruction(EQUAL, numbers.socket, "socket", "allow"),
            Label("sendmsg"),
            Instruction(LOAD, argument(2)),
            Instruction(EQUAL, HANDING, "allow", "ask"),
            Label("sendto"),
            Instruction(LOAD, argument(4)),
            Instruction(EQUAL, 0, None, "ask"),
            Instruction(LOAD, argument(4) + 4),
            Instruction(EQUAL, 0, "allow", "ask"),
            Label("socket"),
            Instruction(LOAD, argument(0)),
            *(Instruction(EQUAL, family, "allow") for family in (UNIX, NETLINK)),
            *(Instruction(EQUAL, family, "internet") for family in (INET, INET6)),
            Label("ask"),
            Instruction(RETURN, LISTENER),
            Label("internet"),
            Instruction(LOAD, argument(1)),
            *(Instruction(EQUAL, kind, "unknown") for kind in _PACKET),
            Instruction(LOAD, argument(2)),
            Instruction(EQUAL, _SCTP, "unknown", "allow"),
            Label("unknown"),
            Instruction(RETURN, ERRNO | EPROTONOSUPPORT),
            *_endings(),
        ]
    )


def static(numbers: Numbers, *, sockets: bool = False) -> bytes:
    """Give the filter of K3: no socket but Unix and netlink ones, unless ``sockets`` (where a namespace holds them)."""
    inside = [Instruction(EQUAL, family, "allow") for family in ((INET, INET6) if sockets else ())]
    return assemble(
        [
            *_refused(numbers),
            Instruction(EQUAL, numbers.socket, None, "allow"),
            Instruction(LOAD, argument(0)),
            *(Instruction(EQUAL, family, "allow") for family in (UNIX, NETLINK)),
            *inside,
            Instruction(RETURN, ERRNO | EACCES),
            *_endings(),
        ]
    )


def _refused(numbers: Numbers) -> list[Line]:
    """Begin a filter: after it the call's number is loaded."""
    return [
        Instruction(LOAD, ARCH),
        Instruction(EQUAL, numbers.arch, None, "missing"),
        Instruction(LOAD, NUMBER),
        *([Instruction(AT_LEAST, _X32, "missing")] if numbers.x32 else []),
        Instruction(EQUAL, numbers.io_uring_setup, "missing"),
        Instruction(EQUAL, numbers.pidfd_getfd, "forbidden"),
    ]


def _endings() -> list[Line]:
    endings = (("allow", ALLOW), ("missing", ERRNO | ENOSYS), ("forbidden", ERRNO | EPERM))
    return [line for name, verdict in endings for line in (Label(name), Instruction(RETURN, verdict))]
