"""A claim in its place in a check: how it is asked, and how its answer becomes a finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import Claim
from invcheck.assertions.fuse import Kept, fuse
from invcheck.assertions.implied import EVERYTHING, Moot
from invcheck.errors import InvcheckError
from invcheck.paths import Path
from invcheck.show import one_line
from invcheck.vocabulary import Finding, Json, Verdict

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Question:
    """One claim and its index in the check.

    A claim that raises is errored, whatever it raises (a predicate may leave the process, or reach for the network); only
    KeyboardInterrupt is let through.
    """

    def __init__(self, index: int, claim: Claim) -> None:
        self.index = index
        self.claim = claim

    def moot(self, known: Sequence[Moot]) -> str | None:
        """Give why nothing can be said of the claim: it reads at or below a moot path; below the root lies every claim."""
        hit = (why for path, why in known if path == EVERYTHING or any(path.covers(read) for read in self._reads))
        return next(hit, None)

    def settles(self) -> tuple[Moot, ...]:
        """Give the path below which other claims are moot once this one is not kept; only structural claims have one."""
        return (Moot(self._reads[0], self._text),) if self.claim.structural else ()

    def unjudged(self, because: str, hint: str | None = None) -> Finding:
        """Give the finding of a claim of which nothing can be said, and what explains why."""
        message = one_line(f"{self._text}: unjudged because of {because}")
        return Finding("UNJUDGED", Verdict.UNJUDGED, message, claim=self._text, assertion=self.index, because=because, hint=hint)

    @cached_property
    def surely(self) -> Kept:
        """Tell fast whether a claim with a fused form is kept; False means only that it must be asked."""
        return fuse([self.claim])[0]

    def ask(self, document: Json) -> Finding | None:
        """Ask a claim over one observation: None when it is kept."""
        return self._answer(self.claim.each, document)

    def ask_across(self, taken: Sequence[tuple[int, Json]]) -> Finding | None:
        """Ask a claim over the runs of a case, from what it took of each of them."""
        return self._answer(self.claim.across, taken)

    def take(self, document: Json) -> tuple[Json, Finding | None]:
        """Let a claim over the runs take what it needs of one observation, or give the finding that it raised."""
        taken: list[Json] = []
        raised = self._answer(lambda each: taken.append(self.claim.take(each)), document)
        return (None, raised) if raised else (taken[0], None)

    @cached_property
    def _text(self) -> str:
        return self.claim.describe().removesuffix(": ")  # a claim without fields is its key

    @cached_property
    def _reads(self) -> tuple[Path, ...]:
        return self.claim.reads()

    def _answer(self, ask: Callable[[Json], Break | None], subject: Json) -> Finding | None:
        try:
            broken = ask(subject)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # told as errored, never a pass
            return self._raised(error)
        return None if broken is None else self._broken(broken)

    def _broken(self, broken: Break) -> Finding:
        where = f" at {broken.path}" if broken.path else ""
        call = f" ({broken.call})" if broken.call else ""
        return Finding(
            broken.code or self.claim.key.upper().replace("-", "_"),
            Verdict.BROKEN,
            one_line(f"{self._text}: expected {broken.expected}, got {broken.got}{where}{call}"),
            claim=self._text,
            path=broken.path,
            expected=broken.expected,
            got=broken.got,
            call=broken.call,
            hint=broken.hint,
            assertion=self.index,
        )

    def _raised(self, error: BaseException) -> Finding:
        code, told, hint = "ASSERTION_RAISED", f"{type(error).__name__}: {error}".removesuffix(": "), None
        if isinstance(error, InvcheckError):
            code, told, hint = error.code, error.message, error.hint
        told = one_line(_ADDRESS.sub("", told))
        message = one_line(f"{self._text}: could not be judged: {told}")
        return Finding(code, Verdict.ERRORED, message, claim=self._text, got=told, hint=hint, assertion=self.index)
