"""Run another runner's command behind the kernel's walls: this process only supervises, and ends with its status."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from invcheck import settings
from invcheck.errors import Refused
from invcheck.gate import cell
from invcheck.gate.tiers import Tier
from invcheck.sandbox import environ, network
from invcheck.sandbox.inherited import VARIABLE, Inherited
from invcheck.session import ISOLATED
from invcheck.vocabulary import Json

_READABLE, _LOOK_AGAIN = 1, 50  # select.POLLIN; milliseconds where the kernel cannot announce an end


def isolate(argv: Sequence[str], root: str) -> int:
    """Run ``sys.executable *argv`` confined as workers are, on this terminal, and give its exit status.

    What the settings of the project ``root`` belongs to allow and keep holds here too. ConfigError where they cannot be read.

    An attempt to get out that failed no test, as one of a worker of the runner's own, is told on stderr and makes a status
    of 0 a 1. Refused, code GATE_REQUIRED, where the kernel helps in none of its ways: whoever asks for walls gets no less.
    """
    own, refusals = settings.load(settings.project(Path(root))), []
    for tier in (each for each in Tier if each.kernel):
        try:
            with TemporaryDirectory(prefix="invcheck-") as folder:
                return _confined(argv, root, folder, tier, own)
        except cell.NotWalled as refusal:
            refusals.append(f"{tier}: {refusal}")
    hint = "`invcheck doctor` tells what this machine grants; --invcheck-gate cuts what Python itself does"
    raise Refused(f"the kernel refuses to confine pytest: {'; '.join(refusals)}", code="GATE_REQUIRED", hint=hint)


def _confined(argv: Sequence[str], root: str, folder: str, tier: Tier, own: settings.Settings) -> int:
    for name in ("home", "temp"):
        Path(folder, name).mkdir()
    seen = {root, folder, os.path.realpath(sys.executable), sys.prefix, sys.base_prefix, *sys.path}
    around = cell.walls(tier, seen=seen, allow=own.gate_allow)
    life, kept = os.pipe()
    notes, sites, frames = (network.notes_file() for _ in range(3))
    inherited = Inherited(life, life, life, notes, sites, frames, tier, around.alone, own.gate_allow, f"{folder}/temp")
    given, _ = environ.scrubbed(os.environ, f"{folder}/home", inherited.temp, keep=own.gate_keep_env)
    program = cell.Program(
        argv=(sys.executable, *argv),
        environ={**given, VARIABLE: inherited.text(), ISOLATED: str(tier)},
        folder=str(Path.cwd()),
        temp=inherited.temp,
        life=life,
        notes=notes,
        sites=sites,
        keep=tuple({*inherited.descriptors()}),
        leads=False,
    )
    try:
        running = cell.Cell(program, around)
        with _deaf():
            status = _waited(running)
        attempts, _ = network.noted(notes)
        return status or _told(attempts)
    finally:
        for descriptor in (life, kept, notes, sites, frames):
            os.close(descriptor)


def _waited(running: cell.Cell) -> int:
    from select import poll  # noqa: PLC0415  # only here

    try:
        while running.over() is None:
            poller = poll()
            for descriptor in (running.process, *running.descriptors()):
                if descriptor is not None:
                    poller.register(descriptor, _READABLE)
            poller.poll(_LOOK_AGAIN if running.process is None else None)
            running.attend()
        return running.status
    finally:
        running.end()


def _told(attempts: Iterable[Mapping[str, Json]]) -> int:
    """Tell attempts at the gate, each once; give the status that they make."""
    wanted = sorted(
        {f"{each['wanted']}{f' by {program}' if (program := each.get('command')) else ''}" for each in attempts if "wanted" in each}
    )
    for each in wanted:
        sys.stderr.write(f"invcheck: {each} was wanted and refused, and no test failed of it\n")
    return int(bool(wanted))


def _leave(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


@contextmanager
def _deaf() -> Iterator[None]:
    """Leave a terminal's signals to the isolated process, which gets them as well; end it with this one at any other."""
    before = {each: signal.signal(each, signal.SIG_IGN) for each in (signal.SIGINT, signal.SIGQUIT)}
    before |= {each: signal.signal(each, _leave) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
