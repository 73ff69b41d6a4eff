"""From a reply to the app's own type: by the names of its fields, or by the adapter that the test gives."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from invcheck.errors import PortMismatch
from invcheck.faces.fits import fitter, named
from invcheck.faces.signature import EMPTY, Unresolved, open_parts, shape
from invcheck.freeze import FrozenDict, FrozenList
from invcheck.request import Call
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Reply, Thinking, ToolCall, Usage

Adapt = Callable[[Reply, Call], Any]

_NONE = object()
"""What a maker gives where it has no value for a field."""


def adapter(hint: Any) -> Adapt:
    """Give what makes a value of ``hint`` from a reply; PortMismatch, when it is called, where that cannot be done.

    Text is the reply's text, `Reply` the reply, and a reply's own ``value`` of that type goes first. A dataclass, pydantic
    model, NamedTuple or TypedDict is built by the names of its fields (text, content, output; finish, finish_reason,
    stop_reason; usage, input_tokens, output_tokens ...; tool_calls; thinking; model; role; id).
    """
    fits = fitter(hint)
    make = _maker(hint)

    def adapt(reply: Reply, call: Call) -> Any:
        if reply.value is not None and (fits is None or fits(reply.value)):
            # plain data is the app's own to change, as what a client parsed would be; the record keeps the frozen one
            return snapshot(reply.value) if isinstance(reply.value, (FrozenDict, FrozenList)) else reply.value
        made = make(reply, call)
        if made is _NONE:
            raise PortMismatch(
                f"a reply ({show(reply.text, 40)}) cannot be handed over as {named(hint)}",
                hint="say how with returns=, a function of the reply, or give the step a value= of that type",
            )
        return made

    return adapt


def _maker(hint: Any) -> Adapt:
    if hint in (EMPTY, Any, object) or (open_parts(hint) and not isinstance(hint, Unresolved)):
        return lambda reply, _: reply
    if hint is str:
        return lambda reply, _: reply.text
    if get_origin(hint) is Annotated:
        return _maker(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        return _first([_maker(arm) for arm in _arms(hint) if arm is not type(None)])
    if isinstance(hint, type) and get_origin(hint) is None:
        return _of_class(hint)
    return lambda _, __: _NONE


def _first(makers: list[Adapt]) -> Adapt:
    def make(reply: Reply, call: Call) -> Any:
        return next((made for each in makers if (made := each(reply, call)) is not _NONE), _NONE)

    return make


def _of_class(kind: type) -> Adapt:
    if getattr(kind, "_is_protocol", False):
        fits = all(hasattr(Reply, member.name) for member in shape(kind).members)
        return lambda reply, _: reply if fits else _NONE
    if not is_typeddict(kind) and issubclass(Reply, kind):
        return lambda reply, _: reply
    plan = _plan(kind)
    return lambda reply, call: _built(kind, plan, lambda name, hint: _from_reply(name, hint, reply, call))


@dataclasses.dataclass(frozen=True, slots=True)
class _Field:
    name: str
    passed: str
    hint: Any
    required: bool


@lru_cache(maxsize=256)
def _plan(kind: type) -> tuple[_Field, ...] | None:
    """The fields of a class that is built by name, or None where it is no such class."""
    if dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        return tuple(
            _Field(f.name, f.name, hints.get(f.name, Any), f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING)
            for f in dataclasses.fields(kind)
            if f.init
        )
    models: Any = getattr(kind, "model_fields", None)
    if isinstance(models, Mapping):
        return tuple(_Field(name, f.alias or name, f.annotation, f.is_required()) for name, f in models.items())
    if is_typeddict(kind):
        return tuple(_Field(name, name, hint, name in kind.__required_keys__) for name, hint in _hints(kind).items())  # type: ignore[attr-defined]  # a TypedDict has it
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = _hints(kind)
        return tuple(_Field(name, name, hints.get(name, Any), name not in kind._field_defaults) for name in kind._fields)  # type: ignore[attr-defined]  # a NamedTuple has it
    return None


def _hints(kind: type) -> dict[str, Any]:
    try:
        return get_type_hints(kind)
    except Exception:  # noqa: BLE001  # one hint that only a type checker sees: fields are then matched by name alone
        return dict.fromkeys(getattr(kind, "__annotations__", {}), Any)


def _built(kind: type, plan: tuple[_Field, ...] | None, ask: Callable[[str, Any], Any]) -> Any:
    """An instance of ``kind`` from what ``ask`` gives for each field, or _NONE where a required one has no value."""
    if plan is None:
        return _NONE
    values: dict[str, Any] = {}
    for one in plan:
        value = ask(one.name, one.hint)
        if value is not _NONE:
            values[one.passed] = value
        elif one.required:
            return _NONE
    return kind(**values) if values else _NONE


_TEXT = frozenset({"text", "content", "output", "output_text", "answer", "completion"})
_FINISH = frozenset({"finish", "finish_reason", "stop_reason"})
_THINKING = frozenset({"thinking", "reasoning"})
_TOKENS = {
    "input_tokens": "input_tokens",
    "prompt_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "completion_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_input_tokens",
    "cache_creation_input_tokens": "cache_creation_input_tokens",
    "reasoning_output_tokens": "reasoning_output_tokens",
}


def _from_reply(name: str, hint: Any, reply: Reply, call: Call) -> Any:  # noqa: PLR0911  # one return per family of names
    """What a reply has for a field of that name, or _NONE."""
    if name in _TEXT:
        return reply.text if hint is Any or str in _arms(hint) else _NONE
    if name in _FINISH:
        return reply.finish
    if name in _THINKING:
        return "".join(block.text for block in reply.blocks if isinstance(block, Thinking)) or None
    if name == "usage":
        return _usage(hint, reply.usage or Usage())
    if name in _TOKENS or name == "total_tokens":
        return _tokens(name, reply.usage or Usage())
    if name == "tool_calls":
        return _tool_calls(hint, reply)
    if name == "model":
        return call.plain.get("model", _NONE)
    if name == "role":
        return "assistant"
    return call.request.id if name == "id" else _NONE


def _arms(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _tokens(name: str, usage: Usage) -> Any:
    if name == "total_tokens" and (usage.input_tokens, usage.output_tokens) != (None, None):
        return (usage.input_tokens or 0) + (usage.output_tokens or 0)
    tokens = getattr(usage, _TOKENS.get(name, name), None)
    return _NONE if tokens is None else tokens


def _usage(hint: Any, usage: Usage) -> Any:
    for arm in _arms(hint):
        if arm is Usage or arm is Any:
            return usage
        if isinstance(arm, type) and arm is not type(None) and (plan := _plan(arm)) is not None:
            return _built(arm, plan, lambda name, _: _tokens(name, usage) if name in _TOKENS or name == "total_tokens" else _NONE)
    if hint is dict or get_origin(hint) in (dict, Mapping):
        return {name: tokens for name, tokens in dataclasses.asdict(usage).items() if tokens is not None}
    return _NONE


def _tool_calls(hint: Any, reply: Reply) -> Any:
    inner = next((arm for arm in _arms(hint) if arm is not type(None)), hint)
    item = next(iter(get_args(inner)), Any)
    shape_of = tuple if tuple in (get_origin(inner), inner) else list
    made = [_tool_call(item, call) for call in reply.tool_calls]
    return _NONE if any(each is _NONE for each in made) else shape_of(made)


def _tool_call(item: Any, call: ToolCall) -> Any:
    if item is ToolCall or item is Any or not isinstance(item, type):
        return call
    known = {"id": call.id, "name": call.name, "arguments": call.arguments, "args": call.arguments, "input": call.arguments}
    return _built(item, _plan(item), lambda name, _: known.get(name, _NONE))
