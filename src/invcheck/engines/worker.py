"""One confined worker, as its supervisor sees it: started, spoken to, listened to, ended."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from invcheck.canonical import packed, unpacked
from invcheck.engines import confine, stuck
from invcheck.errors import InvcheckError
from invcheck.sandbox import environ, network
from invcheck.sandbox.inherited import VARIABLE, Inherited
from invcheck.vocabulary import Json

_NO_EXEC = 97
_MESSAGES = frozenset({"event", "spent", "done", "failed"})


class NotConfined(OSError):
    """The kernel refuses the namespaces; the text says how."""


class Worker:
    """A running worker; ``task`` is the index of the task in hand, ``since`` when it was last heard of.

    ``process`` is a descriptor that becomes readable when the worker is over, None on a kernel without such.
    """

    def __init__(self, entry: Sequence[str], root: str, temp: str, unshare: Callable[[int], None] | None, output: int) -> None:
        """Start ``sys.executable *entry`` in the folder ``root``.

        NotConfined where ``unshare`` is given and refused, InvcheckError where exec fails.
        """
        self.temp, self._root = temp, root
        self.task: int | None = None
        self.since = 0.0
        self._outbox = self._inbox = b""
        self._told = 0  # how many bytes of the notes belong to earlier tasks
        self._status: int | None = None
        self.garbled = self.spent = False
        for name in ("home", "temp"):
            Path(temp, name).mkdir(parents=True)
        self._notes, self._frames = network.notes_file(), network.notes_file()
        tasks, self._tasks = os.pipe()
        self.messages, messages = os.pipe()
        life, self._life = os.pipe()
        report, status = os.pipe()
        os.set_blocking(self._tasks, False)
        os.set_blocking(self.messages, False)
        self.pid = os.fork()
        if self.pid == 0:
            self._become(
                entry,
                Inherited(life, tasks, messages, self._notes, self._frames, unshare is not None, f"{temp}/temp"),
                root,
                unshare,
                output,
                status,
            )
        for descriptor in (tasks, messages, life, status):
            os.close(descriptor)
        self.process = _process_descriptor(self.pid)
        refusal = _whole(report)
        if refusal:
            self.end()
            raise NotConfined(refusal[1:]) if refusal[0] == "N" else InvcheckError(f"a worker could not be started: {refusal[1:]}")

    def _become(
        self, entry: Sequence[str], inherited: Inherited, root: str, unshare: Callable[[int], None] | None, output: int, status: int
    ) -> NoReturn:
        """Turn the forked child into the worker; whatever goes wrong is reported, and nothing of ours runs on."""
        try:
            os.setsid()  # a terminal's Ctrl-C is the supervisor's business
            confine.end_with(inherited.life)
            if unshare is not None:
                try:
                    confine.enter(unshare)
                    confine.cover({root, self.temp, os.path.realpath(sys.executable), sys.prefix, sys.base_prefix, *sys.path})
                except OSError as error:
                    os.write(status, f"N{error.strerror} ({_name(error)})".encode())
                    os._exit(_NO_EXEC)
            null = os.open(os.devnull, os.O_RDONLY)
            for source, target in ((null, 0), (output, 2), (2, 1)):
                os.dup2(source, target)
            confine.close_others({*inherited.descriptors(), status})
            for descriptor in inherited.descriptors():
                os.set_inheritable(descriptor, True)
            given, _ = environ.scrubbed(os.environ, f"{self.temp}/home", inherited.temp)
            os.chdir(root)
            given[VARIABLE] = inherited.text()
            os.execve(sys.executable, [sys.executable, *entry], given)  # noqa: S606  # our own interpreter
        except OSError as error:
            os.write(status, f"E{error.strerror} ({_name(error)})".encode())
        finally:
            os._exit(_NO_EXEC)

    def give(self, index: int, task: Json, now: float) -> None:
        """Hand over a task; it is written as the worker reads."""
        self.task, self.since = index, now
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
        heard = [message for line in lines if (message := self._message(line)) is not None and not self._spends(message)]
        if heard:
            self.since = now
        if any("event" not in message for message in heard):
            self.task = None
        return heard

    def _spends(self, message: Json) -> bool:
        self.spent = self.spent or "spent" in message
        return "spent" in message

    def _message(self, line: bytes) -> Json:
        with suppress(ValueError):
            message = unpacked(line)
            if not self.garbled and isinstance(message, dict) and len(message) == 1 and message.keys() <= _MESSAGES:
                return message
        self.garbled = True
        return None

    def over(self) -> str | None:
        """Say how the worker ended, such as "signal 9 (SIGKILL)" or "exit 3"; None while it runs."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid == 0:
                return None
            self._status = status
        code = os.waitstatus_to_exitcode(self._status)
        return f"exit {code}" if code >= 0 else f"signal {-code} ({signal.Signals(-code).name})"

    def breaches(self) -> list[dict[str, Json]]:
        """Give what was noted at the gate in the task in hand, by a worker that cannot tell any more."""
        notes, _ = network.noted(self._notes, self._told)
        return [{name: value for name, value in note.items() if name != "process"} for note in notes if "child" not in note]

    def standing(self) -> str | None:
        """Ask a stuck worker where in the project it stands; None when it does not answer in two seconds."""
        return stuck.ask(self.pid, self._frames, self._root)

    def dismiss(self) -> None:
        """Let an idle worker end by itself: there are no more tasks."""
        if self._tasks >= 0:
            os.close(self._tasks)
            self._tasks = -1

    def end(self) -> None:
        """End the worker and everything it started, now, and close what belongs to it."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if self._status is None:
            _, self._status = os.waitpid(self.pid, 0)
        self.dismiss()
        for descriptor in (self.messages, self._life, self._notes, self._frames, self.process):
            if descriptor is not None:
                os.close(descriptor)


def _process_descriptor(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None  # an old kernel or an emulated one: its supervisor looks again and again


def _whole(descriptor: int) -> str:
    """Read a pipe to its end, which comes with exec, and close it."""
    parts = []
    while part := os.read(descriptor, 4096):
        parts.append(part)
    os.close(descriptor)
    return b"".join(parts).decode()


def _name(error: OSError) -> str:
    from errno import errorcode  # noqa: PLC0415  # only for a refusal

    return errorcode.get(error.errno or 0, "?")
