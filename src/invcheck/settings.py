"""A project's own settings: ``[tool.invcheck]`` in pyproject.toml, or invcheck.toml; strict, and never both."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from invcheck.errors import ConfigError, UsageError
from invcheck.resolve import did_you_mean
from invcheck.vocabulary import Json, Place
from invcheck.yamltext import decode

FORMATS = ("table", "jsonl", "json", "junit", "md", "github")
"""What stdout can get."""

_LEAST = 128 << 20


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project may set once instead of at every command; a flag or an ``INVCHECK_`` variable wins over it.

    ``paths`` and ``output`` are relative to the project; without paths its folder ``checks`` is meant, if it is there.
    ``runs`` is None where every check keeps its own number, ``max_failures`` where no number of failures stops a run.
    ``trial_seconds`` is the real time after which a stuck trial is ended, ``cpu_seconds`` the processor time after which a
    busy one is, ``gate_memory`` the bytes that a worker and what it starts may hold. ``gate_require`` is "kernel" where a run
    without the kernel's own gate must be refused; ``gate_keep_env`` names variables that trials get as they are, ``gate_allow``
    what every trial may reach of this machine, in canonical texts of `allowance`.
    """

    paths: tuple[str, ...] = ()
    runs: int | None = None
    seed: int = 0
    jobs: int = 1
    tags: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    trial_seconds: float = 60.0
    gate_require: str | None = None
    gate_keep_env: tuple[str, ...] = ()
    gate_allow: tuple[str, ...] = ()
    keyword: str | None = None
    max_failures: int | None = None
    allow_empty: bool = False
    audit: bool = False
    cpu_seconds: float = 30.0
    gate_memory: int = 4 << 30
    format: str = "table"
    quiet: int = 0
    verbose: int = 0
    file: str | None = None


def project(here: Path) -> Path:
    """Give the project's folder: the nearest one upwards that holds settings of invcheck, else ``here`` itself.

    Who stands in a folder ``checks``, or below it, stands in the project around it.
    """
    for folder in (here, *here.parents):
        if (folder / "invcheck.toml").is_file():
            return folder
        pyproject = folder / "pyproject.toml"
        if pyproject.is_file() and re.search(rb"^\s*\[tool\.invcheck[.\]]", _bytes(pyproject), re.MULTILINE):
            return folder
    if not (here / "checks").is_dir():
        return next((folder.parent for folder in (here, *here.parents) if folder.name == "checks"), here)
    return here


def load(root: Path) -> Settings:
    """Read the settings of the project at ``root``; without a settings file, or an entry in it, the defaults hold.

    Raises ConfigError with file, line and column: TOML_SYNTAX, UNKNOWN_KEY, WRONG_TYPE, or TWO_SETTINGS where both files
    have settings.
    """
    own, project = root / "invcheck.toml", root / "pyproject.toml"
    table = _read(own) if own.is_file() else None
    shared = _shared(project) if project.is_file() else None
    if table is not None and shared is not None:
        raise ConfigError(
            "both invcheck.toml and [tool.invcheck] in pyproject.toml hold settings",
            code="TWO_SETTINGS", place=Place("invcheck.toml", 1, 1), hint="keep one of the two",
        )  # fmt: skip
    if table is not None:
        return _settings(_Table(own, table, prefix=""))
    if shared is not None:
        return _settings(_Table(project, shared, prefix="tool.invcheck"))
    return Settings()


def _shared(path: Path) -> Json:
    """The table in pyproject.toml; a table of nearly its name is an error, since nobody would read it.

    A file that does not speak of us is left to others, also where it is no TOML.
    """
    text = _bytes(path).decode("utf-8", "replace")
    if "inv" not in text.casefold():
        return None
    try:
        values = _read(path)
    except ConfigError:
        if "invcheck" in text:
            raise
        return None
    for names in _paths(values):
        if names != ("tool", "invcheck") and _near(names):
            raise ConfigError(
                f"unknown table {'.'.join(names)!r}",
                code="UNKNOWN_KEY", place=_line(path, text, names[-1]), hint="did you mean [tool.invcheck]?",
            )  # fmt: skip
    tool = values.get("tool")
    shared = tool.get("invcheck") if isinstance(tool, dict) else tool
    if shared is not None and not isinstance(shared, dict):
        name = "tool.invcheck" if isinstance(tool, dict) else "tool"
        place = _line(path, text, name.rpartition(".")[2])
        raise ConfigError(f"{name} is a table, got {shared!r}", code="WRONG_TYPE", place=place, hint="begin it with [tool.invcheck]")
    return shared


def _paths(values: Mapping[str, Json]) -> Iterator[tuple[str, ...]]:
    """The names of tables at the top and one below it."""
    for name, value in values.items():
        yield (name,)
        yield from ((name, inner) for inner in value) if isinstance(value, dict) else ()


def _near(names: tuple[str, ...]) -> bool:
    """Whether somebody who writes this means our table: it, or what it stands in, is spelled nearly so."""
    last = names[-1].casefold().replace("-", "").replace("_", "")
    outer = names[0].casefold() if len(names) > 1 else "tool"
    return did_you_mean(last, ["invcheck"], cutoff=0.8) is not None and did_you_mean(outer, ["tool"], cutoff=0.8) is not None


def _line(path: Path, text: str, name: str) -> Place:
    """The first header or key that holds a name."""
    spelled = re.compile(rf"(\s*)(\[[^\]]*|[^#=]*)(?<![\w-]){re.escape(name)}(?![\w-])")
    found = ((number, hit) for number, line in enumerate(text.split("\n"), 1) if (hit := spelled.match(line)))
    return next((Place(path.name, number, len(hit[1]) + 1) for number, hit in found), Place(path.name))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"this file cannot be read: {error.strerror}", code="UNREADABLE_FILE", place=Place(path.name)) from None


def _read(path: Path) -> dict[str, Json]:
    text = decode(_bytes(path), path.name)
    import tomllib  # noqa: PLC0415  # a project without settings does not pay for it

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        place = Place(path.name, int(found[1]), int(found[2])) if found else Place(path.name)
        raise ConfigError(f"this is no TOML: {str(error).split(' (at ')[0]}", code="TOML_SYNTAX", place=place) from None


@dataclass(frozen=True, slots=True)
class _Table:
    path: Path
    values: Mapping[str, Json]
    prefix: str

    def place(self, key: str) -> Place:
        """Where ``key`` stands: its line in the table of that name, found in the text, since tomllib tells no places."""
        table, _, last = f"{self.prefix}.{key}".strip(".").rpartition(".")
        around, _, inner = table.rpartition(".") if table != self.prefix else ("", "", "")
        within = re.compile(rf"\s*{re.escape(inner)}\s*(?:\.\s*{re.escape(last)}\s*=|=\s*\{{.*\b{re.escape(last)}\b)")
        section, spelling = "", re.compile(rf"\s*(?:{re.escape(last)}|\"{re.escape(last)}\"|'{re.escape(last)}')\s*[.=]")
        lines = decode(self.path.read_bytes(), self.path.name).split("\n")
        for number, line in enumerate(lines, 1):
            header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
            if header:
                section = header[1].replace(" ", "").replace('"', "")
                if section == f"{table}.{last}".strip("."):
                    return Place(self.path.name, number, line.index("[") + 1)
            elif (section == table and spelling.match(line)) or (inner and section == around and within.match(line)):
                return Place(self.path.name, number, len(line) - len(line.lstrip()) + 1)
        return Place(self.path.name)


_Take = Callable[[Json], Any]


def _texts(value: Json) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def _variables(value: Json) -> tuple[str, ...] | None:
    from invcheck.sandbox.environ import keepable  # noqa: PLC0415  # only who keeps something needs it

    names = _texts(value)
    return names if names is not None and all(map(keepable, names)) else None


def _allowed(value: Json) -> tuple[str, ...] | None:
    from invcheck.allowance import canonical  # noqa: PLC0415  # only where something is allowed

    texts = _texts(value)
    return None if texts is None else canonical(texts)


def _whole(least: int) -> _Take:
    return lambda value: value if type(value) is int and value >= least else None


def processors() -> int:
    """Give how many workers ``auto`` is: one for each processor that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _jobs(value: Json) -> int | None:
    taken: int | None = processors() if value == "auto" else _whole(1)(value)
    return taken


def _seconds(value: Json) -> float | None:
    return float(value) if type(value) in (int, float) and 0 < value < float("inf") else None


def _bytes_of(value: Json) -> int | None:
    """Read a size such as "2GiB"; None for anything else, and for less than an empty worker needs."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([MG])iB", value) if isinstance(value, str) else None
    amount = int(float(found[1]) * (1 << (20 if found[2] == "M" else 30))) if found else 0
    return amount if amount >= _LEAST else None


def _kind(wanted: type) -> _Take:
    return lambda value: value if type(value) is wanted else None


KNOWN: dict[str, tuple[str, str, _Take]] = {
    "paths": ("paths", "a list of texts", _texts),
    "runs": ("runs", "a whole number from 1", _whole(1)),
    "seed": ("seed", "a whole number from 0", _whole(0)),
    "jobs": ("jobs", 'a whole number from 1, or "auto"', _jobs),
    "tags": ("tags", "a list of texts", _texts),
    "output": ("output", "a list of file names", _texts),
    "trial-seconds": ("trial_seconds", "a number of seconds above 0", _seconds),
    "keyword": ("keyword", "a text", _kind(str)),
    "max-failures": ("max_failures", "a whole number from 1", _whole(1)),
    "allow-empty": ("allow_empty", "true or false", _kind(bool)),
    "audit": ("audit", "true or false", _kind(bool)),
    "format": ("format", f"one of {', '.join(FORMATS)}", lambda value: value if value in FORMATS else None),
    "quiet": ("quiet", "a whole number from 0", _whole(0)),
    "verbose": ("verbose", "a whole number from 0", _whole(0)),
    "cpu-seconds": ("cpu_seconds", "a number of seconds above 0", _seconds),
    "gate.memory": ("gate_memory", 'a size from "128MiB" on, such as "2GiB"', _bytes_of),
    "gate.require": ("gate_require", '"kernel"', lambda value: value if value == "kernel" else None),
    "gate.allow": ("gate_allow", "a list of texts such as tcp:127.0.0.1:5432", _allowed),
    "gate.keep-env": ("gate_keep_env", "a list of variables, none of them a provider's key or a proxy", _variables),
}
"""Key as it is written -> field, what it takes, and how it is read (None where it does not fit)."""


def _settings(table: _Table) -> Settings:
    fields: dict[str, Any] = {}
    for key, value in _flat(table.values).items():
        if key not in KNOWN:
            near = did_you_mean(key.replace("_", "-"), list(KNOWN))
            hint = f"did you mean {near!r}?" if near else f"known keys: {', '.join(KNOWN)}"
            raise ConfigError(f"unknown key {key!r}", code="UNKNOWN_KEY", place=table.place(key), hint=hint)
        field, needed, take = KNOWN[key]
        try:
            taken = take(value)
        except UsageError as error:
            raise ConfigError(f"{key}: {error.message}", code=error.code, place=table.place(key), hint=error.hint) from None
        if taken is None:
            raise ConfigError(f"{key} takes {needed}, got {value!r}", code="WRONG_TYPE", place=table.place(key))
        fields[field] = taken
    return Settings(**fields, file=table.path.name)


def _flat(values: Mapping[str, Json]) -> dict[str, Json]:
    """The keys of the table and of ``gate`` below it, with dots."""
    flat: dict[str, Json] = {}
    for key, value in values.items():
        if key == "gate" and isinstance(value, dict):
            flat.update({f"gate.{inner}": item for inner, item in value.items()})
        else:
            flat[key] = value
    return flat
