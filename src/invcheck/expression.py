"""The `-k` expression: which names a run keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from invcheck.errors import UsageError

Keep: TypeAlias = Callable[[str], bool]
"""Says whether a full name, ``FILE::name[case]``, is kept."""


def keyword(text: str) -> Keep:
    """Compile a ``-k`` expression: words are looked for in a case's full name, whatever their case.

    ``not`` binds tighter than ``and``, ``and`` tighter than ``or``; a word with blanks stands in quotes. Raises
    UsageError with a caret under the place that cannot be read.

    >>> keyword("refund and not (slow or 'two words')")("checks/qa.yaml::answers[Refund]")
    True
    """
    tokens = list(_tokens(text))
    keep, rest = _either(text, tokens)
    if rest:
        raise _unreadable(text, rest[0][0], f"unexpected {rest[0][1]!r}")
    return keep


_Token: TypeAlias = tuple[int, str, bool]
"""Where it stands, its text, and whether it was quoted and so can be no operator."""


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        sign = text[at]
        if sign.isspace():
            at += 1
        elif sign in "()":
            yield at, sign, False
            at += 1
        elif sign in "\"'":
            end = text.find(sign, at + 1)
            if end < 0:
                raise _unreadable(text, at, "this quote is not closed")
            yield at, text[at + 1 : end], True
            at = end + 1
        else:
            end = next((i for i in range(at, len(text)) if text[i].isspace() or text[i] in "()"), len(text))
            yield at, text[at:end], False
            at = end


def _either(text: str, tokens: list[_Token]) -> tuple[Keep, list[_Token]]:
    keep, rest = _both(text, tokens)
    while rest and rest[0][1:] == ("or", False):
        other, rest = _both(text, rest[1:])
        keep = _or(keep, other)
    return keep, rest


def _both(text: str, tokens: list[_Token]) -> tuple[Keep, list[_Token]]:
    keep, rest = _single(text, tokens)
    while rest and rest[0][1:] == ("and", False):
        other, rest = _single(text, rest[1:])
        keep = _and(keep, other)
    return keep, rest


def _single(text: str, tokens: list[_Token]) -> tuple[Keep, list[_Token]]:
    if not tokens:
        raise _unreadable(text, len(text), "a word is missing")
    (at, word, quoted), rest = tokens[0], tokens[1:]
    if not quoted and word == "not":
        inner, rest = _single(text, rest)
        return _not(inner), rest
    if not quoted and word == "(":
        inner, rest = _either(text, rest)
        if not rest or rest[0][1:] != (")", False):
            raise _unreadable(text, at, "this parenthesis is not closed")
        return inner, rest[1:]
    if not quoted and word in (")", "and", "or"):
        raise _unreadable(text, at, f"unexpected {word!r}")
    return _word(word.casefold()), rest


def _or(one: Keep, other: Keep) -> Keep:
    return lambda name: one(name) or other(name)


def _and(one: Keep, other: Keep) -> Keep:
    return lambda name: one(name) and other(name)


def _not(inner: Keep) -> Keep:
    return lambda name: not inner(name)


def _word(word: str) -> Keep:
    return lambda name: word in name.casefold()


def _unreadable(text: str, at: int, what: str) -> UsageError:
    return UsageError(f"-k cannot be read: {what}\n    {text}\n    {' ' * at}^", code="KEYWORD", hint="words, and, or, not, parentheses")
