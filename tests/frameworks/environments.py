"""Virtual environments of pinned packages, built once and used again until their pins change."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venvs"
"""Where environments stand unless somebody says otherwise; git ignores it."""

_READY = "pins.sha256"


class Failed(Exception):
    """A command did not end well; its words are the error's."""


def clean() -> dict[str, str]:
    """Give the environment that commands get: without what speaks to pip, Python or invcheck about another environment."""
    ours = ("PIP_CONSTRAINT", "PYTHONPATH", "PYTHONHASHSEED", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if name not in ours and not name.startswith(("INVCHECK_", "COVERAGE_"))}


def ran(command: Sequence[str | Path], *, cwd: Path = ROOT, seconds: float = 600, wanted: int = 0) -> str:
    """Run a command and give its stdout; Failed where it does not end with the ``wanted`` status, or not in time."""
    shown = " ".join(str(part) for part in command)
    try:
        done = subprocess.run(
            command, cwd=cwd, env=clean(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"$ {shown}\nwas not done after {seconds:g} seconds") from None
    if done.returncode != wanted:
        raise Failed(f"$ {shown}\nended with {done.returncode}, not {wanted}\n{done.stdout}{done.stderr}")
    return done.stdout


def wheel(folder: Path) -> Path:
    """Build the wheel of this checkout, as users install it."""
    ran([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT])
    (built,) = folder.glob("invcheck-*.whl")
    return built


def built(home: Path, pins: bytes, build: Callable[[], None]) -> Path:
    """Give an environment, built anew where its pins are others than those that it was built of, or it was broken off."""
    digest = hashlib.sha256(pins).hexdigest()
    if not (home / _READY).is_file() or (home / _READY).read_text(encoding="ascii") != digest:
        shutil.rmtree(home, ignore_errors=True)
        build()
        (home / _READY).write_text(digest, encoding="ascii")
    return home


def ready(name: str, requirements: Path, folder: Path = FOLDER) -> Path:
    """Give the ``bin`` of a virtual environment of this Python and of pinned packages, one ``name==version`` a line."""
    home = folder / name

    def build() -> None:
        ran([sys.executable, "-m", "venv", home])
        ran([home / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", requirements])

    return built(home, requirements.read_bytes() + sys.version.encode(), build) / "bin"


def megabytes(home: Path) -> int:
    """How much an environment takes on the disk."""
    return sum(path.lstat().st_size for path in home.rglob("*") if path.is_file()) // 1_000_000
