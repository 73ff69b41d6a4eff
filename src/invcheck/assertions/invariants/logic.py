"""Claims that put others together, the order of events, and a function of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from invcheck.assertions.breaks import Break, chosen, nothing
from invcheck.assertions.claim import Claim, Claims, Selector, inner, invalid
from invcheck.assertions.fuse import Fuser, fuse
from invcheck.assertions.patterns import mismatch, refuse
from invcheck.assertions.registry import nearest
from invcheck.errors import Unevaluated, UsageError
from invcheck.freeze import frozen
from invcheck.paths import Path, compile_path
from invcheck.resolve import is_reference, resolve
from invcheck.show import show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    Function: TypeAlias = str | Callable[[Any], object]
else:
    Function = str
"""``module:function``, or in Python the function itself."""


class Implies(Claim):
    """Where all claims of ``if_`` are kept, all of ``then`` are; a condition that cannot be decided breaks the claim.

    >>> from invcheck.assertions import Contains
    >>> claim = Implies(if_=Contains("$.answer", any=["refund"]), then=Contains("$.cites", all=["d1"]))
    >>> claim.each({"answer": "no idea", "cites": []}) is None, claim.each({"answer": "a refund", "cites": ["d2"]}).path
    (True, '$.cites')
    """

    key = "implies"
    if_: Claims
    then: Claims

    def each(self, document: Json) -> Break | None:
        """Judge the condition, then what follows from it."""
        condition = chosen(claim.each(document) for claim in inner(self.if_))
        if condition is not None:
            return None if condition.decided else condition
        broken = chosen(claim.each(document) for claim in inner(self.then))
        if broken is not None:
            broken.expected += f", because {' and '.join(claim.describe() for claim in inner(self.if_))}"
        return broken

    def reads(self) -> tuple[Path, ...]:
        """What the inner claims read."""
        return tuple(path for claim in (*inner(self.if_), *inner(self.then)) for path in claim.reads())

    def fuse(self, fuser: Fuser) -> bool:
        """Where condition and consequence are surely kept there is nothing more to ask."""
        (first, strange), (second, others) = fuse(inner(self.if_)), fuse(inner(self.then))
        if strange or others:
            return False
        condition, consequence, rest = (f"{fuser.const(each)}({fuser.document})" for each in (first, second, self.each))
        fuser.require(f"{condition} and {consequence} or {rest} is None")
        return True


_KINDS = ("call", "chunk", "wait", "effect", "row", "breach")


def _event(pattern: str | dict[str, Json], field: str) -> dict[str, Json]:
    """Give the pattern of an event, or raise UsageError where no event can match it."""
    spelled = {"kind": pattern} if isinstance(pattern, str) else pattern
    refuse(spelled, field)
    if spelled.get("kind") not in _KINDS:
        hint = nearest(str(spelled.get("kind")), _KINDS)
        raise invalid(f"before: {field} needs the kind of an event, got {show(spelled.get('kind'))}", field, hint=hint)
    return spelled


def _place(document: Json, pattern: dict[str, Json], field: str) -> int | Break:
    """Where the first event that matches stands in the journal."""
    journal = document.get("journal") if isinstance(document, dict) else None
    if not isinstance(journal, list):
        return nothing(_JOURNAL, "the journal")
    calls = iter(compile_path("$.calls[*]").values(document))
    for place, entry in enumerate(journal):
        known = _joined(entry, next(calls, None)) if isinstance(entry, dict) and entry.get("kind") == "call" else entry
        if mismatch(pattern, known, "$", document) is None:
            return place
    return Break(_JOURNAL.text, f"an event like {field}: {show(pattern)}", "no such event", decided=False, code="EMPTY_SELECTION")


def _joined(entry: dict[str, Json], call: Json) -> dict[str, Json]:
    return {**call, **entry} if isinstance(call, dict) else entry


_JOURNAL = compile_path("$.journal")


class Before(Claim):
    """The first event of the journal that matches ``first`` stands before the first that matches ``then``.

    An event is matched partially, and a call together with its entry in ``$.calls``; a text is the event's kind. The
    kinds: call, wait, effect, row, breach.

    >>> journal = [{"kind": "call", "n": 0}, {"kind": "effect", "name": "refund"}]
    >>> Before("call", {"kind": "effect", "name": "refund"}).each({"journal": journal}) is None
    True
    """

    key = "before"
    first: str | dict[str, Json]
    then: str | dict[str, Json]

    def check(self) -> None:
        """Refuse events of no kind, and the same event twice."""
        if _event(self.first, "first") == _event(self.then, "then"):
            raise invalid("before: first and then match the same event", "then", hint="name one of them, such as {kind: call, n: 1}")

    def each(self, document: Json) -> Break | None:
        """Find both events and compare their places."""
        first, then = (_place(document, _event(getattr(self, name), name), name) for name in ("first", "then"))
        if isinstance(first, Break) or isinstance(then, Break):
            return first if isinstance(first, Break) else then  # type: ignore[return-value]  # one of them is
        if first < then:
            return None
        return Break(f"$.journal[{then}]", f"{show(self.first)} before {show(self.then)}", f"the first stands at $.journal[{first}] only")

    def reads(self) -> tuple[Path, ...]:
        """The journal."""
        return (_JOURNAL,)


class Predicate(Claim):
    """A function of yours holds for what ``of`` selects: one value where the path can select one, else their list.

    The function gives True for kept, False for broken, or a text that says why it is broken. What it raises makes the
    claim *errored*; any other result does too, None among them: a function that forgets to return has said nothing. It
    gets frozen values. In a check file it is spelled ``module:function`` and loaded when it is first asked.

    >>> Predicate(lambda answer: answer.endswith("."), of="$.output").each({"output": "Yes."}) is None
    True
    """

    key = "predicate"
    shorthand = "function"
    function: Function
    of: Selector = "$"
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse what names no function."""
        if not callable(self.function) and not (isinstance(self.function, str) and is_reference(self.function)):
            hint = "write module:function, such as shop.rules:polite"
            raise UsageError(f"predicate: {self.function!r} names no function", code="REFERENCE_INVALID", hint=hint, field="function")

    def references(self) -> tuple[str, ...]:
        """The function, where it is named."""
        return (self.function,) if isinstance(self.function, str) else ()

    def each(self, document: Json) -> Break | None:
        """Ask the function; what it raises passes through."""
        found = self.path().values(document)
        if not found and not self.allow_empty:
            return nothing(self.path())
        if not found and self.path().singular:
            return None
        function: Any = resolve(self.function) if isinstance(self.function, str) else self.function
        answer = function(frozen(found[0] if self.path().singular else found))
        if answer is True:
            return None
        if answer is False or isinstance(answer, str):
            return Break(self.path().text, f"{self.plain()['function']} holds", answer or "it does not")
        name = "None" if answer is None else type(answer).__name__
        if inspect.iscoroutine(answer):
            answer.close()
        message = f"the predicate gave {name}: it must give True, False or a text that says what is wrong"
        raise Unevaluated(message, code="PREDICATE_RESULT", hint="return True where it holds" if answer is None else None)

    def plain(self) -> dict[str, Json]:
        """A function that stands in Python is told by its module and name; a check file can hold the text only."""
        spelled = super().plain()
        if not isinstance(self.function, str):
            spelled["function"] = ":".join(getattr(self.function, name, "?") for name in ("__module__", "__qualname__"))
        return spelled
