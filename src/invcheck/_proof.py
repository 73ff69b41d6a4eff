"""Prove the gate: listeners of our own judge whether anybody gets out, first without walls, then from a worker.

A way that no listener sees without walls proves nothing, so each is taken there first. All of it happens in namespaces of
its own where the kernel grants them, else on loopback; nothing is sent anywhere else.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fcntl import ioctl
from functools import partial
from pathlib import Path
from select import poll
from struct import pack
from tempfile import TemporaryDirectory
from typing import NoReturn

from invcheck._probe import UNSEEN, WAYS
from invcheck.engines import confined
from invcheck.errors import Unevaluated
from invcheck.gate import confinement, names
from invcheck.gate.tiers import Tier
from invcheck.vocabulary import Json

ENTRY = ("-m", "invcheck._probe")

_ELSEWHERE, _LOOPBACK = "192.0.2.1", "127.0.0.1"
"""An address of TEST-NET-1 (RFC 5737), which is on no network, and loopback where there is no namespace to put it in."""

_NAME = "model.invalid"  # RFC 2606: nobody has it
_SET_ADDRESS = 0x8916  # netdevice(7)
_DATAGRAM, _WAITING = 4_096, 20  # bytes; milliseconds between two looks at a program
Start = Callable[[str, Json], list[str]]


@dataclass(frozen=True, slots=True)
class Taken:
    """One way out: whether a listener saw it ``without`` walls and from ``inside`` a worker, and whether it was ``noted``.

    ``promised`` says whether the tier promises to stop it.
    """

    way: str
    without: bool
    inside: bool
    noted: bool
    promised: bool

    @property
    def held(self) -> bool:
        """Whether the gate held: it was seen without walls, and from inside it was not, or was not promised to be."""
        return self.without and not (self.inside and self.promised)


@dataclass(frozen=True, slots=True)
class Proof:
    """The ``tier`` that the kernel grants here, why no better one, and what came of every way out.

    ``own`` says whether there was a namespace for the listeners; without one names are not looked up, since a real server
    would be asked.
    """

    tier: Tier
    refusals: dict[Tier, str]
    own: bool
    ways: tuple[Taken, ...]

    @property
    def held(self) -> bool:
        """Whether the gate does what its tier promises, as far as it was tried."""
        return bool(self.ways) and all(each.held for each in self.ways)


def prove(root: Path, *, tiers: Sequence[Tier] = tuple(Tier)) -> Proof:
    """Take every way out and judge it by listeners; Unevaluated, code PROOF, where that could not be done."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        _apart(root, tiers, writes)
    os.close(writes)
    with open(reads, "rb") as told:  # noqa: PTH123  # a descriptor
        said = told.read()
    os.waitpid(child, 0)
    found: Json = json.loads(said) if said else {"error": "the process that was to prove it died"}
    if "error" in found:
        raise Unevaluated(f"the gate could not be proved: {found['error']}", code="PROOF")
    return Proof(
        Tier(found["tier"]),
        {Tier(tier): text for tier, text in found["refusals"].items()},
        found["own"],
        tuple(Taken(*each) for each in found["ways"]),
    )


def _apart(root: Path, tiers: Sequence[Tier], writes: int) -> NoReturn:
    """Prove it in this forked child, which enters namespaces, and tell the outcome."""
    try:
        found: Json = _proved(root, tiers)
    except Exception as error:  # noqa: BLE001  # it is told as what could not be judged
        found = {"error": str(error) or type(error).__name__}
    try:
        with open(writes, "wb") as told:  # a descriptor
            told.write(json.dumps(found).encode())
    finally:
        os._exit(0)


def _proved(root: Path, tiers: Sequence[Tier]) -> Json:
    with TemporaryDirectory(prefix="invcheck-doctor-") as folder:
        own = _own_network(folder)
        with _judges(_ELSEWHERE if own else _LOOPBACK, folder, own=own) as judges, confined.Pool(ENTRY, root=root, tiers=tiers) as pool:
            tier = pool.tier
            ways = [way for way, (_, target) in WAYS.items() if target in judges.targets]
            without = {way: judges.seen(way, partial(_unwalled, judges, way)) for way in ways}
            taken = []
            for way in ways:
                noted: list[Json] = []
                inside = judges.seen(way, partial(_asked, pool, way, judges.targets, noted))
                taken.append((way, without[way], inside, bool(noted), tier.kernel or way not in UNSEEN))
    return {"tier": tier, "refusals": pool.refusals, "own": own, "ways": taken}


def _own_network(folder: str) -> bool:
    """Enter a network of our own, with an address that is not loopback and a server for names; say whether there is one."""
    text = Path(folder, "resolv.conf")
    text.write_bytes(confinement.RESOLVER_TEXT)
    try:
        confinement.enter(confinement.prepare())
    except OSError:
        return False
    confinement.resolve_here(str(text))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        ioctl(control, _SET_ADDRESS, pack("16sHH4s24x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(_ELSEWHERE))[:40])
    return True


def _program(way: str, targets: Json) -> subprocess.Popen[bytes]:
    command = [sys.executable, *ENTRY, way, json.dumps(targets)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603  # our own interpreter


def _unwalled(judges: _Judges, way: str) -> None:
    """Have a plain program take a way."""
    judges.wait(_program(way, judges.targets))


def _asked(pool: confined.Pool, way: str, targets: Json, noted: list[Json]) -> None:
    """Have a worker take a way, and add what was noted."""
    ((_, message),) = pool.run([{"do": "take", "way": way, "to": targets}])
    noted += message.get("done") or message.get("breaches") or []


class _Judges:
    """Listeners that see who gets out."""

    def __init__(self, targets: Json, listening: dict[str, socket.socket]) -> None:
        self.targets, self._listening = targets, listening

    def seen(self, way: str, take: Callable[[], object]) -> bool:
        """Say whether the listener that a way leads to sees somebody who takes it."""
        target = WAYS[way][1]
        self._drained(target)
        take()
        return self._drained(target)

    def wait(self, running: subprocess.Popen[bytes]) -> None:
        """Wait for a program, and answer the names that it asks for: there are none."""
        server = self._listening.get("name")
        while running.poll() is None:
            poller = poll()
            if server is not None:
                poller.register(server, 1)
            if poller.poll(_WAITING) and server is not None:
                query, asker = server.recvfrom(_DATAGRAM)
                question = names.asked(query)
                self._asked = question is not None or self._asked
                if question is not None:
                    server.sendto(names.nothing(query, question[1]), asker)

    _asked = False

    def _drained(self, target: str) -> bool:
        """Take everything that has come to a listener; say whether there was anything."""
        found, self._asked = target == "name" and self._asked, False
        one = self._listening[target]
        with suppress(BlockingIOError):
            while True:
                if one.type == socket.SOCK_DGRAM:
                    one.recv(_DATAGRAM)
                else:
                    one.accept()[0].close()
                found = True
        return found


@contextmanager
def _judges(host: str, folder: str, *, own: bool) -> Iterator[_Judges]:
    listening = {
        "port": socket.create_server((host, 0)),
        "datagrams": socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "path": socket.socket(socket.AF_UNIX),
        "abstract": socket.socket(socket.AF_UNIX),
    }
    path, abstract = f"{folder}/judge", f"invcheck-judge-{os.getpid()}"
    try:
        listening["datagrams"].bind((host, 0))
        listening["path"].bind(path)
        listening["abstract"].bind("\0" + abstract)
        for name in ("path", "abstract"):
            listening[name].listen()
        if own:
            listening["name"] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            listening["name"].bind(confinement.SINK)
        for each in listening.values():
            each.setblocking(False)
        ports = {name: listening[name].getsockname()[1] for name in ("port", "datagrams")}
        yield _Judges({"host": host, **ports, "path": path, "abstract": abstract, **({"name": _NAME} if own else {})}, listening)
    finally:
        for each in listening.values():
            each.close()
