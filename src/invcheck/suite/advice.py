"""What to write instead, for the mistakes that people make in a check file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from invcheck.faults import KINDS
from invcheck.resolve import is_reference
from invcheck.show import show
from invcheck.vocabulary import Json

_SHOWN = 60


def advice(at: Sequence[str | int], got: Json) -> str | None:
    """Give a hint for a value of the wrong shape at a path of the file, or None where none is known.

    >>> advice(("model",), ["hello"])
    'write model: {script: ["hello"]}'
    >>> advice(("model", "script", 0, "fail"), 429)
    'write fail: rate-limit'
    """
    named = next((part for part in reversed(at) if isinstance(part, str)), "")
    if at and isinstance(at[-1], int):
        return _entry(named, got)
    return _KEYS[named](got) if named in _KEYS else None


def _entry(named: str, got: Json) -> str | None:
    plain = got is None or isinstance(got, bool | int | float | str)
    if named == "cases" and plain:
        return f"write - input: {_bare(got)}"
    if named == "script" and plain:
        return f'a step that answers with text is in quotes: "{_bare(got)}"'
    return None


def _model(got: Json) -> str | None:
    if isinstance(got, list):
        return f"write model: {{script: {show(got, _SHOWN)}}}"
    if isinstance(got, str) and got.endswith(".jsonl"):
        return f"write model: {{replay: {got}}}"
    if isinstance(got, str):
        return f"write model: {{drifting: {got}}}" if is_reference(got) else f"write model: {{script: [{show(got, _SHOWN)}]}}"
    return "such as model: {script: [hello]}"


def _fail(got: Json) -> str:
    kind = next((name for name, kind in KINDS.items() if kind.status == got and got is not None), None)
    return f"write fail: {kind}" if kind else f"the kinds are {', '.join(KINDS)}"


def _cases(got: Json) -> str | None:
    for ending in ("jsonl", "csv"):
        if isinstance(got, str) and got.endswith(f".{ending}"):
            return f"write cases: {{{ending}: {got}}}"
    return "such as cases: [{id: first, input: hello}]"


def _list(key: str) -> Callable[[Json], str | None]:
    return lambda got: f"write {key}: [{show(got, _SHOWN) if isinstance(got, dict) else _bare(got)}]"


def _bare(got: Json) -> str:
    return got if isinstance(got, str) else show(got, _SHOWN)


_KEYS: dict[str, Callable[[Json], str | None]] = {
    "model": _model, "fail": _fail, "cases": _cases,
    "expect": _list("expect"), "tags": _list("tags"), "script": _list("script"), "allow": _list("allow"),
}  # fmt: skip
