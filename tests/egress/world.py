"""A network and a view of the file system of the harness's own; nothing on the host changes.

Root needs no user namespace for it, anybody else gets one.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path

HOST, SERVER, HOST6 = "192.0.2.1", "192.0.2.53", "2001:db8::1"
"""Addresses that RFC 5737 and RFC 3849 keep for documentation: nobody has them."""

_USER, _NET, _MOUNT = 0x1000_0000, 0x4000_0000, 0x0002_0000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x4_0000
_SET_ADDRESS, _SET_FLAGS, _INDEX, _UP = 0x8916, 0x8914, 0x8933, 0x41  # netdevice(7)
_READABLE = 0o5
_libc = ctypes.CDLL(None, use_errno=True)


def enter(folder: Path, visible: Iterable[str]) -> bool:
    """Go there; the files ``visible`` can be read by everybody afterwards. Say whether there is IPv6."""
    user, group = os.getuid(), os.getgid()
    _checked(_libc.unshare((_USER if user else 0) | _NET | _MOUNT))
    if user:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text)
    _mount("none", "/", None, _RECURSIVE | _PRIVATE)
    for path in visible:
        if user == 0:
            _open_up(Path(path).resolve())
    _mount("tmpfs", os.path.realpath("/run"), "tmpfs")
    Path("/run/nscd").mkdir()
    resolver = folder / "resolv.conf"
    resolver.write_text(f"nameserver {SERVER}\noptions attempts:1 timeout:1\n")
    _mount(str(resolver), os.path.realpath("/etc/resolv.conf"), None, _BIND)
    return _addresses()


def _open_up(path: Path) -> None:
    """Show what stands below a folder that is closed to others, and nothing else of that folder."""
    closed = next((each for each in reversed(path.parents) if each.stat().st_mode & _READABLE != _READABLE), None)
    if closed is None:
        return
    kept = os.open(path, os.O_PATH)
    _mount("tmpfs", str(closed), "tmpfs")
    closed.chmod(0o755)
    path.mkdir(parents=True)
    _mount(f"/proc/self/fd/{kept}", str(path), None, _BIND | _RECURSIVE)
    os.close(kept)


def _addresses() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        ioctl(control, _SET_FLAGS, struct.pack("16sH22x", b"lo", _UP))
        for number, host in enumerate((HOST, SERVER), 1):
            ioctl(control, _SET_ADDRESS, struct.pack("16sHH4s16x", f"lo:{number}".encode(), socket.AF_INET, 0, socket.inet_aton(host)))
        index = struct.unpack("16si20x", ioctl(control, _INDEX, struct.pack("16s24x", b"lo")))[1]
    with suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
        ioctl(control, _SET_ADDRESS, struct.pack("16sIi", socket.inet_pton(socket.AF_INET6, HOST6), 128, index))
        return True
    return False


def show_network(path: Path) -> None:
    """Give the namespace a name that it can be entered by."""
    path.touch()
    _mount("/proc/self/ns/net", str(path), None, _BIND)


def _mount(source: str, target: str, kind: str | None, flags: int = 0) -> None:
    _checked(_libc.mount(source.encode(), target.encode(), kind.encode() if kind else None, flags, None))


def _checked(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
