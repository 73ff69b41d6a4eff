"""seccomp(2) itself: load a filter into this thread, and speak with those whose calls wait for a verdict."""

from __future__ import annotations

import os
from dataclasses import dataclass
from errno import EINTR, EINVAL, ENOENT, ENOTCONN, EOWNERDEAD, ETIMEDOUT
from struct import Struct
from sys import byteorder
from typing import Any

from invcheck.gate.syscalls import Numbers, of

_NO_NEW_PRIVILEGES, _SET_FILTER = 38, 1
_NEW_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5
_RECEIVE, _ANSWER, _VALID, _CONTINUE = 0xC050_2100, 0xC018_2101, 0x4008_2102, 1
_PATIENCE = 5_000  # milliseconds
_REQUEST, _REPLY = Struct("=QIIiIQ6Q"), Struct("=QqiI")


def numbers() -> Numbers | None:
    """Give the numbers of this machine's calls, None where no filter is known for it."""
    return of(os.uname().machine) if os.uname().sysname == "Linux" else None


@dataclass(frozen=True, slots=True)
class Request:
    """A call that waits: by which thread, its number and its arguments."""

    id: int
    thread: int
    number: int
    arguments: tuple[int, ...]


def load(program: bytes, known: Numbers, *, notify: bool) -> tuple[int, bool] | None:
    """Load a filter into this thread, for good and for all that it starts; OSError where the kernel refuses it.

    With ``notify`` it gives the listener's descriptor, and whether a waiting thread can be sent a signal that it takes after
    the verdict (Linux 5.19); no setuid program works from here on.
    """
    import ctypes  # noqa: PLC0415  # the supervisor has loaded it before its fork

    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(program, len(program))
    given = Struct("@HP").pack(len(program) // 8, ctypes.addressof(code))
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER) if notify else (0,):
        made = libc.syscall(known.seccomp, _SET_FILTER, flags, given)
        if made >= 0:
            return (made, bool(flags & _WAIT_KILLABLE)) if notify else None
        if ctypes.get_errno() != EINVAL:
            break
    raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")


def receive(listener: int) -> Request | None:
    """Take the next call that waits, None where whoever called is gone; OSError where nobody can call any more."""
    from fcntl import ioctl  # noqa: PLC0415  # only where something waits

    held = bytearray(_REQUEST.size)
    try:
        ioctl(listener, _RECEIVE, held, True)
    except OSError as error:
        if error.errno in (ENOENT, EINTR):
            return None
        raise
    number, thread, _, call, _, _, *arguments = _REQUEST.unpack(held)
    return Request(number, thread, call, tuple(arguments))


def answer(listener: int, request: Request, refusal: int) -> None:
    """Let a call go on (0), or fail with that errno; whoever is gone needs no answer."""
    from fcntl import ioctl  # noqa: PLC0415  # only where something waits

    try:
        ioctl(listener, _ANSWER, _REPLY.pack(request.id, 0, -refusal, 0 if refusal else _CONTINUE))
    except OSError as error:
        if error.errno != ENOENT:
            raise


def waits(listener: int, request: Request) -> bool:
    """Say whether a call still waits: only then what was read of its thread is that thread's (seccomp_unotify(2))."""
    from fcntl import ioctl  # noqa: PLC0415  # only where something waits

    try:
        ioctl(listener, _VALID, request.id.to_bytes(8, byteorder))
    except OSError as error:
        if error.errno != ENOENT:
            raise
        return False
    return True


def datagrams(known: Numbers, process: int, descriptor: int) -> bool | None:
    """Say whether another's socket sends datagrams; None where the kernel does not let us look, as in some containers."""
    import _socket  # noqa: PLC0415  # the C half alone
    import ctypes  # noqa: PLC0415  # as above

    try:
        leader = os.pidfd_open(process)
    except OSError:
        return None
    libc: Any = ctypes.CDLL(None)
    taken = libc.syscall(known.pidfd_getfd, leader, descriptor, 0)
    os.close(leader)
    if taken < 0:
        return None
    one = _socket.socket(-1, -1, -1, taken)
    try:
        return one.type == _socket.SOCK_DGRAM
    finally:
        one.close()


def greet(listener: int) -> None:
    """Answer the one call by which a process finds out that the listener is heard; OSError where none comes.

    There are machines that load such a filter and never tell of a call, or do not let anybody hear of it.
    """
    from select import poll  # noqa: PLC0415  # the supervisor's

    poller = poll()
    poller.register(listener)
    request = receive(listener) if poller.poll(_PATIENCE) else None
    if request is None:
        raise OSError(ETIMEDOUT, "the listener hears of no call")
    answer(listener, request, EOWNERDEAD)


def greeted() -> None:
    """Make sure that somebody hears of this thread's calls; OSError where nobody does.

    The call is one that names no address: a hook of Python's that judges those has nothing to say to it.
    """
    import _socket  # noqa: PLC0415  # the C half alone, as the forked child pays for it

    one: Any = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    told = ENOTCONN
    try:
        one.sendmsg([b""])
    except OSError as error:
        told = error.errno or told
    finally:
        one.close()
    if told != EOWNERDEAD:
        raise OSError(told, f"the listener does not answer: {os.strerror(told)}")


def memory(thread: int, at: int, size: int) -> bytes:
    """Read what a waiting thread points to; OSError where it cannot be read."""
    descriptor = os.open(f"/proc/{thread}/mem", os.O_RDONLY)
    try:
        return os.pread(descriptor, size, at)
    except OverflowError:
        raise OSError(EINVAL, "no address") from None
    finally:
        os.close(descriptor)


def signal(known: Numbers, process: int, thread: int, number: int) -> None:
    """Send a signal to one thread; whoever is gone needs none."""
    import ctypes  # noqa: PLC0415  # as above

    libc: Any = ctypes.CDLL(None)
    libc.syscall(known.tgkill, process, thread, number)
