"""Put this process into namespaces of its own, before it executes any Python of the user.

Only a process that is single-threaded may do it, and only what is done before ``exec`` leaves nothing behind: no open
socket, no thread, no forkserver of earlier code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

_USER, _NET, _MOUNT = 0x1000_0000, 0x4000_0000, 0x0002_0000
_NOSUID_NODEV_NOEXEC = 0x2 | 0x4 | 0x8
_SOCKET_FOLDERS = ("/run", "/var/run")
_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x41


def prepare() -> Callable[[int], None]:
    """Give the call that unshares namespaces; it raises OSError. Asked for before the fork, as it may import ctypes."""
    unshare: Callable[[int], None] | None = getattr(os, "unshare", None)
    return unshare or _through_ctypes()


def _through_ctypes() -> Callable[[int], None]:
    import ctypes  # noqa: PLC0415  # Python 3.11 has no os.unshare

    libc = ctypes.CDLL(None, use_errno=True)

    def unshare(flags: int) -> None:
        if libc.unshare(flags) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return unshare


def enter(unshare: Callable[[int], None]) -> None:
    """Move this process into its own user, network and mount namespace, with loopback up; OSError where refused.

    The user namespace is there for root too: without it a privileged process could walk back out.
    """
    user, group = os.getuid(), os.getgid()
    unshare(_USER | _NET | _MOUNT)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        _write(f"/proc/self/{name}", text)
    _loopback_up()


def cover(inside: Collection[str]) -> None:
    """Lay an empty folder over those that hold sockets of databases and daemons, which are in no network namespace.

    It is done where it can be: not where one of the paths ``inside``, which the worker needs, lies below, and not where
    the kernel refuses.
    """
    needed = [os.path.realpath(path) + "/" for path in inside]
    with suppress(ImportError, OSError, AttributeError):
        import ctypes  # noqa: PLC0415  # the standard library has no mount

        mount = ctypes.CDLL(None).mount
        for real in {os.path.realpath(folder) for folder in _SOCKET_FOLDERS}:
            if not any(path.startswith(f"{real}/") for path in needed):
                mount(b"tmpfs", os.fsencode(real), b"tmpfs", _NOSUID_NODEV_NOEXEC, b"mode=0755,size=16m")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)


def _loopback_up() -> None:
    import _socket  # noqa: PLC0415  # the C half alone, as the forked child pays for it
    from fcntl import ioctl  # noqa: PLC0415  # likewise

    control: socket.socket = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)  # type: ignore[assignment]  # its C half
    try:
        ioctl(control.fileno(), _SIOCSIFFLAGS, b"lo".ljust(16, b"\0") + _UP_AND_RUNNING.to_bytes(2, "little").ljust(24, b"\0"))
    finally:
        control.close()


def close_others(keep: Collection[int]) -> None:
    """Close every descriptor but stdio and ``keep``: an inherited connected socket is the one thing no layer stops."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  # pathlib is not loaded in the forked child
        number = int(name)
        if number > 2 and number not in keep:  # noqa: PLR2004  # stdio
            try:
                os.close(number)
            except OSError:
                continue  # the listing's own descriptor is closed already


def end_with(life: int) -> None:
    """Let the kernel kill this process and its group when the other end of the pipe ``life`` is closed.

    That holds even while user code runs in a loop, and through ``exec``; the process must lead its group.
    """
    from fcntl import F_SETFL, F_SETOWN, F_SETSIG, fcntl  # noqa: PLC0415  # in the forked child only
    from signal import SIGKILL  # noqa: PLC0415  # likewise

    fcntl(life, F_SETOWN, -os.getpgrp())
    fcntl(life, F_SETSIG, SIGKILL)
    fcntl(life, F_SETFL, os.O_RDONLY | os.O_ASYNC)
