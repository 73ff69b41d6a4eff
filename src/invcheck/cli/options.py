"""What was asked for: flags over ``INVCHECK_`` variables over the project's settings over defaults, each read once."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from invcheck import settings
from invcheck.cli import state
from invcheck.errors import ConfigError, UsageError
from invcheck.events import RunOptions

if TYPE_CHECKING:
    from invcheck.settings import Settings

FORMATS = ("table", "jsonl", "json", "junit", "md", "github")

_FLAGS = {
    "paths": "PATH", "keyword": "-k", "tag": "--tag", "runs": "--runs", "seed": "--seed", "jobs": "-j", "shard": "--shard",
    "fail_fast": "-x", "max_failures": "--max-failures", "last_failed": "--last-failed", "allow_empty": "--allow-empty",
    "require": "--require", "output": "-o", "format": "--format", "quiet": "-q", "verbose": "-v",
}  # fmt: skip
"""Every option by the name of its variable, in small letters, and how a person knows it."""

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything that a command was asked: the run's options, and what concerns the command line alone.

    ``outputs`` are absolute files; ``verbosity`` is -v minus -q.
    """

    options: RunOptions
    outputs: tuple[Path, ...]
    format: str
    verbosity: int


@dataclass(frozen=True, slots=True)
class Given:
    """What flags and variables say, before it is read; a flag wins over its variable."""

    flags: Mapping[str, Any]
    environ: Mapping[str, str]

    def one(self, name: str, read: Callable[[str], _Value | None], needed: str, default: _Value) -> _Value:
        """Give one value, or ``default`` where nobody says anything; ConfigError names the flag or the variable."""
        flag = self.flags.get(name)
        text, source = (flag, _FLAGS[name]) if flag is not None else (self.environ.get(variable(name), ""), variable(name))
        if flag is None and text == "":
            return default
        value = read(text)
        if value is None:
            raise ConfigError(f"{source} takes {needed}, got {text!r}", code="OPTION")
        return value

    def several(self, name: str) -> tuple[str, ...] | None:
        """Give a repeatable option's values; a variable holds words as a shell would read them."""
        if self.flags.get(name):
            return tuple(self.flags[name])
        text = self.environ.get(variable(name), "")
        try:
            return tuple(shlex.split(text)) or None
        except ValueError:
            raise ConfigError(
                f"{variable(name)} holds a quote that is not closed: {text!r}",
                code="OPTION",
                hint="its words are read as a shell reads them",
            ) from None

    def switch(self, name: str) -> bool:
        """Give a switch: on by its flag, else what its variable says."""
        return bool(self.flags.get(name)) or self.one_variable(name, _truth, "1 or 0", default=False)

    def times(self, name: str) -> int:
        """Give how often a counted switch was given."""
        return int(self.flags.get(name) or 0) or self.one_variable(name, _whole(0), "a whole number from 0", default=0)

    def one_variable(self, name: str, read: Callable[[str], _Value | None], needed: str, *, default: _Value) -> _Value:
        """Give what the variable alone says."""
        return Given({}, self.environ).one(name, read, needed, default)


def variable(name: str) -> str:
    """Give the environment's twin of an option.

    >>> variable("max_failures")
    'INVCHECK_MAX_FAILURES'
    """
    return f"INVCHECK_{name.upper()}"


def ask(flags: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> Asked:
    """Put together what was asked for from folder ``here``; raises UsageError for whatever cannot be read."""
    given, root = Given(flags, environ), project(here)
    own = settings.load(root)
    paths = given.several("paths")
    stop = [1] if given.switch("fail_fast") else []
    most = given.one("max_failures", _whole(1), "a whole number from 1", 0)
    options = RunOptions(
        root=root,
        paths=own.paths if paths is None else tuple(_selector(text, here, root) for text in paths),
        keyword=given.one("keyword", str, "words", None),
        tags=given.several("tag") or own.tags,
        runs=given.one("runs", _whole(1), "a whole number from 1", own.runs),
        seed=given.one("seed", _whole(0), "a whole number from 0", own.seed),
        jobs=given.one("jobs", _whole(1), "a whole number from 1", own.jobs),
        shard=given.one("shard", _shard, "i/n with i from 1 to n", None),
        fail_fast_after=min([*stop, *([most] if most else [])], default=None),
        last_failed=_failed(root) if given.switch("last_failed") else None,
        allow_empty=given.switch("allow_empty"),
        require_kernel=given.one("require", _kernel, "kernel", own.gate_require) == "kernel",
        trial_seconds=own.trial_seconds,
    )
    return Asked(options, _outputs(given, own, here, root), _format(given), given.times("verbose") - given.times("quiet"))


def project(here: Path) -> Path:
    """Give the project's folder: the nearest one upwards that holds settings of invcheck, else ``here`` itself."""
    for folder in (here, *here.parents):
        if (folder / "invcheck.toml").is_file():
            return folder
        pyproject = folder / "pyproject.toml"
        if pyproject.is_file() and re.search(rb"^\s*\[tool\.invcheck[.\]]", pyproject.read_bytes(), re.MULTILINE):
            return folder
    return here


def reporting(flags: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> tuple[tuple[Path, ...], str, int]:
    """Give files, format and verbosity for a command that runs nothing."""
    given = Given(flags, environ)
    files = _files(given.several("output") or (), here)
    return files, _format(given), given.times("verbose") - given.times("quiet")


def _format(given: Given) -> str:
    return given.one("format", lambda text: text if text in FORMATS else None, f"one of {', '.join(FORMATS)}", "table")


def _outputs(given: Given, own: Settings, here: Path, root: Path) -> tuple[Path, ...]:
    asked = given.several("output")
    return _files(own.output, root) if asked is None else _files(asked, here)


def _files(names: tuple[str, ...], folder: Path) -> tuple[Path, ...]:
    files = tuple(Path(os.path.normpath(folder / name)) for name in names)
    twice = next((name for name, file in zip(names, files, strict=True) if files.count(file) > 1), None)
    if twice is not None:
        raise UsageError(f"-o {twice} is given twice", code="OUTPUT")
    return files


def _selector(text: str, here: Path, root: Path) -> str:
    """Give a selector relative to the project: as seen from where one stands, else from the project itself."""
    where, colons, name = text.partition("::")
    seen = Path(os.path.normpath(here / where))
    if not seen.exists() and (root / where).exists():
        seen = Path(os.path.normpath(root / where))
    if not seen.is_relative_to(root):
        raise UsageError(
            f"{where!r} lies outside of the project {root.name!r}", code="OUTSIDE", hint="run invcheck from that project's folder"
        )
    return seen.relative_to(root).as_posix() + colons + name


def _failed(root: Path) -> tuple[str, ...]:
    failed = state.read(root)
    if failed is None:
        raise UsageError(
            "--last-failed: no run has been remembered here yet", code="NO_LAST_RUN", hint=f"a run leaves its failures in {state.FILE}"
        )
    return failed


def _whole(least: int) -> Callable[[str], int | None]:
    return lambda text: int(text) if re.fullmatch("[0-9]{1,18}", text) and int(text) >= least else None


def _truth(text: str) -> bool | None:
    return {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}.get(text.lower())


def _shard(text: str) -> tuple[int, int] | None:
    match = re.fullmatch("([0-9]{1,6})/([0-9]{1,6})", text)
    shard = (int(match[1]), int(match[2])) if match else (0, 0)
    return shard if 1 <= shard[0] <= shard[1] else None


def _kernel(text: str) -> str | None:
    return text if text == "kernel" else None
