"""What a step expects of the request that takes it: a part of it, a text, a predicate, or anything that knows what it equals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from invcheck.errors import PathError
from invcheck.mistakes import mistaken
from invcheck.paths import below, compile_path
from invcheck.request import Request
from invcheck.show import show
from invcheck.sources.comparing import ABSENT, SHOWN, Difference, Mistake, decides, structure, text_key, told, valued, whole
from invcheck.vocabulary import Json

__all__ = ["Difference", "Matcher", "matcher"]


@dataclass(frozen=True, slots=True)
class Matcher:
    """An expectation on a request, which `matcher` reads."""

    _leaves: Callable[[Request], Iterator[Difference | None]]

    def difference(self, request: Request) -> Difference | None:
        """Give the first difference, None where the request is as expected.

        What a user's own predicate or ``__eq__`` raises is latched as DOUBLE_RAISED and raised as it is.

        >>> matcher({"$.messages[0].content": "hi", "limit": 8}).difference(Request({"messages": [{"content": "hi"}], "limit": 9}))
        Difference(path='$.limit', expected='8', got='9', agrees=1, leaves=2)
        """
        try:
            return self._first(request)
        except Mistake as mistake:
            mistaken("when", mistake.function, mistake.error)
            raise mistake.error from None

    def nearness(self, request: Request) -> Difference | None:
        """Give the same for a step whose turn it is not: what raises there is no mistake, and far from the request."""
        try:
            return self._first(request)
        except Mistake as mistake:
            return Difference("$", "an answer", f"{type(mistake.error).__name__} raised")

    def _first(self, request: Request) -> Difference | None:
        leaves = list(self._leaves(request))
        first = next((leaf for leaf in leaves if leaf is not None), None)
        return None if first is None else replace(first, agrees=leaves.count(None), leaves=len(leaves))


def matcher(when: object) -> Matcher:
    """Read what a step expects of its request; ValueError says why something can be no expectation.

    A text stands in the last user message. A mapping is a part of the request, at any depth: lists are compared item by item,
    values are literals, ``{contains: text}``, ``{literal: value}`` (as in patterns of claims), compiled regular expressions, or
    predicates. Whatever has an ``__eq__`` of its own decides itself. Keys of the mapping that begin with ``$`` are JSONPaths: one
    that can select several values is compared as the list of them. A function is a predicate of the request. Predicates give
    True, False, or a text that says what is wrong.

    >>> matcher("refund").difference(Request({"prompt": "I want a refund"})) is None
    True
    """
    when = valued(when)
    if isinstance(when, str) and not decides(when):
        return _text(when)
    if isinstance(when, Mapping) and not decides(when):
        return _mapping(when)
    compare, _ = whole(when)
    return Matcher(lambda request: iter([told("$", compare(request))]))


def _text(when: str) -> Matcher:
    if not when:
        raise ValueError('when is "", which every request holds')

    def leaves(request: Request) -> Iterator[Difference | None]:
        said = request.last_user
        yield None if when in said else Difference(_last_user(request), f"a text with {show(when, SHOWN)}", show(said, SHOWN))

    return Matcher(leaves)


def _last_user(request: Request) -> str:
    """Where the text stands that ``Request.last_user`` gives."""
    for key, value in request.items():
        for place in reversed(range(len(value) if isinstance(value, list) else 0)):
            if isinstance(value[place], dict) and value[place].get("role") == "user":
                return f"{below('$', key)}[{place}].content"
    named = "prompt" if isinstance(request.get("prompt"), str) else next((key for key in request if isinstance(request[key], str)), None)
    return "$" if named is None else below("$", named)


_Part = Callable[[Json], Iterator[Difference | None]]


def _mapping(when: Mapping[Any, Any]) -> Matcher:
    if not when:
        raise ValueError("when is {}, which every request matches")
    parts = [_at_path(key, value) if text_key(key).startswith("$") else _member(key, value) for key, value in when.items()]

    def leaves(request: Request) -> Iterator[Difference | None]:
        for part in parts:
            yield from part(request)

    return Matcher(leaves)


def _member(key: str, want: Any) -> _Part:
    compare = structure(want)
    return lambda request: compare(request.get(key, ABSENT), below("$", key))


def _at_path(text: str, want: Any) -> _Part:
    try:
        path = compile_path(text)
    except PathError as error:
        raise ValueError(f"when has the key {text!r}: {error.message}") from None
    compare = structure(want)
    if path.singular:
        return lambda request: next((compare(match.value, match.path) for match in path.find(request)), compare(ABSENT, text))
    if isinstance(want := valued(want), str | int | float | Mapping | None) and not decides(want):
        raise ValueError(f"when has the key {text!r}, which can select several values: compare a list, or ask by a function of the list")
    return lambda request: compare(path.values(request), text)
