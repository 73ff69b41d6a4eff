"""The lines where something came in: the steps of two runs laid side by side, up to where they part.

A value that differs came from the values that its line read, where one of those differs already; else the line itself let it
in. What the run returns leads back that way to the lines that matter, so that a clock which is read for nothing is not blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeAlias

from invcheck.vocabulary import Json

Line: TypeAlias = tuple[str, int]
"""A file of the project and a line of it, from 1."""

_NOBODY: frozenset[Line] = frozenset()


@dataclass(slots=True)
class _Frame:
    file: str
    last: int
    values: dict[str, frozenset[Line]] = field(default_factory=dict)
    given: frozenset[Line] = _NOBODY


@dataclass(slots=True)
class _Course:
    names: Callable[[str, int], frozenset[str]]
    frames: dict[int, _Frame] = field(default_factory=dict)
    modules: dict[str, dict[str, frozenset[Line]]] = field(default_factory=dict)
    entered: dict[Line, None] = field(default_factory=dict)
    returned: frozenset[Line] = _NOBODY

    def blamed(self, frame: _Frame, line: int) -> frozenset[Line]:
        """Where what a line reads came in, of what differs; nowhere if nothing of it does."""
        module = self.modules.get(frame.file, {})
        found = frame.given
        for name in self.names(frame.file, line):
            found |= frame.values.get(name, module.get(name, _NOBODY))
        return found

    def enter(self, line: Line) -> frozenset[Line]:
        self.entered.setdefault(line)
        return frozenset({line})

    def step(self, one: Json, other: Json) -> None:
        """Take one step of both runs, which are at the same line."""
        number, parent, asked, file, line, kind, module, mine = one
        its = other[-1]
        differ = [name for name in {*mine, *its} if mine.get(name) != its.get(name)]
        above = self.frames.get(parent) if parent is not None else None
        if kind == "call":
            frame = _Frame(file, line)
            if number >= 0:
                frame = self.frames.setdefault(number, frame)
            if differ:
                source = _NOBODY if above is None else self.blamed(above, asked)
                source = source or self.enter((file, line) if above is None else (above.file, asked))
                frame.values |= dict.fromkeys(differ, source)
            return
        frame = self.frames[number]
        source = self.blamed(frame, line)
        if differ and not source:
            source = self.enter((file, line))
        space = frame.values
        for name in mine.keys() & its.keys() - set(differ):
            space.pop(name, None)
        space |= {name: source for name in differ if name}
        if module:
            self.modules[file] = space
        frame.last = line
        if kind == "line":
            frame.given = _NOBODY
        elif "" in differ:
            if above is None:
                self.returned |= source
            else:
                above.given |= source

    def part(self, one: Json, other: Json) -> None:
        """See the runs part: the line before has decided it."""
        step = one if one is not None else other
        frame = self.frames.get(step[0]) or self.frames.get(step[1])
        if frame is not None:
            self.returned |= self.blamed(frame, frame.last) or self.enter((frame.file, frame.last))


def culprits(one: Sequence[Json], other: Sequence[Json], names: Callable[[str, int], frozenset[str]]) -> list[Line]:
    """Give the lines that let in what makes two runs differ: those that what they return leads back to, else all, first ones first.

    ``names`` gives what the statement on a line reads. The steps are those of `sandbox.trace`.

    >>> steps = [[0, None, None, "a.py", 1, "call", False, {}], [0, None, None, "a.py", 2, "line", False, {"now": 1}]]
    >>> later = [steps[0], [0, None, None, "a.py", 2, "line", False, {"now": 2}]]
    >>> culprits(steps, later, lambda file, line: frozenset())
    [('a.py', 2)]
    """
    course = _Course(names)
    for mine, its in zip_longest(one, other):
        if mine is None or its is None or mine[:-1] != its[:-1]:
            course.part(mine, its)
            break
        course.step(mine, its)
    return [line for line in course.entered if line in course.returned] or list(course.entered)
