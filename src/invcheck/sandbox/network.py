"""The gate's readable layer: an audit hook that notes every attempt to leave the sandbox, then refuses it.

The note comes first, into an append-only file that children by fork share, since an app may swallow the exception and a
pool loses it with the child. What no hook can see (C code, programs started by the app) is stopped by the kernel's walls
around the worker, which note it in the same file; where there are none, no program may be started in a trial. Listeners
that the sandbox itself holds are reachable; loopback as such is not.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from sys import _getframe as frame_at
from types import FrameType, ModuleType
from typing import Any, NoReturn

from invcheck import record
from invcheck.canonical import packed
from invcheck.errors import NetworkBlocked
from invcheck.sandbox import ambient, clock, imports, listeners, native, spawning
from invcheck.sandbox import notes as files
from invcheck.sandbox.reasons import CUT, HINT, SOFT, reasons
from invcheck.vocabulary import Json

noted, notes_file = files.noted, files.notes_file

# held on to, since an app may replace what stands in os
_process = os.getpid
_PATIENCE, _LOOK = 25, 0.002  # looks, and real seconds between them, for a thread that says where it stands
_DATAGRAM = 2
_hooked = False
_armed: bool | None = None
_notes: int | None = None
_book: files.Book | None = None
_sites: int | None = None
_soft = _kernel = False
_merged = _sited = 0
_forked = False
_fork = os.fork  # held on to, since an app may replace what stands in os
_last: record.Record | None = None
_pending: list[dict[str, Json]] = []
ours: set[int] = set()
"""Children that `fork` made."""


def install(notes: int | None = None, sites: int | None = None, *, armed: bool = True, soft: bool = False, kernel: bool = False) -> None:
    """Hook into this interpreter, for good; ``notes`` is the descriptor that notes are appended to.

    With ``armed`` every attempt is refused, else only attempts in a trial (a process that is not the sandbox's own). The
    kernel's gate asks threads where they stand, who say it into ``sites``. With ``soft`` no program may be started in a
    trial, since nothing would stop what it does; with ``kernel`` the kernel's gate refuses and notes what passes here.
    """
    global _armed, _book, _hooked, _kernel, _notes, _sites, _soft  # noqa: PLW0603  # one gate per process
    _armed, _soft, _kernel = armed, soft, kernel
    if notes is not None or _notes is None:
        _notes = notes_file() if notes is None else notes
        _book = files.Book.held(_notes)
    if sites is not None:
        _sites = sites
        native.listen(sites)
    if not _hooked:
        _hooked = True
        record.tellers.append(_write)
        sys.addaudithook(_hook)
        os.register_at_fork(after_in_parent=_parted, after_in_child=_begun)
        imports.after("_posixsubprocess", _audited)


def arm(armed: bool | None) -> bool | None:
    """Refuse every attempt from now on (True), those in a trial (False) or none (None); gives how it was before."""
    global _armed  # one gate per process
    before, _armed = _armed, armed
    return before


def pending() -> list[dict[str, Json]]:
    """Hand over the attempts that no trial was open for (at import, at collection), and forget them."""
    merge()
    taken = list(_pending)
    _pending.clear()
    return taken


def merge() -> None:
    """Take in what children by fork and the kernel's gate have noted since the last time."""
    global _merged  # how far the notes were read
    if _notes is None or files.end(_notes) == _merged:
        return
    fresh, _merged = noted(_notes, _merged)
    for note in files.told(fresh, _answers(fresh), _process()):
        if "child" in note:
            record.from_child(note["child"], note["seed"])
        else:
            stray = record.strayed(note.pop("tid", None))
            _enter(note, stray or record.current() or (_last if _last is not None and _last.over else None))


def _answers(fresh: list[dict[str, Json]]) -> list[str]:
    """Give what threads said for these notes; one that has not yet is waited for."""
    global _sited  # noqa: PLW0603  # how far it was read
    asked = sum(bool(note.get("dump")) for note in fresh)
    if _sites is None or not asked:
        return []
    for _ in range(_PATIENCE):
        answers, size = files.said(_sites, _sited)
        if len(answers) >= asked:
            break
        clock.real_sleep(_LOOK)
    _sited = size
    return answers


def over(held: record.Record) -> None:
    """Say that a trial is over: what comes to light before the next one begins is its own."""
    global _last  # noqa: PLW0603  # one trial is in hand at a time
    merge()
    _last = held


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
    global _book, _forked  # noqa: PLW0603  # as above
    before = _forked
    child = _fork()
    if child:
        _forked = before
        ours.add(child)
    elif _notes is not None:
        _book = files.Book.held(_notes)  # its parent may end before it
    return child


def skip() -> None:
    """Leave aside what was noted so far: a child that handled a whole case has told it itself."""
    global _merged, _sited  # noqa: PLW0603  # how far the notes were read
    if _book is not None and _book.way() != _book.number:
        return  # a child of one that has closed it
    if _notes is not None:
        _merged = files.end(_notes)
    if _sites is not None:
        _sited = files.end(_sites)


def check(event: str, host: Any, port: Any) -> None:
    """Judge a lookup in the frame of whoever asks, before a thread does it: raises NetworkBlocked like the hook."""
    _hook(event, (host, port))


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event in JUDGES and (_armed or (_armed is False and record.current() is not None)):
        wanted = JUDGES[event](*args)
        if wanted is not None:
            _refuse(event, args, *wanted)


# who traces already may look inside; for all others that would cost a tenth of each event
vars(_hook).update({"__cantrace__": True} if sys.gettrace() is not None else {})


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
    ``own`` ("what" it is, "why", "hint") go along in the note, for the finding.
    """
    where, line = ambient.nearest(frame) or (ambient.OUTSIDE, None)
    breach: dict[str, Json] = {"wanted": wanted, "host": host, "port": port, "via": _via(frame) or via}
    breach |= {"where": where, "line": line, "thread": _thread(), "count": 1, **(own or {})}
    _write(breach)
    _enter(breach, record.current())
    site = where if line is None else f"{where}, line {line}"
    who = site if breach["thread"] == "MainThread" else f"{site}, in {breach['thread']}"
    raise NetworkBlocked(
        f"{wanted} was wanted, through {breach['via']}\n  who: {who}\n  why: {why}\n  hint: {breach.get('hint', HINT)}", **breach
    )


def _refuse(event: str, args: tuple[Any, ...], host: str, port: int | None) -> None:
    if _kernel and _book is not None and _book.way() is None:
        return  # a child that has closed all: the kernel refuses it, and notes it
    target = host if port is None else f"[{host}]:{port}" if ":" in host and not host.startswith("unix:") else f"{host}:{port}"
    datagram = hasattr(args[0], "type") and int(args[0].type) & 0xF == _DATAGRAM
    own = reasons(host, port, loopback=listeners.loopback(host), datagram=datagram)
    refuse(target, host=host, port=port, via=event, why=own.get("why", CUT), own=own, frame=frame_at(2))


def _starts(event: str, arguments: Callable[..., Sequence[Any]]) -> Callable[..., None]:
    """Make what remembers who starts a program, and lets nobody where nothing else would stop what it does."""

    def judge(*args: Any) -> None:
        program = spawning.started(arguments(*args), frame_at(2))
        held = record.current()
        if held is None:
            return
        if _soft:
            text = spawning.shown(program.text, program)
            refuse(text, host=text, via=event, why=SOFT["why"], own=SOFT, frame=frame_at(2))
        if held.process != _process():  # a child by fork, whose memory nobody reads
            _write({"started": program.text, "where": program.where, "line": program.line})

    return judge


JUDGES |= {event: _starts(event, arguments) for event, arguments in spawning.EVENTS.items()}


def _audited(module: ModuleType) -> None:
    """Have the one way to start a program tell of it that raises no event: multiprocessing's."""
    start = module.fork_exec

    @wraps(start)
    def fork_exec(*args: Any) -> Any:
        if frame_at(1).f_globals.get("__name__") != "subprocess":  # which has told
            _hook(spawning.FORK_EXEC, args)
        return start(*args)

    setattr(module, "fork_exec", fork_exec)  # noqa: B010  # mypy knows no such module


def _write(note: dict[str, Json]) -> None:
    if _book is not None:
        _book.append(packed({**note, "process": _process()}))


def _enter(breach: dict[str, Json], held: record.Record | None) -> None:
    if not files.join(_pending if held is None else held.breaches, breach):
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
