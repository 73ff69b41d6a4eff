"""A worker for tests: what user code may do to it, one handler each."""

import asyncio
import ctypes
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from invcheck.engines import channel
from invcheck.errors import CheckFileError
from invcheck.record import Record
from invcheck.sandbox import box, network
from invcheck.vocabulary import Place

Emit = Callable[[Any], None]


def echo(task: Any, emit: Emit) -> Any:
    """Give back what was given, after its events, and print noise that looks like messages."""
    for event in task.get("events", []):
        emit(event)
    for stream in (sys.stdout, sys.stderr):
        stream.write('{"done": "forged"}\n{"died": "exit 9"}\n')
        stream.flush()
    return task.get("value")


def inside(task: Any, _emit: Emit) -> Any:
    """Tell what the worker sees of itself."""
    environ = dict(os.environ)
    links = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    original = Path("/proc/self/environ").read_bytes()
    return {
        "environ": environ, "links": links, "cwd": str(Path.cwd()), "pid": os.getpid(), "secret": b"sk-live" in original,
        "interfaces": [name for _, name in socket.if_nameindex()], "uid": os.getuid(), "stdin": sys.stdin.read(),
        "namespace": str(Path("/proc/self/ns/net").readlink()),
    }  # fmt: skip


def fail(task: Any, _emit: Emit) -> Any:
    """Raise what the task names."""
    if task["kind"] == "ours":
        raise CheckFileError("no such key", code="UNKNOWN_KEY", place=Place("checks/a.yaml", 3, 5), hint="did you mean runs?")
    if task["kind"] == "network":
        socket.getaddrinfo("model.invalid", 443)
    return 1 / 0


def end(task: Any, emit: Emit) -> Any:
    """End the process in one of the ways that user code has."""
    emit({"before": task["how"]})
    if task["how"] == "sys.exit":
        sys.exit(3)
    if task["how"] == "os._exit":
        os._exit(4)
    if task["how"] == "segfault":
        ctypes.string_at(0)
    if task["how"] == "breach":
        with suppress(BaseException):
            socket.getaddrinfo("model.invalid", 443)
        os._exit(5)
    os.kill(os.getpid(), getattr(signal, task["how"]))
    return None


def hang(task: Any, emit: Emit) -> Any:
    """Never come back; with a child that would stay behind."""
    if task.get("child"):
        child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
        emit({"child": child.pid, "worker": os.getpid()})
    if task.get("deaf"):
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    while True:
        pass


def fork(task: Any, _emit: Emit) -> Any:
    """Let a forked child come back through the handler, as an unguarded app does."""
    child = os.fork()
    if child == 0:
        return "the child speaks"
    os.waitpid(child, 0)
    return "the worker speaks"


def leak(task: Any, _emit: Emit) -> Any:
    """Try to reach a listener outside, in a trial, by one way; give the breaches that were noted."""
    record = Record(1)
    with box.trial(record), suppress(Exception, network.NetworkBlocked):
        WAYS[task["way"]](task["port"])
    return record.breaches


def _native(port: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.socket(2, 1, 0)
    address = (2).to_bytes(2, "little") + port.to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
    libc.connect(number, address, 16)


def _program(port: int) -> None:
    code = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
    subprocess.run([sys.executable, "-c", code], check=False, stderr=subprocess.DEVNULL)


def _swallowed(port: int) -> None:
    with suppress(BaseException):
        socket.create_connection(("127.0.0.1", port))


def _thread(port: int) -> None:
    thread = threading.Thread(target=_swallowed, args=(port,))
    thread.start()
    thread.join()


def _forked(port: int) -> None:
    child = os.fork()
    if child == 0:
        try:
            socket.create_connection(("127.0.0.1", port))
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def _spawned(port: int) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_program, args=(port,))
    process.start()
    process.join()


def _async(port: int) -> None:
    async def dial() -> None:
        await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(dial())


WAYS = {
    "native": _native, "program": _program, "swallowed": _swallowed, "thread": _thread, "forked": _forked, "spawned": _spawned,
    "async": _async, "plain": lambda port: socket.create_connection(("127.0.0.1", port)),
}  # fmt: skip


def own(task: Any, _emit: Emit) -> Any:
    """Serve and dial on the sandbox's own loopback, from a child process too."""
    record = Record(1)
    with box.trial(record), socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()
        _program(port)
        server.accept()[0].close()
        server.accept()[0].close()
    return record.breaches


def trial(task: Any, _emit: Emit) -> Any:
    """Run one trial that uses time and chance, asyncio included, and tell what it saw."""
    record = Record(task["seed"])
    with box.trial(record):
        time.sleep(1.5)
        asyncio.run(asyncio.sleep(2))
        seen = [random.random(), str(uuid.uuid4()), os.urandom(4).hex(), time.time(), time.localtime()[:6]]
    return {"seen": seen, "waits": record.waits, "modules": sorted(sys.modules)}


def modules(task: Any, _emit: Emit) -> Any:
    """Tell what is imported."""
    return sorted(sys.modules)


def apart(task: Any, emit: Emit) -> Any:
    """As `end`, in a child of its own; nothing to end gives the process."""
    return os.getpid() if task["how"] == "none" else end(task, emit)


HANDLERS = {f.__name__: f for f in (apart, echo, inside, fail, end, hang, fork, leak, own, trial, modules)}

if __name__ == "__main__":
    box.install(Path(__file__).parents[2])
    channel.serve(HANDLERS, apart={"apart"})
