"""How much it came to: sums, tokens, money and virtual seconds; sums are exact (see `exact`)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import ClassVar, Literal

from invcheck import paths
from invcheck.assertions import bounds
from invcheck.assertions.bounds import is_number
from invcheck.assertions.breaks import Break, nothing, wrong_type
from invcheck.assertions.claim import Claim, Operand, Selector, invalid
from invcheck.assertions.exact import EXACT, exact, judged, spelled, total
from invcheck.paths import Match, compile_path
from invcheck.show import listed
from invcheck.vocabulary import Json

_USAGE, _ELAPSED = compile_path("$.usage"), compile_path("$.elapsed")
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")
_KINDS = {
    "total": ("input_tokens", "output_tokens"),
    "input": ("input_tokens",),
    "output": ("output_tokens",),
    "cache-read": ("cache_read_input_tokens",),
    "cache-creation": ("cache_creation_input_tokens",),
    "reasoning": ("reasoning_output_tokens",),
}


class Sum(Claim):
    """The selected numbers add up to ``equals``, or to something between ``min`` and ``max``; the sum is exact.

    A value that is no number breaks the claim, also under ``not-``. With ``allow_empty`` nothing adds up to 0.

    >>> Sum("$.rows[*].cost", equals=0.3).each({"rows": [{"cost": 0.1}, {"cost": 0.2}]}) is None
    True
    >>> Sum("$.rows[*].tokens", max=100).each({"rows": [{"tokens": 90}, {"tokens": 30}]}).got
    '120, the sum of [90, 30]'
    """

    key = "sum"
    of: Selector
    min: Operand = None
    max: Operand = None
    equals: Operand = None
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse a range that is open or crossed, and ``equals`` beside it."""
        if self.equals is not None and (self.min is not None or self.max is not None):
            raise invalid("sum: say equals, or min and max, not both", "equals")
        sides = {"min": self.min, "max": self.max} if self.equals is None else {"equals": self.equals}
        bounds.refuse(self.key, sides, whole=False, floor=False)

    def each(self, document: Json) -> Break | None:
        """Kept where the sum lies in the range."""
        ends = bounds.ends(*self._ends, document)
        if isinstance(ends, Break):
            return ends
        found = self.path().find(document)
        if not found and not self.allow_empty:
            return nothing(self.path())
        if wrong := next((match for match in found if not is_number(match.value)), None):
            return wrong_type(wrong.path, "a number", wrong.value)
        values = [match.value for match in found]
        came_to = total(values)
        return judged(came_to, *ends, self.path().text, "", f"{spelled(came_to)}, the sum of {listed(values)}")

    def reads(self) -> tuple[paths.Path, ...]:
        """What is added, and what the ends are taken from."""
        return (self.path(), *bounds.paths_of(self.equals, self.min, self.max))

    @property
    def _ends(self) -> tuple[bounds.Side, bounds.Side]:
        return (self.min, self.max) if self.equals is None else (self.equals, self.equals)


class Tokens(Claim):
    """All served calls together used between ``min`` and ``max`` tokens, of one kind or, as ``total``, input and output.

    Kinds: total, input, output, cache-read, cache-creation, reasoning. Input includes what came from a cache, output
    includes reasoning. Usage that no call reported breaks the claim; with ``allow_empty`` it is 0.

    >>> Tokens("total", max=360).each({"usage": {"input_tokens": 300, "output_tokens": 60}}) is None
    True
    >>> Tokens("output", max=50).each({"usage": {"input_tokens": 300, "output_tokens": 60}}).got
    '60 output tokens'
    """

    key = "tokens"
    which: Literal["total", "input", "output", "cache-read", "cache-creation", "reasoning"] = "total"
    min: Operand = None
    max: Operand = None
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse a range that is open, crossed or always so."""
        bounds.refuse(self.key, {"min": self.min, "max": self.max}, whole=True, floor=True)

    def each(self, document: Json) -> Break | None:
        """Kept where the tokens lie in the range."""
        ends = bounds.ends(self.min, self.max, document)
        if isinstance(ends, Break):
            return ends
        used = _usage(document, _KINDS[self.which], allow_empty=self.allow_empty)
        if isinstance(used, Break):
            return used
        unit = "tokens" if self.which == "total" else f"{self.which} tokens"
        at = "$.usage" if self.which == "total" else f"$.usage.{_KINDS[self.which][0]}"
        return judged(sum(used), *ends, at, unit, bounds.counted(sum(used), unit))

    def reads(self) -> tuple[paths.Path, ...]:
        """The usage, and what the ends are taken from."""
        return (_USAGE, *bounds.paths_of(self.min, self.max))


class Cost(Claim):
    """All of it costs between ``min`` and ``max``, in the currency of the prices or of the costs at ``of``.

    Either ``prices`` per million tokens (``input`` and ``output``; ``cache-read`` and ``cache-creation`` cost as much as
    input where they are not given) over the usage of the served calls, or ``of``, a path to costs that are added up:
    numbers, or texts of decimals, as a ledger in SQL has them. Usage that no call reported and a value that is no cost
    break the claim, also under ``not-``; with ``allow_empty`` they are 0.

    >>> prices = {"input": 2.5, "output": 10}
    >>> Cost(max=0.001, prices=prices).each({"usage": {"input_tokens": 100, "output_tokens": 20}}) is None
    True
    >>> Cost(max=0.0004, prices=prices).each({"usage": {"input_tokens": 100, "output_tokens": 20}}).got
    '0.00045, for 100 input and 20 output tokens'
    """

    key = "cost"
    max: Operand = None
    min: Operand = None
    prices: dict[str, int | float] | None = None
    of: Selector | None = None
    allow_empty: bool = False

    bought: ClassVar[tuple[str, ...]] = ("input", "output", "cache-read", "cache-creation")

    def check(self) -> None:
        """Refuse a range that is open, crossed or always so, and prices that are no prices."""
        bounds.refuse(self.key, {"max": self.max, "min": self.min}, whole=False, floor=self.of is None)
        if (self.prices is None) == (self.of is None):
            raise invalid("cost: say prices per million tokens, or of, a path to costs", "prices")
        if self.prices is not None:
            self._refuse_prices(self.prices)

    def _refuse_prices(self, prices: dict[str, int | float]) -> None:
        for name, price in prices.items():
            if name not in self.bought:
                raise invalid(f"cost: there is no price {name!r}", "prices", hint=f"the prices are {', '.join(self.bought)}")
            if price < 0:
                raise invalid(f"cost: the price of {name} is below 0, got {price}", "prices")
        missing = next((name for name in ("input", "output") if name not in prices), None)
        if missing:
            raise invalid(f"cost: the price of {missing} is missing", "prices", hint="0 is a price")

    def each(self, document: Json) -> Break | None:
        """Kept where the cost lies in the range."""
        ends = bounds.ends(self.min, self.max, document)
        if isinstance(ends, Break):
            return ends
        came_to = self._of_usage(document, self.prices) if self.prices is not None else self._of_costs(document)
        if isinstance(came_to, Break):
            return came_to
        cost, got = came_to
        return judged(cost, *ends, "$.usage" if self.of is None else self.path().text, "", got)

    def reads(self) -> tuple[paths.Path, ...]:
        """The usage or the costs, and what the ends are taken from."""
        return (_USAGE if self.of is None else self.path(), *bounds.paths_of(self.max, self.min))

    def _of_usage(self, document: Json, prices: dict[str, int | float]) -> tuple[Decimal, str] | Break:
        used = _usage(document, ("input_tokens", "output_tokens"), allow_empty=self.allow_empty)
        cached = _usage(document, ("cache_read_input_tokens", "cache_creation_input_tokens"), allow_empty=True)
        if isinstance(used, Break):
            return used
        if isinstance(cached, Break):
            return cached
        plain = used[0] - sum(cached)
        if plain < 0:
            return Break("$.usage", "input tokens that include the cached", f"{used[0]} input, {sum(cached)} cached", decided=False)
        bought = zip(self.bought, (plain, used[1], *cached), strict=True)
        parts = [EXACT.multiply(Decimal(tokens), exact(prices.get(name, prices["input"]))) for name, tokens in bought]
        cost = exact(total(parts)).scaleb(-6, EXACT)
        return cost, f"{spelled(cost)}, for {used[0]} input and {used[1]} output tokens"

    def _of_costs(self, document: Json) -> tuple[int | Decimal, str] | Break:
        found = self.path().find(document)
        if not found and not self.allow_empty:
            return nothing(self.path())
        costs = []
        for match in found:
            cost = _cost(match)
            if isinstance(cost, Break):
                return cost
            costs.append(cost)
        return total(costs), f"{spelled(total(costs))}, the sum of {listed(match.value for match in found)}"


class Latency(Claim):
    """The trial took between ``min`` and ``max`` virtual seconds, the sum of its waits; real time plays no part.

    >>> Latency(max=2).each({"elapsed": 1.5}) is None
    True
    >>> Latency(max=2).each({"elapsed": 3.5}).got
    '3.5 virtual seconds'
    """

    key = "latency"
    min: Operand = None
    max: Operand = None

    def check(self) -> None:
        """Refuse a range that is open, crossed or always so."""
        bounds.refuse(self.key, {"min": self.min, "max": self.max}, whole=False, floor=True)

    def each(self, document: Json) -> Break | None:
        """Kept where the virtual seconds lie in the range."""
        ends = bounds.ends(self.min, self.max, document)
        if isinstance(ends, Break):
            return ends
        found = _ELAPSED.values(document)
        if not found:
            return nothing(_ELAPSED, "virtual seconds")
        if not is_number(found[0]):
            return wrong_type("$.elapsed", "virtual seconds", found[0])
        return judged(exact(found[0]), *ends, "$.elapsed", "virtual seconds", bounds.counted(found[0], "virtual seconds"))

    def reads(self) -> tuple[paths.Path, ...]:
        """The virtual seconds, and what the ends are taken from."""
        return (_ELAPSED, *bounds.paths_of(self.min, self.max))


def _usage(document: Json, names: tuple[str, ...], *, allow_empty: bool) -> list[int] | Break:
    used = []
    silent = None if allow_empty else _unreported(document)
    if silent is not None:
        return silent
    for name in names:
        path = compile_path(f"$.usage.{name}")
        found = path.values(document)
        if not found and not allow_empty:
            return nothing(path, "usage that a served call reports")
        if found and type(found[0]) is not int:
            return wrong_type(path.text, "tokens", found[0])
        used.append(found[0] if found else 0)
    return used


def _unreported(document: Json) -> Break | None:
    """The break of a trial in which no call reported its usage: the sum of nothing is 0, and says nothing."""
    calls = document.get("calls") if isinstance(document, dict) else None
    if not isinstance(calls, list):
        return None
    outcomes = [call.get("outcome") if isinstance(call, dict) else None for call in calls]
    if any(isinstance(outcome, dict) and outcome.get("usage") for outcome in outcomes):
        return None
    hint = "say allow-empty: true where 0 is fine"
    got = f"none in {bounds.counted(len(calls), 'calls')}"
    return Break(
        "$.usage",
        "usage that a served call reports",
        got,
        decided=False,
        code="EMPTY_SELECTION",
        hint=hint,
    )


def _cost(match: Match) -> int | float | Decimal | Break:
    if is_number(match.value):
        number: int | float = match.value
        return number
    if isinstance(match.value, str) and _DECIMAL.fullmatch(match.value):
        return Decimal(match.value)
    return wrong_type(match.path, "a cost: a number, or a text of one", match.value)
