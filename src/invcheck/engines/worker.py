"""One confined worker, as its supervisor sees it: a cell with a channel, spoken to, listened to, ended."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from invcheck.canonical import packed, unpacked
from invcheck.engines import stuck
from invcheck.engines.limits import Limits, Meter
from invcheck.engines.variant import PLAIN, Variant
from invcheck.gate.cell import Cell, Program, Walls
from invcheck.sandbox import ambient, environ, network, notes
from invcheck.sandbox.inherited import VARIABLE, Inherited
from invcheck.vocabulary import Json

_MESSAGES = frozenset({"event", "spent", "done", "failed", "held", "over"})


class Worker:
    """A running worker of one `Variant`; ``task`` is the index of the task in hand, ``since`` when it was last heard of."""

    def __init__(
        self, entry: Sequence[str], root: str, temp: str, walls: Walls, output: int, variant: Variant = PLAIN, kept: Sequence[str] = ()
    ) -> None:
        """Start ``sys.executable *entry`` in the folder ``root``, or where the variant wants it, with the variables ``kept``.

        NotWalled where the kernel refuses one of the ``walls``, InvcheckError where exec fails.
        """
        self.temp, self.variant, self._root = temp, variant, root
        self.task: int | None = None
        self.since = 0.0
        self.trial = 0
        self._held: Json = None
        self._outbox = self._inbox = b""
        self._told = 0  # how many bytes of the notes belong to earlier tasks
        self.garbled = self.spent = False
        for name in ("home", "temp"):
            Path(temp, name).mkdir(parents=True)
        self._notes, self._sites, self._frames = network.notes_file(), network.notes_file(), network.notes_file()
        tasks, self._tasks = os.pipe()
        self.messages, messages = os.pipe()
        life, self._life = os.pipe()
        null = os.open(os.devnull, os.O_RDONLY)
        os.set_blocking(self._tasks, False)
        os.set_blocking(self.messages, False)
        inherited = Inherited(
            life, tasks, messages, self._notes, self._sites, self._frames, walls.tier, walls.alone, walls.allow, f"{temp}/temp"
        )
        given, _ = environ.scrubbed(os.environ, f"{temp}/home", inherited.temp, keep=kept)
        program = Program(
            argv=(sys.executable, *entry),
            environ={**variant.applied(given), VARIABLE: inherited.text()},
            folder=variant.folder or root,
            temp=inherited.temp,
            life=life,
            notes=self._notes,
            sites=self._sites,
            keep=inherited.descriptors(),
            stdio=(null, output, output),
        )
        try:
            self.cell = Cell(program, walls)
        except BaseException:
            self._close()
            raise
        finally:
            for descriptor in (tasks, messages, life, null):
                os.close(descriptor)

    @property
    def pid(self) -> int:
        """The number of the worker's process, which leads its group."""
        return self.cell.pid

    def give(self, index: int, task: Json, now: float) -> None:
        """Hand over a task; it is written as the worker reads."""
        self.task, self.since, self.trial = index, now, self.trial + 1
        _, self._told = network.noted(self._notes, self._told)
        self._outbox += packed(task)
        self.flush()

    def flush(self) -> int | None:
        """Write what the worker takes now; give the descriptor to wait for if some is left."""
        while self._outbox:
            try:
                self._outbox = self._outbox[os.write(self._tasks, self._outbox) :]
            except BlockingIOError:
                return self._tasks
            except BrokenPipeError:
                self._outbox = b""  # it is over, and will be found so
        return None

    def hear(self, now: float) -> list[Json]:
        """Give the messages that arrived since; the last one of a task frees the worker, what is none makes it ``garbled``.

        A worker that is ``spent`` can do no further task.
        """
        with suppress(BlockingIOError):
            while part := os.read(self.messages, 1 << 16):
                self._inbox += part
        *lines, self._inbox = self._inbox.split(b"\n")
        heard = [told for line in lines if (message := self._message(line)) is not None and (told := self._told_of(message))]
        if heard:
            self.since, self.trial = now, self.trial + 1
        if any("event" not in message for message in heard):
            self.task = None
        return heard

    def _told_of(self, message: Json) -> Json:
        """Give what a message tells of the task; what a child of the worker answered counts when that is over."""
        if "spent" in message:
            self.spent = True
        elif "held" in message:
            self._held = message["held"]
        elif "over" in message:
            held, self._held = self._held, None
            return held
        else:
            return message
        return None

    def _message(self, line: bytes) -> Json:
        with suppress(ValueError):
            message = unpacked(line)
            if not self.garbled and isinstance(message, dict) and len(message) == 1 and message.keys() <= _MESSAGES:
                return message
        self.garbled = True
        return None

    def breaches(self) -> list[dict[str, Json]]:
        """Give what was noted at the gate in the task in hand, by a worker that cannot tell any more."""
        ambient.install(self._root)
        return notes.breaches(self._notes, self._sites, self._told)

    def meter(self, limits: Limits, now: float) -> Meter:
        """Give what looks at how much the worker and everything it started use."""
        return Meter(self.cell.keeper, limits, now)

    def standing(self, bearable: Callable[[], bool]) -> str | None:
        """Ask a stuck worker where in the project it stands; None when it does not in two seconds that are ``bearable``."""
        return stuck.ask(self.pid, self._frames, self._root, bearable)

    def dismiss(self) -> None:
        """Let an idle worker end by itself: there are no more tasks."""
        if self._tasks >= 0:
            os.close(self._tasks)
            self._tasks = -1

    def over(self) -> str | None:
        """Say how the worker ended, such as "signal 9 (SIGKILL)" or "exit 3"; None while it runs."""
        return self.cell.over()

    def end(self) -> None:
        """End the worker and everything it started, now, and close what belongs to it."""
        self.cell.end()
        self._close()

    def _close(self) -> None:
        self.dismiss()
        for descriptor in (self.messages, self._life, self._notes, self._sites, self._frames):
            os.close(descriptor)
