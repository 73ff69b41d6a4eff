"""What is allowed is reached in every tier that this kernel grants, and nothing beside it: the service itself is the judge."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from invcheck.allowance import Tcp
from invcheck.engines import channel
from invcheck.engines.confined import Pool
from invcheck.errors import InvcheckError
from invcheck.gate import handover
from invcheck.gate.tiers import Tier
from invcheck.sandbox import box, network

ROOT = Path(__file__).parents[2]
ENTRY = ["-c", "from tests.gate.test_gate_allowed import worker; worker()"]
DIALS = ["python", "native"]


def worker() -> None:
    """Dial what a task says, through Python or through the C library alone, and give what came of it."""

    def dial(task: Any, _emit: Any) -> Any:
        try:
            (_native if task["how"] == "native" else _python)(task)
            said = "reached"
        except BaseException as error:  # noqa: BLE001  # the gate's own is one
            said = type(error).__name__
        return {"said": said, "wanted": sorted({each["wanted"] for each in network.pending()})}

    box.install(Path.cwd())
    channel.serve({"dial": dial})


def _python(task: Any) -> None:
    family = socket.AF_UNIX if "path" in task else socket.AF_INET
    with socket.socket(family) as client:
        client.connect(task["path"] if "path" in task else ("127.0.0.1", task["port"]))
        client.sendall(b"hello")
        assert client.recv(5) == b"hello"


def _native(task: Any) -> None:
    """Ask the C library, whose calls no audit hook sees."""
    libc = ctypes.CDLL(None, use_errno=True)
    if "path" in task:
        address = (1).to_bytes(2, "little") + task["path"].encode().ljust(108, b"\0")
    else:
        address = (2).to_bytes(2, "little") + task["port"].to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
    descriptor = libc.socket(1 if "path" in task else 2, 1, 0)
    if libc.connect(descriptor, address, len(address)) != 0:
        raise ConnectionError(os.strerror(ctypes.get_errno()))
    assert os.write(descriptor, b"hello") == 5
    assert os.read(descriptor, 5) == b"hello"
    os.close(descriptor)


class Service:
    """An echo outside, at a port and at a path, that counts who came."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "s")
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(self.path)
        self.unix.listen()
        self.port = self.tcp.getsockname()[1]
        self.came = 0
        for listener in (self.tcp, self.unix):
            threading.Thread(target=self._serve, args=(listener,), daemon=True).start()

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                end, _ = listener.accept()
            except OSError:
                return
            with end:
                said = end.recv(5)
                self.came += bool(said)
                end.sendall(said)

    def close(self) -> None:
        """Hear nobody any more."""
        for listener in (self.tcp, self.unix):
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service of this machine."""
    service = Service(tmp_path)
    yield service
    service.close()


def supervise(tier: str, told: str) -> None:
    """Run tasks in workers of a tier, and print what they gave; in a process with one thread, and without the gate of these tests."""
    with Pool(ENTRY, tiers=[Tier(tier)], root=ROOT, output=2) as pool:
        tasks = json.loads(told)
        try:
            done = [message["done"] for _, message in pool.run({"do": "dial", **task} for task in tasks)]
        except InvcheckError as refusal:
            done = refusal.message
    sys.stdout.write(json.dumps(done))


def _dialled(tier: Tier, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    command = [
        sys.executable,
        "-c",
        "import sys; from tests.gate.test_gate_allowed import supervise; supervise(*sys.argv[1:])",
        tier,
        json.dumps(tasks),
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    done = json.loads(ran.stdout)
    if isinstance(done, str):
        pytest.skip(f"this kernel grants no {tier}: {done}")
    return list(done)


@pytest.mark.parametrize("how", DIALS)
@pytest.mark.parametrize("tier", [*Tier])
def test_what_is_allowed_is_reached(tier: Tier, how: str, service: Service) -> None:
    """A port and a path, by Python and by native code."""
    allow = [f"tcp:127.0.0.1:{service.port}", f"unix:{service.path}"]
    tasks = [{"port": service.port, "allow": allow, "how": how}, {"path": service.path, "allow": allow, "how": how}]
    assert _dialled(tier, tasks) == [{"said": "reached", "wanted": []}] * 2
    assert service.came == 2


@pytest.mark.parametrize("how", DIALS)
@pytest.mark.parametrize("tier", [tier for tier in Tier if tier.kernel])
def test_what_is_not_allowed_is_not_reached(tier: Tier, how: str, service: Service) -> None:
    """Not its neighbour, and not by the worker that a task without an allow-list gets beside one that has it."""
    allow = [f"unix:{service.path}2", f"tcp:127.0.0.2:{service.port}"]
    other = {"port": service.port, "allow": [f"tcp:127.0.0.1:{service.port}"], "how": how}
    refused = [{"port": service.port, "how": how}, {"path": service.path, "how": how}]
    if tier is Tier.K3 and how == "native":
        refused.pop()  # a static filter reads no paths
    told = _dialled(tier, [*({**each, "allow": allow} for each in refused), other, *refused])
    assert [each["said"] == "reached" for each in told] == [False] * len(refused) + [True] + [False] * len(refused)
    assert service.came == 1


def test_an_address_that_a_machine_has_not_keeps_nobody_from_the_others(service: Service) -> None:
    """As ::1 where there is no IPv6; 2001:db8::1 (RFC 3849) is on no machine. One that is in use is an error."""
    assert handover.listening(Tcp("2001:db8::1", service.port)) is None
    with pytest.raises(OSError, match="already in use"):
        handover.listening(Tcp("127.0.0.1", service.port))


def test_a_listener_says_where_it_stands(service: Service) -> None:
    """So that what is carried leads where it was bound, whichever address was left out."""
    assert handover.place(service.tcp.fileno()) == Tcp("127.0.0.1", service.port)
