"""The worker's end of the channel: tasks in, messages out, one JSON document a line, over inherited descriptors.

Nothing that user code prints can reach it, and a child that user code forks cannot answer in the worker's name.
"""

from __future__ import annotations

import os
import signal
import sys
from _thread import _count as other_threads
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from invcheck.canonical import packed, unpacked
from invcheck.errors import InvcheckError, NetworkBlocked
from invcheck.gate import orphans
from invcheck.sandbox import network
from invcheck.sandbox.inherited import inherited
from invcheck.vocabulary import Json, spot

Emit: TypeAlias = Callable[[Json], None]
Handler: TypeAlias = Callable[[Json, Emit], Json]

# an app may replace what it finds in os, as a fake file system does: the channel holds on to its own
_fork, _kill, _leave, _process, _read, _wait, _write = os.fork, os.kill, os._exit, os.getpid, os.read, os.waitpid, os.write
_exit_code, _stopped = os.waitstatus_to_exitcode, os.WIFSTOPPED
_MUTE = 96

_CLOSED = InvcheckError(
    "the app closed descriptors that are not its own, so nothing could be told of this case",
    code="CHANNEL_CLOSED", hint="os.closerange belongs into a child that becomes another program",
)  # fmt: skip


def serve(handlers: Mapping[str, Handler], *, apart: Container[str] = (), first: Callable[[Json], None] | None = None) -> None:
    """Handle tasks until the supervisor closes the channel; ``task["do"]`` names the handler.

    A handler gets the task and a function that emits progress; what it returns is the task's ``done``. What it raises
    becomes ``failed``; SystemExit ends the worker. Tasks named in ``apart`` are each handled in a forked child, so that
    none sees what another left behind; where user code has started threads, which a fork would lose, one is handled here,
    and the worker says that it is spent. What such a child answers is ``held`` until the worker says that it came to its
    end. ``first`` is called with each task before, in this process, so that all children have what it did; it raises nothing.
    InvcheckError in a process that is no worker.
    """
    from invcheck.engines import stuck  # noqa: PLC0415  # the supervisor may import this module for its names alone

    channel = inherited()
    if channel is None:
        raise InvcheckError("this process is no worker", hint="workers are started by `invcheck run`")

    def handle(task: Json) -> None:
        process, here = _process(), task["do"] in apart and bool(other_threads())
        child = task["do"] in apart and not here

        def send(message: Json) -> None:
            if _process() != process:
                _leave(1)  # a forked child of the app came back up to us: it must not speak for the worker
            if "event" not in message:
                _flush()  # first: whoever dies of it has not answered
            write(channel.messages, packed(message))

        last = _uninterrupted(handlers, task, lambda event: send({"event": event}))
        if here:
            send({"spent": True})
        send({"held": last} if child else last)

    listen = stuck.listener(channel.frames)
    listen(True)
    answered = os.pipe()
    os.set_blocking(answered[0], False)
    for line in lines(channel.tasks):
        task = unpacked(line)
        if first is not None:
            first(task)
        if task["do"] in apart and not other_threads():
            told = _in_child(partial(handle, task), answered, listen)
            network.skip()
            write(channel.messages, packed({"over": True} if told else {"failed": failure(_CLOSED)}))
        else:
            handle(task)


def _in_child(work: Callable[[], None], answered: tuple[int, int], listen: Callable[[bool], None]) -> bool:
    """Do the work in a forked child; where it dies, this process dies the same way, and the supervisor sees it.

    The child says through the pipe ``answered`` that it came to its end: an app may leave with status 0, or become another
    program that does. False where it could not answer. What it leaves running comes to this process and is ended.
    """
    before = orphans.children()
    child = _fork()
    if child == 0:
        try:
            work()
            _write(answered[1], b".")
        except OSError:
            _leave(_MUTE)
        _leave(0)
    listen(False)
    status = _wait(child, os.WUNTRACED)[1]
    if _stopped(status):  # for ever: nobody else knows of it
        _kill(child, signal.SIGKILL)
        _wait(child, 0)
    orphans.end(but=before)
    listen(True)
    code = -signal.SIGSTOP if _stopped(status) else _exit_code(status)
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):  # which nobody can handle otherwise
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    try:
        said = _read(answered[0], 1)
    except BlockingIOError:
        said = b""
    if code == _MUTE and not said:
        return False
    if code or not said:
        _leave(code)
    return True


def _flush() -> None:
    """Have what user code printed come out; what is left of its streams may raise whatever it likes."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(BaseException):
            stream.flush()


def _uninterrupted(handlers: Mapping[str, Handler], task: Json, emit: Emit) -> Json:
    """Answer a task where nobody interrupts but what the task runs."""
    try:
        return answer(handlers, task, emit)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  # it becomes a message, as every other error does
        return {"failed": failure(error)}


def answer(handlers: Mapping[str, Handler], task: Json, emit: Emit) -> Json:
    """Give the last message of a task: ``{"done": value}`` or ``{"failed": {...}}``."""
    try:
        return {"done": handlers[task["do"]](task, emit)}
    except (Exception, NetworkBlocked) as error:  # noqa: BLE001  # it becomes a message, never a pass
        return {"failed": failure(error)}


def failure(error: BaseException) -> dict[str, Json]:
    """Put an exception into words: its code, message, place and hint; of a foreign one its type and where it arose.

    With ``INVCHECK_DEBUG`` in the environment the traceback goes to stderr.
    """
    if os.environ.get("INVCHECK_DEBUG"):
        from traceback import print_exception  # noqa: PLC0415  # for us, not for users

        print_exception(error, file=sys.stderr)
    if isinstance(error, InvcheckError):
        return {"code": error.code, "exit": error.exit, "message": error.message, "place": spot(error.place), "hint": error.hint}
    if isinstance(error, NetworkBlocked):
        return {"code": "NETWORK", "exit": 1, "message": error.message, "place": None, "hint": None}
    return {"code": "INTERNAL", "exit": 3, "message": f"{type(error).__name__} in {_where(error)}", "place": None, "hint": None}


def _where(error: BaseException) -> str:
    from invcheck.sandbox import ambient  # noqa: PLC0415  # only where something went wrong

    found = ambient.innermost(error.__traceback__)
    if found:
        return f"{found[0]}, line {found[1]}"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code if trace else None
    return f"{code.co_filename.rpartition('/')[2]}:{code.co_name}" if code else "an unknown place"


def lines(descriptor: int) -> Iterator[bytes]:
    """Give the lines that arrive on a descriptor until its other end is closed."""
    held = b""
    while part := _read(descriptor, 1 << 16):
        *lines, held = (held + part).split(b"\n")
        yield from lines


def write(descriptor: int, data: bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[_write(descriptor, view) :]
