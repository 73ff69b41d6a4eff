"""What the project's own lines make of a trial, step by step, so that two runs can be laid side by side.

A step is a line that is over, a function that begins or one that returns, with marks of the local values that changed. A mark
is a checksum without addresses; sets have one whatever their order, since only who iterates one brings an order in.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, FunctionType, ModuleType
from typing import Any
from zlib import crc32

from invcheck.sandbox import ambient
from invcheck.vocabulary import Json

MOST = 20_000
"""Steps that are taken down; what comes later is not."""

_NODES, _DEPTH = 400, 5  # of one value
_PLAIN = frozenset({str, bytes, int, float, list, tuple, dict, set, frozenset})
_Trace = Callable[[FrameType, str, Any], Any]


class Steps:
    """Takes down what frames of the project do; ``clean`` takes the worker's own folders out of a text.

    A step is ``[frame, parent, parent's line, file, line, kind, module, {name: mark}]``: frames are numbered as they begin, the
    parent is None where no code of the project's called; the kind is "call", "line" or "return", whose value has the name "";
    ``module`` says whether it is a module's own code. What is handed to a function that is not the
    project's is a call of the frame -1.
    """

    def __init__(self, clean: Callable[[str], str] = str) -> None:
        self.taken: list[Json] = []
        self._clean = clean
        self._frames: dict[FrameType, int] = {}
        self._lines: dict[int, int] = {}
        self._marks: dict[int, dict[str, int]] = {}

    def begin(self, frame: FrameType, event: str, _argument: Any) -> _Trace | None:
        """Hear of a call; `sys.settrace` calls this."""
        if event != "call" or len(self.taken) >= MOST:
            return None
        if ambient.relative(frame.f_code.co_filename) is None:
            if frame.f_back in self._frames:
                self._handed(frame, frame.f_back)
            return None
        number = self._frames.setdefault(frame, len(self._frames))
        self._lines[number] = frame.f_lineno
        self._take(frame, number, "call", self._changed(frame, number))
        return self.go_on

    def go_on(self, frame: FrameType, event: str, argument: Any) -> _Trace | None:
        """Hear of a line or a return in a frame of the project."""
        number = self._frames[frame]
        if event in ("line", "return"):
            changed = self._changed(frame, number)
            if event == "return":
                changed[""] = mark(argument, self._clean)
            self._take(frame, number, event, changed)
            self._lines[number] = frame.f_lineno
        return self.go_on if len(self.taken) < MOST else None

    def _handed(self, frame: FrameType, above: FrameType) -> None:
        """Take down what the project hands to somebody else's function, as far as it is plain."""
        values = {name: mark(value, self._clean) for name, value in list(frame.f_locals.items()) if type(value) in _PLAIN}
        if values:
            line = above.f_lineno
            self.taken.append([-1, self._frames[above], line, ambient.relative(above.f_code.co_filename), line, "call", False, values])

    def _take(self, frame: FrameType, number: int, kind: str, changed: Mapping[str, int]) -> None:
        above = frame.f_back
        parent = self._frames.get(above) if above is not None else None
        file = ambient.relative(frame.f_code.co_filename)
        asked = above.f_lineno if parent is not None and above is not None else None
        module = frame.f_code.co_name == "<module>"
        self.taken.append([number, parent, asked, file, self._lines[number], kind, module, changed])

    def _changed(self, frame: FrameType, number: int) -> dict[str, int]:
        module = frame.f_code.co_name == "<module>"
        known = self._marks.setdefault(number, {})
        fresh = {}
        for name, value in list(frame.f_locals.items()):
            if not (module and name.startswith("__")):
                marked = mark(value, self._clean)
                if known.get(name) != marked:
                    fresh[name] = known[name] = marked
        return fresh


@contextmanager
def traced(steps: Steps) -> Iterator[None]:
    """Have every thread's calls told to ``steps`` until the block is left."""
    before, others = sys.gettrace(), threading.gettrace()
    threading.settrace(steps.begin)
    sys.settrace(steps.begin)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(others)


def mark(value: object, clean: Callable[[str], str] = str) -> int:
    """Give a checksum of a value, the same in any process that has the same one.

    >>> mark({"a": {1, 2}}) == mark({"a": {2, 1}}), mark([1, 2]) == mark([2, 1])
    (True, False)
    """
    return _Marker(clean).of(value, 0)


class _Marker:
    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean, self._left = clean, _NODES

    def of(self, value: object, depth: int) -> int:  # noqa: PLR0911  # one return per kind
        self._left -= 1
        kind = type(value)
        if kind is str:
            return crc32(self._clean(value).encode("utf-8", "surrogatepass"), 1)  # type: ignore[arg-type]  # its type was just seen
        if value is None or kind in (bool, int, float, complex):
            return crc32(f"{kind.__name__} {value!r}".encode(), 2)
        if kind in (bytes, bytearray):
            return crc32(value, 3)  # type: ignore[arg-type]  # its type was just seen
        if depth >= _DEPTH or self._left < 0 or isinstance(value, type | FunctionType | ModuleType):
            return crc32(kind.__name__.encode(), 4)
        if kind in (list, tuple):
            return self._all(kind, (self.of(item, depth + 1) for item in value))  # type: ignore[attr-defined]  # its type was just seen
        if kind in (set, frozenset):
            return self._all(kind, sorted(self.of(item, depth + 1) for item in value))  # type: ignore[attr-defined]  # its type was just seen
        if kind is dict:
            pairs = list(value.items())  # type: ignore[attr-defined]  # its type was just seen
            return self._all(kind, (self.of(part, depth + 1) for pair in pairs for part in pair))
        return self._other(value, kind, depth)

    def _all(self, kind: type, marks: Iterator[int] | list[int]) -> int:
        found = crc32(kind.__name__.encode(), 5)
        for each in marks:
            found = crc32(each.to_bytes(4, "little"), found)
            if self._left < 0:
                break
        return found

    def _other(self, value: object, kind: type, depth: int) -> int:
        """A path by its text, a generator of numbers by its state, any other object by what it holds."""
        if kind.__module__ in ("pathlib", "pathlib._local", "posix") and isinstance(value, os.PathLike):
            return self.of(os.fspath(value), depth + 1)
        if kind.__module__ in ("datetime", "uuid", "decimal", "fractions"):
            return self.of(str(value), depth + 1)
        if kind.__module__ == "random" and hasattr(value, "getstate") and hasattr(value, "gauss_next"):
            return crc32(repr(value.getstate()).encode() if kind.__name__ == "Random" else b"", 6)
        if kind.__module__.startswith("invcheck."):
            return self._all(kind, [])
        held = getattr(value, "__dict__", None)
        return self._all(kind, [self.of(held, depth + 1)] if type(held) is dict else [])
