"""The gate's readable layer: an audit hook that notes every attempt to leave the sandbox, then refuses it.

The note comes first, into an append-only file that children by fork share, since an app may swallow the exception and a
pool loses it with the child. What no hook can see (C code, programs started by the app) is stopped by the namespaces
around the worker, not here. Listeners that the sandbox itself holds are reachable; loopback as such is not.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from collections.abc import Callable, Mapping
from sys import _getframe as frame_at
from types import FrameType, ModuleType
from typing import Any, NoReturn

from invcheck import record
from invcheck.canonical import packed, unpacked
from invcheck.errors import NetworkBlocked
from invcheck.sandbox import ambient, listeners
from invcheck.vocabulary import Json

HINT = "did you forget a double? bind one where the app builds its client"
_WHY = "the network is cut in a trial"

# held on to, since an app may replace what stands in os
_append, _pread, _process, _status = os.write, os.pread, os.getpid, os.fstat
_hooked = False
_armed: bool | None = None
_notes: int | None = None
_merged = 0
_forked = False
_fork = os.fork  # held on to, since an app may replace what stands in os
_pending: list[dict[str, Json]] = []
ours: set[int] = set()
"""Children that `fork` made."""


def install(notes: int | None = None, *, armed: bool = True) -> None:
    """Hook into this interpreter, for good; ``notes`` is the descriptor that notes are appended to.

    With ``armed`` every attempt is refused, else only attempts in a trial (a process that is not the sandbox's own).
    """
    global _armed, _notes, _hooked  # noqa: PLW0603  # one gate per process
    _armed = armed
    if notes is not None or _notes is None:
        _notes = notes_file() if notes is None else notes
    if not _hooked:
        _hooked = True
        record.tellers.append(_write)
        sys.addaudithook(_hook)
        os.register_at_fork(after_in_parent=_parted, after_in_child=_begun)


def arm(armed: bool | None) -> bool | None:
    """Refuse every attempt from now on (True), those in a trial (False) or none (None); gives how it was before."""
    global _armed  # one gate per process
    before, _armed = _armed, armed
    return before


def notes_file() -> int:
    """Give a new file that only its descriptor names, to which every process that holds it appends."""
    from fcntl import F_SETFL, fcntl  # noqa: PLC0415  # where a gate is made, not where one is checked

    notes = os.memfd_create("invcheck-breaches", os.MFD_CLOEXEC)
    fcntl(notes, F_SETFL, os.O_APPEND)
    return notes


def noted(notes: int, since: int = 0) -> tuple[list[dict[str, Json]], int]:
    """Give the attempts noted from byte ``since`` on, each with its ``process``, and where the notes end."""
    size = _status(notes).st_size
    if size == since:
        return [], size
    return [unpacked(line) for line in _pread(notes, size - since, since).splitlines()], size


def pending() -> list[dict[str, Json]]:
    """Hand over the attempts that no trial was open for (at import, at collection), and forget them."""
    merge()
    taken = list(_pending)
    _pending.clear()
    return taken


def merge() -> None:
    """Take in what children by fork noted since the last time."""
    global _merged  # how far the notes were read
    if _notes is None or not _forked:
        return
    notes, _merged = noted(_notes, _merged)
    for note in notes:
        if note.pop("process") == _process():
            continue
        if "child" in note:
            record.from_child(note["child"], note["seed"])
        else:
            _enter(note)


def forked() -> bool:
    """Whether this process has forked a child that is none of ours."""
    return _forked


def _parted() -> None:
    global _forked  # noqa: PLW0603  # from the first fork on there may be a child that notes something
    _forked = True


def _begun() -> None:
    global _forked  # noqa: PLW0603  # a new process has no children yet, and what was noted so far is its parent's
    _forked = False
    skip()


def fork() -> int:
    """Fork a process of ours, which tells itself what it notes."""
    global _forked  # noqa: PLW0603  # as above
    before = _forked
    child = _fork()
    if child:
        _forked = before
        ours.add(child)
    return child


def skip() -> None:
    """Leave aside what was noted so far: a child that handled a whole case has told it itself."""
    global _merged  # noqa: PLW0603  # how far the notes were read
    if _notes is not None:
        _merged = _status(_notes).st_size


def check(event: str, host: Any, port: Any) -> None:
    """Judge a lookup in the frame of whoever asks, before a thread does it: raises NetworkBlocked like the hook."""
    _hook(event, (host, port))


def _hook(event: str, args: tuple[Any, ...]) -> None:
    judge = JUDGES.get(event)
    if judge is not None and (_armed or (_armed is False and record.current() is not None)):
        wanted = judge(*args)
        if wanted is not None:
            _refuse(event, *wanted)


_hook.__cantrace__ = True  # type: ignore[attr-defined]  # debuggers and coverage may look inside


def _address(sock: Any, address: Any) -> tuple[str, int | None] | None:
    """Judge where a socket wants to send; None lets it pass."""
    if address is None:
        return None  # it was connected before, and judged then
    family = int(sock.family)
    if family == listeners.UNIX:
        path = os.fsdecode(address)
        return None if listeners.own_path(path) else (f"unix:{path}", None)
    if family == listeners.NETLINK:
        return None  # the kernel itself, as for a list of interfaces
    if family not in listeners.INTERNET:
        return f"address family {family}", None
    host, port = _text(address[0]), int(address[1])
    return None if listeners.own(sock, host, port) else (host, port)


def _name(host: Any, port: Any = None, *_rest: Any) -> tuple[str, int | None] | None:
    """Judge a lookup of a name; loopback and "any address" need no network."""
    if host is None or listeners.loopback(text := _text(host)):
        return None
    if text == os.uname().nodename:
        text = "this-host"  # the machine's name has no place in a result
    return text, int(port) if isinstance(port, int) or str(port).isdigit() else listeners.service(port)


def _text(host: Any) -> str:
    return host.decode("ascii", "backslashreplace") if isinstance(host, bytes | bytearray) else str(host)


def _sockaddr(address: Any, *_flags: Any) -> tuple[str, int | None] | None:
    return _name(address[0], address[1])


def _bound(sock: Any, address: Any) -> None:
    listeners.bound(sock, address)


JUDGES: dict[str, Callable[..., tuple[str, int | None] | None]] = {
    **dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), _address),
    **dict.fromkeys(("socket.gethostbyname", "socket.gethostbyaddr", "socket.getaddrinfo"), _name),
    "socket.getnameinfo": _sockaddr,
    "socket.bind": _bound,
}
"""What judges the arguments of each audit event: what was wanted, or None where it may pass."""


def holds() -> bool:
    """Whether an attempt to leave the sandbox would be refused now."""
    return bool(_armed) or (_armed is False and record.current() is not None)


def refuse(
    wanted: str, *, host: str, port: int | None = None, via: str, why: str, own: Mapping[str, str] | None = None, frame: FrameType | None
) -> NoReturn:
    """Note an attempt to leave the sandbox, then raise NetworkBlocked: one that no audit event shows, or none that reads well.

    ``via`` is named where no library of the project's own choice stands between it and ``frame``, which asked. Words of its
    ``own`` ("what" it is, "hint") go along in the note, for the finding.
    """
    found = ambient.nearest(frame)
    where, line = found or ("(outside the project)", None)
    breach: dict[str, Json] = {"wanted": wanted, "host": host, "port": port, "via": _via(frame) or via}
    breach |= {"where": where, "line": line, "thread": _thread(), "count": 1, **(own or {})}
    _write(breach)
    _enter(breach)
    site = where if line is None else f"{where}, line {line}"
    raise NetworkBlocked(
        f"{wanted} was wanted, through {breach['via']}\n  who: {site}\n  why: {why}\n  hint: {breach.get('hint', HINT)}", **breach
    )


def _refuse(event: str, host: str, port: int | None) -> NoReturn:
    target = host if port is None else f"[{host}]:{port}" if ":" in host and not host.startswith("unix:") else f"{host}:{port}"
    why = f"{_WHY}, and nothing inside the sandbox listens there" if listeners.loopback(host) else _WHY
    refuse(target, host=host, port=port, via=event, why=why, frame=frame_at(2))


def _write(note: dict[str, Json]) -> None:
    if _notes is not None:
        _append(_notes, packed({**note, "process": _process()}))


def _enter(breach: dict[str, Json]) -> None:
    held = record.current()
    known = _pending if held is None else held.breaches
    for other in known:
        if {**other, "count": 0} == {**breach, "count": 0}:
            other["count"] += breach["count"]
            return
    if held is None:
        _pending.append(dict(breach))
    else:
        held.breach(dict(breach))


def _via(frame: FrameType | None) -> str | None:
    """Name the library that the project's code called: the outermost module below its frame."""
    below = None
    while frame is not None and not ambient.site(frame.f_code):
        name = str(frame.f_globals.get("__name__"))
        if not name.startswith("invcheck."):
            below = name.partition(".")[0] if not name.startswith(("http.", "urllib.", "xmlrpc.")) else name
        frame = frame.f_back
    return below if frame is not None else None


def _thread() -> str:
    """Name the thread, without the numbers that depend on how many came before it."""
    threading: ModuleType | None = sys.modules.get("threading")
    if threading is None or get_ident() == threading.main_thread().ident:
        return "MainThread"
    name: str = threading.current_thread().name
    return "".join("N" if sign.isdigit() else sign for sign in name)
