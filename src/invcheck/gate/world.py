"""What proc(5) tells of those who wait for a verdict: who they are, what listens where, and who holds it."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from ipaddress import ip_address
from sys import byteorder

_LISTENING = b"0A"
_ACCEPTS, _STREAM = 0x1_0000, b"0001"  # of /proc/net/unix: what was accepted bears the path too
_LOOPBACK = {4: "127.0.0.1", 6: "::1"}


def read(name: str) -> bytes:
    """Give a file of /proc, nothing where whoever it is about is gone."""
    try:
        with open(f"/proc/{name}", "rb") as file:  # noqa: PTH123  # a plain read
            return file.read()
    except OSError:
        return b""


def process(thread: int) -> int:
    """Give the process that a thread belongs to."""
    return int(_field(thread, b"Tgid:") or thread)


def own_number(thread: int) -> int:
    """Give the number by which a thread knows itself: that of the innermost process namespace it is in."""
    names = [line for line in read(f"{thread}/status").splitlines() if line.startswith(b"NSpid:")]
    return int(names[0].split()[-1]) if names else thread


def catches(thread: int, signal: int) -> bool:
    """Say whether a thread will handle a signal itself: its process has a handler, and the thread does not put it off."""
    return _has(thread, b"SigCgt:", signal) and not _has(thread, b"SigBlk:", signal)


def same_file(thread: int, number: int) -> bool:
    """Say whether a thread has the same file under a number as this process: one that closed all may have another there."""
    try:
        return os.path.samestat(os.stat(f"/proc/{thread}/fd/{number}"), os.fstat(number))  # noqa: PTH116  # a descriptor's path
    except OSError:
        return False


def pending(thread: int, signal: int) -> bool:
    """Say whether a signal was sent to a thread that has not taken it yet."""
    return _has(thread, b"SigPnd:", signal)


def _has(thread: int, mask: bytes, signal: int) -> bool:
    return bool(int(_field(thread, mask) or b"0", 16) >> (signal - 1) & 1)


def _field(who: int, name: bytes) -> bytes:
    return next((line.split()[1] for line in read(f"{who}/status").splitlines() if line.startswith(name)), b"")


def thread_name(thread: int) -> str:
    """Give a thread's name, without the numbers that say nothing."""
    name = read(f"{thread}/comm").strip().decode("utf-8", "replace")
    return "".join("N" if sign.isdigit() else sign for sign in name)


def mapped(process: int) -> bytes:
    """Give what a process has loaded."""
    return read(f"{process}/maps")


def ports(thread: int, port: int) -> dict[bytes, str]:
    """Give the sockets at which a port is served where a thread lives: the address of each inode."""
    found = {}
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in read(f"{thread}/net/{table}").splitlines()[1:]:
            row = line.split()
            address, _, number = row[1].partition(b":")
            if int(number, 16) == port and (table[:3] == "udp" or row[3] == _LISTENING):
                found[row[9]] = plain(address)
    return found


def plain(address: bytes) -> str:
    """Give an address of /proc/net as text: it has four bytes at a time, as this processor orders them.

    >>> plain(b"0100007F"), plain(b"00000000000000000000000001000000")
    ('127.0.0.1', '::1')
    """
    words = [int(address[at : at + 8], 16).to_bytes(4, byteorder) for at in range(0, len(address), 8)]
    full = ip_address(b"".join(words))
    return str(getattr(full, "ipv4_mapped", None) or full)


def meets(served: str, host: str) -> bool:
    """Say whether whoever dials ``host`` may reach a socket at the address ``served``.

    >>> meets("0.0.0.0", "127.0.0.1"), meets("::", "127.0.0.1"), meets("127.0.0.2", "127.0.0.1"), meets("127.0.0.1", "0.0.0.0")
    (True, True, False, True)
    """
    own, wanted = ip_address(served), ip_address(host)
    if own.is_unspecified:
        return own.version >= wanted.version
    return own == (ip_address(_LOOPBACK[wanted.version]) if wanted.is_unspecified else wanted)


def inode(thread: int, descriptor: int) -> bytes:
    """Give the inode of a thread's socket, nothing where it has none."""
    try:
        link = os.readlink(f"/proc/{thread}/fd/{descriptor}")  # noqa: PTH115  # a plain link
    except OSError:
        return b""
    return os.fsencode(link).removeprefix(b"socket:[").removesuffix(b"]")


def paths(thread: int, path: str) -> set[bytes]:
    """Give the Unix sockets that are served at a whole path, or under an abstract name, where a thread lives: their inodes."""
    wanted, folder, found = path.replace("\0", "@") if path.startswith("\0") else path, whole(thread, ""), set()
    for line in read(f"{thread}/net/unix").splitlines()[1:]:
        row = line.split(None, 7)
        serves = len(row) == 8 and (int(row[3], 16) & _ACCEPTS or row[4] != _STREAM)  # noqa: PLR2004  # one with a path
        name = os.fsdecode(row[7]) if serves else ""
        if name and wanted in (name, name if name.startswith("@") else os.path.realpath(os.path.join(folder, name))):  # noqa: PTH118  # another's folder
            found.add(row[6])
    return found


def whole(thread: int, path: str) -> str:
    """Give a path as a thread sees it, from the root and without links."""
    try:
        folder = os.readlink(f"/proc/{thread}/cwd")  # noqa: PTH115  # a plain link
    except OSError:
        folder = "/"
    return os.path.realpath(os.path.join(folder, path))  # noqa: PTH118  # another's folder


def held(inodes: Collection[bytes], session: int) -> set[bytes]:
    """Give those of these sockets that a process of a session holds."""
    links = {b"socket:[" + inode + b"]": inode for inode in inodes}
    found = set[bytes]()
    for name in os.listdir("/proc"):  # noqa: PTH208  # a plain listing
        fields = read(f"{name}/stat").rpartition(b")")[2].split() if name.isdigit() else []
        if len(fields) > 3 and int(fields[3]) == session:  # noqa: PLR2004  # the session is the fourth
            found |= _links(name) & links.keys()
    return {links[link] for link in found}


def _links(process: str) -> set[bytes]:
    found = set()
    with suppress(OSError):  # it is gone
        for name in os.listdir(f"/proc/{process}/fd"):  # noqa: PTH208  # as above
            with suppress(OSError):  # it has closed this one meanwhile
                found.add(os.fsencode(os.readlink(f"/proc/{process}/fd/{name}")))  # noqa: PTH115  # as above
    return found
