"""What a double answers: the seam between the waist and every room of sources."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from invcheck.request import Call
from invcheck.vocabulary import Finding, Outcome


class Step(Protocol):
    """What a source takes for one call."""

    async def give(self, call: Call) -> Outcome | str:
        """Give the outcome, emitting chunks on the way; whatever it raises is raised into the app. A text is a reply of it."""


class Source(Protocol):
    """What a double answers."""

    @property
    def lanes(self) -> Collection[str | None]:
        """The lanes that may be asked: the one unnamed lane (None), or the declared names."""

    def ordered(self, lane: str | None) -> bool:
        """Whether the order in which calls of a lane arrive decides what answers them."""

    @property
    def pending(self) -> int:
        """How many steps were not taken yet."""

    def draw(self, call: Call) -> Step:
        """Take what answers this call, at most one step; ScriptedModelError where nothing is left."""

    def twice(self, lane: str | None) -> bool:
        """Whether a lane holds one iterator twice, which is a mistake of its own."""

    def leftover(self) -> list[Finding]:
        """What is wrong now that nothing more will be asked."""
