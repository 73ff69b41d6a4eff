"""The one door to JSONPath: where a claim looks, and how a place in the observation is spelled.

A path of names, single indices and wildcards is evaluated by plain lookups and never imports jsonpath-ng; unions,
slices, filters and descendants go through it. Locations are normalised: ``$.output.cites[1]``, ``$['odd key']``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from invcheck.errors import PathError, Unevaluated
from invcheck.pathsyntax import STAR, Other, Segment, Star, Step, read
from invcheck.show import show
from invcheck.vocabulary import Json

__all__ = ["STAR", "Literal", "Match", "Path", "Star", "Step", "below", "compile_path", "equal", "kind", "operand"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

_Engine: TypeAlias = Callable[[Json], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Match:
    """One value that a path selects, and its normalised location."""

    path: str
    value: Json


@dataclass(frozen=True, slots=True)
class Literal:
    """An operand that is a value, not a path."""

    value: Json


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled JSONPath; two are equal when their texts are.

    ``singular``: it selects one value at most. ``steps``: names, indices and STAR, or None where the path needs more.
    """

    text: str
    singular: bool = field(compare=False)
    steps: tuple[Step, ...] | None = field(compare=False)
    segments: tuple[Segment, ...] = field(compare=False, repr=False)
    _engine: _Engine | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Callable[[str], Path], tuple[str]]:
        return (compile_path, (self.text,))

    def find(self, document: Json) -> list[Match]:
        """Give what the path selects, in document order, with normalised locations.

        >>> compile_path("$.cites[*]").find({"cites": ["d1", "d2"]})
        [Match(path='$.cites[0]', value='d1'), Match(path='$.cites[1]', value='d2')]
        """
        if self.steps is None:
            return [Match(_location(document, datum), datum.value) for datum in self._ask(document)]
        found = [("$", document)]
        for step in self.steps:
            found = [hit for at, value in found for hit in _hits(at, value, step)]
        return [Match(at, value) for at, value in found]

    def values(self, document: Json) -> list[Json]:
        """Give what the path selects, in document order.

        >>> compile_path("$.cites[?@ != 'd1']").values({"cites": ["d1", "d2"]})
        ['d2']
        """
        if self.steps is None:
            return [datum.value for datum in self._ask(document)]
        found = [document]
        for step in self.steps:
            found = [hit for value in found for hit in _below(value, step)]
        return found

    def covers(self, other: Path) -> bool:
        """Tell whether ``other`` looks at or below what this path selects; a descendant step may look anywhere.

        >>> compile_path("$.output").covers(compile_path("$.output.cites[*]"))
        True
        >>> compile_path("$.output").covers(compile_path("$.output_text"))
        False
        """
        for mine, its in zip(self.segments, other.segments, strict=False):
            if isinstance(its, Other) and its.descends:
                return True
            if mine != its and mine is not STAR:
                return False
        return len(self.segments) <= len(other.segments)

    def _ask(self, document: Json) -> Sequence[Any]:
        try:
            return self._engine(document)  # type: ignore[misc]  # a path without steps has an engine
        except Exception as error:
            raise Unevaluated(f"{self.text} cannot be evaluated: {type(error).__name__}", code="PATH_FAILED") from error


def compile_path(text: str) -> Path:
    """Compile a JSONPath, or raise PathError with the column (from 1), a caret line and a hint.

    The subset: ``$``, ``.name``, ``['any name']``, ``[0]``, ``[0,2]``, ``['a','b']``, ``[1:3]``, ``[*]``, ``.*``,
    ``..name``, ``..[*]``, ``..*`` and filters ``[?@.a == 1 && !@.b]``; at most 500 characters.

    >>> compile_path("$.output.cites[*]").steps
    ('output', 'cites', <Star.STAR: '*'>)
    """
    if not isinstance(text, str):
        raise PathError(f"a JSONPath is text, got {kind(text)} {show(text)}", code="WRONG_TYPE", column=1, path=text)
    return _compiled(text)


@lru_cache(4096)
def _compiled(text: str) -> Path:
    segments, spelled = read(text)
    if any(isinstance(segment, Other) for segment in segments):
        return Path(text, singular=False, steps=None, segments=segments, _engine=_engine(text, spelled))
    steps = tuple(segment for segment in segments if not isinstance(segment, Other))
    return Path(text, STAR not in steps, steps, segments)


def operand(value: Json) -> Path | Literal:
    """Read one side of a relation: a text that begins with ``$`` is a path, all else a literal.

    ``{"literal": value}`` spells a literal whatever it looks like.

    >>> operand("$.input.doc_ids[*]").text, operand(5).value, operand({"literal": "$5"}).value
    ('$.input.doc_ids[*]', 5, '$5')
    """
    if isinstance(value, Path | Literal):
        return value
    if isinstance(value, str) and value.startswith("$"):
        try:
            return compile_path(value)
        except PathError as error:
            hint = error.hint or 'a text that begins with $ is a path; spell a literal one {"literal": "$5"}'
            raise PathError(error.message, hint=hint, **error.fields) from None
    if isinstance(value, dict) and value.keys() == {"literal"}:
        return Literal(value["literal"])
    return Literal(value)


_KINDS = {type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def kind(value: object) -> str:
    """Name the JSON type of a value: null, boolean, integer, number, string, array or object.

    >>> kind(True), kind(1), kind(1.0)
    ('boolean', 'integer', 'number')
    """
    name = _KINDS.get(type(value))
    return name or next((_KINDS[base] for base in type(value).__mro__ if base in _KINDS), type(value).__name__)


def equal(one: Json, other: Json) -> bool:
    """Tell whether two values are the same JSON: a boolean is no number, 1 equals 1.0, the order of keys is free.

    >>> equal(1, 1.0), equal(1, True), equal({"a": [0]}, {"a": [False]})
    (True, False, False)
    """
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(equal(item, other[key]) for key, item in one.items())
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(equal, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _below(value: Json, step: Step) -> Sequence[Json]:
    if isinstance(step, str):
        return (value[step],) if isinstance(value, dict) and step in value else ()
    if isinstance(value, list):
        if step is STAR:
            return value
        return (value[step],) if -len(value) <= step < len(value) else ()
    return tuple(value.values()) if step is STAR and isinstance(value, dict) else ()


def _hits(at: str, value: Json, step: Step) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict) and not isinstance(step, int):
        names = value if step is STAR else (step,) if step in value else ()
        yield from ((at + _name(name), value[name]) for name in names)
    elif isinstance(value, list) and not isinstance(step, str):
        size = len(value)
        places = range(size) if step is STAR else (step % size,) if -size <= step < size else ()
        yield from ((f"{at}[{place}]", value[place]) for place in places)


def below(at: str, step: str | int) -> str:
    """Spell the location of a member or an item of the value at ``at``.

    >>> below("$.output", "cites"), below("$.output", "odd key"), below("$.output.cites", 1)
    ('$.output.cites', "$.output['odd key']", '$.output.cites[1]')
    """
    return at + _name(step) if isinstance(step, str) else f"{at}[{step}]"


def _name(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return f".{name}"
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return "['" + _ODD.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted) + "']"


# the engine: jsonpath-ng, for what plain lookups cannot do


def _engine(text: str, spelled: str) -> _Engine:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            from jsonpath_ng.ext.parser import parse  # noqa: PLC0415  # simple paths must not load it

            find: _Engine = parse(spelled).find
        except Exception as error:
            raise PathError(f"JSONPath not supported at column 1: the engine refuses it\n  {text}\n  ^", column=1, path=text) from error
    return find


def _location(document: Json, datum: Any) -> str:
    """Spell where the engine found a value: ours from the root, counting every index from the front."""
    at, value = "$", document
    for step in _flat(datum.full_path):
        at, value = next(iter(_hits(at, value, step)))
    return at


def _flat(node: Any) -> Iterator[str | int]:
    if hasattr(node, "left"):
        yield from _flat(node.left)
        yield from _flat(node.right)
    else:
        yield from getattr(node, "fields", ())
        yield from getattr(node, "indices", ())
