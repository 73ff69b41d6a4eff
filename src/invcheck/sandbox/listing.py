"""The order in which folders are listed, which no file system promises: set by an audit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self
from zlib import crc32

_listdir, _scandir = os.listdir, os.scandir
_Name = Any  # text, or bytes where the folder was given so


def _key(name: _Name, way: int | None) -> tuple[int, bytes]:
    spelt = os.fsencode(name)
    return (0 if way is None else crc32(spelt), spelt)


def _sorted(names: list[Any], way: int | None, name: Callable[[Any], _Name]) -> list[Any]:
    """By name; backwards the first other way, in no order the second."""
    return sorted(names, key=lambda each: _key(name(each), way or None), reverse=way == 0)


class _Entries:
    """What `os.scandir` gives, in the order that is set."""

    def __init__(self, entries: list[os.DirEntry[Any]]) -> None:
        self._left = iter(entries)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> os.DirEntry[Any]:
        return next(self._left)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give no more."""
        self._left = iter(())


@contextmanager
def ordered(way: int | None) -> Iterator[None]:
    """List folders by name, or in the ``way`` that is one of two others, until the block is left.

    >>> with ordered(None): first = os.listdir("/")
    >>> with ordered(0): other = os.listdir("/")
    >>> first == sorted(first) == other[::-1]
    True
    """

    def listdir(path: Any = None) -> list[Any]:
        return _sorted(_listdir(path), way, lambda name: name)

    def scandir(path: Any = None) -> _Entries:
        with _scandir(path) as entries:
            return _Entries(_sorted(list(entries), way, lambda entry: entry.name))

    before = _put(listdir, scandir)
    try:
        yield
    finally:
        _put(*before)


def _put(listdir: Callable[..., Any], scandir: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    before = os.listdir, os.scandir
    setattr(os, "listdir", listdir)  # noqa: B010  # a module's attribute, which no type checker may know as assignable
    setattr(os, "scandir", scandir)  # noqa: B010  # likewise
    for kind in vars(sys.modules.get("glob") or object).values():
        if isinstance(kind, type) and isinstance(vars(kind).get("scandir"), staticmethod):  # from 3.13 on `Path.glob` lists with it
            kind.scandir = staticmethod(scandir)  # type: ignore[attr-defined]  # it was just seen
    return before
