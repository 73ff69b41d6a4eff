"""Confined workers and their single-threaded supervisor: one task at a time each, nothing shared, nothing left behind."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from invcheck.engines import confine
from invcheck.engines.worker import NotConfined, Worker
from invcheck.errors import Refused
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from collections.abc import Callable

_LOOK_AGAIN = 50  # milliseconds, where the kernel cannot announce the end of a process
_GRACE = 2_000  # milliseconds for idle workers to end by themselves
_READABLE, _WRITABLE = 1, 4  # select.POLLIN, select.POLLOUT


class Pool:
    """Runs tasks in workers that are confined before they execute any Python.

    ``entry`` is what follows the interpreter on the worker's command line; the program calls `channel.serve`. Workers
    run in the folder ``root``, by default the current one. ``cap_seconds`` is the real time in which a busy worker must
    be heard of. With ``require_kernel`` a kernel that refuses the namespaces raises Refused, code GATE_REQUIRED. What
    user code prints goes to the descriptor ``output``.
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
    ) -> None:
        self._root = str(Path.cwd() if root is None else root)
        self._entry, self._jobs, self._require, self._cap, self._output = entry, max(1, jobs), require_kernel, cap_seconds, output
        self._workers: list[Worker] = []
        self._reason: str | None = None
        self._probed = False
        self._unshare: Callable[[int], None] | None = None
        self._folder: str | None = None
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @property
    def layer(self) -> str:
        """How the workers are confined: "namespaces", or "in-process" where the kernel refuses."""
        if not self._probed:
            self._start()
        return "namespaces" if self._unshare is not None else "in-process"

    @property
    def reason(self) -> str | None:
        """Why the workers are not in namespaces, in the kernel's words; None where they are."""
        return self._reason if self.layer == "in-process" else None

    def run(self, tasks: Iterable[Json]) -> Iterator[tuple[int, Json]]:
        """Give (task index, message) as messages come; the last one of each task is one of these, others are ``event``.

        ``{"done": value}``, ``{"failed": {code, exit, message, place, hint}}``, ``{"died": "exit 3", "breaches": [...]}``,
        ``{"capped": seconds, "where": ..., "breaches": [...]}``. Whoever stops early loses the tasks in hand, and no more.
        """
        waiting = enumerate(tasks)
        upcoming = next(waiting, None)
        try:
            while upcoming is not None or any(worker.task is not None for worker in self._workers):
                while upcoming is not None and (worker := self._idle()) is not None:
                    worker.give(*upcoming, _now())
                    upcoming = next(waiting, None)
                self._sleep()
                for worker in list(self._workers):
                    yield from self._attend(worker)
        finally:
            for worker in list(self._workers):
                if worker.task is not None:
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

    def _idle(self) -> Worker | None:
        for worker in self._workers:
            if worker.task is None:
                return worker
        return self._start() if len(self._workers) < self._jobs else None

    def _start(self) -> Worker:
        if self._folder is None:
            from tempfile import mkdtemp  # noqa: PLC0415  # not before there is a worker

            self._folder = mkdtemp(prefix="invcheck-")
        if not self._probed:
            self._unshare = confine.prepare()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        self._started += 1
        try:
            worker = Worker(self._entry, self._root, f"{self._folder}/{self._started}", self._unshare, self._output)
        except NotConfined as refusal:
            if self._require:
                raise Refused(
                    f"the kernel refuses to confine workers: {refusal}",
                    code="GATE_REQUIRED",
                    hint='gate.require = "kernel" is set; allow unprivileged user namespaces here, or drop the setting',
                ) from None
            self._unshare, self._reason, self._probed = None, str(refusal), True
            return self._start()
        self._probed = True
        self._workers.append(worker)
        return worker

    def _sleep(self) -> None:
        """Sleep until a worker speaks, takes more of its task, ends, or is due for its cap."""
        from select import poll  # noqa: PLC0415  # not before there is a worker

        poller, now = poll(), _now()
        timeout = float(_GRACE)
        for worker in self._workers:
            if worker.process is None:
                timeout = min(timeout, _LOOK_AGAIN)
            else:
                poller.register(worker.process, _READABLE)
            full = worker.flush()
            if full is not None:
                poller.register(full, _WRITABLE)
            if worker.task is not None:
                poller.register(worker.messages, _READABLE)
                timeout = min(timeout, max(0.0, (worker.since + self._cap - now) * 1000))
        poller.poll(timeout + 1)

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
            last = {"capped": self._cap, "where": worker.standing(), "breaches": worker.breaches()}
        if last is not None:
            unfinished = worker.task is not None
            self._drop(worker)
            if index is not None and unfinished:
                yield index, last

    def _drop(self, worker: Worker) -> None:
        self._workers.remove(worker)
        worker.end()
        _remove(worker.temp)


def _now() -> float:
    from time import monotonic  # noqa: PLC0415  # the supervisor's own real time, asked where it is used

    return monotonic()


def _remove(folder: str) -> None:
    from shutil import rmtree  # noqa: PLC0415  # at the end

    rmtree(folder, ignore_errors=True)
