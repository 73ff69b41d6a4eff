"""Puts the same rows to our double and to those that others wrote: ``python -m tests.peers [--venvs FOLDER]``.

The peers stand in environments of their own, on loopback ports. The exit status is 1 where two doubles differ.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.frameworks import environments
from tests.peers.asking import DIALECTS, Seen, asker
from tests.peers.rows import ROWS, Row
from tests.peers.subjects import Aimock, Cannot, Llmock, Server, Subject, Transport, serving

HERE = Path(__file__).parent


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def _llmock(stack: ExitStack, venvs: Path, temp: Path) -> Subject:
    tools = environments.ready("llmock", HERE / "llmock" / "requirements.txt", venvs)
    port = _free()
    command = [tools / "llmock", "serve", "--port", str(port), "--log-level", "warning"]
    return Llmock(stack.enter_context(serving(command, f"http://127.0.0.1:{port}", temp / "llmock.log")))


def _aimock(stack: ExitStack, venvs: Path, temp: Path) -> Subject:
    home = _installed(venvs / "aimock")
    fixtures, port = temp / "aimock.json", _free()
    fixtures.write_text(json.dumps(Aimock.fixtures()), encoding="utf-8")
    program = home / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
    command = ["node", program, "-p", str(port), "-f", fixtures, "--strict", "--log-level", "warn"]
    return Aimock(stack.enter_context(serving(command, f"http://127.0.0.1:{port}", temp / "aimock.log")))


def _installed(home: Path) -> Path:
    pins = (HERE / "aimock" / "package.json").read_bytes()

    def build() -> None:
        home.mkdir(parents=True)
        (home / "package.json").write_bytes(pins)
        environments.ran(["npm", "install", "--silent", "--no-package-lock", "--ignore-scripts", "--prefix", home])

    return environments.built(home, pins, build)


def main() -> int:
    """Put every row to every double that is here, print the table, and say where two differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers")
    parser.add_argument("--venvs", type=Path, default=environments.FOLDER, help="the folder that environments are built in")
    venvs = parser.parse_args().venvs.resolve()
    with tempfile.TemporaryDirectory() as temp, ExitStack() as stack:
        subjects: list[Subject] = [Transport(), Server(), _llmock(stack, venvs, Path(temp))]
        if shutil.which("npm") and shutil.which("node"):
            subjects.append(_aimock(stack, venvs, Path(temp)))
        else:
            sys.stdout.write("SKIPPED: there is no npm here, aimock was not compared\n")
        return _compared(subjects)


def _compared(subjects: Sequence[Subject]) -> int:
    table, reasons, differing, equal = [], [], 0, 0
    for row, dialect in ((row, dialect) for dialect in DIALECTS for row in ROWS):
        cells = []
        for subject in subjects:
            try:
                cells.append(subject.play(row, dialect, asker(row, dialect)))
            except Cannot as reason:
                cells.append(None)
                reasons.append(f"{subject.name} does not play {row.name!r}: {reason}")
        same = len({_comparable(row, cell) for cell in cells if cell is not None}) == 1
        equal, differing = equal + same, differing + (not same)
        table.append((dialect, row.name, *("-" if cell is None else str(cell) for cell in cells), "" if same else "DIFFER"))
    for line in _lines([("client", "row", *(subject.name for subject in subjects), ""), *table]):
        sys.stdout.write(f"{line}\n")
    for reason in dict.fromkeys(reasons):
        sys.stdout.write(f"{reason}\n")
    sys.stdout.write(f"peers: {equal} passed, {differing} failed\n")
    return 0 if not differing else 1


def _comparable(row: Row, seen: Seen) -> tuple[str | None, str | None, int]:
    """What must be the same; how much of a broken stream arrived depends on how a double cuts it."""
    return seen.error, seen.text if row.whole else None, seen.attempts


def _lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


if __name__ == "__main__":
    sys.exit(main())
