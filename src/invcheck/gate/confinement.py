"""Put this process into namespaces of its own, before it executes any Python of the user.

Only a process that is single-threaded may do it, and only what is done before ``exec`` leaves nothing behind: no open
socket, no thread, no forkserver of earlier code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

_USER, _NET, _MOUNT, _NUMBERS = 0x1000_0000, 0x4000_0000, 0x0002_0000, 0x2000_0000
_NOSUID_NODEV_NOEXEC, _BIND = 0x2 | 0x4 | 0x8, 0x1000
_SOCKET_FOLDERS = ("/run", "/var/run")
_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x41
_RESOLVER = "/etc/resolv.conf"
_FORMATS = b"/proc/sys/fs/binfmt_misc"  # covers nothing
SINK = ("127.0.0.1", 53)
"""Where lookups of names go inside the namespace: nobody answers them there but our supervisor."""

SEARCH = "search.invalid"
"""The domain that the C library appends where a name is not found: a name below it was asked for by nobody."""

RESOLVER_TEXT = f"nameserver 127.0.0.1\nsearch {SEARCH}\noptions attempts:1 timeout:1\n".encode()
"""resolv.conf(5) inside the namespace; without a domain of ours the machine's own would be appended."""


def prepare() -> Callable[[int], None]:
    """Give the call that unshares namespaces; it raises OSError. Asked for before the fork, as it imports ctypes."""
    import ctypes  # noqa: PLC0415  # Python 3.11 has no os.unshare, and no Python has mount

    libc = ctypes.CDLL(None, use_errno=True)

    def unshare(flags: int) -> None:
        if libc.unshare(flags) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return unshare


def enter(unshare: Callable[[int], None], *, own_pids: bool = False) -> None:
    """Move this process into its own user, network and mount namespace, with loopback up; OSError where refused.

    With ``own_pids`` the next child is the first process of a namespace of its own (pid_namespaces(7)).
    The user namespace is there for root too: without it a privileged process could walk back out.
    """
    user, group = os.getuid(), os.getgid()
    unshare(_USER | _NET | _MOUNT | (_NUMBERS if own_pids else 0))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        _write(f"/proc/self/{name}", text)
    _loopback_up()


def countable() -> bool:
    """Say whether a process namespace may have a ``/proc`` that fits it: not where a container hides parts of its own.

    The kernel refuses to show in a new one what lies covered in the old (mount_too_revealing in fs/namespace.c).
    """
    try:
        with open("/proc/self/mountinfo", "rb") as file:  # noqa: PTH123  # pathlib is not loaded here
            points = [line.split()[4] for line in file]
    except OSError:
        return False
    return b"/proc" in points and not any(point.startswith(b"/proc/") and point != _FORMATS for point in points)


def count_here() -> None:
    """Show the processes of this namespace in ``/proc``; OSError where refused."""
    _mount(b"proc", "/proc", b"proc", _NOSUID_NODEV_NOEXEC, None)


def cover(inside: Collection[str], shown: Iterable[str] = ()) -> None:
    """Lay an empty folder over those that hold sockets of databases and daemons, which are in no network namespace.

    It is done where it can be: not where one of the paths ``inside``, which the worker needs, lies below, and not where
    the kernel refuses. The sockets ``shown`` stay where they are, by themselves.
    """
    needed = [os.path.realpath(path) + "/" for path in inside]
    held = {path: _held(path) for path in shown}
    with suppress(OSError):
        for real in {os.path.realpath(folder) for folder in _SOCKET_FOLDERS}:
            if not any(path.startswith(f"{real}/") for path in needed):
                _mount(b"tmpfs", real, b"tmpfs", _NOSUID_NODEV_NOEXEC, b"mode=0755,size=16m")
    for path, descriptor in held.items():
        if descriptor is not None:
            if not os.path.lexists(path):
                _bind(f"/proc/self/fd/{descriptor}", path)
            os.close(descriptor)


def _held(path: str) -> int | None:
    """Keep what stands at a path in hand, if anything does: what is not there cannot be reached either."""
    try:
        return os.open(path, os.O_PATH)
    except OSError:
        return None


def resolve_here(text: str) -> None:
    """Have names looked up at `SINK`: ``text`` is a file with `RESOLVER_TEXT`. Left as it is where the kernel refuses.

    A machine whose file is missing asks this address anyway (resolv.conf(5)).
    """
    with suppress(OSError):
        if os.path.islink(_RESOLVER) or os.path.exists(_RESOLVER):  # noqa: PTH110, PTH114  # pathlib is not loaded here
            _bind(text, os.path.realpath(_RESOLVER))


def _bind(source: str, target: str) -> None:
    if not os.path.lexists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120  # pathlib is not loaded here
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    _mount(os.fsencode(source), target, None, _BIND, None)


def _mount(source: bytes, target: str, kind: bytes | None, flags: int, data: bytes | None) -> None:
    import ctypes  # noqa: PLC0415  # `prepare` has loaded it

    if ctypes.CDLL(None, use_errno=True).mount(source, os.fsencode(target), kind, flags, data) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


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


def descriptors() -> list[int]:
    """Give the descriptors that are open in this process, as far as they are not stdio."""
    return [number for name in os.listdir("/proc/self/fd") if (number := int(name)) > 2]  # noqa: PLR2004, PTH208  # stdio; no pathlib here


def close_others(keep: Collection[int], among: Iterable[int] | None = None) -> None:
    """Close every descriptor but stdio and ``keep``: an inherited connected socket is the one thing no layer stops.

    ``among`` names those that are open to who may have lost its own ``/proc``.
    """
    for number in descriptors() if among is None else among:
        if number not in keep:
            try:
                os.close(number)
            except OSError:
                continue  # the listing's own descriptor is closed already


def end_with(life: int, *, group: bool = True) -> None:
    """Let the kernel kill this process when the other end of the pipe ``life`` is closed; with it the ``group`` that it leads.

    That holds even while user code runs in a loop, and through ``exec``.
    """
    from fcntl import F_SETFL, F_SETOWN, F_SETSIG, fcntl  # noqa: PLC0415  # in the forked child only
    from signal import SIGKILL  # noqa: PLC0415  # likewise

    fcntl(life, F_SETOWN, -os.getpgrp() if group else os.getpid())
    fcntl(life, F_SETSIG, SIGKILL)
    fcntl(life, F_SETFL, os.O_RDONLY | os.O_ASYNC)
