"""Waits with a limit that stay in real time: each is noted in ``$.ambient`` where the project's own code asks for one.

Locks, `select`, sockets, sqlite, multiprocessing, subprocess and uvloop count real seconds in a trial, since what ends them is
out of sight. Nothing of what they do is changed. A sleep inside C code cannot be seen at all.
"""

from __future__ import annotations

import sys
import threading
from _thread import LockType
from collections.abc import Callable
from functools import update_wrapper, wraps
from sys import _getframe as frame_at
from types import FrameType, ModuleType
from typing import Any

from invcheck import record
from invcheck.sandbox import ambient, clock, imports

_THROUGH = frozenset({__name__, "subprocess", "socket", "sqlite3"})
_Given = Callable[[tuple[Any, ...], dict[str, Any]], bool]

_lock = threading.Lock


def _note(what: str, frame: FrameType | None) -> None:
    """Note, once a place, that the project's code waits for ``what`` in real time while a virtual clock holds."""
    while frame is not None and frame.f_globals.get("__name__") in _THROUGH:
        frame = frame.f_back
    _noted(what, ambient.site(frame.f_code) if frame is not None else None)


def _noted(what: str, where: str | None) -> None:
    held, source = record.current(), f"real time: {what}"
    if where and held is not None and clock.virtual() is not None and (source, where) not in held.ambient:
        held.read(source, where)


def _limit(position: int, name: str = "timeout") -> _Given:
    """Give what finds a limit among the arguments of a call: anything but None, nothing and less."""

    def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        limit = args[position] if len(args) > position else kwargs.get(name)
        return isinstance(limit, int | float) and limit > 0

    return given


def _told(home: Any, name: str, what: str, given: _Given) -> None:
    """Put a function in the place of ``home.name`` that notes a call with a limit, and does the same."""
    real = getattr(home, name)

    @wraps(real)
    def told(*args: Any, **kwargs: Any) -> Any:
        if given(args, kwargs):
            _note(what, frame_at(1))
        return real(*args, **kwargs)

    setattr(home, name, _Plain(told) if isinstance(home, ModuleType) else told)


class _Plain:
    """A function that a class may keep as it is, as C functions are kept: no method of whoever keeps it (`selectors` does)."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


class _AnyLock(type):
    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, LockType) or type.__instancecheck__(cls, one)


class Lock(metaclass=_AnyLock):
    """`threading.Lock` as the project's code makes it; whoever else asks gets the real one."""

    __slots__ = ("__weakref__", "_lock", "locked", "release")

    _lock: LockType
    locked: Callable[[], bool]
    release: Callable[[], None]

    def __new__(cls) -> Any:
        """Give a lock."""
        if ambient.site(frame_at(1).f_code) is None:
            return _lock()
        made = object.__new__(cls)
        made._lock = lock = _lock()
        made.locked, made.release = lock.locked, lock.release
        return made

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, as the real one does."""
        if timeout > 0:
            _note("Lock", frame_at(1))
        return self._lock.acquire(blocking, timeout)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._lock.__reduce_ex__(protocol)  # which refuses, as no lock can be copied

    def __enter__(self) -> bool:
        return self._lock.__enter__()

    def __exit__(self, *_exc: object) -> None:
        self._lock.release()


Lock.__module__, Lock.__name__, Lock.__qualname__ = LockType.__module__, LockType.__name__, LockType.__qualname__


class _Poll:
    """A `select.poll` object of the project's own."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def poll(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout > 0:
            _note("poll", frame_at(1))
        return self._real.poll(timeout)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _select(module: ModuleType) -> None:
    real = module.poll

    @wraps(real)
    def poll() -> Any:
        made = real()
        return made if ambient.site(frame_at(2).f_code) is None else _Poll(made)

    setattr(module, "poll", _Plain(poll))  # noqa: B010  # a module's attribute
    _told(module, "select", "select", _limit(3))


def _selectors(module: ModuleType) -> None:
    for kind in (module.SelectSelector, module._PollLikeSelector, module.EpollSelector):  # noqa: SLF001  # it has the method of two
        if "select" in vars(kind):
            _told(kind, "select", "selectors", _limit(1))


def _subprocess(module: ModuleType) -> None:
    _told(module.Popen, "wait", "subprocess", _limit(1))
    _told(module.Popen, "communicate", "subprocess", _limit(2))


def _queues(module: ModuleType) -> None:
    _told(module.Queue, "get", "multiprocessing", _limit(2))
    _told(module.Queue, "put", "multiprocessing", _limit(3))


def _pools(module: ModuleType) -> None:
    _told(module.AsyncResult, "get", "multiprocessing", _limit(1))
    _told(module.AsyncResult, "wait", "multiprocessing", _limit(1))
    _told(module.IMapIterator, "next", "multiprocessing", _limit(1))


def _uvloop(module: ModuleType) -> None:
    # policies, runners and anyio all come here, from frames that are none of the project's
    def given(_args: tuple[Any, ...], _kwargs: dict[str, Any]) -> bool:
        found = ambient.nearest(frame_at(2))
        _noted("uvloop", found[0] if found else None)
        return False

    _told(module, "new_event_loop", "uvloop", given)
    _told(module, "run", "uvloop", given)


_PREPARED: dict[str, Callable[[ModuleType], None]] = {
    "select": _select,
    "selectors": _selectors,
    "subprocess": _subprocess,
    "multiprocessing.queues": _queues,
    "multiprocessing.pool": _pools,
    "uvloop": _uvloop,
    "socket": lambda module: _told(module.socket, "settimeout", "socket", _limit(1, "value")),
    "sqlite3": lambda module: _told(module, "connect", "sqlite", _limit(1)),
    "multiprocessing.process": lambda module: _told(module.BaseProcess, "join", "multiprocessing", _limit(1)),
    "multiprocessing.connection": lambda module: _told(module._ConnectionBase, "poll", "multiprocessing", _limit(1)),  # noqa: SLF001  # Pipe's
}


def install() -> None:
    """Put what notes in place of what waits; each module is prepared once the app has imported it."""
    setattr(threading, "Lock", Lock)  # noqa: B010  # a module's attribute
    for name, prepare in _PREPARED.items():
        if name in sys.builtin_module_names:
            __import__(name)  # it has no file that could be waited for
        imports.after(name, prepare)
