"""One generated function per check that answers only "all kept": paths are lowered to plain lookups.

It may say True only where every claim would be kept; whatever it cannot decide (a missing key, another type, a claim
without a fused form that objects) is False, and the document is judged again claim by claim, with findings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from invcheck.paths import STAR, Path
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.claim import Claim

Kept = Callable[[Json], bool]


class Fuser:
    """Collects the lines of the generated function; a claim asks it for values and states what must hold."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, object] = {}
        self._values: dict[tuple[str | int, ...], str] = {(): "document"}
        self._count = 0

    def fresh(self) -> str:
        """Give a name that was not used yet."""
        self._count += 1
        return f"v{self._count}"

    def const(self, value: object) -> str:
        """Give the name under which the generated code sees ``value``."""
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def value(self, path: Path) -> str | None:
        """Give the name of the one value that a singular path of names and indices selects, else None.

        A missing value raises in the generated code, which makes the answer False.
        """
        if path.steps is None or not path.singular:
            return None
        return self._lookup(path.steps)

    def values(self, path: Path) -> str | None:
        """Give the name of the list that a path ending in its only ``[*]`` selects, else None.

        The generated code makes sure that it is a list; that it is not empty is the claim's business.
        """
        if path.steps is None or path.singular or path.steps[-1] is not STAR or STAR in path.steps[:-1]:
            return None
        name = self._lookup(path.steps[:-1])
        self.require(f"type({name}) is list")
        return name

    def _lookup(self, steps: Sequence[str | int]) -> str:
        done = self._values
        for length in range(1, len(steps) + 1):
            key = tuple(steps[:length])
            if key not in done:
                above, step, name = done[key[:-1]], key[-1], self.fresh()
                if isinstance(step, int):
                    self.require(f"type({above}) is list")
                self.lines.append(f"{name} = {above}[{self._step(step)}]")
                done[key] = name
        return done[tuple(steps)]

    def _step(self, step: str | int) -> str:
        return str(step) if isinstance(step, int) else self.const(step)

    def require(self, expression: str) -> None:
        """State what must hold: the generated function gives False where it does not."""
        self.lines.append(f"if not ({expression}): return False")

    def line(self, text: str) -> None:
        """Add one line, or a block whose inner lines are indented by the caller."""
        self.lines.extend(text.split("\n"))


def fuse(claims: Sequence[Claim]) -> Kept:
    """Compile per-trial claims into one function: document -> True when all of them are surely kept."""
    fuser = Fuser()
    for claim in claims:
        before = len(fuser.lines), dict(fuser._values)
        if not claim.fuse(fuser):
            del fuser.lines[before[0] :]
            fuser._values = before[1]
            fuser.require(f"{fuser.const(claim.each)}(document) is None")
    body = "\n".join(f"        {line}" for line in fuser.lines)
    source = f"def kept(document):\n    try:\n{body}\n        return True\n    except Exception:\n        return False\n"
    space: dict[str, object] = dict(fuser.names)
    exec(compile(source, "<fused claims>", "exec"), space)  # noqa: S102  # our own text: users' texts enter as constants only
    kept: Kept = space["kept"]  # type: ignore[assignment]  # the function that the text above defines
    return kept
