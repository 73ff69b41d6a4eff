"""The opposite of a claim."""

from __future__ import annotations

from invcheck import paths
from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import Claim, invalid
from invcheck.vocabulary import Json


class Not(Claim):
    """The claim's opposite, spelled ``not-KEY`` in a check file; only a claim that could be decided is turned.

    A claim that judges several values one by one is turned for each of them: none may keep it. What compares sets, counts,
    adds up, looks at an order or says several things at once is turned as a whole.

    >>> from invcheck.assertions import Contains
    >>> Not(Contains("$.output", any=["sorry"])).each({"output": "Yes."}) is None
    True
    >>> Not(Contains("$.answers[*]", any=["secret"])).each({"answers": ["fine", "a secret"]}).path
    '$.answers[1]'
    """

    claim: Claim

    def check(self) -> None:
        """Only per-trial claims have an opposite."""
        if self.claim.arity != "each" or isinstance(self.claim, Not):
            raise invalid(f"not-{self.claim.key} does not exist: only a claim over one trial has an opposite", "claim")
        object.__setattr__(self, "key", f"not-{self.claim.key}")

    def each(self, document: Json) -> Break | None:
        """Ask the inner claim for its opposite."""
        return self.claim.opposite(document)

    def references(self) -> tuple[str, ...]:
        """What the inner claim will import."""
        return self.claim.references()

    def reads(self) -> tuple[paths.Path, ...]:
        """What the inner claim reads."""
        return self.claim.reads()

    def plain(self) -> dict[str, Json]:
        """As the inner claim."""
        return self.claim.plain()
