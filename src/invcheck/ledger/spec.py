"""From what a check file says of a ledger or a state to the probe that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from invcheck.errors import UsageError
from invcheck.ledger.files import JsonLinesProbe, SqliteProbe
from invcheck.ledger.memory import CallProbe, ListProbe, LoggingProbe
from invcheck.ledger.probe import Folder, Probe
from invcheck.ledger.sql import SqlProbe
from invcheck.resolve import meant
from invcheck.show import show
from invcheck.vocabulary import Json

_FIELDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "sqlite": (frozenset({"query"}), frozenset()),
    "sql": (frozenset({"query"}), frozenset()),
    "jsonl": (frozenset(), frozenset()),
    "logging": (frozenset(), frozenset({"fields"})),
    "list": (frozenset(), frozenset()),
    "call": (frozenset(), frozenset()),
}


def probe(spec: Json | Callable[..., object], *, tmp: Folder, load: Callable[[str], object]) -> Probe:
    """Give the probe that ``spec`` names; UsageError where it names none.

    ``spec`` is a function, ``"module:function"``, or one of ``{sqlite: FILE, query: SQL}``, ``{sql: URL, query: SQL}``,
    ``{jsonl: FILE}``, ``{logging: LOGGER, fields: [...]}``, ``{list: "module:attribute"}``, ``{call: "module:function"}``.
    ``tmp`` is the trial's folder or gives it; ``load`` finds what a "module:name" text names.
    """
    if callable(spec):
        return CallProbe(spec, folder=tmp)
    kind, value, more = ("call", spec, {}) if isinstance(spec, str) else _read(spec)
    match kind:
        case "sqlite":
            made: Probe = SqliteProbe(value, more["query"], folder=tmp)
        case "sql":
            made = SqlProbe(value, more["query"], folder=tmp)
        case "jsonl":
            made = JsonLinesProbe(value, folder=tmp)
        case "logging":
            made = LoggingProbe(value, _names(more.get("fields", [])))
        case "list":
            made = _list(value, load)
        case _:
            made = _call(value, tmp, load)
    return made


def _read(spec: Json) -> tuple[str, str, Mapping[str, Json]]:
    if not isinstance(spec, Mapping):
        raise UsageError(f"a probe is a mapping or 'module:function', got {show(spec)}", code="WRONG_TYPE")
    kinds = [key for key in spec if key in _FIELDS]
    if len(kinds) != 1:
        what = f"unknown kind of probe in {show(dict(spec))}" if not kinds else f"a probe has one kind, got {' and '.join(kinds)}"
        raise UsageError(what, code="UNKNOWN_KEY", hint=meant(next(iter(spec), ""), sorted(_FIELDS)))
    kind = kinds[0]
    needed, possible = _FIELDS[kind]
    more = {key: value for key, value in spec.items() if key != kind}
    for key in more:
        if key not in needed | possible:
            hint = meant(key, sorted(needed | possible))
            raise UsageError(f"unknown key {key!r} in a probe of kind {kind}", code="UNKNOWN_KEY", hint=hint)
    for key in needed - more.keys():
        raise UsageError(f"a probe of kind {kind} needs {key!r}", code="MISSING_KEY")
    for key in (kind, *needed):
        if not isinstance(spec[key], str):
            raise UsageError(f"{key} must be text, got {show(spec[key])}", code="WRONG_TYPE")
    return kind, spec[kind], more


def _names(fields: Json) -> list[str]:
    if not isinstance(fields, list) or not all(isinstance(name, str) for name in fields):
        raise UsageError(f"fields must be a list of names, got {show(fields)}", code="WRONG_TYPE")
    return fields


def _call(name: str, tmp: Folder, load: Callable[[str], object]) -> Probe:
    function = load(name)
    if not callable(function):
        raise UsageError(f"{name} is {type(function).__name__}, not a function", code="WRONG_TYPE")
    return CallProbe(function, folder=tmp)


def _list(name: str, load: Callable[[str], object]) -> Probe:
    items = load(name)
    if not isinstance(items, list):
        raise UsageError(f"{name} is {type(items).__name__}, not a list", code="WRONG_TYPE")
    return ListProbe(items)
