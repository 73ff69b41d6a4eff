"""What a step expects of the request that takes it: a part of it, a text, a predicate, or anything that knows what it equals."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from invcheck.errors import PathError
from invcheck.mistakes import mistaken
from invcheck.paths import Path, below, compile_path, equal
from invcheck.request import Request
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json

T = TypeVar("T")

_ABSENT = object()
_PLAIN = (str, int, float, bool, type(None))
_SHOWN = 60
_Compare = Callable[[Any], "tuple[str, str] | None"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where a request is not what a step expects, in words.

    ``agrees`` and ``leaves`` count the leaves of the expectation: the nearer a step is to a request, the more agree.
    """

    path: str
    expected: str
    got: str
    agrees: int = 0
    leaves: int = 1


@dataclass(frozen=True, slots=True)
class Matcher:
    """An expectation on a request; ``shows`` says it in words."""

    _leaves: Callable[[Request], Iterator[Difference | None]]
    shows: str

    def difference(self, request: Request) -> Difference | None:
        """Give the first difference, None where the request is as expected.

        What a user's own predicate or ``__eq__`` raises is latched as DOUBLE_RAISED and raised as it is.

        >>> matcher({"$.messages[0].content": "hi", "limit": 8}).difference(Request({"messages": [{"content": "hi"}], "limit": 9}))
        Difference(path='$.limit', expected='8', got='9', agrees=1, leaves=2)
        """
        try:
            return self._first(request)
        except _Mistake as mistake:
            mistaken("when", mistake.function, mistake.error)
            raise mistake.error from None

    def nearness(self, request: Request) -> Difference | None:
        """Give the same where nothing depends on it but what a message names; an expectation that raises is far from all."""
        try:
            return self._first(request)
        except _Mistake as mistake:
            return Difference("$", self.shows, f"{type(mistake.error).__name__} raised")

    def _first(self, request: Request) -> Difference | None:
        leaves = list(self._leaves(request))
        first = next((leaf for leaf in leaves if leaf is not None), None)
        return None if first is None else replace(first, agrees=leaves.count(None), leaves=len(leaves))


class _Mistake(Exception):
    """What a test's own predicate or ``__eq__`` raised."""

    def __init__(self, function: object, error: Exception) -> None:
        super().__init__()
        self.function, self.error = function, error


def _asked(function: object, ask: Callable[[Any], T], got: Any) -> T:
    try:
        return ask(got)
    except Exception as error:
        raise _Mistake(function, error) from error


def matcher(when: object) -> Matcher:
    """Read what a step expects of its request; ValueError says why something can be no expectation.

    A text stands in the last user message. A mapping is a part of the request, at any depth: lists are compared item by item,
    values are literals, objects with an ``__eq__`` of their own, or predicates. Its keys that begin with ``$`` are JSONPaths:
    one that can select several values is compared as the list of them. A function is a predicate of the request. Predicates
    give True, False, or a text that says what is wrong.

    >>> matcher("refund").difference(Request({"prompt": "I want a refund"})) is None
    True
    """
    if isinstance(when, str):
        return _text(when)
    if isinstance(when, Mapping):
        return _mapping(when)
    compare, shows = _leaf(when)
    return Matcher(lambda request: iter([_told("$", compare(request))]), shows)


def _text(when: str) -> Matcher:
    if not when:
        raise ValueError('when is "", which every request holds')

    def leaves(request: Request) -> Iterator[Difference | None]:
        said = request.last_user
        yield None if when in said else Difference(_last_user(request), f"a text with {show(when, _SHOWN)}", show(said, _SHOWN))

    return Matcher(leaves, show(when, _SHOWN))


def _last_user(request: Request) -> str:
    """Where the text stands that ``Request.last_user`` gives."""
    for key, value in request.items():
        for place in reversed(range(len(value) if isinstance(value, list) else 0)):
            if isinstance(value[place], dict) and value[place].get("role") == "user":
                return f"{below('$', key)}[{place}].content"
    named = "prompt" if isinstance(request.get("prompt"), str) else next((key for key in request if isinstance(request[key], str)), None)
    return "$" if named is None else below("$", named)


def _mapping(when: Mapping[Any, Any]) -> Matcher:
    if not when:
        raise ValueError("when is {}, which every request matches")
    parts = [_at_path(key, value) if isinstance(key, str) and key.startswith("$") else _part(key, value) for key, value in when.items()]

    def leaves(request: Request) -> Iterator[Difference | None]:
        for part in parts:
            yield from part(request)

    return Matcher(leaves, ", ".join(str(key) for key in when))


_Part = Callable[[Json], Iterator[Difference | None]]


def _at_path(text: str, want: Any) -> _Part:
    try:
        path = compile_path(text)
    except PathError as error:
        raise ValueError(f"when has the key {text!r}: {error.message}") from None
    if not path.singular and isinstance(want, (*_PLAIN, Mapping)):
        raise ValueError(
            f"when has the key {text!r}, which can select several values: compare it with a list, or by a function of the list"
        )
    compare = _structure(want)

    def part(request: Json) -> Iterator[Difference | None]:
        found = _found(path, request)
        at, value = (text, [match.value for match in found]) if not path.singular else found[0] if found else (text, _ABSENT)
        yield from compare(value, at)

    return part


def _found(path: Path, request: Json) -> Any:
    found = path.find(request)
    return [(match.path, match.value) for match in found] if path.singular else found


def _part(key: Any, want: Any) -> _Part:
    if not isinstance(key, str):
        raise ValueError(f"when has the key {key!r}, and a request has text keys only")  # noqa: TRY004  # as every reason
    compare = _structure(want)
    return lambda request: compare(request.get(key, _ABSENT), below("$", key))


_Structure = Callable[[Any, str], Iterator["Difference | None"]]


def _structure(want: Any) -> _Structure:
    """What compares a value with an expectation, leaf by leaf."""
    if isinstance(want, Mapping):
        fields = {str(key): _structure(value) for key, value in want.items()}
        return lambda got, at: _of_fields(fields, got, at)
    if type(want) in (list, tuple):
        items = [_structure(value) for value in want]
        return lambda got, at: _of_items(items, got, at)
    compare, shows = _leaf(want)
    return lambda got, at: iter([Difference(at, shows, "nothing there") if got is _ABSENT else _told(at, compare(got))])


def _of_fields(fields: Mapping[str, _Structure], got: Any, at: str) -> Iterator[Difference | None]:
    if not isinstance(got, dict):
        yield Difference(at, "an object", "nothing there" if got is _ABSENT else show(got, _SHOWN))
        return
    yield None
    for key, compare in fields.items():
        yield from compare(got.get(key, _ABSENT), below(at, key))


def _of_items(items: list[_Structure], got: Any, at: str) -> Iterator[Difference | None]:
    if not isinstance(got, list) or len(got) != len(items):
        what = "nothing there" if got is _ABSENT else f"{len(got)} of them" if isinstance(got, list) else show(got, _SHOWN)
        yield Difference(at, f"a list of {len(items)} items", what)
        return
    yield None
    for place, compare in enumerate(items):
        yield from compare(got[place], below(at, place))


def _told(at: str, told: tuple[str, str] | None) -> Difference | None:
    return None if told is None else Difference(at, *told)


def _leaf(want: Any) -> tuple[_Compare, str]:
    """What compares one value, and how the expectation is said."""
    if isinstance(want, Enum):
        want = want.value
    if type(want) in _PLAIN:
        shows = show(want, _SHOWN)
        return (lambda got: None if equal(want, got) else (shows, show(got, _SHOWN))), shows
    if inspect.isroutine(want) or (callable(want) and not _knows_equals(want) and not isinstance(want, type)):
        return _predicate(want)
    if not _knows_equals(want):
        raise ValueError(f"{_named(want)} is no expectation: it equals itself alone; pass a value, an object with __eq__, or a function")
    shows = _named(want)

    def same(got: Any) -> bool:
        return bool(want == got) or equal(snapshot(want), got)

    return (lambda got: None if _asked(want, same, got) else (shows, show(got, _SHOWN))), shows


def _knows_equals(want: Any) -> bool:
    return next(kind for kind in type(want).__mro__ if "__eq__" in vars(kind)) not in (object, type)


def _predicate(function: Callable[..., Any]) -> tuple[_Compare, str]:
    shows = f"{getattr(function, '__name__', type(function).__name__)} says True"

    def asked(got: Any) -> tuple[str, str] | None:
        said = function(got)
        if said is True:
            return None
        if said is not False and not isinstance(said, str):
            raise TypeError(f"a predicate gives True, False or a text that says what is wrong, not {type(said).__name__}")
        return shows, said or show(got, _SHOWN)

    return (lambda got: _asked(function, asked, got)), shows


def _named(want: Any) -> str:
    """An object in words: its own, where they hold no address and raise nothing."""
    name = want.__name__ if isinstance(want, type) else type(want).__name__
    try:
        text = repr(want)
    except Exception:  # noqa: BLE001  # only how it is said depends on it
        return name
    return name if " at 0x" in text or isinstance(want, type) else text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
