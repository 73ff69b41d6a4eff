"""One generated function per check that answers only "all kept": paths are lowered to plain lookups.

It holds the claims that have a fused form; the others, among them all that ask a function of the user's, are asked once,
by themselves. It may say True only where every claim in it would be kept; whatever it cannot decide (a missing key,
another type) is False, and the document is judged again claim by claim, with findings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from invcheck.paths import STAR, Path, Step
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.claim import Claim

Kept = Callable[[Json], bool]

_INDENT = "    "
_FUNCTION = """\
def kept(document):
    try:
{}
    except KeyboardInterrupt:
        raise
    except BaseException:
        return False
"""


class Fuser:
    """Collects the lines of the generated function; a claim asks it for values and states what must hold.

    The fuser of a loop's body (`items`, `each`) writes into the same function, one level deeper.
    """

    def __init__(self, document: str = "document", above: Fuser | None = None) -> None:
        self.document = document
        self.lines: list[str] = above.lines if above else []
        self.names: dict[str, object] = above.names if above else {}
        self.level: int = above.level + 1 if above else 0
        self.count: list[int] = above.count if above else [0]
        self._values: dict[tuple[Step, ...], str] = {(): document}
        self._facts: set[str] = set()

    def fresh(self) -> str:
        """Give a name that was not used yet."""
        self.count[0] += 1
        return f"v{self.count[0]}"

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
        return self.lookup(path.steps)

    def values(self, path: Path) -> str | None:
        """Give the name of the list that a path ending in its only ``[*]`` selects, else None.

        The generated code makes sure that it is a list; that it is not empty is the claim's business.
        """
        if path.steps is None or path.singular or path.steps[-1] is not STAR or STAR in path.steps[:-1]:
            return None
        name = self.lookup(path.steps[:-1])
        self.require(f"type({name}) is list")
        return name

    def each(self, path: Path, *, allow_empty: bool = False) -> tuple[Fuser, str] | None:
        """Open a loop for every ``[*]`` of the path, and give the fuser of the body and the name of one selected value.

        Without ``allow_empty`` no list on the way may be empty. None where the path is not of names, indices and ``[*]``.
        """
        if path.steps is None:
            return None
        body, steps = self, path.steps
        while STAR in steps:
            at = steps.index(STAR)
            body, steps = body.items(body.lookup(steps[:at]), allow_empty=allow_empty), steps[at + 1 :]
        return body, body.lookup(steps)

    def items(self, name: str, *, allow_empty: bool = False) -> Fuser:
        """Open a loop over the list ``name`` and give the fuser of its body, whose document is one item."""
        self.require(f"type({name}) is list")
        if not allow_empty:
            self.require(name)
        item = self.fresh()
        self.line(f"for {item} in {name}:\n{_INDENT}pass")
        return Fuser(item, self)

    def texts(self, name: str) -> None:
        """State that every item of the list ``name`` is text; the same is checked once."""
        if f"texts {name}" not in self._facts:
            self._facts.add(f"texts {name}")
            item = self.fresh()
            self.line(f"for {item} in {name}:\n{_INDENT}if type({item}) is not str: return False")

    def lookup(self, steps: Sequence[Step]) -> str:
        """Give the name of the value under names and indices; steps that were taken before are not taken again."""
        done = self._values
        for length in range(1, len(steps) + 1):
            key = tuple(steps[:length])
            if key not in done:
                above, step, name = done[key[:-1]], key[-1], self.fresh()
                if isinstance(step, int):
                    self.require(f"type({above}) is list")
                self.line(f"{name} = {above}[{self._spell(step)}]")
                done[key] = name
        return done[tuple(steps)]

    def _spell(self, step: Step) -> str:
        return repr(step) if isinstance(step, int) or str(step).isidentifier() else self.const(step)

    def require(self, expression: str) -> None:
        """State what must hold: the generated function gives False where it does not. The same is checked once."""
        if expression not in self._facts:
            self._facts.add(expression)
            self.line(f"if not ({expression}): return False")

    def line(self, text: str) -> None:
        """Add one line, or a block whose inner lines are indented by the caller."""
        self.lines.extend(_INDENT * self.level + line for line in text.split("\n"))

    def claim(self, claim: Claim) -> bool:
        """Add a claim about this fuser's document; False where it, or one inside of it, has no fused form: nothing is added."""
        lines, values, facts = len(self.lines), dict(self._values), set(self._facts)
        fused = claim.fuse(self)
        if not fused:
            del self.lines[lines:]
            self._values, self._facts = values, facts
        return fused


def fuse(claims: Sequence[Claim], first: Callable[[Fuser], None] | None = None) -> tuple[Kept, list[Claim]]:
    """Compile the per-trial claims that have a fused form, and give the others as they are.

    The function tells of a document whether all that were compiled are surely kept. ``first`` may write lines before
    them. Only KeyboardInterrupt leaves the function.
    """
    fuser = Fuser()
    if first is not None:
        first(fuser)
    others = [claim for claim in claims if not fuser.claim(claim)]
    return _function(fuser), others


def _function(fuser: Fuser) -> Kept:
    source = _FUNCTION.format("\n".join(f"        {line}" for line in [*fuser.lines, "return True"]))
    space: dict[str, object] = dict(fuser.names)
    exec(compile(source, "<fused claims>", "exec"), space)  # noqa: S102  # our own text: users' texts enter as constants only
    kept: Kept = space["kept"]  # type: ignore[assignment]  # the function that the text above defines
    return kept
