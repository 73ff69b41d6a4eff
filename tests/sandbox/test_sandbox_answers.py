"""Answers from outside of the trial, which an event loop awaits."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from invcheck.record import Record
from invcheck.sandbox import answers, box, clock

pytestmark = pytest.mark.usefixtures("trio_threads")


@pytest.fixture(params=["tcp", "unix"])
def service(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A service in a process of its own, which answers each line after a pause; the trial may reach it."""
    if request.param == "tcp":
        listening = socket.create_server(("127.0.0.1", 0))
        address: Any = listening.getsockname()
        allow = f"tcp:127.0.0.1:{address[1]}"
    else:
        listening = socket.socket(socket.AF_UNIX)
        address = str(tmp_path / "s")
        listening.bind(address)
        listening.listen()
        allow = f"unix:{address}"
    child = os.fork()
    if not child:
        try:
            served, _ = listening.accept()
            while served.recv(10):
                clock.real_sleep(0.1)
                served.send(b"par")
                clock.real_sleep(0.03)
                served.send(b"ts\n")
        finally:
            os._exit(0)
    monkeypatch.setattr(answers, "allowed", lambda: (allow,))
    yield address
    listening.close()
    os.waitpid(child, 0)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_limit_is_no_false_one_over_an_answer(service: Any, backend: str) -> None:
    """An answer that takes 0.13 real seconds, in two parts, comes before a limit of a millisecond; between, sleeps pass at once."""

    async def main() -> tuple[list[bytes], float]:
        ours = socket.socket(socket.AF_UNIX if isinstance(service, str) else socket.AF_INET)
        with ours:
            ours.setblocking(False)
            ours.connect_ex(service)
            await anyio.wait_writable(ours)
            got = []
            for _ in range(2):
                ours.send(b"ask\n")
                line = b""
                with anyio.fail_after(0.001):
                    while not line.endswith(b"\n"):
                        await anyio.wait_readable(ours)
                        line += ours.recv(10)
                got.append(line)
                await anyio.sleep(1000)
        return got, anyio.current_time()

    before = clock.real_monotonic()
    with box.trial(Record()):
        assert anyio.run(main, backend=backend) == ([b"parts\n"] * 2, 3000)
    assert clock.real_monotonic() - before < 8


def test_a_connection_that_idles_holds_nothing(service: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client of asyncio looks at its connection all the time: three hours of sleep pass at once, or after a while over a Unix socket."""

    async def main() -> tuple[bytes, float]:
        if isinstance(service, str):
            reader, writer = await asyncio.open_unix_connection(service)
        else:
            reader, writer = await asyncio.open_connection(*service)
        writer.write(b"ask\n")
        line = await asyncio.wait_for(reader.readline(), 0.001)
        await asyncio.sleep(3 * 3600)
        writer.close()
        await writer.wait_closed()
        return line, asyncio.get_running_loop().time()

    monkeypatch.setattr(answers, "PATIENCE", 0.5)
    before = clock.real_monotonic()
    with box.trial(Record()):
        assert asyncio.run(main()) == (b"parts\n", 1000 + 3 * 3600)
    # in a Unix socket nobody sees who asked last, so each wait takes its patience
    assert clock.real_monotonic() - before < 5


@pytest.mark.parametrize("what", ["pipe", "listener", "netlink", "other"])
def test_what_does_not_lead_outside_brings_nothing(what: str) -> None:
    """A pipe, a socket that listens or is of another kind, and a connection to what is not allowed have no answer."""
    made = {
        "pipe": lambda: os.pipe()[0],
        "listener": lambda: socket.create_server(("127.0.0.1", 0)).detach(),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).detach(),
        "other": lambda: socket.create_connection(server.getsockname()).detach(),
    }
    with socket.create_server(("127.0.0.1", 0)) as server:
        descriptor = made[what]()
        assert answers._connection(descriptor, ("tcp:127.0.0.1:1",)) is None
        os.close(descriptor)


def test_a_number_that_comes_again_is_another_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was known of the one before is forgotten with it; nothing is known of what was never looked at."""
    monkeypatch.setattr(answers, "allowed", lambda: ("tcp:127.0.0.1:1",))
    told = iter([("one", 1, 0), ("other", 0, 0), None])
    monkeypatch.setattr(answers, "_connection", lambda *_: next(told))
    known = answers.Answers()
    seen = [known.awaited(lambda: [3])]
    for _ in range(3):
        known.look(lambda: [3])
        seen.append(known.awaited(lambda: [3]))
    assert seen == [False, True, False, False]
    assert known.awaited(lambda: [4]) is False
