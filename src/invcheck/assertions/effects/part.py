"""What the claims about one part of the observation share."""

from __future__ import annotations

from typing import ClassVar

from invcheck.assertions.claim import Break, Claim, invalid, nothing, wrong_type
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


def empty_list(at: str, what: str) -> Break:
    """The break of a claim about each of a list that is empty."""
    broken = nothing(compile_path(at), f"at least one {what}")
    broken.got = "nothing: the list is empty"
    return broken
