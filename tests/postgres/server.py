"""A PostgreSQL of Debian's packages, started for the tests on loopback and at Unix sockets, and ended by its process."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

DEBIAN = Path("/usr/lib/postgresql")
NOBODY = 65534
ENGLISH = {"LC_ALL": "C", "PATH": os.environ.get("PATH", "")}


def programs() -> Path | None:
    """The folder of initdb, postgres and psql: the newest of Debian's, else what the path leads to; None without a server."""
    numbered = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3])) if DEBIAN.exists() else []
    found = shutil.which("initdb")
    folders = [path.parent for path in reversed(numbered)] + ([Path(found).resolve().parent] if found else [])
    return next((folder for folder in folders if all((folder / name).exists() for name in ("initdb", "postgres", "psql"))), None)


@dataclass(frozen=True)
class Server:
    """A running server: its port on 127.0.0.1, and the folders in which its sockets stand."""

    bin: Path
    port: int
    folders: tuple[Path, ...]

    def socket(self, index: int = 0) -> str:
        """The path of one of its sockets."""
        return f"{self.folders[index]}/.s.PGSQL.{self.port}"

    def asked(self, query: str) -> str:
        """What a query gives, asked by PostgreSQL's own client outside of every gate."""
        command = [self.bin / "psql", "-h", self.folders[0], "-p", str(self.port), "-U", "app", "-d", "postgres", "-Atc", query]
        return subprocess.run(command, env=ENGLISH, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    """A server with its data in an empty folder: as nobody where we are root, since it refuses to be root."""
    bin_ = programs()
    assert bin_ is not None
    other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
    sockets = _sockets(folder)
    for each in (folder, *sockets):
        each.chmod(0o755)
        if other:
            os.chown(each, NOBODY, NOBODY)
    data = str(folder / "data")
    make = [bin_ / "initdb", "-D", data, "-U", "app", "--auth=trust", "--no-sync", "--no-locale", "-E", "UTF8", "--no-instructions"]
    subprocess.run(make, cwd=folder, env=ENGLISH, check=True, capture_output=True, timeout=120, **other)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [bin_ / "postgres", "-D", data, "-F", "-h", "127.0.0.1", "-p", str(port), "-k", ",".join(map(str, sockets))]
    process = subprocess.Popen(command, cwd=folder, env=ENGLISH, stderr=subprocess.PIPE, text=True, **other)
    assert process.stderr is not None
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if "ready to accept connections" in line:
                break
        assert process.poll() is None, "".join(said)
        yield Server(bin_, port, sockets)
    finally:
        process.send_signal(2)  # a fast shutdown: whoever is connected is not waited for
        process.communicate(timeout=60)
        for each in sockets[1:]:
            shutil.rmtree(each)


def _sockets(folder: Path) -> tuple[Path, ...]:
    """A folder anywhere, and one below /run, which workers see empty, where we may make it."""
    made = [folder / "s"]
    made[0].mkdir()
    if os.access("/run", os.W_OK):
        made.append(Path(tempfile.mkdtemp(prefix="invcheck-", dir="/run")))
    return tuple(made)
