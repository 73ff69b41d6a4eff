"""The file of a worker's breaches, to which its processes append and the kernel's gate as well, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from invcheck.canonical import unpacked
from invcheck.sandbox import native, spawning
from invcheck.sandbox.reasons import LOOKUP
from invcheck.vocabulary import Json

# held on to, since an app may replace what stands in os
_pread, _status, _stat, _write, _open, _close = os.pread, os.fstat, os.stat, os.write, os.open, os.close
_process = os.getpid


@dataclass(frozen=True, slots=True)
class Book:
    """A file to append to, known by more than its ``number``: a child that closes all descriptors gives that to its own files.

    Such a child reaches it through the ``process`` that holds it, where the kernel shows that one's descriptors.
    """

    number: int
    identity: tuple[int, int]
    process: int

    @classmethod
    def held(cls, number: int) -> Book:
        """Give the file that this process holds under a number; raises OSError where it holds none."""
        return cls(number, _identity(_status(number)), _process())

    def way(self) -> int | str | None:
        """Give what leads to the file: its number, a path, or None where nothing does any more."""
        path = f"/proc/{self.process}/fd/{self.number}"
        try:
            if _identity(_status(self.number)) == self.identity:
                return self.number
        except OSError:
            pass  # it was closed
        try:
            return path if _identity(_stat(path)) == self.identity else None
        except OSError:
            return None

    def append(self, text: bytes) -> None:
        """Append to it where anything leads to it; never to another file."""
        way = self.way()
        if isinstance(way, int):
            _write(way, text)
        elif way is not None:
            file = _open(way, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            try:
                _write(file, text)
            finally:
                _close(file)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def notes_file() -> int:
    """Give a new file that only its descriptor names, to which every process that holds it appends."""
    from fcntl import F_SETFL, fcntl  # noqa: PLC0415  # where a gate is made, not where one is checked

    notes = os.memfd_create("invcheck-breaches", os.MFD_CLOEXEC) if hasattr(os, "memfd_create") else _unlinked()
    fcntl(notes, F_SETFL, os.O_APPEND)
    return notes


def _unlinked() -> int:
    from tempfile import TemporaryFile  # noqa: PLC0415  # for other kernels

    with TemporaryFile(buffering=0) as file:
        return os.dup(file.fileno())


def end(file: int) -> int:
    """Say how many bytes have been written."""
    return _status(file).st_size


def noted(notes: int, since: int = 0) -> tuple[list[dict[str, Json]], int]:
    """Give what was noted from byte ``since`` on, each with its ``process``, and where the notes end."""
    size = end(notes)
    if size == since:
        return [], size
    return [unpacked(line) for line in _pread(notes, size - since, since).splitlines()], size


def said(sites: int, since: int = 0) -> tuple[list[str], int]:
    """Give what threads said from byte ``since`` on of where they stood, and where that ends."""
    size = end(sites)
    return native.blocks(_pread(sites, size - since, since).decode("utf-8", "replace")), size


def told(notes: Sequence[dict[str, Json]], answers: Sequence[str], process: int | None = None) -> Iterator[dict[str, Json]]:
    """Give what others than ``process`` have noted: breaches, the kernel's in our words, and what ``child`` processes did.

    ``answers`` is what threads said, one for each note that asked for it. The kernel's breaches have the number of the thread
    beside, which goes into no result.
    """
    kernel = native.breaches([note for note in notes if "kernel" in note], answers)
    for note in notes:
        if "kernel" in note:
            breach = next(kernel)
            if breach is not None:
                yield {**breach, "tid": note.get("tid")}
        elif note["process"] != process:
            plain = {name: value for name, value in note.items() if name != "process"}
            if "started" in plain:
                spawning.remember(spawning.Started(plain["started"], plain["where"], plain["line"]))
            else:
                yield plain


def join(known: list[dict[str, Json]], breach: dict[str, Json]) -> bool:
    """Add a breach to its equal among the known ones, if there is one; how often a server of names is asked says nothing."""
    for other in known:
        if {**other, "count": 0} == {**breach, "count": 0}:
            other["count"] += breach["count"] if breach["host"] != LOOKUP else 0
            return True
    return False


def breaches(notes: int, sites: int, since: int = 0) -> list[dict[str, Json]]:
    """Give the breaches noted from byte ``since`` on by a process that cannot tell them any more."""
    every, _ = noted(notes)
    later, _ = noted(notes, since)
    before = sum(bool(note.get("dump")) for note in every[: len(every) - len(later)])
    found: list[dict[str, Json]] = []
    for breach in told(later, said(sites)[0][before:]):
        breach.pop("tid", None)
        if "wanted" in breach and not join(found, breach):
            found.append(breach)
    return found
