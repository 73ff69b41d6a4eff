"""What the claims about one part of the observation share."""

from __future__ import annotations

from typing import ClassVar

from invcheck.assertions.breaks import Break, nothing, wrong_type
from invcheck.assertions.claim import Claim, invalid
from invcheck.assertions.patterns import mismatch
from invcheck.assertions.values import Judged, none_keeps
from invcheck.paths import Path, compile_path
from invcheck.vocabulary import Json


class Part(Claim):
    """A claim that looks at one part of the observation, of its own."""

    looks_at: ClassVar[str] = "$"

    def reads(self) -> tuple[Path, ...]:
        """The part that it looks at."""
        return (compile_path(self.looks_at),)

    def some(self, *names: str) -> None:
        """Refuse a claim that says nothing."""
        if all(getattr(self, name) is None for name in names):
            raise invalid(f"{self.key}: say at least one of {', '.join(names)}", names[0])

    def listed(self, document: Json) -> list[Json] | Break:
        """Give the list that the claim looks at."""
        found = compile_path(self.looks_at).values(document)
        if not found:
            return nothing(compile_path(self.looks_at), "a list")
        return found[0] if isinstance(found[0], list) else wrong_type(self.looks_at, "array", found[0])


class Listed(Part):
    """A claim about the entries of one list, which may ask each of them to match a pattern."""

    def matched(self, pattern: Json, entries: list[Json], what: str, document: Json) -> Judged | Break:
        """Match every entry, or give the break of a list without any; without a pattern nothing is asked of them."""
        if pattern is None:
            return []
        if not entries and not self.lenient():
            return empty_list(self.looks_at, what)
        places = (f"{self.looks_at}[{place}]" for place in range(len(entries)))
        return [(at, mismatch(pattern, entry, at, document)) for at, entry in zip(places, entries, strict=True)]

    def lenient(self) -> bool:
        """Tell whether an empty list is fine; every such claim has the field."""
        return bool(self.__dict__["allow_empty"])

    def none_matches(self, pattern: Json, what: str, document: Json) -> Break | None:
        """Judge the opposite of a pattern that every entry matches."""
        entries = self.listed(document)
        return none_keeps(entries if isinstance(entries, Break) else self.matched(pattern, entries, what, document), self.holds)


def empty_list(at: str, what: str) -> Break:
    """The break of a claim about each of a list that is empty."""
    broken = nothing(compile_path(at), f"at least one {what}")
    broken.got = "nothing: the list is empty"
    return broken
