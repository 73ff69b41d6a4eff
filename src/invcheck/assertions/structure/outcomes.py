"""What the model's answers must have been: how they finished, which tools they called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from invcheck.assertions import validators
from invcheck.assertions.bounds import counted
from invcheck.assertions.breaks import Break, chosen
from invcheck.assertions.claim import Amount, Claim, invalid
from invcheck.assertions.schemas import known, plainly
from invcheck.assertions.values import Judged, Values
from invcheck.errors import UsageError
from invcheck.freeze import frozen
from invcheck.paths import Path, compile_path
from invcheck.show import show
from invcheck.vocabulary import Json

_CALLS = compile_path("$.calls[*]")


class Finish(Values):
    """The last call's reply finished with this reason (``call: 2`` the second call's, ``call: all`` every call's).

    ``is`` may be a list of reasons, or null for a reply that names none. A call that brought no reply (a fault, a
    cancelled or refused call) breaks the claim, also under ``not-``.

    >>> calls = [{"outcome": {"text": "", "finish": "stop"}}, {"outcome": {"text": "", "finish": "length"}}]
    >>> Finish("length").each({"calls": calls}) is None
    True
    >>> broken = Finish("stop", call="all").each({"calls": calls})
    >>> broken.path, broken.got, broken.call
    ('$.calls[1].outcome.finish', '"length"', 'call 2')
    """

    key = "finish"
    shorthand = "is_"
    is_: str | Sequence[str] | None
    call: int | Literal["last", "all"] = "last"

    def check(self) -> None:
        """Refuse what is no reason, and a call that no trial has."""
        if not self._reasons or "" in self._reasons:
            raise invalid("finish: name at least one reason, such as stop, length or tool_calls", "is_")
        if isinstance(self.call, int) and self.call < 1:
            raise invalid(f"finish: calls are counted from 1, got {self.call}", "call")

    def judged(self, document: Json) -> Judged | Break:
        """Judge every asked call."""
        calls = _CALLS.values(document)
        if not calls or (isinstance(self.call, int) and self.call > len(calls)):
            spoken = f"call {self.call}" if isinstance(self.call, int) else "at least one call"
            return Break("$.calls", spoken, counted(len(calls), "calls"), decided=False, code="EMPTY_SELECTION")
        last = self.call if isinstance(self.call, int) else len(calls)
        first = 0 if self.call == "all" else last - 1
        return [(f"$.calls[{n}].outcome.finish", self._judge(n, calls[n])) for n in range(first, last)]

    def reads(self) -> tuple[Path, ...]:
        """The calls."""
        return (_CALLS,)

    def _judge(self, n: int, call: Json) -> Break | None:
        outcome, at = _outcome(call), f"$.calls[{n}].outcome"
        wanted = " or ".join(map(show, self._reasons))
        if not _is_reply(outcome):
            got = "no outcome" if outcome is None else show(outcome)
            return Break(at, f"a reply that finished with {wanted}", got, decided=False, code="NO_REPLY", call=f"call {n + 1}")
        if outcome["finish"] in self._reasons:
            return None
        return Break(f"{at}.finish", wanted, show(outcome["finish"]), call=f"call {n + 1}")

    @property
    def _reasons(self) -> tuple[str | None, ...]:
        return (self.is_,) if isinstance(self.is_, str | None) else tuple(self.is_)


class ToolCalled(Claim):
    """A model asked for this tool, which the request had offered, with arguments that fit the offered schema.

    ``count`` is how often over all calls: a number or ``{min, max}``, at least once when it is not given; 0 means
    never. ``arguments`` is a JSON Schema that they fit beside. Tools are read from ``tools`` in the request, or in its
    one argument that has some, as OpenAI, Anthropic and MCP spell them. A call for a tool that was not offered, or with
    arguments that its schema refuses, breaks the claim, also under ``not-``, and so does a trial without a call.

    >>> request = {"tools": [{"name": "search", "input_schema": {"type": "object", "required": ["q"]}}]}
    >>> reply = {"text": "", "finish": "tool_calls", "tool_calls": [{"id": "t1", "name": "search", "arguments": {"q": "refund"}}]}
    >>> ToolCalled("search").each({"calls": [{"request": request, "outcome": reply}]}) is None
    True
    >>> ToolCalled("search").each({"calls": [{"request": {"tools": []}, "outcome": reply}]}).got
    'search, of no tools offered'
    """

    key = "tool-call"
    shorthand = "name"
    name: str
    arguments: Mapping[str, Json] | None = None
    count: Amount | None = None

    def check(self) -> None:
        """Refuse a name that is none, and a bad schema."""
        if not self.name:
            raise invalid("tool-call: name is an empty text", "name")
        if self.arguments is not None:
            object.__setattr__(self, "arguments", frozen(plainly(self.arguments, "tool-call: arguments", "arguments")))
            try:
                validators.refuse_schema(self.arguments, "arguments")
            except UsageError as error:
                if not known(self.arguments):
                    values = {"properties": {name: {"const": value} for name, value in self.arguments.items()}}
                    error.hint = f"arguments is a JSON Schema; to claim these values write {show(values)}"
                raise

    def each(self, document: Json) -> Break | None:
        """Kept where the tool was called as often as claimed, each time as it was offered."""
        calls = _CALLS.values(document)
        if not calls:
            return Break("$.calls", "at least one call", "0 calls", decided=False, code="EMPTY_SELECTION")
        asked = [(n, call, at, tool) for n, call in enumerate(calls) for at, tool in _tool_calls(n, call) if tool.get("name") == self.name]
        broken = chosen(self._judge(n, call.get("request"), at, tool.get("arguments")) for n, call, at, tool in asked)
        if broken is not None:
            return broken
        low, high = self._limits
        if low <= len(asked) and (high is None or len(asked) <= high):
            return None
        at = asked[-1][2] if asked else "$.calls[*].outcome.tool_calls"
        return Break(
            at,
            f"{_times(low, high)} {self.name}",
            f"{counted(len(asked), 'calls')} of {self.name} in {counted(len(calls), 'calls')} of the model",
        )

    def reads(self) -> tuple[Path, ...]:
        """The calls."""
        return (_CALLS,)

    def _judge(self, n: int, request: Json, at: str, arguments: Json) -> Break | None:
        spoken, offered = f"call {n + 1}", _offered(request)
        if self.name not in offered:
            names = ", ".join(offered) or "no tools"
            return Break(at, "a tool that was offered", f"{self.name}, of {names} offered", decided=False, code="NOT_OFFERED", call=spoken)
        if (wanted := offered[self.name]) is not None:
            try:
                fault = validators.compiled(wanted)(arguments)
            except UsageError as error:
                got = f"{error.message}, for {self.name}"
                return Break(at, "a tool offered with a JSON Schema", got, decided=False, code="BAD_SCHEMA", call=spoken)
            if fault:
                where = validators.located(f"{at}.arguments", fault.steps)
                return Break(where, f"{fault.expected}, as offered", fault.got, decided=False, code="BAD_ARGUMENTS", call=spoken)
        fault = None if self.arguments is None else validators.compiled(self.arguments)(arguments)
        return fault and Break(validators.located(f"{at}.arguments", fault.steps), fault.expected, fault.got, call=spoken)

    @property
    def _limits(self) -> tuple[int, int | None]:
        if self.count is None:
            return 1, None
        return (self.count, self.count) if isinstance(self.count, int) else (self.count.get("min", 0), self.count.get("max"))


def _outcome(call: Json) -> Json:
    return call.get("outcome") if isinstance(call, dict) else None


def _is_reply(outcome: Json) -> bool:
    return isinstance(outcome, dict) and "finish" in outcome


def _times(low: int, high: int | None) -> str:
    if high is None:
        return f"at least {counted(low, 'calls')} of"
    return f"{counted(low, 'calls')} of" if low == high else f"between {low} and {counted(high, 'calls')} of"


def _tool_calls(n: int, call: Json) -> Iterator[tuple[str, Json]]:
    outcome = _outcome(call)
    tools = outcome.get("tool_calls") if _is_reply(outcome) else None
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        if isinstance(tool, dict):
            yield f"$.calls[{n}].outcome.tool_calls[{index}]", tool


def _offered(request: Json) -> dict[str, Json | None]:
    """Give the schemas of the offered tools by name, None for a tool that is offered without one."""
    if not isinstance(request, dict):
        return {}
    holder = (
        request if "tools" in request else next((value for value in request.values() if isinstance(value, dict) and "tools" in value), {})
    )
    offered: dict[str, Json | None] = {}
    tools = holder["tools"] if holder else None
    for tool in tools if isinstance(tools, list) else []:
        inner = tool.get("function", tool) if isinstance(tool, dict) else {"name": tool}
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            schema = next((inner[name] for name in ("parameters", "input_schema", "inputSchema") if name in inner), None)
            offered[inner["name"]] = schema
    return offered
