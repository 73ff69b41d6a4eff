"""What stands on a line of the project: the names that it reads, and words for how something comes in there."""

from __future__ import annotations

import ast
from functools import cached_property
from pathlib import Path

from invcheck.sandbox.flips import Axis

_HEADERS = ("body", "orelse", "finalbody", "handlers", "cases")
_CALLS = {
    Axis.CLOCK: "reads the clock",
    Axis.ZONE: "asks for local time",
    Axis.RANDOM: "draws from the generator that everybody shares",
    Axis.ENTROPY: "draws from the system's entropy",
    Axis.LISTING: "lists a folder",
    Axis.LOCALE: "asks for the locale",
    Axis.FOLDER: "asks where the project stands",
    Axis.PROCESS: "asks for the number of the process",
    Axis.SCHEDULE: "the order of threads or tasks",
}
_BY_NAME = {
    "uuid1": "makes a uuid", "uuid4": "makes a uuid", "hash": "hash() of a text", "id": "the address of an object",
    "getcwd": "asks for the current folder", "setlocale": "takes the locale of the environment",
}  # fmt: skip


class Written:
    """The files of a project, read as they are asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, _File] = {}

    def names(self, file: str, line: int) -> frozenset[str]:
        """Give the names that the statement on a line reads, of a compound one its first lines alone."""
        return self._file(file).names(line)

    def words(self, axis: Axis | None, file: str, line: int) -> str | None:
        """Say how an axis comes in on a line: "iteration over a set"; None where it cannot be told, as with no axis."""
        found = self._file(file).parts(line)
        called = [name for node in found if isinstance(node, ast.Call) and (name := _called(node))]
        known = next((_BY_NAME[name] for name in called if name in _BY_NAME), None)
        if axis is None:
            return known
        if axis is Axis.HASH:
            return known or ("takes one out of a set" if "pop" in called else "iteration over a set")
        return known or _CALLS[axis]

    def _file(self, file: str) -> _File:
        if file not in self._files:
            self._files[file] = _File(self._root / file)
        return self._files[file]


class _File:
    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        try:
            tree = ast.parse(self._path.read_bytes())
        except (OSError, ValueError, SyntaxError):  # it was there, and Python, when it ran
            return []
        return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]

    def parts(self, line: int) -> list[ast.AST]:
        """The nodes of the innermost statement on a line, without the statements inside of it."""
        around = [node for node in self._statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
        return list(_header(max(around, key=lambda node: node.lineno))) if around else []

    def names(self, line: int) -> frozenset[str]:
        return frozenset(node.id for node in self.parts(line) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _header(statement: ast.stmt) -> list[ast.AST]:
    found: list[ast.AST] = [statement]
    for name, value in ast.iter_fields(statement):
        if name not in _HEADERS:
            parts = value if isinstance(value, list) else [value]
            found += [node for part in parts if isinstance(part, ast.AST) for node in ast.walk(part)]
    return found


def _called(node: ast.Call) -> str | None:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else None
