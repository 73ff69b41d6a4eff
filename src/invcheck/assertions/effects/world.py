"""What the app did to the world: how long it waited, what it booked, what it changed."""

from __future__ import annotations

from invcheck.assertions import patterns, quantities
from invcheck.assertions.breaks import Break, chosen, nothing, wrong_type
from invcheck.assertions.claim import Amount, Operand, invalid
from invcheck.assertions.difference import difference
from invcheck.assertions.effects.part import Listed, Part, empty_list
from invcheck.assertions.fuse import Fuser
from invcheck.assertions.values import Judged, all_keep, none_keeps
from invcheck.paths import below, compile_path, kind
from invcheck.show import show
from invcheck.vocabulary import Json


class Waits(Part):
    """The app asked to sleep so long and so often, in virtual seconds; a bare list means exactly these waits, in order.

    ``min`` and ``max`` bound each wait, ``total`` their exact decimal sum (a number or ``{min, max}``). Without a wait,
    ``min`` and ``max`` say nothing: the claim is broken unless ``allow_empty``.

    >>> Waits([0.5, 1.0, 2.0]).each({"waits": [0.5, 1.0, 2.0]}) is None
    True
    >>> Waits([0.5, 1.0]).each({"waits": [0.5, 2.0]}).path
    '$.waits[1]'
    """

    key = "waits"
    shorthand = "equals"
    looks_at = "$.waits"
    equals: list[float] | None = None
    count: Amount | None = None
    min: float | None = None
    max: float | None = None
    total: float | dict[str, float] | None = None
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse claims about nothing, and bounds that no wait can keep."""
        self.some("equals", "count", "min", "max", "total")
        if self.total is not None:
            quantities.refuse(self.total, "waits: total", "total")
        if self._ends():
            quantities.refuse(self._ends(), "waits", "max")

    def each(self, document: Json) -> Break | None:
        """Compare the waits: the list, how many, each, and their sum."""
        waits = self.listed(document)
        if isinstance(waits, Break):
            return waits
        if (strange := _strange(waits)) is not None:
            return strange
        return chosen(
            (
                quantities.same_list("$.waits", self.equals, waits),
                quantities.counted("$.waits", "waits", self.count, waits),
                all_keep(self._each(waits)),
                None if self.total is None else quantities.summed("$.waits", self.total, waits, document),
            )
        )

    def opposite(self, document: Json) -> Break | None:
        """Bounds alone are turned for every wait."""
        if self.equals is not None or self.count is not None or self.total is not None:
            return super().opposite(document)
        waits = self.listed(document)
        strange = None if isinstance(waits, Break) else _strange(waits)
        return none_keeps(waits if isinstance(waits, Break) else strange or self._each(waits), self.holds)

    def _each(self, waits: list[Json]) -> Judged | Break:
        if self._ends() and not waits and not self.allow_empty:
            return empty_list("$.waits", "wait")
        return [(f"$.waits[{place}]", self._bounded(place, wait)) for place, wait in enumerate(waits)]

    def _ends(self) -> dict[str, float]:
        return {name: end for name, end in (("min", self.min), ("max", self.max)) if end is not None}

    def _bounded(self, place: int, wait: float) -> Break | None:
        ends = self._ends()
        return None if quantities.within(wait, ends) else Break(f"$.waits[{place}]", f"{quantities.said(ends)} seconds", show(wait))


def _strange(waits: list[Json]) -> Break | None:
    """The break of the first wait that is no number."""
    found = ((place, wait) for place, wait in enumerate(waits) if kind(wait) not in quantities.NUMBERS)
    return next((wrong_type(f"$.waits[{place}]", "number of seconds", wait) for place, wait in found), None)


class LedgerRows(Listed):
    """The app wrote such rows to its own ledger: how many, what ``every`` row holds, and the ``sum`` of a field.

    ``every`` is a partial match (see `patterns`): a row may hold more. A sum is exact, as decimals, and is compared
    with a number, ``{min, max}`` or a path. Without a row, ``every`` and ``sum`` say nothing: the claim is broken
    unless ``allow_empty``.

    >>> rows = [{"feature": "qa", "ok": True, "cost": 0.1}, {"feature": "qa", "ok": False, "cost": 0.2}]
    >>> LedgerRows(count=2, sum={"cost": 0.3}).each({"ledger": rows}) is None
    True
    >>> LedgerRows(every={"ok": True}).each({"ledger": rows}).path
    '$.ledger[1].ok'
    """

    key = "ledger"
    shorthand = "count"
    looks_at = "$.ledger"
    count: Amount | None = None
    every: dict[str, Json] | None = None
    sum: dict[str, Operand] | None = None
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse claims that say nothing, or that no row can keep."""
        self.some("count", "every", "sum")
        if self.every is not None:
            patterns.refuse(self.every, "every")
        if self.sum is not None:
            if not self.sum:
                raise invalid("ledger: sum needs at least one field", "sum")
            for name, wanted in self.sum.items():
                quantities.refuse(wanted, f"ledger: the sum of {name}", "sum")

    def each(self, document: Json) -> Break | None:
        """Compare the rows: how many, each, and the sums."""
        rows = self.listed(document)
        if isinstance(rows, Break):
            return rows
        hollow = empty_list("$.ledger", "row") if self.sum is not None and not rows and not self.allow_empty else None
        return chosen(
            (
                quantities.counted("$.ledger", "rows", self.count, rows),
                hollow or all_keep(self.matched(self.every, rows, "row", document)),
                *(self._sum(name, wanted, rows, document) for name, wanted in (self.sum or {}).items()),
            )
        )

    def opposite(self, document: Json) -> Break | None:
        """``every`` alone is turned for every row."""
        return (
            super().opposite(document) if self.count is not None or self.sum is not None else self.none_matches(self.every, "row", document)
        )

    def _sum(self, name: str, wanted: Operand, rows: list[Json], document: Json) -> Break | None:
        values = []
        for place, row in enumerate(rows):
            at = f"$.ledger[{place}]"
            if not isinstance(row, dict) or name not in row:
                return nothing(compile_path(below(at, name)), "a number to add")
            if kind(row[name]) not in quantities.NUMBERS:
                return wrong_type(below(at, name), "number to add", row[name])
            values.append(row[name])
        return quantities.summed(below("$.ledger[*]", name), wanted, values, document)

    def fuse(self, fuser: Fuser) -> bool:
        """The count, and every row where its pattern is plain."""
        if self.sum is not None:
            return False
        rows = fuser.lookup(("ledger",))
        fuser.require(f"type({rows}) is list")
        if self.count is not None:
            fuser.require(quantities.fused(f"len({rows})", self.count))
        if self.every is None:
            return True
        return patterns.fused(fuser.items(rows, allow_empty=self.allow_empty), self.every)


class Effects(Listed):
    """The app did these things to the world: a bare list means exactly these names, in order.

    ``every`` is a partial match of each effect. Without an effect it says nothing: the claim is broken unless
    ``allow_empty``.

    >>> Effects(["ticket-opened"]).each({"effects": [{"name": "ticket-opened", "id": 7}]}) is None
    True
    """

    key = "effects"
    shorthand = "names"
    looks_at = "$.effects"
    names: list[str] | None = None
    count: Amount | None = None
    every: dict[str, Json] | None = None
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse claims that say nothing."""
        self.some("names", "count", "every")
        if self.every is not None:
            patterns.refuse(self.every, "every")

    def each(self, document: Json) -> Break | None:
        """Compare the effects: their names, how many, each."""
        effects = self.listed(document)
        if isinstance(effects, Break):
            return effects
        names = [effect.get("name") if isinstance(effect, dict) else None for effect in effects]
        return chosen(
            (
                quantities.same_list("$.effects", self.names, names),
                quantities.counted("$.effects", "effects", self.count, names),
                all_keep(self.matched(self.every, effects, "effect", document)),
            )
        )

    def opposite(self, document: Json) -> Break | None:
        """``every`` alone is turned for every effect."""
        alone = self.names is None and self.count is None
        return self.none_matches(self.every, "effect", document) if alone else super().opposite(document)


class Unchanged(Part):
    """A probe reads the same right before the app's first line and right after its last.

    >>> probes = {"quota": {"before": [{"used": 100}], "after": [{"used": 101}]}}
    >>> broken = Unchanged("quota").each({"probes": probes})
    >>> broken.path, broken.expected, broken.got
    ('$.probes.quota.after[0].used', '100, as before the app ran', '101')
    """

    key = "unchanged"
    shorthand = "probe"
    looks_at = "$.probes"
    probe: str

    def each(self, document: Json) -> Break | None:
        """Compare what the probe read."""
        probes = document.get("probes") if isinstance(document, dict) else None
        at = below("$.probes", self.probe)
        if not isinstance(probes, dict) or self.probe not in probes:
            known = ", ".join(sorted(probes)) if isinstance(probes, dict) and probes else "none"
            return Break(at, f"a probe {self.probe!r}", f"no such probe; there are: {known}", decided=False, code="EMPTY_SELECTION")
        read = probes[self.probe]
        missing = next((when for when in ("before", "after") if not isinstance(read, dict) or when not in read), None)
        if missing is not None:
            return nothing(compile_path(below(at, missing)), "what the probe read")
        found = difference(read["before"], read["after"], below(at, "after"))
        return None if found is None else Break(found[0], f"{found[1]}, as before the app ran", found[2])
