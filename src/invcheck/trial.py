"""What a check is handed while it drives the app: the trial in hand."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from invcheck.errors import InvcheckError
from invcheck.freeze import frozen
from invcheck.ledger import ListProbe, Probe, probe
from invcheck.record import Record
from invcheck.sandbox.clock import Clock
from invcheck.seeds import derive
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    import random

P = ParamSpec("P")
R = TypeVar("R")


class Trial:
    """One run of the app under one case and one seed, as a check sees it.

    ``case`` is the case's id, ``seed`` the trial's own; ``sleep`` and ``clock`` are virtual; ``model`` is the check's
    double where it declares one. All of it is gone when the trial ends.
    """

    def __init__(
        self,
        record: Record,
        clock: Clock,
        *,
        case: str,
        input: Json,  # noqa: A002  # the word of the check file
        folder: Path,
        load: Callable[[str], object],
    ) -> None:
        self.case = case
        self.seed = record.seed
        self.clock = clock
        self.model: Any = None
        self._input = input
        self._rows: Probe = ListProbe([])
        self._probes: dict[str, Probe] = {}
        self._before: dict[str, Json] = {}
        self._record = record
        self._folder = folder
        self._load = load
        self._made: Path | None = None
        self._begun = False

    @cached_property
    def input(self) -> Json:
        """The case's input, deeply frozen."""
        return frozen(self._input)

    @cached_property
    def rng(self) -> random.Random:
        """A generator of this trial's own, seeded by its seed."""
        import random  # noqa: PLC0415  # most checks draw nothing of their own

        return random.Random(derive(self.seed, "rng"))  # noqa: S311  # seeded on purpose: a trial is repeatable

    @property
    def tmp(self) -> Path:
        """A folder of this trial alone, empty when first asked for and removed with the trial."""
        if self._made is None:
            import shutil  # noqa: PLC0415  # most checks ask for no folder

            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            self._made = self._folder
        return self._made

    @property
    def ledger(self) -> list[Any]:
        """The in-memory ledger: whatever the app appends becomes a row of ``$.ledger``, in order with calls and waits.

        TypeError where the check reads its ledger through another probe.
        """
        if not isinstance(self._rows, ListProbe):
            raise TypeError("this check reads its ledger through a probe; there is no list to append to")
        return self._rows.list

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass; the wait stands in ``$.waits``."""
        self.clock.wait(seconds)

    def effect(self, name: str, **fields: object) -> None:
        """Enter something that the app did to the world into ``$.effects`` and the journal."""
        self._record.effect(name, **{key: snapshot(value) for key, value in fields.items()})

    def wrap(self, function: Callable[P, R], name: str | None = None) -> Callable[P, R]:
        """Give ``function`` so that every call of it is entered as an effect, with its arguments, before it runs."""
        label = name or str(getattr(function, "__name__", type(function).__name__))

        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            self.effect(label, **({"args": args} if args else {}), **kwargs)
            return function(*args, **kwargs)

        return wrapped

    def watch_ledger(self, spec: Json | Callable[..., object]) -> None:
        """Read ``$.ledger`` through a probe instead of the list: a mapping as in a check file, or a function."""
        self._rows.close()
        self._rows = probe(spec, tmp=lambda: self.tmp, load=self._load)
        if self._begun:
            self._rows.open(self._record)

    def probe(self, name: str, spec: Json | Callable[..., object]) -> None:
        """Read ``$.probes.NAME.before`` now, or right before the app where the check file asks, and ``.after`` at the end.

        ``spec`` is a mapping as in a check file, or a function.
        """
        self._probes[name] = probe(spec, tmp=lambda: self.tmp, load=self._load)
        if self._begun:
            self._before[name] = self._probes[name].rows()


def begin(trial: Trial) -> None:
    """Read the probes' first state and begin to watch the ledger: what stands now is not the app's doing."""
    trial._begun = True  # noqa: SLF001  # the two ends of a trial live in this module, away from what users see
    trial._rows.open(trial._record)  # noqa: SLF001  # as above
    trial._before = {name: every.rows() for name, every in trial._probes.items()}  # noqa: SLF001  # as above


@dataclass(frozen=True, slots=True)
class Seen:
    """What the probes saw: before and after by name, and what went wrong with which, at which path."""

    probes: dict[str, Json]
    problems: tuple[tuple[str, str, InvcheckError], ...]


def end(trial: Trial) -> Seen:
    """Read the probes' last state and the ledger's last rows."""
    problems: list[tuple[str, str, InvcheckError]] = []
    seen: dict[str, Json] = {}
    try:
        trial._rows.finish()  # noqa: SLF001  # as above
    except InvcheckError as problem:
        problems.append(("the ledger", "$.ledger", problem))
    for name, every in trial._probes.items():  # noqa: SLF001  # as above
        seen[name] = {"before": trial._before.get(name)}  # noqa: SLF001  # as above
        try:
            seen[name]["after"] = every.rows()
        except InvcheckError as problem:
            problems.append((f"the probe {name!r}", "$.probes", problem))
    return Seen(seen, tuple(problems))


def close(trial: Trial) -> None:
    """Close the probes, remove the folder, and let go of what holds the record in turn, which only the collector would free."""
    trial._record.doubles.clear()  # noqa: SLF001  # as above
    trial._record.clock = None  # noqa: SLF001  # as above
    for every in (trial._rows, *trial._probes.values()):  # noqa: SLF001  # as above
        every.close()
    if trial._made:  # noqa: SLF001  # as above
        import shutil  # noqa: PLC0415  # as above

        shutil.rmtree(trial._made, ignore_errors=True)  # noqa: SLF001  # as above
