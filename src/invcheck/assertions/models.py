"""What a value is held against: a pydantic model, or any type that pydantic can validate, in strict JSON mode."""

from __future__ import annotations

import json
from typing import Any

from invcheck.assertions.validators import Fault, Find, described
from invcheck.show import show
from invcheck.vocabulary import Json


def model(kind_: Any) -> Find:
    """Judge by a pydantic model, or any type that pydantic can validate, in strict JSON mode.

    An error other than a validation error, which a validator of the user's may raise, is let through.
    """
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415  # the process of a trial must not load it for us

    adapter: TypeAdapter[Any] = TypeAdapter(kind_)

    def find(value: Json) -> Fault | None:
        try:
            adapter.validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            details = error.errors(include_url=False, include_context=False, include_input=False)
            return _deepest_detail(value, [(detail["loc"], detail["type"], detail["msg"]) for detail in details])
        return None

    return find


def _deepest_detail(value: Json, details: list[tuple[tuple[str | int, ...], str, str]]) -> Fault:
    faults = []
    for loc, code, message in details:
        steps, at = _walk(value, loc)
        if code == "missing":
            expected = f"the field {show(loc[-1])}"
        elif code == "extra_forbidden":
            expected = "no such field"
        else:
            expected = message.removeprefix("Input should be ")
        faults.append(Fault(steps, expected, described(at)))
    return max(faults, key=lambda fault: len(fault.steps))


def _walk(value: Json, loc: tuple[str | int, ...]) -> tuple[tuple[str | int, ...], Json]:
    """Follow a location as far as the value goes: pydantic puts names of union branches and validators in between."""
    steps: list[str | int] = []
    for step in loc:
        if step in (value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()):
            value = value[step]
            steps.append(step)
    return tuple(steps), value
