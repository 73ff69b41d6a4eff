"""A double from the plain JSON of a check file: read and checked once, built anew for each trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from invcheck import faults
from invcheck.errors import InvcheckError, NotJson, ScriptInvalid
from invcheck.faces.faced import Faced
from invcheck.faces.render import renderer
from invcheck.jsontext import loads
from invcheck.protocol import RULES
from invcheck.resolve import meant
from invcheck.show import show
from invcheck.sources import steps
from invcheck.sources.drifting import DriftingModel, Prepared, fake_of
from invcheck.sources.outcomes import json_text
from invcheck.sources.scripted import ScriptedModel
from invcheck.sources.written import Reader, chunking, names, seconds, wrong
from invcheck.vocabulary import Json

Load = Callable[[str], object]
Make = Callable[[], Faced]
_Script = tuple[list[object], object]

_READ = Reader()
_KINDS = ("script", "lanes", "drifting", "replay")
_OPTIONS = ("usage", "raises", "returns", "lane-by", "attributes", "chunks", "latency", "pace", "cached", "keep", "relax")
_STEPS = ("reply", "json", "fail", "raise", "tool-call", "call", "then-always")
_MODIFIERS = ("label", "optional", "when")


def build(spec: Json, *, load: Load) -> Faced:
    """Build the double that a model spec describes; ``load`` gives what a "module:name" text names.

    The spec is ``{script: [step, ...]}``, ``{lanes: {name: [step, ...]}}``, ``{drifting: "module:function"}`` (or
    ``{drifting: {schema: ...}}``) or ``{replay: file}`` (or ``{replay: {file: ..., only: [label], ...}}``), with the options of
    a double beside it, spelt with dashes. ScriptInvalid or DoubleError says what is wrong with it, ``fields["path"]`` where.

    >>> import invcheck
    >>> with invcheck.testing():
    ...     build({"script": ["hello"]}, load=str)("hi").text
    'hello'
    """
    return read(spec, load=load)()


def read(spec: Json, *, load: Load) -> Make:
    """Check a model spec, also outside of a trial, and give what builds its double anew each time."""
    fields = _READ.mapping(spec, "$", (*_KINDS, *_OPTIONS))
    kinds = [kind for kind in _KINDS if kind in fields]
    if len(kinds) != 1:
        raise wrong("$", f"a model has one of script, lanes, drifting and replay; got {' and '.join(kinds) or 'none'}")
    options = _options(fields, load)
    if kinds == ["drifting"]:
        with _about("$.drifting"):
            return _drifting(fields["drifting"], options, load)
    if kinds == ["replay"]:
        return _replay(fields["replay"], options)
    if kinds == ["script"]:
        queues: dict[str | None, _Script] = {None: _script(fields["script"], "$.script", load)}
    else:
        lanes = _READ.mapping(fields["lanes"], "$.lanes", None)
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
        schema = _READ.mapping(what, "$.drifting", ("schema",)).get("schema")
        loaded = _schema(schema, load) if isinstance(schema, str) else schema
        if not isinstance(loaded, Mapping) and not hasattr(loaded, "model_json_schema"):
            raise wrong("$.drifting.schema", f"a schema is a mapping or names a pydantic model, got {type(loaded).__name__}")
    prepared = Prepared(fake_of(loaded))
    return lambda: DriftingModel(prepared, **options)


def _replay(what: Json, options: Mapping[str, Any]) -> Make:
    fields = _READ.mapping(
        what if isinstance(what, Mapping) else {"file": what}, "$.replay", ("file", "only", "ignore", "strict", "optional")
    )
    files = fields.get("file")
    strict, optional = (_READ.switch(fields.get(name, name == "strict"), f"$.replay.{name}") for name in ("strict", "optional"))
    from invcheck.sources.replay import ReplayModel, gathered  # noqa: PLC0415  # few checks replay, and each would pay for it

    listed = names([files] if isinstance(files, str) else files, "$.replay.file")
    only = names(fields["only"], "$.replay.only") if "only" in fields else None
    ignore = names(fields.get("ignore", []), "$.replay.ignore")
    with _about("$.replay.file"):
        found = gathered(listed, only=only, ignore=ignore, optional=optional)
    return lambda: ReplayModel(found, strict=strict, **options)


def _schema(named: str, load: Load) -> Any:
    if not named.endswith(".json"):
        with _about("$.drifting.schema"):
            return load(named)
    try:
        return loads(Path(named).read_bytes().decode("utf-8-sig"))
    except OSError:
        raise wrong("$.drifting.schema", f"there is no file {named}", hint="it is sought from the project's folder") from None
    except (UnicodeDecodeError, NotJson) as error:
        told = error.message if isinstance(error, NotJson) else "it is not UTF-8"
        raise wrong("$.drifting.schema", f"{named} is no JSON: {told}") from None


def _options(fields: Mapping[str, Json], load: Load) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if "usage" in fields:
        options["usage"] = _READ.usage(fields["usage"], "$.usage")
    if "raises" in fields:
        named = _READ.mapping(fields["raises"], "$.raises", tuple(faults.KINDS))
        options["raises"] = {}
        for kind, name in named.items():
            with _about(f"$.raises.{kind}"):
                options["raises"][kind] = _loaded(name, f"$.raises.{kind}", load)
                renderer(options["raises"])
    if "returns" in fields:
        options["returns"] = _function(fields["returns"], "$.returns", load)
    if "lane-by" in fields:
        by = _READ.text(fields["lane-by"], "$.lane-by")
        options["lane_by"] = _function(by, "$.lane-by", load) if ":" in by else by
    if "attributes" in fields:
        options["attributes"] = dict(_READ.mapping(fields["attributes"], "$.attributes", None))
    return options | _handing(fields)


@contextmanager
def _about(path: str) -> Iterator[None]:
    """Give an error that names no path this one."""
    try:
        yield
    except InvcheckError as error:
        if error.fields.get("path") is None:
            error.fields["path"] = path
        raise


def _loaded(name: Json, path: str, load: Load) -> Any:
    with _about(path):
        return load(_READ.text(name, path))


def _function(name: Json, path: str, load: Load) -> Any:
    loaded = _loaded(name, path, load)
    if not callable(loaded):
        raise wrong(path, f"{name} is {type(loaded).__name__}, and no function")
    return loaded


def _exception(name: Json, path: str, load: Load) -> Any:
    loaded = _loaded(name, path, load)
    if not issubclass(loaded if isinstance(loaded, type) else type(loaded), BaseException):
        raise wrong(path, f"{name} is {type(loaded).__name__}, and no exception")
    return loaded


def _handing(fields: Mapping[str, Json]) -> dict[str, Any]:
    """What is said of how replies are handed over, of what is kept, and of what a request may be."""
    options: dict[str, Any] = {}
    if "chunks" in fields:
        options["chunks"] = chunking(fields["chunks"], "$.chunks")
        if isinstance(options["chunks"], tuple):
            raise wrong("$.chunks", "chunks that are given belong to one reply; a double has a name of one or a number of code points")
    options |= {name: seconds(fields[name], f"$.{name}") for name in ("latency", "pace") if name in fields}
    if "cached" in fields:
        options["cached"] = _READ.switch(fields["cached"], "$.cached")
    if "keep" in fields:
        if type(fields["keep"]) is not int or fields["keep"] < 1:
            raise wrong("$.keep", f"keep is a number of calls from 1, got {show(fields['keep'], 40)}")
        options["keep"] = fields["keep"]
    if "relax" in fields:
        options["relax"] = names(fields["relax"], "$.relax")
        for index, rule in enumerate(options["relax"]):
            if rule not in RULES:
                raise wrong(f"$.relax[{index}]", f"there is no rule {rule!r} of the request protocol", hint=meant(rule, RULES))
    return options


def _script(script: Json, path: str, load: Load) -> _Script:
    if not isinstance(script, list):
        raise wrong(path, f"a script is a list of steps, got {show(script, 40)}")
    made: list[object] = []
    always: object = None
    for index, written in enumerate(script):
        if always is not None:
            raise wrong(f"{path}[{index}]", "then-always is the last step of a script", index)
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
    fields = _READ.mapping(written, path, (*_STEPS, *_MODIFIERS))
    kinds = [kind for kind in _STEPS if kind in fields]
    if len(kinds) != 1:
        raise wrong(path, f"a step has one of {', '.join(_STEPS)}; got {' and '.join(kinds) or 'none'}")
    kind = kinds[0]
    label, when = fields.get("label"), fields.get("when")
    optional = _READ.switch(fields.get("optional", False), f"{path}.optional")
    if not isinstance(when, str | Mapping | None):
        raise wrong(f"{path}.when", f"when is a text or a mapping, got {show(when, 40)}")
    if kind == "then-always":
        inner, twice = _step(fields[kind], f"{path}.then-always", load)
        if twice or optional or when is not None:
            raise wrong(path, "then-always holds one plain step")
        return (inner if isinstance(inner, steps.Step) else steps.step(inner, label=label)), True
    with _about(f"{path}.{kind}"):
        what = _what(kind, fields[kind], f"{path}.{kind}", load)
        steps.queued([what])
    if when is not None:
        with _about(f"{path}.when"):
            steps.queued([steps.step("", when=when)])
    if label is not None:
        _READ.text(label, f"{path}.label")
    plain = label is None and when is None and not optional
    return (what if plain else steps.step(what, label=label, optional=optional, when=when)), False


def _what(kind: str, value: Json, path: str, load: Load) -> object:
    if kind == "reply":
        return _READ.reply(value, path)
    if kind == "json":
        return steps.reply(json_text(value))
    if kind == "fail":
        return _READ.fault(value, path)
    if kind == "tool-call":
        return steps.reply(tool_calls=[_READ.tool_call(each, path) for each in (value if isinstance(value, list) else [value])])
    return _exception(value, path, load) if kind == "raise" else _function(value, path, load)
