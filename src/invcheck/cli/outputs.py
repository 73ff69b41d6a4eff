"""The files of ``-o``: known by their endings, refused before the run where they cannot be written, never half written."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from invcheck.cli import console
from invcheck.errors import UsageError
from invcheck.report import Report

ENDINGS = {".jsonl": "jsonl", ".json": "json", ".xml": "junit", ".md": "md", ".txt": "table"}


def kind(path: Path) -> str:
    """Give the format that a file's ending asks for; UsageError for any other ending.

    >>> kind(Path("out/report.junit.xml"))
    'junit'
    """
    known = ENDINGS.get(path.suffix)
    if known is None:
        raise UsageError(
            f"-o {shown(path)}: {path.suffix or 'a name without ending'} is no report that invcheck writes",
            code="OUTPUT", hint=f"known endings: {', '.join(ENDINGS)}",
        )  # fmt: skip
    return known


def encode(report: Report, form: str, *, verbosity: int = 0, colour: bool = False, prefix: str = "", problems: bool = True) -> bytes:
    """Give a report in one of the formats; without ``problems`` the table leaves them to whoever tells them elsewhere."""
    from invcheck.report import canonical, github, jsonlines, junit, markdown, table  # noqa: PLC0415  # --help needs none of them

    if form == "table":
        return table.render(report, verbosity=verbosity, colour=colour, problems=problems).encode("utf-8", "backslashreplace")
    if form == "github":
        return github.encode(report, prefix=prefix).encode("utf-8", "backslashreplace")
    writers = {"json": canonical.encode, "jsonl": jsonlines.encode, "junit": junit.encode, "md": markdown.encode}
    return writers[form](report)


def check(paths: Sequence[Path]) -> None:
    """Refuse, before anything runs, a file that could not be written: its ending, its folder, its rights."""
    for path in paths:
        kind(path)
        if path.is_dir():
            raise UsageError(f"-o {shown(path)} is a folder", code="OUTPUT")
        if not path.parent.is_dir():
            folder = shown(path.parent)
            hint = f"make it first: mkdir -p {shlex.quote(folder)}"
            raise UsageError(f"-o {shown(path)}: there is no folder {folder!r}", code="OUTPUT", hint=hint)
        try:
            _scratch(path).touch()
            _scratch(path).unlink()
        except OSError as error:
            raise UsageError(
                f"-o {shown(path)}: the folder {shown(path.parent)!r} cannot be written: {error.strerror}", code="OUTPUT"
            ) from error


def shown(path: Path) -> str:
    """Give a file as one sees it from here: relative where it lies below, else whole.

    >>> shown(Path.cwd() / "out" / "a.json"), shown(Path("/nowhere/a.json"))
    ('out/a.json', '/nowhere/a.json')
    """
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def replace(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: a reader sees the old one or the new one."""
    scratch = _scratch(path)
    try:
        scratch.write_bytes(data)
        scratch.replace(path.resolve())
    except OSError:
        with contextlib.suppress(OSError):
            scratch.unlink()
        raise


def _scratch(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def append(stream: TextIO, line: str) -> None:
    """Write a line and flush it; Unevaluated, code OUTPUT_FAILED, where the disk is full."""
    try:
        stream.write(line)
        stream.flush()
    except OSError as error:
        with contextlib.suppress(OSError):  # what is left in it would be written once more
            stream.close()
        raise console.failed(f"-o {shown(Path(stream.name))}", str(error.strerror)) from error


def stream(path: Path) -> TextIO:
    """Open a file of JSON Lines, emptied, whose every line is there once it is flushed."""
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")
