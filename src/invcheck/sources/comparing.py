"""How a value is compared with what is expected in its place, leaf by leaf, so that the first difference has a path."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from invcheck.paths import below, equal
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json

T = TypeVar("T")

ABSENT: Any = object()
"""What stands where nothing does."""
SHOWN = 60
"""How many characters of a value a difference shows."""
_NEVER = (str, int, float, bool, type(None), list, tuple, set, frozenset, bytes)
_KNOWN = (*_NEVER, Mapping, re.Pattern)
"""What is compared by its kind, as long as its ``__eq__`` is what Python gave it, in one of `_HOUSES`."""
_HOUSES = ("builtins", "collections", "collections.abc", "re")


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


Compare = Callable[[Any], "tuple[str, str] | None"]
"""Compares one value: None, or what was expected and what is there."""
Structure = Callable[[Any, str], Iterator[Difference | None]]
"""Compares the value at a path, and gives one item for each leaf."""


class Mistake(Exception):
    """What a test's own predicate or ``__eq__`` raised."""

    def __init__(self, function: object, error: Exception) -> None:
        super().__init__()
        self.function, self.error = function, error


def valued(want: Any) -> Any:
    """Give what a member of an enumeration stands for, unless its class says itself what it equals; all else as it is."""
    while isinstance(want, Enum) and not decides(want):
        want = want.value
    return want


def decides(want: Any) -> bool:
    """Whether the class of an expectation says itself what it equals, which then goes before all that is known of its kind.

    >>> decides("a"), decides({}), decides(re.compile("a")), decides(type("Any", (str,), {"__eq__": lambda self, other: True})())
    (False, False, False, True)
    """
    owner = next(kind for kind in type(want).__mro__ if "__eq__" in vars(kind))
    return owner not in (object, type) and not inspect.isroutine(want) and not (owner.__module__ in _HOUSES and isinstance(want, _KNOWN))


def structure(want: Any) -> Structure:
    """Give what compares a value with an expectation at any depth; ValueError says why something can be none."""
    want = valued(want)
    if decides(want):
        return _single(*_own(want))
    if isinstance(want, Mapping):
        if want.keys() == {"contains"}:
            return _single(*_contains(want["contains"]))
        return _single(*_literal(want["literal"])) if want.keys() == {"literal"} else _object(want)
    if isinstance(want, list | tuple):
        return _array([structure(value) for value in want])
    if isinstance(want, str) and want.startswith("$"):
        raise ValueError(f'when has the value {show(want, SHOWN)}, which looks like a path; spell a literal one {{"literal": ...}}')
    return _single(*_leaf(want))


def whole(want: Any) -> tuple[Compare, str]:
    """Give what compares a whole request with an object that is no mapping, and its words; ValueError where it never fits."""
    if isinstance(want, _NEVER) and not decides(want):
        raise ValueError(f"when is {show(snapshot(want), SHOWN)}; it is a text, a mapping, a function, or an object with __eq__")
    return _leaf(want)


def text_key(key: Any) -> str:
    """Give a key of an expectation, which is text as every key of a request."""
    if not isinstance(key, str):
        raise ValueError(f"when has the key {key!r}, and a request has text keys only")  # noqa: TRY004  # as every reason
    return key


def _single(compare: Compare, shows: str) -> Structure:
    return lambda got, at: iter([Difference(at, shows, "nothing there") if got is ABSENT else told(at, compare(got))])


def told(at: str, differs: tuple[str, str] | None) -> Difference | None:
    """Give the difference that a comparison of the value at ``at`` found."""
    return None if differs is None else Difference(at, *differs)


def _object(want: Mapping[Any, Any]) -> Structure:
    fields = {text_key(key): structure(value) for key, value in want.items()}

    def compare(got: Any, at: str) -> Iterator[Difference | None]:
        if not isinstance(got, dict):
            yield Difference(at, f"an object with {', '.join(fields) or 'any fields'}", _seen(got))
            return
        yield None
        for key, inner in fields.items():
            yield from inner(got.get(key, ABSENT), below(at, key))

    return compare


def _array(items: list[Structure]) -> Structure:
    def compare(got: Any, at: str) -> Iterator[Difference | None]:
        if not isinstance(got, list) or len(got) != len(items):
            yield Difference(at, f"a list of {len(items)}", f"a list of {len(got)}" if isinstance(got, list) else _seen(got))
            return
        yield None
        for place, inner in enumerate(items):
            yield from inner(got[place], below(at, place))

    return compare


def _seen(got: Any) -> str:
    return "nothing there" if got is ABSENT else show(got, SHOWN)


def _contains(text: Any) -> tuple[Compare, str]:
    if not isinstance(text, str) or not text:
        raise ValueError(f"contains needs a text that is not empty, got {show(snapshot(text), SHOWN)}")
    return _tested(lambda got: isinstance(got, str) and text in got, f"a text with {show(text, SHOWN)}")


def _literal(want: Json) -> tuple[Compare, str]:
    plain = snapshot(want)
    return _tested(lambda got: equal(plain, got), show(plain, SHOWN))


def _tested(fits: Callable[[Any], bool], shows: str) -> tuple[Compare, str]:
    return (lambda got: None if fits(got) else (shows, show(got, SHOWN))), shows


def _leaf(want: Any) -> tuple[Compare, str]:
    """What compares one value, and how the expectation is said."""
    if decides(want):
        return _own(want)
    if isinstance(want, re.Pattern):
        return _tested(lambda got: isinstance(got, str) and want.search(got) is not None, f"a text like {show(want.pattern, SHOWN)}")
    if isinstance(want, _NEVER):
        return _literal(want)
    if callable(want) and not isinstance(want, type):
        return _predicate(want)
    raise ValueError(f"{_named(want)} is no expectation: it equals itself alone; pass a value, an object with __eq__, or a function")


def _own(want: Any) -> tuple[Compare, str]:
    """An object that says itself what it equals: its word holds, and only where it has none its plain JSON is compared."""
    kind: Any = type(want)

    def same(got: Any) -> bool:
        said = kind.__eq__(want, got)
        if said is NotImplemented:
            return equal(snapshot(want), got)
        if not hasattr(type(said), "__bool__"):
            raise TypeError(f"__eq__ gives True, False or NotImplemented, not {type(said).__name__}")
        return bool(said)

    return _tested(lambda got: _asked(want, same, got), _named(want))


def _predicate(function: Callable[..., Any]) -> tuple[Compare, str]:
    shows = f"{getattr(function, '__name__', type(function).__name__)} says True"

    def asked(got: Any) -> tuple[str, str] | None:
        said = function(got)
        if said is True:
            return None
        if said is not False and not isinstance(said, str):
            raise TypeError(f"a predicate gives True, False or a text that says what is wrong, not {type(said).__name__}")
        return shows, said or show(got, SHOWN)

    return (lambda got: _asked(function, asked, got)), shows


def _asked(function: object, ask: Callable[[Any], T], got: Any) -> T:
    try:
        return ask(got)
    except Exception as error:
        raise Mistake(function, error) from error


def _named(want: Any) -> str:
    """An object in words: its own, where they hold no address and raise nothing."""
    name = want.__name__ if isinstance(want, type) else type(want).__name__
    try:
        text = repr(want)
    except Exception:  # noqa: BLE001  # only how it is said depends on it
        return name
    return name if " at 0x" in text or isinstance(want, type) else text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
