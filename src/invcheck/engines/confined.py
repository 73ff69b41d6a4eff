"""Confined workers and their single-threaded supervisor: one task at a time each, nothing shared, nothing left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Self

from invcheck.engines.limits import Limits, Meter
from invcheck.engines.variant import PLAIN, Variant
from invcheck.engines.worker import Worker
from invcheck.errors import InvcheckError, Refused
from invcheck.gate import cell
from invcheck.gate.tiers import Tier
from invcheck.vocabulary import Json

_GRACE = 2_000  # milliseconds for idle workers to end by themselves
_READABLE, _WRITABLE = 1, 4  # select.POLLIN, select.POLLOUT


class Pool:
    """Runs tasks in workers that are confined before they execute any Python.

    ``entry`` is what follows the interpreter on the worker's command line; the program calls `channel.serve`. Workers
    run in the folder ``root``, by default the current one. ``cap_seconds`` is the real time in which a busy worker must
    be heard of, ``limits`` what it and all it started may use meanwhile. The best of the ``tiers`` that the kernel grants
    holds for all of them; with ``require_kernel`` Refused, code GATE_REQUIRED, is raised where that is the soft one. What
    user code prints goes to the descriptor ``output``.
    ``keep_env`` names variables that workers get as they are.
    A task's ``allow`` and ``flips`` are what its worker was started with: one of another variant never gets it.
    A pool is a context manager: at its end its workers and their folders are gone.
    """

    def __init__(
        self,
        entry: Sequence[str],
        *,
        jobs: int = 1,
        require_kernel: bool = False,
        cap_seconds: float = 60.0,
        root: str | PathLike[str] | None = None,
        output: int = 2,
        tiers: Sequence[Tier] = tuple(Tier),
        limits: Limits | None = None,
        keep_env: Sequence[str] = (),
    ) -> None:
        self._root, self._kept = str(Path.cwd() if root is None else root), keep_env
        self._entry, self._jobs, self._require, self._cap, self._output = entry, max(1, jobs), require_kernel, cap_seconds, output
        self._workers: list[Worker] = []
        self._limits, self._meters = limits or Limits(), dict[Worker, Meter]()
        self._tiers, self._refusals, self._granted = list(tiers), dict[Tier, str](), False
        self._alone = True
        self._folder: str | None = None
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @property
    def tier(self) -> Tier:
        """How far the kernel helps; a worker is started where none was yet."""
        if not self._granted:
            self._start(PLAIN)
        return self._tiers[0]

    @property
    def layer(self) -> str:
        """The tier, as reports spell it: "K1", "K2", "K3" or "soft"."""
        return str(self.tier)

    @property
    def refusals(self) -> dict[Tier, str]:
        """Why each better tier is not the one that holds, in the kernel's words."""
        _ = self.tier
        return dict(self._refusals)

    @property
    def reason(self) -> str | None:
        """The same in one line; None where nothing was refused."""
        return "; ".join(f"{tier}: {text}" for tier, text in self.refusals.items()) or None

    def run(self, tasks: Iterable[Json]) -> Iterator[tuple[int, Json]]:
        """Give (task index, message) as messages come; the last one of each task is one of these, others are ``event``.

        ``{"done": value}``, ``{"failed": {code, exit, message, place, hint}}``, ``{"died": "exit 3", "breaches": [...]}``,
        ``{"capped": seconds, "where": ..., "breaches": [...]}``, the same with ``used`` and ``words`` where a limit was
        passed. Whoever stops early loses the tasks in hand, and no more.
        """
        waiting = enumerate(tasks)
        upcoming = next(waiting, None)
        try:
            while upcoming is not None or any(worker.task is not None for worker in self._workers):
                while upcoming is not None and (worker := self._idle(Variant.of(upcoming[1]))) is not None:
                    worker.give(*upcoming, _now())
                    upcoming = next(waiting, None)
                self._sleep()
                for worker in list(self._workers):
                    yield from self._attend(worker)
        finally:
            for worker in list(self._workers):
                if worker.task is not None:
                    self._drop(worker)

    def abandon(self) -> None:
        """End all workers at once, idle ones too: somebody waits for it."""
        for worker in list(self._workers):
            self._drop(worker)

    def close(self) -> None:
        """End all workers, idle ones gently, and remove their folders."""
        for worker in self._workers:
            worker.dismiss()
        deadline = _now() + _GRACE / 1000
        try:
            while self._workers and _now() < deadline:
                for worker in list(self._workers):
                    if worker.task is not None or worker.over():
                        self._drop(worker)
                if self._workers:
                    self._sleep()
        finally:
            for worker in list(self._workers):
                self._drop(worker)
            if self._folder is not None:
                _remove(self._folder)
                self._folder = None

    def _idle(self, variant: Variant) -> Worker | None:
        """Give a worker of that variant with nothing in hand: one that stands, else a new one where there is room for it."""
        idle = [worker for worker in self._workers if worker.task is None]
        for worker in idle:
            if worker.variant == variant:
                return worker
        if len(self._workers) >= self._jobs:
            if not idle:
                return None
            self._drop(idle[0])
        return self._start(variant)

    def _start(self, variant: Variant) -> Worker:
        if self._folder is None:
            from tempfile import mkdtemp  # noqa: PLC0415  # not before there is a worker

            self._folder = mkdtemp(prefix="invcheck-")
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        while True:
            tier = self._tiers[0]
            try:
                worker = self._walled(tier, variant)
            except cell.NotWalled as refusal:
                if self._granted:  # it was granted before: this worker must not be less than the others
                    raise InvcheckError(f"a worker could not be confined as those before it: {refusal}") from None
                if tier is Tier.K3 and self._alone:
                    self._alone = False  # its filter holds without namespaces too
                else:
                    self._lower(tier, str(refusal))
            else:
                self._granted = True
                self._workers.append(worker)
                self._meters[worker] = worker.meter(self._limits, _now())
                return worker

    def _walled(self, tier: Tier, variant: Variant) -> Worker:
        self._started += 1
        seen = {self._root, str(self._folder), os.path.realpath(sys.executable), sys.prefix, sys.base_prefix, *sys.path}
        around = cell.walls(tier, seen=seen, allow=variant.allow, alone=self._alone)
        return Worker(self._entry, self._root, f"{self._folder}/{self._started}", around, self._output, variant, self._kept)

    def _lower(self, tier: Tier, refusal: str) -> None:
        """Go on with the next tier, where that is not below what is required."""
        self._refusals[tier] = refusal
        del self._tiers[0]
        if not self._tiers or (self._require and not self._tiers[0].kernel):
            told = "; ".join(f"{each}: {text}" for each, text in self._refusals.items())
            raise Refused(
                f"the kernel refuses to confine workers: {told}",
                code="GATE_REQUIRED",
                hint='gate.require = "kernel" is set; `invcheck doctor` tells what this machine grants',
            )

    def _sleep(self) -> None:
        """Sleep until a worker speaks, takes more of its task, ends, or is due for its cap."""
        from select import poll  # noqa: PLC0415  # not before there is a worker

        poller, now = poll(), _now()
        timeout = float(_GRACE)
        for worker in self._workers:
            poller.register(worker.cell.process, _READABLE)
            for attempted in worker.cell.descriptors():
                poller.register(attempted, _READABLE)
            full = worker.flush()
            if full is not None:
                poller.register(full, _WRITABLE)
            if worker.task is not None:
                poller.register(worker.messages, _READABLE)
                due = min(worker.since + self._cap, self._meters[worker].due)
                timeout = min(timeout, max(0.0, (due - now) * 1000))
        poller.poll(timeout + 1)
        for worker in self._workers:
            worker.cell.attend()

    def _attend(self, worker: Worker) -> Iterator[tuple[int, Json]]:
        index, ended = worker.task, worker.over()  # asked before its messages are read: what it sent last is not lost
        if index is not None:
            heard = worker.hear(_now())
            if worker.spent and worker.task is None:
                self._drop(worker)
            for message in heard:
                yield index, message
            if worker not in self._workers:
                return
        last: Json = None
        if ended is not None or worker.garbled:
            last = {"died": ended or "it sent what is no message", "breaches": worker.breaches()}
        elif worker.task is not None and _now() - worker.since >= self._cap:
            last = {"capped": self._cap, "where": worker.standing(self._meters[worker].bearable), "breaches": worker.breaches()}
        elif worker.task is not None and (used := self._meters[worker].look(worker.trial, _now())):
            where = worker.standing(self._meters[worker].bearable)
            last = {"used": used, "words": self._limits.words(used), "where": where, "breaches": worker.breaches()}
        if last is not None:
            unfinished = worker.task is not None
            self._drop(worker)
            if index is not None and unfinished:
                yield index, last

    def _drop(self, worker: Worker) -> None:
        self._workers.remove(worker)
        del self._meters[worker]
        worker.end()
        _remove(worker.temp)


def _now() -> float:
    from time import monotonic  # noqa: PLC0415  # the supervisor's own real time, asked where it is used

    return monotonic()


def _remove(folder: str) -> None:
    from shutil import rmtree  # noqa: PLC0415  # at the end

    rmtree(folder, ignore_errors=True)
