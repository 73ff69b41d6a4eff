"""The kernel's numbers of the calls that the filters look at, for each processor we know.

From arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h and include/uapi/linux/audit.h.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Numbers:
    """One processor: what seccomp calls it (``arch``), and its numbers.

    >>> of("x86_64").connect, of("aarch64").connect, of("riscv64") is None
    (42, 203, True)
    """

    arch: int
    socket: int
    connect: int
    sendto: int
    sendmsg: int
    sendmmsg: int
    seccomp: int
    tgkill: int
    io_uring_setup: int = 425
    pidfd_getfd: int = 438
    x32: bool = False


_KNOWN = {
    "x86_64": Numbers(0xC000_003E, 41, 42, 44, 46, 307, 317, 234, x32=True),
    "aarch64": Numbers(0xC000_00B7, 198, 203, 206, 211, 269, 277, 131),
}


def of(machine: str) -> Numbers | None:
    """Give the numbers of a processor by the name that uname(2) gives it, None where we know none."""
    return _KNOWN.get(machine)
