"""What proc(5) tells of those who wait for a verdict: who they are, what listens where, and who holds it."""

from __future__ import annotations

import os

_LISTENING = b"0A"


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


def catches(process: int, signal: int) -> bool:
    """Say whether a process handles a signal itself."""
    return bool(int(_field(process, b"SigCgt:") or b"0", 16) >> (signal - 1) & 1)


def _field(who: int, name: bytes) -> bytes:
    return next((line.split()[1] for line in read(f"{who}/status").splitlines() if line.startswith(name)), b"")


def thread_name(thread: int) -> str:
    """Give a thread's name, without the numbers that say nothing."""
    name = read(f"{thread}/comm").strip().decode("utf-8", "replace")
    return "".join("N" if sign.isdigit() else sign for sign in name)


def mapped(process: int) -> bytes:
    """Give what a process has loaded."""
    return read(f"{process}/maps")


def ports(thread: int, port: int) -> set[bytes]:
    """Give the sockets at which a port is served where a thread lives: their inodes."""
    found = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in read(f"{thread}/net/{table}").splitlines()[1:]:
            row = line.split()
            if int(row[1].rpartition(b":")[2], 16) == port and (table[:3] == "udp" or row[3] == _LISTENING):
                found.add(row[9])
    return found


def paths(thread: int, path: str) -> set[bytes]:
    """Give the Unix sockets that are served at a path where a thread lives: their inodes."""
    wanted = path.replace("\0", "@") if path.startswith("\0") else whole(thread, path)
    rows = (line.split(None, 7) for line in read(f"{thread}/net/unix").splitlines()[1:])
    named = {row[6]: os.fsdecode(row[7]) for row in rows if len(row) == 8}  # noqa: PLR2004  # one with a path
    return {inode for inode, name in named.items() if wanted in (name, name if name.startswith("@") else whole(thread, name))}


def whole(thread: int, path: str) -> str:
    """Give a path as a thread sees it, from the root."""
    try:
        folder = os.readlink(f"/proc/{thread}/cwd")  # noqa: PTH115  # a plain link
    except OSError:
        folder = "/"
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118  # another's folder


def held(inodes: set[bytes], session: int) -> bool:
    """Say whether a process of a session holds one of these sockets."""
    links = {b"socket:[" + inode + b"]" for inode in inodes}
    for name in os.listdir("/proc"):  # noqa: PTH208  # a plain listing
        fields = read(f"{name}/stat").rpartition(b")")[2].split() if name.isdigit() else []
        if len(fields) > 3 and int(fields[3]) == session and links & _links(name):  # noqa: PLR2004  # the session is the fourth
            return True
    return False


def _links(process: str) -> set[bytes]:
    found = set()
    try:
        for name in os.listdir(f"/proc/{process}/fd"):  # noqa: PTH208  # as above
            found.add(os.fsencode(os.readlink(f"/proc/{process}/fd/{name}")))  # noqa: PTH115  # as above
    except OSError:
        return found  # it is gone, or has closed what was listed
    return found
