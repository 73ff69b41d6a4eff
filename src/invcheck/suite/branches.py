"""JSON Schema's unions, rewritten so that one branch is chosen before it is judged.

Of a value that fits no branch of an ``anyOf`` an editor can only say so; of one that failed its own branch it says where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from invcheck.vocabulary import Json


def chosen(schema: Json, definitions: Mapping[str, Json]) -> Json:
    """Give a schema whose unions, at any depth, choose by type, and among objects by the one key that each requires.

    >>> chosen({"anyOf": [{"type": "string"}, {"type": "null"}]}, {})["if"]
    {'type': 'string'}
    """
    if isinstance(schema, list):
        return [chosen(item, definitions) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    union = next((key for key in ("oneOf", "anyOf") if key in schema), None)
    out = {key: chosen(value, definitions) for key, value in schema.items() if key != union}
    if union is None:
        return out
    plain = _flat(schema[union])
    branches = [chosen(branch, definitions) for branch in plain]
    guards = [_guard(branch, plain, definitions) for branch in plain]
    if any(guard is None for guard in guards):
        return {**out, union: branches}  # two branches that nothing tells apart beforehand
    return out | _chain(branches, [guard for guard in guards if guard is not None])


def _flat(branches: Sequence[Json]) -> Sequence[Json]:
    flat: list[Json] = []
    for branch in branches:
        inner = branch.get("anyOf", branch.get("oneOf")) if len(branch) == 1 else None
        flat += [each for each in (_flat(inner) if inner else [branch]) if each not in flat]
    return flat


def _object(branch: Json, definitions: Mapping[str, Json]) -> Json | None:
    held = definitions.get(str(branch.get("$ref", "")).rpartition("/")[2], branch)
    return held if held.get("type") == "object" else None


def _guard(branch: Json, branches: Sequence[Json], definitions: Mapping[str, Json]) -> Json | None:
    objects = [held for each in branches if (held := _object(each, definitions)) is not None]
    held = _object(branch, definitions)
    if held is None:
        same = [each for each in branches if each.get("type") == branch.get("type")]
        return {"type": branch["type"]} if isinstance(branch.get("type"), str) and len(same) == 1 else None
    if len(objects) == 1:
        return {"type": "object"}
    return {"type": "object", "required": held["required"][:1]} if held.get("required") else None


def _chain(branches: Sequence[Json], guards: Sequence[Json]) -> dict[str, Json]:
    types = list(dict.fromkeys(guard["type"] for guard in guards))
    keys = [{"required": guard["required"]} for guard in guards if "required" in guard]
    rest: dict[str, Json] = {"type": types if len(types) > 1 else types[0]}
    if keys:
        rest |= {"if": {"type": "object"}, "then": {"anyOf": keys}}
    for branch, guard in zip(reversed(branches), reversed(guards), strict=True):
        rest = {"if": guard, "then": branch, "else": rest}
    return rest
