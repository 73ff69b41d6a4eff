"""What may be reached although the network is cut: the sandbox's own listeners and temp folder, abstract sockets, what is allowed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

UNIX, NETLINK, _INET = 1, 16, 2
INTERNET = frozenset({2, 10})
"""The kernel's numbers of the address families (socket(2)), so that nobody imports `socket` for them."""

_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost", "0.0.0.0", "::", "::1", "0:0:0:0:0:0:0:1"})  # noqa: S104  # compared, not bound
_SERVICES = {"http": 80, "https": 443, "domain": 53, "ftp": 21, "smtp": 25, "ssh": 22, "imap": 143}
_LISTENING = "0A"

_alone = False
_temp: str | None = None
_paths: set[str] = set()
_allowed: frozenset[str] = frozenset()


def install(*, alone: bool = False, temp: str | None = None, allow: Iterable[str] = ()) -> None:
    """Say whether this process has a network namespace of its own, where every listener is inside the sandbox.

    ``temp`` is the worker's own temp folder, if it has one; ``allow`` holds canonical texts of `allowance`, beside those that
    `allowing` has been told.
    """
    global _alone, _temp  # one sandbox per process
    _alone, _temp = alone, None if temp is None else os.path.realpath(temp) + "/"
    allowing(allow, more=True)


def allowing(texts: Iterable[str], *, more: bool = False) -> frozenset[str]:
    """Let the addresses of canonical texts be reached, and no others unless ``more``; gives those of before, to be put back.

    >>> before = allowing(["tcp:127.0.0.1:5432"])
    >>> allowing(before)
    frozenset({'tcp:127.0.0.1:5432'})
    """
    global _allowed  # one sandbox per process
    before, _allowed = _allowed, frozenset(texts) | (_allowed if more else frozenset())
    return before


def loopback(host: str) -> bool:
    """Say whether a host is this machine's loopback, or no address in particular.

    >>> loopback("127.0.0.1"), loopback("::ffff:127.0.0.1"), loopback("10.0.0.1"), loopback("127.example.org")
    (True, True, False, False)
    """
    plain = host.lower().removeprefix("::ffff:")
    return plain in _LOCAL_NAMES or (plain.startswith("127.") and plain.replace(".", "").isdigit())


def service(name: Any) -> int | None:
    """Give the port of a well-known service name, or None.

    >>> service("https")
    443
    """
    return _SERVICES.get(os.fsdecode(name)) if isinstance(name, str | bytes) else None


def bound(sock: Any, address: Any) -> None:
    """Remember a path that the sandbox itself serves."""
    if int(sock.family) == UNIX and isinstance(address, str | bytes):
        path = os.fsdecode(address)
        if path and not path.startswith("\0"):
            _paths.add(os.path.realpath(path))


def own_path(path: str) -> bool:
    """Say whether a Unix socket is ours: served by us, below the worker's own temp folder, or allowed.

    One that stands in no file belongs to a network namespace: in the machine's own it is ours where this process holds it.
    """
    if path.startswith("\0"):
        return _alone or bool(_abstract(path[1:]) & _inodes())
    if f"unix:{path}" in _allowed:
        return True
    real = os.path.realpath(path)
    return real in _paths or (_temp is not None and real.startswith(_temp))


def own(sock: Any, host: str, port: int) -> bool:
    """Say whether ``host:port`` is a listener of the sandbox, on loopback and held by this process or its namespace, or allowed."""
    if not loopback(host):
        return False
    stream = int(sock.type) & 0xF == 1
    if stream and _allowed and f"tcp:{_dialled(int(sock.family), host)}:{port}" in _allowed:
        return True
    held = None if _alone else _inodes()
    for table in ("tcp", "tcp6") if stream else ("udp", "udp6"):
        for local_port, state, inode in _table(table):
            if local_port == port and (not stream or state == _LISTENING) and (held is None or inode in held):
                return True
    return False


def _dialled(family: int, host: str) -> str:
    """Give the address that a socket of a family dials for a spelling of loopback, as canonical texts have it."""
    plain = host.lower().removeprefix("::ffff:")
    if plain not in _LOCAL_NAMES:
        return plain
    return "127.0.0.1" if family == _INET or plain == "0.0.0.0" else "[::1]"  # noqa: S104  # compared, not bound


def _table(name: str) -> list[tuple[int, str, str]]:
    """Read the kernel's table of sockets: local port, state, inode."""
    return [(int(row[1].rpartition(b":")[2], 16), row[3].decode(), row[9].decode()) for row in _rows(name)]


def _abstract(name: str) -> set[str]:
    """Give the sockets that are served under a name that stands in no file, as unix(7) spells it."""
    wanted = b"@" + os.fsencode(name).replace(b"\0", b"@")
    return {row[6].decode() for row in _rows("unix") if len(row) == 8 and row[7] == wanted}  # noqa: PLR2004  # one with a name


def _rows(table: str) -> list[list[bytes]]:
    try:
        with open(f"/proc/self/net/{table}", "rb") as lines:  # noqa: PTH123  # pathlib is not loaded for this
            return [line.split() for line in lines][1:]
    except FileNotFoundError:
        return []  # a kernel without IPv6


def _inodes() -> set[str]:
    """Give the sockets that this process holds open."""
    found = set()
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208  # pathlib is not loaded for this
        try:
            target = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115  # likewise
        except FileNotFoundError:
            continue  # the descriptor of the listing itself
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found
