"""One process behind walls: made from a single-threaded supervisor, walled in before it executes anything.

The order is the point: fork, namespaces, the listeners of what is allowed, the filter, then exec. What the process would
need to get out again (a thread, a socket, a descriptor of before) does not exist when its program begins.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EAGAIN, EMFILE, ENFILE, ENOMEM
from typing import TYPE_CHECKING, Any, NoReturn

from invcheck.errors import InvcheckError
from invcheck.gate import confinement, handover
from invcheck.gate.tiers import Tier

if TYPE_CHECKING:
    from invcheck.allowance import Tcp
    from invcheck.gate.syscalls import Numbers
    from invcheck.gate.watch import Watch

_NO_EXEC = 97
_SHORT = frozenset({EAGAIN, EMFILE, ENFILE, ENOMEM})
_FEW = 64  # descriptors that come over at most beside those of the allow-list
_PATIENCE = 800  # milliseconds; whoever presses Ctrl-C waits no longer than a second


class NotWalled(OSError):
    """The kernel refuses a wall; the text says which and how."""


@dataclass(frozen=True, slots=True)
class Walls:
    """What is to stand around a process: how far the kernel helps, what may be reached all the same, what it must see.

    ``allow`` holds canonical texts of `allowance`; ``seen`` paths that stay visible. ``alone`` says whether it gets a network
    of its own, ``own_pids`` whether it gets process numbers of its own. Made by `walls`, which asks the kernel.
    """

    tier: Tier
    alone: bool
    seen: Collection[str] = ()
    allow: tuple[str, ...] = ()
    unshare: Callable[[int], None] | None = field(default=None, repr=False)
    filter: bytes = field(default=b"", repr=False)
    numbers: Numbers | None = field(default=None, repr=False)
    own_pids: bool = False

    @property
    def notifies(self) -> bool:
        """Whether calls that may leave wait for a verdict of the supervisor."""
        return self.tier in (Tier.K1, Tier.K2)

    @property
    def tcp(self) -> tuple[Tcp, ...]:
        """The allowed ports that are carried out of the process's own network."""
        if not self.allow:
            return ()
        from invcheck.allowance import Tcp, allowed  # noqa: PLC0415  # only where something is allowed

        return tuple(each for each in map(allowed, self.allow) if isinstance(each, Tcp)) if self.alone else ()

    @property
    def unix(self) -> tuple[str, ...]:
        """The paths of allowed Unix sockets."""
        if not self.allow:
            return ()
        from invcheck.allowance import Unix, allowed  # noqa: PLC0415  # as above

        return tuple(each.path for each in map(allowed, self.allow) if isinstance(each, Unix))


@dataclass(frozen=True, slots=True)
class Program:
    """What runs in a cell: a program with arguments, environment, folder and stdio; it keeps the descriptors ``keep``.

    ``life`` is the end of a pipe with whose other end it ends, ``notes`` and ``sites`` are where attempts are noted (see
    `watch`), ``temp`` a folder of its own. A program that does not lead a session stays on its terminal.
    """

    argv: Sequence[str]
    environ: Mapping[str, str]
    folder: str
    temp: str
    life: int
    notes: int
    sites: int
    keep: tuple[int, ...] = ()
    stdio: tuple[int, int, int] = (0, 1, 2)
    leads: bool = True


class Cell:
    """A running process behind walls, with what watches it, what carries out what it may reach, and a `keeper`.

    ``pid`` is its number out here; ``process`` is a descriptor that becomes readable when it is over. NotWalled where the
    kernel refuses a wall, InvcheckError where the program cannot be executed.
    """

    def __init__(self, program: Program, walls: Walls) -> None:
        self.watch: Watch | None = None
        self._relay: tuple[int, int] | None = None
        self._status: int | None = None
        self._resolver = f"{program.temp}/resolv.conf"
        report, status = os.pipe()
        kept, release = os.pipe()
        self._kept: int | None = release
        self.process, ended = os.pipe()
        ours, theirs = handover.pair()
        if walls.alone:
            _put(self._resolver, confinement.RESOLVER_TEXT)
        from invcheck.gate import keeper  # noqa: F401, PLC0415  # before the fork, as it imports ctypes

        self.pid = self._keeper = os.fork()
        if self.pid == 0:
            self._become(program, walls, status, theirs, (kept, ended))
        for descriptor in (status, kept, ended):
            os.close(descriptor)
        theirs.close()
        try:
            letters, handed, pid = handover.received(ours, _FEW + len(walls.allow))
            self.pid = pid or self.pid
            self._attach(program, walls, letters, handed)
        except BaseException:
            os.close(report)
            self.end()
            raise
        finally:
            ours.close()
        refusal = _whole(report)
        if refusal:
            self.end()
            raise NotWalled(refusal[1:]) if refusal[0] == "N" else InvcheckError(f"a worker could not be started: {refusal[1:]}")

    def _become(self, program: Program, walls: Walls, status: int, supervisor: Any, keep: tuple[int, int]) -> NoReturn:
        """Turn the forked child into the program; whatever goes wrong is reported, and nothing of ours runs on."""
        from invcheck.gate import keeper, seccomp  # noqa: PLC0415  # loaded before the fork

        own_pids = walls.own_pids and program.leads
        # at once: who holds the supervisor's ends of other cells keeps these from their end
        confinement.close_others({*program.keep, *program.stdio, *keep, program.life, status, supervisor.fileno()})
        try:
            try:
                if walls.unshare is not None:
                    confinement.enter(walls.unshare, own_pids=own_pids)
                keeper.part(*keep, own_pids=own_pids, leads=program.leads)
                if program.leads:
                    os.setsid()  # a terminal's Ctrl-C is the supervisor's business
                confinement.end_with(program.life, group=program.leads)
                handover.send(supervisor, *self._wall_in(walls, own_pids=own_pids))
                if walls.notifies:
                    seccomp.greeted()
            except OSError as error:
                # a machine that is short of something has not refused a wall: nothing less may be taken for it
                os.write(status, f"{'E' if error.errno in _SHORT else 'N'}{error.strerror} ({_name(error)})".encode())
                os._exit(_NO_EXEC)
            supervisor.close()
            for target, source in enumerate([os.dup(each) for each in program.stdio]):  # one may stand in another's place
                os.dup2(source, target)
            confinement.close_others({*program.keep, program.life, status})
            for descriptor in (*program.keep, program.life):
                os.set_inheritable(descriptor, True)
            os.chdir(program.folder)
            os.execve(program.argv[0], list(program.argv), dict(program.environ))  # noqa: S606  # what the caller names
        except OSError as error:
            os.write(status, f"E{error.strerror} ({_name(error)})".encode())
        finally:
            os._exit(_NO_EXEC)

    def _wall_in(self, walls: Walls, *, own_pids: bool) -> tuple[bytes, list[int]]:
        """Put up the walls; give which descriptors the supervisor gets, a letter each.

        They are: allowed ports in order (P), the sink (S), a socket to ask about ports (D), the listener (L, l).
        """
        letters, handed = b"", list[int]()
        if walls.unshare is not None:
            if own_pids:
                confinement.count_here()
            handed = [each for each in map(handover.listening, walls.tcp) if each is not None]
            letters = b"P" * len(handed)
            with suppress(OSError):  # somebody whose user may not bind it has no names told, and no way out either
                sink = handover.bound(*confinement.SINK)
                letters, handed = letters + b"S", [*handed, sink]
            asks = handover.asking() if walls.notifies else None
            if asks is not None:
                letters, handed = letters + b"D", [*handed, asks]
            confinement.cover(walls.seen, walls.unix)
            confinement.resolve_here(self._resolver)
        if walls.numbers is not None:
            from invcheck.gate import seccomp  # noqa: PLC0415  # loaded by `walls`, before the fork

            loaded = seccomp.load(walls.filter, walls.numbers, notify=walls.notifies)
            if loaded is not None:
                letters, handed = letters + (b"L" if loaded[1] else b"l"), [*handed, loaded[0]]
        return letters or b"-", handed

    def _attach(self, program: Program, walls: Walls, letters: bytes, handed: list[int]) -> None:
        """Watch what the process attempts, and carry out what it may reach."""
        given = list(zip(letters, handed, strict=False))
        ports = [descriptor for letter, descriptor in given if letter == ord("P")]
        sink = next((descriptor for letter, descriptor in given if letter == ord("S")), None)
        listener = next((descriptor for letter, descriptor in given if letter in b"Ll"), None)
        asked = next((descriptor for letter, descriptor in given if letter == ord("D")), None)
        if listener is not None and _heard(listener):
            from invcheck.gate.watch import Watch  # noqa: PLC0415  # not before there is a cell

            self.watch = Watch(
                listener,
                sink,
                program.notes,
                program.sites,
                asked=asked if walls.alone else handover.asking(),
                session=self.pid,
                temp=program.temp,
                allow=walls.allow,
                alone=walls.alone,
                killable=b"L" in letters,
                command=b"".join(os.fsencode(each) + b"\0" for each in program.argv),
            )
        else:
            for descriptor in (sink, asked):
                if descriptor is not None:
                    os.close(descriptor)
        if ports:
            self._relay = _carrying([(descriptor, handover.place(descriptor)) for descriptor in ports], program.notes)
            for descriptor in ports:
                os.close(descriptor)

    def descriptors(self) -> list[int]:
        """Give the descriptors to wait for, beside ``process``: one that is readable wants `attend`."""
        return self.watch.descriptors() if self.watch is not None else []

    def attend(self) -> None:
        """Answer what the process attempts, as far as it has; never waits for long."""
        if self.watch is not None:
            self.watch.attend()

    def over(self) -> str | None:
        """Say how the process ended, such as "signal 9 (SIGKILL)" or "exit 3"; None while it runs.

        One that a signal has stopped, which nobody will continue, is over too.
        """
        if self._status is None:
            os.set_blocking(self.process, False)
            try:
                told = os.read(self.process, 4)
            except BlockingIOError:
                return None
            self._status = int.from_bytes(told, sys.byteorder) if told else signal.SIGKILL  # somebody killed its keeper
        if os.WIFSTOPPED(self._status):
            number = os.WSTOPSIG(self._status)
            return f"signal {number} ({_signal(number)})"
        code = os.waitstatus_to_exitcode(self._status)
        return f"exit {code}" if code >= 0 else f"signal {-code} ({_signal(-code)})"

    @property
    def keeper(self) -> int:
        """The process that everything the program has started stands below."""
        return self._keeper

    @property
    def status(self) -> int:
        """Its exit status as a shell gives it, once it is over."""
        code = os.waitstatus_to_exitcode(self._status or 0)
        return code if code >= 0 else 128 - code

    def end(self) -> None:
        """End the process and everything that came of it, now, and close what belongs to it."""
        if self._kept is None:
            return
        os.close(self._kept)
        self._kept = None
        os.kill(self._keeper, signal.SIGCONT)  # where the program has stopped it
        if not _closes(self.process):
            for kill, target in ((os.killpg, self.pid), (os.kill, self._keeper)):
                with suppress(ProcessLookupError):
                    kill(target, signal.SIGKILL)
        os.waitpid(self._keeper, 0)
        self._status = signal.SIGKILL if self._status is None else self._status
        os.close(self.process)
        if self._relay is not None:
            relay, life = self._relay
            os.kill(relay, signal.SIGKILL)
            os.waitpid(relay, 0)
            os.close(life)
            self._relay = None
        if self.watch is not None:
            self.watch.close()
            self.watch = None


def walls(tier: Tier, *, seen: Collection[str] = (), allow: tuple[str, ...] = (), alone: bool = True) -> Walls:
    """Prepare what the kernel needs for a tier, before the fork; OSError where this machine has no such wall.

    ``alone`` False leaves the namespaces out where the tier does not need them.
    """
    if tier is Tier.SOFT:
        return Walls(tier, alone=False, seen=seen, allow=allow)
    from invcheck.gate import filters, seccomp  # noqa: PLC0415  # not before there is a cell

    number = seccomp.numbers()
    if number is None:
        raise NotWalled("no filter for this processor")
    own = tier is Tier.K1 or (tier is Tier.K3 and alone)
    program = filters.static(number, sockets=own) if tier is Tier.K3 else filters.notifying(number)
    if not own:
        return Walls(tier, own, seen, allow, None, program, number)
    return Walls(tier, own, seen, allow, confinement.prepare(), program, number, own_pids=confinement.countable())


def _heard(listener: int) -> bool:
    """Answer the program's first call; where it cannot be heard the listener is closed, of which the program fails."""
    from invcheck.gate import seccomp  # noqa: PLC0415  # loaded by `walls`

    try:
        seccomp.greet(listener)
    except OSError:
        os.close(listener)
        return False
    return True


def _carrying(pairs: list[tuple[int, Tcp]], notes: int) -> tuple[int, int]:
    """Start what carries the allowed ports, in a process of its own; give its pid and the pipe with which it ends."""
    from invcheck.gate import relay  # noqa: PLC0415  # only where something is allowed

    life, kept = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(kept)
            os.setsid()
            confinement.end_with(life)
            confinement.close_others({*(descriptor for descriptor, _ in pairs), life, notes})
            relay.serve(pairs, life, notes)
        finally:
            os._exit(_NO_EXEC)
    os.close(life)
    return pid, kept


def _put(path: str, text: bytes) -> None:
    with open(path, "wb") as file:  # noqa: PTH123  # a plain write
        file.write(text)


def _closes(descriptor: int) -> bool:
    """Wait for the other end of a pipe to be closed, for as long as a keeper may take; say whether it was."""
    from select import poll  # noqa: PLC0415  # only at the end

    poller = poll()
    poller.register(descriptor)
    while poller.poll(_PATIENCE):
        if not os.read(descriptor, 64):
            return True
    return False


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"


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
