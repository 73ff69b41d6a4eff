"""Answers for one cell: who may reach what it wants, and a note of every attempt that may not.

The note is written before the answer, so that whoever is refused is noted whatever it does next. A thread of Python is sent
a signal whose handler writes where the thread stands, which works inside C code; the note says that such a block belongs to it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from select import poll

from invcheck.gate import callers, names, seccomp, world
from invcheck.gate.attempts import UNREADABLE, Attempt, attempted
from invcheck.gate.confinement import SEARCH
from invcheck.gate.policy import PASSES, Inside, judge
from invcheck.gate.seccomp import Request
from invcheck.gate.serving import Serving
from invcheck.sandbox.native import SITE_SIGNAL
from invcheck.vocabulary import Json

_READABLE = 1  # select.POLLIN
_DUMPS = 8  # of one thread for one address: a loop that dials would fill the memory
_PATIENCE, _LONG = 200, 2_000  # milliseconds for a thread to say where it stands: after it was asked, and until then
_AT_ONCE = 64  # calls answered before others have their turn
_LOOKERS = 64  # sockets that may still ask for names
_BLOCK = b"Stack ("
_DATAGRAM = 4_096
_NOWHERE = b"Stack (none)\n"
_NO_NAME = "127.0.0.1:53"  # what is sent to the server of names and asks for none


class Watch:
    """Watches one cell: its ``listener``, its ``sink`` for lookups, and the files where attempts are noted.

    ``session`` is the process that leads it, ``command`` its command line as the kernel has it, ``allow`` what it may reach
    and ``temp`` its own folder; ``alone`` says that it has a network of its own, ``killable`` that a thread that waits takes
    signals after the verdict only. ``asked`` is a netlink socket of its network that tells who serves a port.
    """

    def __init__(
        self,
        listener: int,
        sink: int | None,
        notes: int,
        sites: int,
        *,
        session: int,
        command: bytes,
        asked: int | None = None,
        allow: tuple[str, ...] = (),
        temp: str = "/nowhere",
        alone: bool = True,
        killable: bool = True,
    ) -> None:
        known = seccomp.numbers()
        if known is None:
            raise OSError(0, "no filter is known for this processor")
        self._numbers = known
        self._listener: int | None = listener
        self._calls = listener  # the same, while it is open
        self._sink, self._notes, self._sites = sink, notes, sites
        self._session, self._command, self._temp = session, command, os.path.realpath(temp)
        paths = (each.removeprefix("unix:") for each in allow if each.startswith("unix:"))
        self._allow = {*allow, *(f"unix:{os.path.realpath(path)}" for path in paths)}
        self._alone, self._killable = alone, killable
        self._serving = Serving(asked)
        self._own = b"" if sink is None else str(os.fstat(sink).st_ino).encode()
        self._dumped: Counter[tuple[int, str]] = Counter()
        self._looking: dict[int, tuple[Request, Attempt, set[str]]] = {}

    def descriptors(self) -> list[int]:
        """Give what is to be waited for."""
        return [each for each in (self._listener, self._sink) if each is not None]

    def close(self) -> None:
        """Close what was watched; who still waits is refused by the kernel."""
        for descriptor in self.descriptors():
            os.close(descriptor)
        self._listener = self._sink = None
        self._serving.close()

    def attend(self) -> None:
        """Answer what waits now, but not for ever: who dials in a loop leaves time for others."""
        for _ in range(_AT_ONCE):
            if not self._waits(self._listener):
                break
            self._hear()
        for _ in range(_AT_ONCE):
            if not self._waits(self._sink):
                break
            self._look_up()

    def _waits(self, descriptor: int | None) -> bool:
        if descriptor is None:
            return False
        poller = poll()
        poller.register(descriptor, _READABLE)
        events = [event for _, event in poller.poll(0)]
        if descriptor == self._listener and events and not events[0] & _READABLE:
            os.close(descriptor)  # nobody can call any more
            self._listener = None
            return False
        return bool(events)

    def _hear(self) -> None:
        request = seccomp.receive(self._calls)
        if request is None:
            return
        attempts = attempted(request, self._numbers)
        if not seccomp.waits(self._calls, request):
            return  # what was read may be another's
        for attempt in attempts:
            if self._is_lookup(request, attempt):
                self._looks(request, attempt)
                continue
            refusal, breach = self._judged(request, attempt)
            if refusal != PASSES:
                self._refuse(request, attempt, refusal, breach=breach)
                return
        seccomp.answer(self._calls, request, PASSES)

    def _is_lookup(self, request: Request, attempt: Attempt) -> bool:
        """Say whether a server of names is wanted, which is ours; one that is wanted by a connection is none."""
        if self._sink is None or not attempt.loopback or attempt.port != 53:  # noqa: PLR2004  # DNS
            return False
        return self._datagrams(request) is not False  # what cannot be looked at is more likely one

    def _datagrams(self, request: Request) -> bool | None:
        return seccomp.datagrams(self._numbers, world.process(request.thread), request.arguments[0] & 0xFFFF_FFFF)

    def _judged(self, request: Request, attempt: Attempt) -> tuple[int, bool]:
        inside = Inside(self._allow, self._temp, lambda each: self._serves(request.thread, each), lambda: self._sorts(request))
        named = attempt.path and not attempt.path.startswith("\0")
        return judge(replace(attempt, path=world.whole(request.thread, attempt.path)) if named else attempt, inside)

    def _sorts(self, request: Request) -> bool:
        return request.number == self._numbers.connect and self._datagrams(request) is True

    def _looks(self, request: Request, attempt: Attempt) -> None:
        """Keep in mind who may ask for names from now on."""
        self._looking.pop(request.thread, None)
        self._looking[request.thread] = request, attempt, set()
        if len(self._looking) > _LOOKERS:
            del self._looking[next(iter(self._looking))]

    def _serves(self, thread: int, attempt: Attempt) -> bool:
        """Say whether something inside the sandbox serves this address."""
        if attempt.port is not None:
            served = self._serving.ports(thread, attempt.port)
            served.pop(self._own, None)  # the sink, which is asked for names and serves nothing else
            met = {inode for inode, address in served.items() if world.meets(address, attempt.host)}
            serving = met or {*served}
        elif attempt.path:
            met = serving = world.paths(thread, attempt.path)
        else:
            return True  # an unnamed socket is nobody's
        if self._alone or not serving:
            return bool(serving)
        held = world.held(serving, self._session)
        return held >= met if met else bool(held)  # where none is met, the kernel refuses by itself

    def _refuse(self, request: Request, attempt: Attempt, refusal: int, *, breach: bool) -> None:
        if not breach:
            seccomp.answer(self._calls, request, refusal)
            return
        note = self._who(request, attempt)
        before = self._note(note, request)
        seccomp.answer(self._calls, request, refusal)
        self._settle(note, request.thread, before)

    def _who(self, request: Request, attempt: Attempt, name: str | None = None) -> dict[str, Json]:
        """Give the note of an attempt: what was wanted, and by whom; ``name`` is what it looks up."""
        process = world.process(request.thread)
        line = world.read(f"{process}/cmdline")
        own = line == self._command
        wanted = name or ("an address that cannot be read" if attempt == UNREADABLE else attempt.wanted)
        host, port = (name, None) if name else (attempt.host or wanted, attempt.port)
        key = request.thread, wanted
        self._dumped[key] += 1
        able = own and self._killable and self._dumped[key] <= _DUMPS and world.catches(request.thread, SITE_SIGNAL)
        dump = able and world.same_file(request.thread, self._sites)  # it would write into whatever has that number there
        comm = world.thread_name(request.thread)
        via = callers.library(comm, world.mapped(process)) if own else callers.program(line, comm)
        thread = "MainThread" if own and process == request.thread else comm
        return {
            "kernel": True, "wanted": wanted, "host": host, "port": port, "via": via,
            "where": None, "line": None, "thread": thread, "command": None if own else callers.spoken(line), "count": 1,
            "process": process, "tid": world.own_number(request.thread), "dump": dump,
            "loopback": attempt.loopback and name is None,
        }  # fmt: skip

    def _note(self, note: dict[str, Json], request: Request) -> int:
        """Write a note, and ask the thread where it stands if the note says so; give how much was said before."""
        before = os.fstat(self._sites).st_size
        os.write(self._notes, json.dumps(note).encode() + b"\n")
        if note["dump"]:
            seccomp.signal(self._numbers, int(note["process"]), request.thread, SITE_SIGNAL)
        return before

    def _settle(self, note: dict[str, Json], thread: int, before: int) -> None:
        """Wait until a thread that was asked has said where it stands, or say for it that it did not.

        What it said later would be taken for another's answer, so it is waited for as long as it has not been asked yet, as
        on a busy machine.
        """
        if not note["dump"]:
            return
        patience = _PATIENCE
        for _ in range(_LONG):
            gone = not world.read(f"{thread}/comm")
            if self._said(before):
                return
            patience -= not world.pending(thread, SITE_SIGNAL)
            if gone or patience <= 0:
                break
            poll().poll(1)
        os.write(self._sites, _NOWHERE)

    def _said(self, before: int) -> bool:
        return _BLOCK in os.pread(self._sites, os.fstat(self._sites).st_size - before, before)

    def _look_up(self) -> None:
        """Note the name that is asked for, and say that there is none of it."""
        import _socket  # noqa: PLC0415  # the C half alone

        sink = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM, 0, self._sink)
        try:
            with suppress(OSError):
                query, asker = sink.recvfrom(_DATAGRAM, _socket.MSG_DONTWAIT)
                question = names.asked(query)
                self._named(question[0] if question is not None else _NO_NAME, asker[1])
                if question is not None:
                    sink.sendto(names.nothing(query, question[1]), asker)
        finally:
            sink.detach()

    def _named(self, name: str, port: int) -> None:
        """Note a name that was asked for from a port, once for each socket that was connected to the sink."""
        if not self._looking or name.endswith(f".{SEARCH}"):
            return
        request, attempt, told = self._looker(port)
        if name not in told:
            told.add(name)
            note = self._who(request, attempt, name)
            self._settle(note, request.thread, self._note(note, request))

    def _looker(self, port: int) -> tuple[Request, Attempt, set[str]]:
        """Give who asks from a port: whose socket it is, else whoever was the last to connect."""
        lookers = list(reversed(self._looking.values()))
        sockets = self._serving.ports(lookers[0][0].thread, port)
        own = (each for each in lookers if world.inode(each[0].thread, each[0].arguments[0] & 0xFFFF_FFFF) in sockets)
        return next(own, lookers[0])
