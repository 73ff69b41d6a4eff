"""Why a claim is not kept, and whether it could be decided.

A Break that is not ``decided`` (nothing was selected, or a value of another type than the claim needs) is broken under
``not-`` too: negation turns only a claim that could be decided.
"""

from __future__ import annotations

from collections.abc import Iterable

from invcheck import paths
from invcheck.show import show
from invcheck.vocabulary import Json


class Break:
    """Why a claim is not kept: where, what was expected, what was found, and whether the claim could be decided."""

    __slots__ = ("call", "code", "decided", "expected", "got", "hint", "path")

    def __init__(
        self,
        path: str | None,
        expected: str,
        got: str,
        *,
        decided: bool = True,
        code: str | None = None,
        call: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.path, self.expected, self.got = path, expected, got
        self.decided, self.code, self.call, self.hint = decided, code, call, hint


def nothing(path: paths.Path, needed: str = "at least one value") -> Break:
    """The break of a path that matches nothing: a claim about nothing is not kept."""
    return Break(
        path.text,
        needed,
        "nothing: the path matches no value",
        decided=False,
        code="EMPTY_SELECTION",
        hint="say allow-empty: true (allow_empty=True in Python) where nothing is fine",
    )


def wrong_type(path: str | None, needed: str, value: Json) -> Break:
    """The break of a value that has another type than the claim needs."""
    return Break(path, needed, f"{paths.kind(value)} {show(value)}", decided=False, code="WRONG_TYPE")


def chosen(breaks: Iterable[Break | None]) -> Break | None:
    """Give the break that speaks for several: one that could not be decided before the others, else the first."""
    found = [broken for broken in breaks if broken is not None]
    return next((broken for broken in found if not broken.decided), found[0] if found else None)
