"""A breach of a rule as data, the names of the rules, and the error with which a call is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from invcheck.errors import DoubleError, ScriptedModelError

RULES = (
    "missing-field",
    "no-messages",
    "unknown-role",
    "blank-call-id",
    "duplicate-call-id",
    "tool-result-without-call",
    "unanswered-call",
    "tool-not-offered",
    "empty-text",
)
"""The names under which a rule is told and relaxed; what explains the others goes first."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One breach of a rule: where in the request, what is wanted there and what stands there, in words."""

    rule: str
    path: str
    message: str
    expected: str
    got: str


def relaxed_rules(names: Iterable[str]) -> frozenset[str]:
    """Give rules that are to be relaxed as a set; DoubleError where there is no rule of that name.

    >>> relaxed_rules(["empty-text"])
    frozenset({'empty-text'})
    """
    given = [names] if isinstance(names, str) else list(names)
    for name in given:
        if name not in RULES:
            raise DoubleError(f"there is no rule {name!r} of the request protocol", hint=f"there are: {', '.join(RULES)}")
    return frozenset(given)


def empty(path: str, got: str, expected: str = "a text, or no block at all") -> Complaint:
    """Complain of a text that says nothing."""
    return Complaint("empty-text", path, f"the text at {path} is empty", expected, got)


_WHY = {
    "tool-not-offered": "a provider may take a history of tools since removed, and the model calls one again",
    "empty-text": "some providers refuse such a request, and a text that says nothing is seldom meant",
}


def refusal(found: Sequence[Complaint], *, n: int, call: str, lane: str | None = None) -> ScriptedModelError:
    """Give the error with which a call is refused for what was found, at least one complaint; the first one is told.

    ``n`` is the call's place in ``$.calls``, ``call`` how it is spoken of ("call 3").
    """
    first, more = found[0], len(found) - 1
    return ScriptedModelError(
        f"{call} breaks the protocol of requests: {first.message}{f' (and {more} more)' if more else ''}",
        code="REQUEST_PROTOCOL",
        hint=f"{_WHY.get(first.rule, 'a provider may refuse such a request')}; where it is meant, relax the rule {first.rule}",
        rule=first.rule,
        path=first.path,
        at=f"$.calls[{n}].request{first.path[1:]}",
        expected=first.expected,
        got=first.got,
        call=call,
        lane=lane,
    )
