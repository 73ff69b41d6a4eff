"""The plain part of JSON Schema as lines of generated code, for the fused form of a check.

What is lowered may only say "fits" where JSON Schema says so; whatever is not plain raises Unlowerable, and the schema
is then asked as a whole. Stricter is allowed: 1.0 is no integer here, and the value is judged again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from invcheck.paths import STAR, Path, Step, compile_path
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.fuse import Fuser

__all__ = ["TYPE_TESTS", "Unlowerable", "lower", "lowerable", "require_each", "scalar_test"]

TYPE_TESTS: Mapping[str, str] = {
    "array": "type({0}) is list",
    "boolean": "type({0}) is bool",
    "integer": "type({0}) is int",
    "null": "{0} is None",
    "number": "(type({0}) is int or type({0}) is float)",
    "object": "type({0}) is dict",
    "string": "type({0}) is str",
}
"""How the generated code tests for a JSON type."""

_READ_PAST = frozenset(["$comment", "$schema", "default", "description", "title"])
_OWN: Mapping[str, frozenset[str]] = {
    "array": frozenset(["items", "minItems", "maxItems"]),
    "number": frozenset(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
    "object": frozenset(["properties", "required", "additionalProperties"]),
    "string": frozenset(["minLength", "maxLength"]),
}
_LENGTHS: Mapping[str, tuple[str, str]] = {"array": ("minItems", "maxItems"), "string": ("minLength", "maxLength")}
_BOUNDS: Mapping[str, str] = {"minimum": ">=", "maximum": "<=", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}


class Unlowerable(Exception):
    """This schema, or this path, has no plain form."""


def lower(schema: Json, fuser: Fuser, path: Path, *, allow_empty: bool = False) -> None:
    """Write lines that let through only documents in which every selected value fits, or raise Unlowerable."""
    loop = fuser.each(path, allow_empty=allow_empty)
    if loop is None:
        raise Unlowerable
    body, name = loop
    steps = path.steps or ()
    if STAR in steps:
        steps = steps[len(steps) - steps[::-1].index(STAR) :]
    _Spot(body, tuple(steps), name).schema(schema)


def lowerable(schema: Json) -> bool:
    """Tell whether a schema is plain, which also means that JSON Schema has nothing to object to.

    >>> lowerable({"type": "string", "minLength": 1}), lowerable({"type": "string", "minLength": "1"})
    (True, False)
    """
    from invcheck.assertions.fuse import Fuser  # noqa: PLC0415  # the fuser itself knows nothing of schemas

    try:
        lower(schema, Fuser(), compile_path("$"))
    except Unlowerable:
        return False
    return True


def require_each(fuser: Fuser, path: Path, test: str, *, allow_empty: bool = False) -> bool:
    """State a test, with ``{0}`` for the value, for each that a plain path selects; False where the path is not plain."""
    if test == TYPE_TESTS["string"] and (items := fuser.values(path)) is not None:
        fuser.texts(items)  # so that a relation over the same list need not ask again
        if not allow_empty:
            fuser.require(items)
        return True
    loop = fuser.each(path, allow_empty=allow_empty)
    if loop is None:
        return False
    body, name = loop
    body.require(test.format(name))
    return True


def scalar_test(fuser: Fuser, name: str, value: Json) -> str:
    """Give an expression that is true only where ``name`` is the same JSON scalar as ``value``."""
    if value is None or value is True or value is False:
        return f"{name} is {value}"
    if isinstance(value, str):
        return f"{name} == {fuser.const(value)}"
    if isinstance(value, int | float):
        return f"({TYPE_TESTS['number'].format(name)} and {name} == {fuser.const(value)})"
    raise Unlowerable


class _Spot:
    """A value in the generated code: its name, and the steps to it from the document of the fuser that writes."""

    def __init__(self, fuser: Fuser, steps: tuple[Step, ...], name: str) -> None:
        self.fuser, self.steps, self.name = fuser, steps, name

    def schema(self, schema: Json) -> None:
        kind, nullable, rest = _read(schema)
        spot = self.when(f"{self.name} is not None") if nullable else self
        if "const" in rest:
            spot.must(scalar_test(spot.fuser, spot.name, rest["const"]))
        if "enum" in rest:
            spot.must(" or ".join(scalar_test(spot.fuser, spot.name, value) for value in _listed(rest["enum"])))
        if kind is not None:
            spot.must(TYPE_TESTS[kind].format(spot.name))
            spot.bounds(kind, rest)
        if kind == "object":
            spot.fields(rest)
        if kind == "array" and rest.get("items") == {"type": "string"}:
            spot.fuser.texts(spot.name)  # so that a relation over the same list need not ask again
        elif kind == "array" and "items" in rest:
            body = spot.fuser.items(spot.name, allow_empty=True)
            _Spot(body, (), body.document).schema(rest["items"])

    def must(self, expression: str) -> None:
        self.fuser.require(expression)

    def when(self, condition: str) -> _Spot:
        """Open a block; what is looked up in it is not remembered after it."""
        self.fuser.line(f"if {condition}:\n    pass")
        return _Spot(type(self.fuser)(self.name, self.fuser), (), self.name)

    def bounds(self, kind: str, rest: Mapping[str, Json]) -> None:
        low, high = _LENGTHS.get(kind, ("", ""))
        if low in rest or high in rest:
            left = f"{_size(rest[low])} <= " if low in rest else ""
            right = f" <= {_size(rest[high])}" if high in rest else ""
            self.must(f"{left}len({self.name}){right}")
        for keyword, sign in _BOUNDS.items():
            if keyword in rest:
                self.must(f"{self.name} {sign} {self.fuser.const(_bound(rest[keyword]))}")

    def fields(self, rest: Mapping[str, Json]) -> None:
        properties, required = rest.get("properties", {}), _texts(rest.get("required", []))
        if not isinstance(properties, Mapping) or rest.get("additionalProperties", False) is not False:
            raise Unlowerable
        members = {key: self.member(key) for key in required}  # a missing one raises, which is False
        optional = [key for key in properties if key not in required]
        if "additionalProperties" in rest:
            self.closed(properties, required, optional)
        for key in required:
            if key in properties:
                members[key].schema(properties[key])
        for key in optional:
            self.when(f"{self.fuser.const(key)} in {self.name}").member(key).schema(properties[key])

    def closed(self, properties: Mapping[str, Json], required: Sequence[str], optional: Sequence[str]) -> None:
        if any(key not in properties for key in required):
            raise Unlowerable
        if optional:
            self.must(f"{self.name}.keys() <= {self.fuser.const(frozenset(properties))}")
        else:
            self.must(f"len({self.name}) == {len(required)}")

    def member(self, key: str) -> _Spot:
        steps = (*self.steps, key)
        return _Spot(self.fuser, steps, self.fuser.lookup(steps))


def _read(schema: Json) -> tuple[str | None, bool, Mapping[str, Json]]:
    """Split a schema into its one type, whether null fits too, and its other keywords; all of them are known."""
    if not isinstance(schema, Mapping):
        raise Unlowerable
    rest: dict[str, Json] = {keyword: value for keyword, value in schema.items() if keyword not in _READ_PAST}
    if any(type(schema.get(keyword, "")) is not str for keyword in _READ_PAST - {"default"}):
        raise Unlowerable
    if (inner := _nullable(rest)) is not None:
        kind, _, inner_rest = _read(inner)
        return kind, True, inner_rest
    kind = rest.pop("type", None)
    nullable = isinstance(kind, list) and len(kind) == 2 and "null" in kind  # noqa: PLR2004  # a type, or null
    if nullable:
        kind = next((name for name in kind if name != "null"), None)
    if (kind is not None or nullable) and not (isinstance(kind, str) and kind in TYPE_TESTS):
        raise Unlowerable
    own = _OWN.get("number" if kind == "integer" else str(kind), frozenset())
    if rest.keys() - own - {"const", "enum"} or (kind is None and not rest):
        raise Unlowerable
    return kind, nullable and not rest.keys() & {"const", "enum"}, rest


def _nullable(rest: Mapping[str, Json]) -> Json | None:
    branches = rest.get("anyOf")
    if rest.keys() == {"anyOf"} and isinstance(branches, list) and len(branches) == 2 and {"type": "null"} in branches:  # noqa: PLR2004  # X or null
        return next((branch for branch in branches if branch != {"type": "null"}), None)
    return None


def _checked(fits: Callable[[Any], bool], value: Json) -> Any:
    if not fits(value):
        raise Unlowerable
    return value


def _size(value: Json) -> int:
    size: int = _checked(lambda each: type(each) is int and each >= 0, value)
    return size


def _bound(value: Json) -> float:
    bound: float = _checked(lambda each: type(each) in {int, float}, value)
    return bound


def _listed(value: Json) -> list[Json]:
    listed: list[Json] = _checked(lambda each: isinstance(each, list) and len(each) > 0, value)
    return listed


def _texts(value: Json) -> list[str]:
    texts: list[str] = _checked(lambda each: isinstance(each, list) and all(type(item) is str for item in each), value)
    return _checked(lambda each: len(set(each)) == len(each), texts)  # type: ignore[no-any-return]  # it is the same list
