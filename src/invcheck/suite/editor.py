"""The JSON Schema of a check file, for editors: the one place where the union of all assertions is built."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from invcheck.assertions import KEYS, claim_class
from invcheck.assertions.claim import hints
from invcheck.assertions.spelling import spelling
from invcheck.suite.branches import chosen
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.claim import Claim

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_FIELD = re.compile(r"``(\w+)``")
_CHECK = {"$ref": "#/$defs/Check"}
_ASSERTION = {"$ref": "#/$defs/Assertion"}


def json_schema() -> dict[str, Json]:
    """Give the JSON Schema (2020-12) of a check file; descriptions are the first sentences of the docstrings.

    It accepts every file that `invcheck run` accepts, and refuses misspelt keys; what it cannot say, such as that a
    reference exists, is left to the run.

    >>> json_schema()["title"]
    'invcheck check file'
    """
    from pydantic import TypeAdapter  # noqa: PLC0415  # only this and YAML files pay for pydantic

    shape = TypeAdapter(_whole_check()).json_schema(by_alias=True)
    check = {key: value for key, value in shape.items() if key != "$defs"}
    definitions = {name: _shortened(definition) for name, definition in {"Check": check, **shape["$defs"]}.items()}
    definitions["Check"]["properties"]["expect"] |= {"items": _ASSERTION, "minItems": 1}
    definitions["Assertion"] = _assertion()
    definitions = {name: chosen(definition, definitions) for name, definition in definitions.items()}
    several = {"checks": {"type": "array", "items": _CHECK, "minItems": 1}}
    smoke = {"properties": {"smoke": {}}, "additionalProperties": False}
    return {
        "$schema": DIALECT,
        "title": "invcheck check file",
        "type": "object",
        # one branch at a time, so that a mistake is told where it stands and not as a failure of every branch
        **_either("checks", {"properties": several, "additionalProperties": False}, _either("smoke", smoke, _CHECK, alone=True)),
        "$defs": dict(sorted(definitions.items())),
    }


def _either(key: str, then: Json, otherwise: Json, *, alone: bool = False) -> dict[str, Json]:
    """Choose by a key that a mapping has, or, where it must stand ``alone``, by its being the only one."""
    only = {"maxProperties": 1} if alone else {}
    return {"if": {"required": [key], **only}, "then": then, "else": otherwise}


def _whole_check() -> Any:
    """The spec of a check with the shapes of its sections, which a run loads one by one."""
    from pydantic import Field, create_model  # noqa: PLC0415  # only this and YAML files pay for pydantic

    from invcheck.suite import models, probespecs, specs  # noqa: PLC0415  # they import pydantic

    fields = specs.CheckSpec.model_fields
    sections: dict[str, Any] = {"model": models.AnyModel, "ledger": probespecs.AnyProbe, "probes": probespecs.Probes}
    described: dict[str, Any] = {key: (kind | None, Field(None, description=fields[key].description)) for key, kind in sections.items()}
    return create_model("Check", __base__=specs.CheckSpec, __doc__=specs.CheckSpec.__doc__, **described)


def _shortened(definition: dict[str, Json]) -> dict[str, Json]:
    """The definition without generated titles, and with one sentence as its description."""
    kept = {key: value for key, value in definition.items() if key != "title"}
    kept["description"] = _sentence(kept["description"])
    kept["properties"] = {
        name: {key: value for key, value in field.items() if key != "title"} for name, field in kept["properties"].items()
    }
    return kept


def _sentence(text: str | None) -> str:
    first = " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())
    # a docstring spells a field as Python does, an editor shows it as the file does
    return _FIELD.sub(lambda found: f"`{spelling(found[1])}`", first.split(". ")[0].rstrip(".:")).replace("``", "`") + "."


def _assertion() -> dict[str, Json]:
    """An assertion is its bare name where it needs no value, or a mapping of its one key."""
    properties: dict[str, Json] = {}
    bare: list[str] = []
    for key in KEYS:
        kind = claim_class(key)
        value = _fields(kind)
        names = [key] if kind.arity != "each" else [key, f"not-{key}"]
        properties |= dict.fromkeys(names, value)
        bare += names if not kind.required() else []
    one = {"type": "object", "properties": properties, "minProperties": 1, "maxProperties": 1, "additionalProperties": False}
    return {"description": "One claim about a trial.", "if": {"type": "string"}, "then": {"enum": bare}, "else": one}


def _fields(kind: type[Claim]) -> dict[str, Json]:
    types = hints(kind)
    properties = {spelling(name): _field(kind, name, types[name]) for name in kind._fields}
    mapping: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [spelling(name) for name in kind.required()]:
        mapping["required"] = required
    either: list[Json] = [mapping]
    if kind.shorthand is not None:
        either.append(properties[spelling(kind.shorthand)])
    if not required:
        either.append({"type": "null"})
    described = {"description": _sentence(kind.__doc__)}
    if len(either) == 1:
        return described | mapping
    rest = either[1] if len(either) == 2 else {"anyOf": either[1:]}  # noqa: PLR2004  # one other form
    whole = sorted({"min", "max"} - {*properties})
    if any(kind.takes_whole({name: 1}) for name in whole):  # a range is a mapping too
        mapping = {"if": {"minProperties": 1, "propertyNames": {"enum": whole}}, "then": rest, "else": mapping}
    return described | {"if": {"type": "object"}, "then": mapping, "else": rest}


def _field(kind: type[Claim], name: str, annotation: Any) -> dict[str, Json]:
    if name in kind.nested:
        return {"if": {"type": "array"}, "then": {"items": _ASSERTION}, "else": _ASSERTION}
    if name in kind._operands:  # noqa: SLF001  # a claim's own list of fields
        return {}
    from pydantic import TypeAdapter  # noqa: PLC0415  # only this and YAML files pay for pydantic

    schema = {key: value for key, value in TypeAdapter(annotation).json_schema().items() if key != "title"}
    if name in kind._selectors and schema.get("type") == "string":  # noqa: SLF001  # a claim's own list of fields
        schema["pattern"] = r"^\$"
    return schema
