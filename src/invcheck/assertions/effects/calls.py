"""What the app asked its doubles for, how often, and what escaped from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from invcheck.assertions import patterns, quantities
from invcheck.assertions.bounds import counted
from invcheck.assertions.breaks import Break, chosen, nothing, wrong_type
from invcheck.assertions.claim import Amount, invalid
from invcheck.assertions.effects.part import Part
from invcheck.assertions.fuse import Fuser
from invcheck.assertions.patterns import mismatch
from invcheck.assertions.values import Judged, all_keep, none_keeps
from invcheck.errors import UsageError
from invcheck.paths import Path, compile_path, kind
from invcheck.show import show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    ErrorName: TypeAlias = "str | type[BaseException] | list[str | type[BaseException]]"
else:
    ErrorName = str | list[str]
"""The name of an error's class, with or without its module, or several; in Python the class itself."""

_COUNTS = ("attempted", "served", "failed", "cancelled", "refused")
_CLAIMED = (*_COUNTS, "asked")


class Calls(Part):
    """The doubles were called so often: a bare number means attempts, each field a number or ``{min, max}``.

    Attempted is the sum of served (a reply was handed over whole), failed (a fault or a raising step), cancelled and
    refused (the script was over, or the request broke the protocol). Asked are those that the app made itself, where a
    client on the wire repeats some. A finding names the first call too many.

    >>> counts = {"attempted": 2, "served": 1, "failed": 0, "cancelled": 0, "refused": 1}
    >>> calls = [{"state": "served", "error": None}, {"state": "refused", "error": "ScriptedModelError"}]
    >>> broken = Calls(1).each({"counts": counts, "calls": calls})
    >>> broken.expected, broken.call
    ('1 attempted', 'call 2 of 1')
    >>> broken.got
    '2 attempted, 1 served, 0 failed, 0 cancelled, 1 refused; call 2 was refused: ScriptedModelError'
    """

    key = "calls"
    shorthand = "attempted"
    looks_at = "$.counts"
    attempted: Amount | None = None
    served: Amount | None = None
    failed: Amount | None = None
    cancelled: Amount | None = None
    refused: Amount | None = None
    asked: Amount | None = None

    def check(self) -> None:
        """Refuse a claim that counts nothing."""
        self.some(*_CLAIMED)

    def each(self, document: Json) -> Break | None:
        """Compare the counts that are given, in the order of the fields."""
        return chosen(self._count(name, document) for name in _CLAIMED if getattr(self, name) is not None)

    def _count(self, name: str, document: Json) -> Break | None:
        path, wanted = compile_path(f"$.counts.{name}"), getattr(self, name)
        found = path.values(document)
        if not found:
            return nothing(path, f"{quantities.said(wanted)} {name}")
        if kind(found[0]) != "integer":
            return wrong_type(path.text, "integer", found[0])
        if quantities.within(found[0], wanted):
            return None
        shown = _CLAIMED if name == "asked" else _COUNTS
        ledger = ", ".join(f"{show(document['counts'].get(each))} {each}" for each in shown)
        broken = Break(path.text, f"{quantities.said(wanted)} {name}", ledger)
        most = quantities.most(wanted)
        if most is not None and found[0] > most:
            _name_extra(broken, name, most, document)
        return broken

    def fuse(self, fuser: Fuser) -> bool:
        """Plain comparisons of integers."""
        for name in _CLAIMED:
            if (wanted := getattr(self, name)) is not None:
                value = fuser.lookup(("counts", name))
                fuser.require(f"type({value}) is int and {quantities.fused(value, wanted)}")
        return True


def _name_extra(broken: Break, name: str, most: int, document: Json) -> None:
    """Say which call was the first too many, and what became of it."""
    calls = document.get("calls")
    counted = [
        (place, call)
        for place, call in enumerate(calls if isinstance(calls, list) else ())
        if isinstance(call, dict) and (name in ("attempted", call.get("state")) or (name == "asked" and not call.get("attempt")))
    ]
    if len(counted) > most:
        place, call = counted[most]
        error = f": {call['error']}" if call.get("error") else ""
        broken.call = f"call {place + 1} of {most}" if name in ("attempted", "asked") else f"call {place + 1}"
        state = call.get("state")
        broken.got += f"; call {place + 1} {state if state == 'failed' else f'was {state}'}{error}"


class Requests(Part):
    """The app sent such requests: how many, and what ``every``, the ``first``, the ``last`` or that of one ``call`` holds.

    ``call`` counts from 1, as findings do, and ``like`` is what its request holds. All are partial matches (see
    `patterns`); an array is compared item by item. ``lane`` looks at the calls of one lane only.

    >>> calls = [{"lane": None, "request": {"prompt": "card declined", "max_tokens": 8}}]
    >>> Requests(every={"max_tokens": 8}, first={"prompt": {"contains": "card"}}).each({"calls": calls}) is None
    True
    >>> Requests(call=1, like={"max_tokens": 16}).each({"calls": calls}).path
    '$.calls[0].request.max_tokens'
    """

    key = "requests"
    shorthand = "count"
    looks_at = "$.calls"
    count: Amount | None = None
    every: dict[str, Json] | None = None
    first: dict[str, Json] | None = None
    last: dict[str, Json] | None = None
    call: int | None = None
    like: dict[str, Json] | None = None
    lane: str | None = None
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse claims that say nothing, and half of a pair."""
        self.some("count", "every", "first", "last", "call")
        if (self.call is None) is not (self.like is None):
            raise invalid("requests: call says which and like says what: they stand together", "like" if self.call is None else "call")
        if self.call is not None and self.call < 1:
            raise invalid(f"requests: call counts from 1, got {self.call}", "call")
        for name in ("every", "first", "last", "like"):
            if getattr(self, name) is not None:
                patterns.refuse(getattr(self, name), name)

    def each(self, document: Json) -> Break | None:
        """Compare the requests: how many, and those that are named."""
        sent = self._sent(document)
        if isinstance(sent, Break):
            return sent
        count = quantities.counted("$.calls", "requests", self.count, sent)
        return chosen((count, *self._matched(sent, document)))

    def opposite(self, document: Json) -> Break | None:
        """``every`` alone is turned for every request."""
        if any(getattr(self, name) is not None for name in ("count", "first", "last", "like")):
            return super().opposite(document)
        sent = self._sent(document)
        return none_keeps(sent if isinstance(sent, Break) else self._named("every", sent, len(sent), document), self.holds)

    def _sent(self, document: Json) -> list[tuple[int, Json]] | Break:
        calls = self.listed(document)
        if isinstance(calls, Break):
            return calls
        return [
            (place, call.get("request") if isinstance(call, dict) else None)
            for place, call in enumerate(calls)
            if self.lane is None or (isinstance(call, dict) and call.get("lane") == self.lane)
        ]

    def _matched(self, sent: list[tuple[int, Json]], document: Json) -> list[Break | None]:
        wanted = {"first": sent[:1], "last": sent[-1:], "like": sent[(self.call or 1) - 1 :][:1], "every": sent}
        return [all_keep(self._named(name, among, len(sent), document)) for name, among in wanted.items()]

    def _named(self, name: str, among: list[tuple[int, Json]], sent: int, document: Json) -> Judged | Break:
        pattern = getattr(self, name)
        if pattern is None:
            return []
        if not among and not (self.allow_empty and name == "every"):
            which = f"call {self.call}" if name == "like" else "at least one request"
            return Break("$.calls", which, counted(sent, "requests"), decided=False, code="EMPTY_SELECTION")
        judged = []
        for place, request in among:
            at = f"$.calls[{place}].request"
            broken = mismatch(pattern, request, at, document)
            if broken is not None:
                broken.call = broken.call or f"call {place + 1}"
            judged.append((at, broken))
        return judged


class ScriptUsed(Part):
    """The app asked for exactly what the script holds: no step is left over and no call was refused.

    A trial without a call breaks the claim, also under ``not-``: there may have been no script at all.

    >>> ScriptUsed().each({"unused": [], "counts": {"refused": 0}}) is None
    True
    """

    key = "script-used"

    def each(self, document: Json) -> Break | None:
        """Look at the steps that are left over, then at the calls that found none."""
        unused = compile_path("$.unused").values(document)
        if not unused:
            return nothing(compile_path("$.unused"), "the steps that are left over")
        if unused[0] != []:
            return Break("$.unused", "no step left over", show(unused[0]))
        if compile_path("$.counts.attempted").values(document) == [0]:
            return Break(
                "$.calls", "at least one call", "0 calls", decided=False, code="EMPTY_SELECTION", hint="calls: 0 says that none is made"
            )
        return Calls(refused=0).each(document)

    def reads(self) -> tuple[Path, ...]:
        """Two parts of the observation."""
        return (compile_path("$.unused"), compile_path("$.counts"))


class Raises(Part):
    """The app raised an error of this type, after so many calls; ``match`` is sought in its message (``re.search``).

    ``type`` is the name of a class, with or without its module, or several of them; in Python the class itself. Only
    this very class counts, none derived from it; the module is the one that defines it, as a traceback shows it.
    ``calls`` are attempts, and always stated: a refusal that first spent a call is another behaviour. With this claim
    in a check, an error is no finding of its own; inside of another claim it must be kept for that.

    >>> counts = {"attempted": 1, "served": 0, "failed": 1, "cancelled": 0, "refused": 0}
    >>> error = {"type": "PromptTooLong", "module": "shop.errors", "message": "413 tokens", "where": "shop/qa.py:answer"}
    >>> Raises("PromptTooLong", calls=1, match="^413").each({"error": error, "counts": counts}) is None
    True
    """

    key = "raises"
    looks_at = "$.error"
    type: ErrorName
    calls: Amount
    match: str | None = None

    def check(self) -> None:
        """Refuse what names no class, and a pattern that is no regular expression."""
        if not self._names() or not all(isinstance(name, str) and name.replace(".", "").isidentifier() for name in self._names()):
            raise invalid(f"raises: type needs the name of an error, got {self.type!r}", "type")
        try:
            re.compile(self.match or "")
        except re.error as error:
            message = f"raises: the pattern is no regular expression: {error.msg} at position {error.pos}"
            raise UsageError(message, code="BAD_PATTERN", field="match") from None

    def _names(self) -> list[str]:
        return [_dotted(each) for each in (self.type if isinstance(self.type, list | tuple) else [self.type])]

    def each(self, document: Json) -> Break | None:
        """Compare the error's type and message, then the number of calls."""
        found = compile_path("$.error").values(document)
        if not found:
            return nothing(compile_path("$.error"), "what escaped from the app")
        return chosen((self._error(found[0]), Calls(self.calls).each(document)))

    def _error(self, error: Json) -> Break | None:
        wanted = " or ".join(self._names())
        if error is None:
            return Break("$.error", f"raises {wanted}", "no error")
        if not isinstance(error, dict) or not isinstance(error.get("type"), str):
            return wrong_type("$.error", "object with a type", error)
        message = error.get("message")
        strange = self._strange(error, f": {message}" if message else "")
        if strange is not None or self.match is None:
            return strange
        if not isinstance(message, str):
            return wrong_type("$.error.message", f"text that matches {self.match}", message)
        return None if re.search(self.match, message) else Break("$.error.message", f"a match of {self.match}", show(message))

    def _strange(self, error: dict[str, Json], message: str) -> Break | None:
        """Compare the class: its name, and its module with those that name one."""
        told, _, name = error["type"].rpartition(".")
        module, wanted = told or error.get("module"), " or ".join(self._names())
        modules = {wanted for wanted, _, word in (each.rpartition(".") for each in self._names()) if word == name}
        if not modules:
            return Break("$.error.type", wanted, name + message)
        if modules & {"", module}:
            return None
        if not isinstance(module, str):
            return Break("$.error.module", wanted, f"{name} of a module that is not told", decided=False, code="EMPTY_SELECTION")
        return Break("$.error.module", wanted, f"{module}.{name}{message}")

    def reads(self) -> tuple[Path, ...]:
        """Two parts of the observation."""
        return (compile_path("$.error"), compile_path("$.counts"))

    def plain(self) -> dict[str, Json]:
        """Classes are told by their names."""
        return {**super().plain(), "type": self._names() if isinstance(self.type, list | tuple) else self._names()[0]}


def _dotted(error: object) -> str:
    return f"{error.__module__}.{error.__qualname__}" if isinstance(error, type) else str(error)
