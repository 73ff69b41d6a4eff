"""What one test of another runner is held to: a record from its setup to its teardown, the gate and the sandbox where asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from invcheck import record as records
from invcheck import session
from invcheck.consequences import settled
from invcheck.errors import UsageError
from invcheck.record import Record
from invcheck.seeds import derive
from invcheck.vocabulary import Finding, Json, Verdict

if TYPE_CHECKING:
    from os import PathLike


def layer() -> str:
    """Say what holds here: the tier of a runner that was started confined; one that was not cannot be confined any more.

    >>> layer()
    'in-process'
    """
    return session.isolated() or "in-process"


_UNUSED = ("allow", "fail")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a test asks for, all of it by the keywords of its marker.

    ``seed`` is derived from the test's name where it is None; ``unused`` is "fail" or "allow"; with a ``clock``
    ("virtual", "real" or ``{"start": ...}``) the test's body has the time and chance of a trial; ``gate`` cuts the network,
    but for what ``allow`` names, as in a check: ``["tcp:127.0.0.1:5432"]``.
    """

    seed: int | None = None
    clock: Json = None
    unused: str = "fail"
    gate: bool = False
    allow: tuple[str, ...] = ()


def asked(marks: Iterable[tuple[tuple[object, ...], Mapping[str, Any]]], *, gate: bool) -> Asked:
    """Give what markers ask for, the outermost first; ``gate`` is what holds where none says. UsageError names a mistake.

    >>> asked([((), {"seed": 7}), ((), {"seed": 8, "unused": "allow"})], gate=True)
    Asked(seed=8, clock=None, unused='allow', gate=True, allow=())
    """
    given: dict[str, Any] = {"gate": gate}
    for args, keywords in marks:
        if args:
            raise UsageError(f"the marker invcheck takes keywords only, got {args[0]!r}", hint="such as invcheck(seed=7)")
        given |= keywords
    known = [field.name for field in fields(Asked)]
    for name in given:
        if name not in known:
            from invcheck.resolve import meant  # noqa: PLC0415  # only a mistake needs it

            raise UsageError(f"the marker invcheck has no {name!r}", hint=meant(name, known))
    made = Asked(**{**given, "allow": _allowed(given.get("allow", ()))})
    if made.unused not in _UNUSED:
        raise UsageError(f"unused is 'fail' or 'allow', got {made.unused!r}")
    if type(made.gate) is not bool or not (made.seed is None or type(made.seed) is int):
        wrong = ("gate", "True or False", made.gate) if type(made.gate) is not bool else ("seed", "an integer", made.seed)
        raise UsageError(f"{wrong[0]} is {wrong[1]}, got {wrong[2]!r}")
    if not (made.clock is None or made.clock in ("virtual", "real") or (isinstance(made.clock, Mapping) and list(made.clock) == ["start"])):
        raise UsageError(f"clock is 'virtual', 'real' or {{'start': '2031-05-01T12:00:00Z'}}, got {made.clock!r}")
    return made


def _allowed(texts: Any) -> tuple[str, ...]:
    if not texts and isinstance(texts, list | tuple):
        return ()
    from invcheck.allowance import canonical  # noqa: PLC0415  # only where something is allowed

    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"allow is a list of texts, got {texts!r}", hint="such as allow=['tcp:127.0.0.1:5432']")
    return canonical(texts)


def prepare(root: str | PathLike[str]) -> None:
    """Put the sandbox in place without arming it; before the user's code is imported, where it can be."""
    from invcheck.sandbox import box, network  # noqa: PLC0415  # a test that only has doubles does not need it

    before = network.arm(None)
    box.install(root, armed=False)
    network.arm(before)


class Guard:
    """Holds one test's record in hand until it is closed, and says what is wrong.

    ``name`` identifies the test whatever the order, the folder and the process; ``root`` is the project's folder.
    """

    def __init__(self, asked: Asked, name: str, root: str | PathLike[str]) -> None:
        self.asked = asked
        self.gated = False
        self._root = root
        self._armed: bool | None = None
        self._allowed: frozenset[str] = frozenset()
        self._told: list[Finding] = []
        self.record = Record(derive(0, name) if asked.seed is None else asked.seed)
        if asked.gate:
            self.gate()
        self._before = records.hold(self.record)

    def gate(self) -> None:
        """Cut the network until the guard is closed."""
        if not self.gated:
            from invcheck.sandbox import listeners, network  # noqa: PLC0415  # as above

            prepare(self._root)
            network.pending()  # nothing that was wanted before is this test's doing
            self._allowed = listeners.allowing(self.asked.allow, more=True)
            self._armed, self.gated = network.arm(True), True

    @contextmanager
    def running(self) -> Iterator[None]:
        """The test's body: in the time and chance of a trial, where it asks for a clock. UsageError for a start that is none."""
        clock = self.asked.clock
        if clock is None:
            yield
            return
        from invcheck.sandbox import box  # noqa: PLC0415  # as above

        prepare(self._root)
        with box.trial(self.record, clock=None if clock == "virtual" else clock):
            yield

    def fresh(self, *, over: bool) -> list[Finding]:
        """Give what is wrong and was not given before: breaches, latches and, where all is ``over``, what was left over."""
        if self.gated:
            from invcheck.sandbox import network  # noqa: PLC0415  # as above

            for breach in network.pending():  # fixtures that outlive the test have no record in hand
                self.record.breach(breach)
        found = [records.breached(breach) for breach in self.record.breaches] + self.record.latches
        if over:
            left = [finding for double in self.record.doubles for finding in double.leftover()]
            found += [each for each in left if not (each.code == "SCRIPT_UNUSED" and self.asked.unused == "allow")]
        new = [each for each in settled(found) if each.verdict is not Verdict.KEPT and replace(each, count=1) not in self._told]
        self._told += [replace(each, count=1) for each in new]
        return new

    def close(self) -> None:
        """Put back what was before the test."""
        records.hold(self._before)
        if self.gated:
            from invcheck.sandbox import listeners, network  # noqa: PLC0415  # as above

            network.arm(self._armed)
            listeners.allowing(self._allowed)


def told(findings: Iterable[Finding]) -> str:
    """Say findings as a test's failure: code and message, expected and got, the hint.

    >>> print(told([Finding("SCRIPT_UNUSED", Verdict.BROKEN, "1 of 2 steps was not used", expected="2 calls", got="1")]))
    SCRIPT_UNUSED: 1 of 2 steps was not used
      expected  2 calls
      got       1
    """
    lines = []
    for each in findings:
        times = f" ({each.count} times)" if each.count > 1 else ""
        lines.append(f"{each.code}: {each.message}{times}")
        shown = (("expected", each.expected), ("got", each.got), ("gate", layer() if each.code == "NETWORK" else None), ("hint", each.hint))
        lines += [f"  {label:<10}{text}" for label, text in shown if text is not None]
    return "\n".join(lines)
