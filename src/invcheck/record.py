"""The record of the trial in hand: one ordered journal of everything that happened, and what was latched on the way.

Doubles, the clock, probes, effects and the gate all write here, so that order between them is one list. There is one
record at a time in a process: threads of the app share it, which a context variable would lose.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread, current_thread, get_ident
from typing import Protocol

from invcheck import session
from invcheck.arrivals import Arrivals
from invcheck.consequences import settled
from invcheck.errors import InvcheckError, NotInTest
from invcheck.vocabulary import Counts, Exchange, Finding, Json, Place, Turns, Verdict, Waits


class Verified(Protocol):
    """What a double shows when a record is closed."""

    @property
    def calls(self) -> tuple[Exchange, ...]:
        """Every call so far, in order."""

    @property
    def counts(self) -> Counts:
        """How many calls there were, by what became of them."""

    def leftover(self) -> list[Finding]:
        """What is wrong now that nothing more will be asked, such as steps that were not used."""


_ARRIVALS = Lock()
_OF_CALLS = ("call", "chunk")
_SWEPT = 256  # entries that may stand dead before they are swept
_process = os.getpid  # held on to, since an app may replace what stands in os
_STAY = "let the trial's own process do it, or use threads in the test"

tellers: list[Callable[[dict[str, Json]], None]] = []
"""What carries a word from a child by fork to the process that is judged; see `from_child`."""


class Record:
    """Everything that one trial leaves behind; ``seed`` is the trial's own.

    ``journal`` entries are plain JSON objects with a ``kind``: call, wait, effect, row or breach.
    """

    def __init__(self, seed: int = 0, clock: Waits | None = None) -> None:
        self.seed = seed
        self.clock = clock
        self.turns: Turns = Arrivals()
        self.process = _process()
        self._journal: list[dict[str, Json]] = []
        self._calls: list[dict[str, Json]] = []
        self._gone: set[int] = set()
        self._dead = 0
        self.arrived = 0
        self.forgotten = 0
        self.waits: list[float] = []
        self.effects: list[dict[str, Json]] = []
        self.ledger: list[Json] = []
        self.breaches: list[dict[str, Json]] = []
        self.ambient: dict[tuple[str, str], int] = {}
        self.latches: list[Finding] = []
        self.doubles: list[Verified] = []
        self.offered: set[str] = set()
        self.consumed: dict[int, object] = {}
        self.before_event: list[Callable[[], None]] = []

    def note(self, kind: str, **fields: Json) -> None:
        """Append one event to the journal; rows that a probe can already see are entered before it."""
        for look in self.before_event:
            look()
        self._journal.append({"kind": kind, **fields})

    def arrive(self, entry: dict[str, Json]) -> None:
        """Enter a call of a double, which gives the entry its ``n``; the double completes it in place.

        A child by fork has a copy of this record that nobody reads: NotInTest there, and a finding here.
        """
        if _process() != self.process:
            raise self._elsewhere("a call")
        with _ARRIVALS:
            n = entry["n"] = self.arrived
            self.arrived += 1
            self._calls.append(entry)
        for look in self.before_event:
            look()
        self._journal.append({"kind": "call", "n": n, "lane": entry["lane"]})

    @property
    def calls(self) -> list[dict[str, Json]]:
        """The entries of all calls that are kept, in order of arrival."""
        self._swept()
        return self._calls

    @property
    def journal(self) -> list[dict[str, Json]]:
        """The one ordered list of everything that happened, but for calls that were forgotten."""
        self._swept()
        return self._journal

    def forget(self, entry: dict[str, Json], handed: int) -> None:
        """Let go of the oldest call of a double that keeps a bounded number, and of the ``handed`` chunks that it handed over.

        What was forgotten can no longer be judged.
        """
        with _ARRIVALS:
            self.forgotten += 1
            self._gone.add(entry["n"])
            self._dead += 1 + handed
            wide = self._dead > _SWEPT + len(self._journal) // 2
        if wide:
            self._swept()

    def _swept(self) -> None:
        """Drop what was forgotten: half of a list at a time, so that it costs little a call, or when somebody looks."""
        if not self._gone:
            return
        with _ARRIVALS:
            gone, self._gone, self._dead = self._gone, set(), 0
            self._calls = [entry for entry in self._calls if entry["n"] not in gone]
            self._journal = [each for each in self._journal if each["kind"] not in _OF_CALLS or each["n"] not in gone]

    def row(self, row: Json) -> None:
        """Enter one row of the app's own ledger."""
        self.ledger.append(row)
        self._journal.append({"kind": "row", "row": row})

    def effect(self, name: str, **fields: Json) -> None:
        """Enter something that the app did to the world; of a child by fork as a call."""
        if _process() != self.process:
            raise self._elsewhere(f"the effect {name!r}")
        entry = {"name": name, **fields}
        self.effects.append(entry)
        self.note("effect", **entry)

    def wait(self, seconds: float) -> None:
        """Enter a sleep that the app asked for, in virtual seconds."""
        self.waits.append(seconds)
        self.note("wait", seconds=seconds)

    def breach(self, breach: dict[str, Json]) -> None:
        """Enter an attempt to leave the sandbox."""
        self.breaches.append(breach)
        self.note("breach", **breach)

    def latch(self, finding: Finding) -> None:
        """Keep a finding that no ``except`` in the app can take back; the same one is kept once."""
        if finding not in self.latches:
            self.latches.append(finding)

    def read(self, source: str, where: str) -> None:
        """Enter a read of something ambient (clock, randomness, uuid, environment) with its call site."""
        self.ambient[source, where] = self.ambient.get((source, where), 0) + 1

    def findings(self) -> list[Finding]:
        """Give what is wrong at the end: everything latched, then what the doubles have left over."""
        return [*self.latches, *(finding for double in self.doubles for finding in double.leftover())]

    def _elsewhere(self, what: str) -> NotInTest:
        for tell in tellers:
            tell({"child": what, "seed": self.seed})
        return NotInTest(f"{what} came from a child of the process that is judged", hint=_STAY)

    over = False

    def close(self) -> None:
        """End it: what arrives from now on came after the trial, changes nothing of it, and is told by `late`."""
        self.__class__ = _Over


class _Over(Record):
    """A record whose trial is over; another class, so that one in use pays nothing for the question."""

    over = True

    def note(self, kind: str, **fields: Json) -> None:
        """Nobody reads the journal any more."""

    def arrive(self, entry: dict[str, Json]) -> None:  # noqa: ARG002  # the record's own signature
        self.latch(after_return("a call"))
        raise NotInTest("a call came after the app had returned", hint=_AWAIT)

    def row(self, row: Json) -> None:  # noqa: ARG002  # as above
        self.latch(after_return("a row of the ledger"))

    def effect(self, name: str, **fields: Json) -> None:  # noqa: ARG002  # as above
        self.latch(after_return(f"the effect {name!r}"))

    def wait(self, seconds: float) -> None:
        """A wait alone is nothing that anybody did."""

    def breach(self, breach: dict[str, Json]) -> None:
        _late.append((self.seed, breach))

    def latch(self, finding: Finding) -> None:
        _late.append((self.seed, finding))

    def read(self, source: str, where: str) -> None:
        """A read alone is nothing that anybody did."""


_AWAIT = "let the app wait for what it began (join the thread, await the task) before it returns"
_late: list[tuple[int, Finding | dict[str, Json]]] = []


def after_return(what: str) -> Finding:
    """Give the finding of something that arrived when its trial was over and had been judged."""
    return Finding("AFTER_RETURN", Verdict.ERRORED, f"{what} came after the app had returned and was not judged", hint=_AWAIT)


def from_child(what: str, seed: int) -> None:
    """Enter what a child by fork did in a trial: it was not judged, so the trial is errored."""
    finding = Finding("CHILD_CALLED", Verdict.ERRORED, f"{what} came from a forked child and was not judged", hint=_STAY)
    if _current is not None:
        _current.latch(finding)
    else:
        _late.append((seed, finding))


def late() -> list[tuple[int, Finding | dict[str, Json]]]:
    """Hand over what came after the end of a trial, each with that trial's seed, and forget it: findings, and breaches."""
    taken = _late[:]
    del _late[: len(taken)]
    return taken


_current: Record | None = None
_strays: dict[int, tuple[Thread | None, Record]] = {}


def current() -> Record | None:
    """Give the record of the trial in hand, or None outside of one; a thread that outlived its trial has that trial's."""
    return _of_thread() if _strays else _current


def stray(ident: int, thread: Thread | None, record: Record) -> None:
    """Say that a thread outlives its trial: whatever it does is that trial's, and of no other."""
    _strays[ident] = thread, record


def _of_thread() -> Record | None:
    thread, record = _strays.get(get_ident(), (None, None))
    if record is None or (thread is not None and thread is not current_thread()):  # numbers of threads come again
        return _current
    return record


def strayed(number: int | None) -> Record | None:
    """Give the record of a thread that outlives its trial, by the kernel's number of the thread."""
    numbers = ((getattr(thread, "native_id", None), record) for thread, record in _strays.values())
    return next((record for known, record in numbers if known is not None and known == number), None)


def hold(record: Record | None) -> Record | None:
    """Make ``record`` the one in hand, or none; gives the one before, to be put back."""
    global _current  # one record in hand per process is the point of this module
    before, _current = _current, record
    return before


@contextmanager
def opened(record: Record) -> Iterator[Record]:
    """Make ``record`` the one in hand for the length of a block; records do not nest silently, the inner one wins."""
    before = hold(record)
    try:
        yield record
    finally:
        hold(before)


def offered() -> Record | None:
    """Give the record in hand, which a test of another runner opens when it is first asked for; None outside of a test."""
    if _current is None:
        session.ask()
    return _current


def required(what: str) -> Record:
    """Give the record in hand, or raise NotInTest naming what was built outside of a test."""
    held = offered()
    if held is None:
        raise NotInTest(f"{what} was built outside of a test", hint=session.hint())
    return held


def breached(breach: dict[str, Json]) -> Finding:
    """Give the finding of one attempt to leave the sandbox: what was wanted, through what, by which line, thread or program.

    >>> print(breached({"wanted": "api.example.com:443", "via": "httpx", "where": "app.py:ask", "line": 7, "count": 2}).message)
    api.example.com:443 was wanted, through httpx, at app.py:7 in ask
    """
    place, why = _place(breach), breach.get("why")
    message = "".join((*_asked(breach), *_who(breach, place), f": {why}" if why else ""))
    return Finding(
        "NETWORK",
        Verdict.BROKEN,
        message,
        path="$.breaches",
        expected="nothing reaches the network",
        got=_wanted(breach),
        place=place,
        hint=str(breach.get("hint", "did you forget a double? bind one where the app builds its client")),
        count=int(breach.get("count", 1)),
    )


def _wanted(breach: dict[str, Json]) -> str:
    if "wanted" not in breach:  # a row that somebody else has recorded
        from invcheck.show import show  # noqa: PLC0415  # hardly ever needed

        return show(breach)
    return str(breach["wanted"])


def _asked(breach: dict[str, Json]) -> Iterator[str]:
    if "what" in breach:
        yield f"{breach['what']}: {_wanted(breach)}"
    elif "command" in breach:
        yield f"{_wanted(breach)} was wanted by the program {breach['command']!r}"
    else:
        yield f"{_wanted(breach)} was wanted"
        yield f", through {breach['via']}" if "via" in breach else ""


def _who(breach: dict[str, Json], place: Place | None) -> Iterator[str]:
    started = ", which was started" if "command" in breach else ","
    if place is not None:
        yield f"{started} at {place.file}:{place.line} in {str(breach['where']).rpartition(':')[2]}"
    elif breach.get("where"):
        yield f"{started} {str(breach['where']).strip('()')}"
    thread = breach.get("thread") or "MainThread"
    if thread != "MainThread":
        yield f", in {thread if thread.startswith('a ') else f'the thread {thread}'}"


def _place(breach: dict[str, Json]) -> Place | None:
    line = breach.get("line")
    return None if line is None else Place(str(breach["where"]).rpartition(":")[0], line)


def _spoken(finding: Finding) -> str:
    got = f"\n  got: {finding.got}" if finding.got and finding.verdict is Verdict.ERRORED else ""
    return f"{finding.code}: {finding.message}{got}" + (f"\n  hint: {finding.hint}" if finding.hint else "")


class VerificationError(AssertionError):
    """What ``invcheck.testing()`` raises at its end when something was latched or left over; ``findings`` holds it."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        super().__init__("\n".join(map(_spoken, findings)))

    def __reduce__(self) -> tuple[type[VerificationError], tuple[list[Finding]]]:
        return (type(self), (self.findings,))


@contextmanager
def testing(*, seed: int = 0) -> Iterator[Record]:  # noqa: PT028  # no test, although it begins like one
    """Open a place where doubles may be built; at its end everything latched or left over raises VerificationError.

    An error that already leaves the block is never masked; notes of it tell mistakes of the test itself, which may be why.
    Time passes at once: a double's waits are noted, not slept. Attempts to leave the sandbox go to the trial or test around
    the block, and are findings here where there is none.

    >>> import invcheck
    >>> with invcheck.testing():
    ...     model = invcheck.ScriptedModel("hello")
    ...     model("hi").text
    'hello'
    """
    record, around = Record(seed), _current
    try:
        with opened(record):
            yield record
    except BaseException as error:
        for finding in record.latches:
            if finding.verdict is Verdict.ERRORED and not isinstance(error, InvcheckError):
                error.add_note(_spoken(finding))
        raise
    finally:
        if around is not None:
            for breach in record.breaches:
                around.breach(breach)
    left = [breached(breach) for breach in record.breaches] if around is None else []
    broken = left + settled([finding for finding in record.findings() if finding.verdict is not Verdict.KEPT])
    if broken:
        raise VerificationError(broken)


testing.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it where it is imported by name
