"""A double from the plain JSON of a check file: read and checked once, built anew for each trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from invcheck import faults, replies
from invcheck.errors import DoubleError, InvcheckError, NotJson, ScriptInvalid
from invcheck.faces.faced import Faced
from invcheck.faces.render import renderer
from invcheck.freeze import frozen
from invcheck.jsontext import loads
from invcheck.resolve import meant
from invcheck.show import show
from invcheck.sources import steps
from invcheck.sources.drifting import DriftingModel, Prepared, fake_of
from invcheck.sources.outcomes import json_text
from invcheck.sources.scripted import ScriptedModel
from invcheck.vocabulary import Fault, Json, Reply

Load = Callable[[str], object]
Make = Callable[[], Faced]
_Script = tuple[list[object], object]

_KINDS = ("script", "lanes", "drifting")
_OPTIONS = ("usage", "raises", "returns", "lane-by", "attributes")
_STEPS = ("reply", "json", "fail", "raise", "tool-call", "call", "then-always")
_MODIFIERS = ("label", "optional")


def build(spec: Json, *, load: Load) -> Faced:
    """Build the double that a model spec describes; ``load`` gives what a "module:name" text names.

    The spec is ``{script: [step, ...]}``, ``{lanes: {name: [step, ...]}}`` or ``{drifting: "module:function"}`` (or
    ``{drifting: {schema: ...}}``), with ``usage``, ``raises``, ``returns``, ``lane-by`` and ``attributes`` beside it. ScriptInvalid or
    DoubleError says what is wrong with it, ``fields["path"]`` where.

    >>> import invcheck
    >>> with invcheck.testing():
    ...     build({"script": ["hello"]}, load=str)("hi").text
    'hello'
    """
    return read(spec, load=load)()


def read(spec: Json, *, load: Load) -> Make:
    """Check a model spec, also outside of a trial, and give what builds its double anew each time."""
    fields = _mapping(spec, "$", (*_KINDS, *_OPTIONS))
    kinds = [kind for kind in _KINDS if kind in fields]
    if len(kinds) != 1:
        raise _wrong("$", f"a model has one of script, lanes and drifting; got {' and '.join(kinds) or 'none'}")
    options = _options(fields, load)
    if kinds == ["drifting"]:
        return _drifting(fields["drifting"], options, load)
    if kinds == ["script"]:
        queues: dict[str | None, _Script] = {None: _script(fields["script"], "$.script", load)}
    else:
        lanes = _mapping(fields["lanes"], "$.lanes", None)
        queues = {name: _script(each, f"$.lanes.{name}", load) for name, each in lanes.items()}
    return lambda: _scripted(queues, options)


def _scripted(queues: Mapping[str | None, _Script], options: Mapping[str, Any]) -> ScriptedModel:
    if None in queues:
        model = ScriptedModel(*queues[None][0], **options)
    else:
        model = ScriptedModel(lanes={str(name): queue for name, (queue, _) in queues.items()}, **options)
    for name, (_, always) in queues.items():
        if always is not None:
            model.then_always(always, lane=name)
    return model


def _drifting(what: Json, options: Mapping[str, Any], load: Load) -> Make:
    loaded: Any
    if isinstance(what, str):
        loaded = load(what)
        if isinstance(loaded, type) and not hasattr(loaded, "model_json_schema"):
            # a class is a fake with a state of its own: every trial begins with a new one
            return lambda: DriftingModel(loaded(), **options)
    else:
        schema = _mapping(what, "$.drifting", ("schema",)).get("schema")
        loaded = _schema(schema, load) if isinstance(schema, str) else schema
        if not isinstance(loaded, Mapping) and not hasattr(loaded, "model_json_schema"):
            raise _wrong("$.drifting.schema", f"a schema is a mapping or names a pydantic model, got {type(loaded).__name__}")
    prepared = Prepared(fake_of(loaded))
    return lambda: DriftingModel(prepared, **options)


def _schema(named: str, load: Load) -> Any:
    if not named.endswith(".json"):
        return load(named)
    try:
        return loads(Path(named).read_bytes().decode("utf-8-sig"))
    except OSError:
        raise _wrong("$.drifting.schema", f"there is no file {named}", hint="it is sought from the project's folder") from None
    except (UnicodeDecodeError, NotJson) as error:
        told = error.message if isinstance(error, NotJson) else "it is not UTF-8"
        raise _wrong("$.drifting.schema", f"{named} is no JSON: {told}") from None


def _options(fields: Mapping[str, Json], load: Load) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if "usage" in fields:
        options["usage"] = _usage(fields["usage"], "$.usage")
    if "raises" in fields:
        named = _mapping(fields["raises"], "$.raises", tuple(faults.KINDS))
        options["raises"] = {kind: load(_text(name, f"$.raises.{kind}")) for kind, name in named.items()}
        renderer(options["raises"])
    if "returns" in fields:
        options["returns"] = load(_text(fields["returns"], "$.returns"))
    if "lane-by" in fields:
        by = _text(fields["lane-by"], "$.lane-by")
        options["lane_by"] = load(by) if ":" in by else by
    if "attributes" in fields:
        options["attributes"] = dict(_mapping(fields["attributes"], "$.attributes", None))
    return options


def _script(script: Json, path: str, load: Load) -> _Script:
    if not isinstance(script, list):
        raise _wrong(path, f"a script is a list of steps, got {show(script, 40)}")
    made: list[object] = []
    always: object = None
    for index, written in enumerate(script):
        if always is not None:
            raise _wrong(f"{path}[{index}]", "then-always is the last step of a script", index)
        try:
            one, is_always = _step(written, f"{path}[{index}]", load)
            steps.queued([one])
        except InvcheckError as error:
            raise _placed(error, f"{path}[{index}]", index) from None
        if is_always:
            always = one
        else:
            made.append(one)
    return made, always


def _placed(error: InvcheckError, path: str, index: int) -> ScriptInvalid:
    reason = error.fields.get("reason", error.message)
    place = error.fields.get("path", path)
    told = reason if reason.startswith("$") else f"{place}: {reason}"
    return ScriptInvalid(told, hint=error.hint, index=index, reason=reason, path=place)


def _step(written: Json, path: str, load: Load) -> tuple[object, bool]:
    if isinstance(written, str):
        return written, False
    fields = _mapping(written, path, (*_STEPS, *_MODIFIERS))
    kinds = [kind for kind in _STEPS if kind in fields]
    if len(kinds) != 1:
        raise _wrong(path, f"a step has one of {', '.join(_STEPS)}; got {' and '.join(kinds) or 'none'}")
    kind = kinds[0]
    label, optional = fields.get("label"), fields.get("optional", False)
    if not isinstance(optional, bool):
        raise _wrong(f"{path}.optional", f"optional is true or false, got {show(optional, 40)}")
    if kind == "then-always":
        inner, twice = _step(fields[kind], f"{path}.then-always", load)
        if twice or optional:
            raise _wrong(path, "then-always holds one plain step")
        return (inner if isinstance(inner, steps.Step) else steps.step(inner, label=label)), True
    what = _what(kind, fields[kind], f"{path}.{kind}", load)
    return (steps.step(what, label=label, optional=optional) if label is not None or optional else what), False


def _what(kind: str, value: Json, path: str, load: Load) -> object:
    if kind == "reply":
        return _reply(value, path)
    if kind == "json":
        return steps.reply(json_text(value))
    if kind == "fail":
        return _fault(value, path)
    if kind == "tool-call":
        return steps.reply(tool_calls=[_tool_call(each, path) for each in (value if isinstance(value, list) else [value])])
    return load(_text(value, path))


def _reply(value: Json, path: str) -> Reply:
    if isinstance(value, str):
        return steps.reply(value)
    fields = _mapping(value, path, ("text", "finish", "usage", "tool-calls", "thinking"))
    calls = fields.get("tool-calls", [])
    if not isinstance(calls, list):
        raise _wrong(f"{path}.tool-calls", f"tool-calls is a list, got {show(calls, 40)}")
    return steps.reply(
        _text(fields.get("text", ""), f"{path}.text"),
        finish=fields.get("finish", ...),
        usage=replies.usage_of({}) if fields.get("usage", ...) is None else _usage(fields.get("usage"), f"{path}.usage"),
        tool_calls=[_tool_call(each, f"{path}.tool-calls[{index}]") for index, each in enumerate(calls)],
        thinking=fields.get("thinking"),
    )


def _tool_call(value: Json, path: str) -> Any:
    fields = _mapping(value, path, ("name", "arguments", "id"))
    arguments = _mapping(fields.get("arguments", {}), f"{path}.arguments", None)
    return steps.tool_call(_text(fields.get("name"), f"{path}.name"), frozen(dict(arguments)), id=fields.get("id"))


def _fault(value: Json, path: str) -> Fault:
    fields: Mapping[str, Json] = (
        {"kind": value} if isinstance(value, str) else _mapping(value, path, ("kind", "message", "status", "retry-after"))
    )
    fault = Fault(_text(fields.get("kind"), f"{path}.kind"), fields.get("message", ""), fields.get("status"), fields.get("retry-after"))
    try:
        return faults.completed(fault)
    except ValueError as error:
        raise _wrong(path, str(error)) from None


def _usage(value: Json, path: str) -> Any:
    try:
        return replies.usage_of(value)
    except DoubleError as error:
        raise _wrong(path, error.message, hint=error.hint) from None


def _text(value: Json, path: str) -> str:
    if not isinstance(value, str):
        raise _wrong(path, f"text is needed here, got {show(value, 40)}")
    return value


def _mapping(value: Json, path: str, known: Iterable[str] | None) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise _wrong(path, f"a mapping is needed here, got {show(value, 40)}")
    for key in value:
        if known is not None and key not in known:
            raise _wrong(f"{path}.{key}", f'there is no "{key}" here', hint=meant(key, known))
    return value


def _wrong(path: str, reason: str, index: int | None = None, hint: str | None = None) -> DoubleError:
    return DoubleError(f"{path}: {reason}", code="MODEL_SPEC", path=path, reason=f"{path}: {reason}", index=index, hint=hint)
