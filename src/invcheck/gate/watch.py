"""Answers for one cell: who may reach what it wants, and a note of every attempt that may not.

The note is written before the answer, so that whoever is refused is noted whatever it does next. A thread of Python is sent
a signal whose handler writes where the thread stands, which works inside C code; the note says that such a block belongs to it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import PurePath
from select import poll

from invcheck.gate import names, seccomp, world
from invcheck.gate.attempts import UNREADABLE, Attempt, attempted
from invcheck.gate.confinement import SEARCH
from invcheck.gate.policy import PASSES, Inside, judge
from invcheck.gate.seccomp import Request
from invcheck.vocabulary import Json

SITE_SIGNAL = 40
"""What a Python thread answers with where it stands: a real-time signal, as apps have uses for the others."""

_READABLE = 1  # select.POLLIN
_DUMPS = 8  # of one thread for one address: a loop that dials would fill the memory
_PATIENCE = 20  # milliseconds for a thread to say where it stands
_LONGEST = 80  # characters of a command line
_DATAGRAM = 4_096
_NOWHERE = b"Stack (none)\n"
_LIBRARIES = {
    b"/pycurl": "pycurl",
    b"/uvloop/": "uvloop",
    b"cygrpc": "grpcio",
    b"/psycopg": "psycopg",
    b"libpq": "psycopg",
    b"/zmq/": "pyzmq",
    b"/pymongo/": "pymongo",
}
"""Libraries that dial by themselves, by what their files are called."""


class Watch:
    """Watches one cell: its ``listener``, its ``sink`` for lookups, and the files where attempts are noted.

    ``session`` is the process that leads it, ``command`` its command line as the kernel has it, ``allow`` what it may reach
    and ``temp`` its own folder; ``alone`` says that it has a network of its own, ``killable`` that a thread that waits takes
    signals after the verdict only.
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
        self._sink, self._notes, self._sites = sink, notes, sites
        self._session, self._command, self._allow, self._temp = session, command, allow, os.path.realpath(temp)
        self._alone, self._killable = alone, killable
        self._dumped: Counter[tuple[int, str]] = Counter()
        self._looking: tuple[Request, Attempt, set[str]] | None = None

    def descriptors(self) -> list[int]:
        """Give what is to be waited for."""
        return [each for each in (self._listener, self._sink) if each is not None]

    def close(self) -> None:
        """Close what was watched; who still waits is refused by the kernel."""
        for descriptor in self.descriptors():
            os.close(descriptor)
        self._listener = self._sink = None

    def attend(self) -> None:
        """Answer all that waits now."""
        while self._waits(self._listener):
            self._hear()
        while self._waits(self._sink):
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
        request = seccomp.receive(self._listener) if self._listener is not None else None
        if request is None:
            return
        for attempt in attempted(request, self._numbers):
            if self._is_lookup(attempt):
                self._looking = request, attempt, set()
                continue
            refusal, breach = judge(attempt, Inside(self._allow, self._temp, lambda each: self._serves(request.thread, each)))
            if refusal != PASSES:
                self._refuse(request, attempt, refusal, breach=breach)
                return
        self._answer(request, PASSES)

    def _is_lookup(self, attempt: Attempt) -> bool:
        return self._sink is not None and attempt.loopback and attempt.port == 53  # noqa: PLR2004  # DNS

    def _serves(self, thread: int, attempt: Attempt) -> bool:
        """Say whether something inside the sandbox serves this address."""
        if attempt.port is not None:
            serving = world.ports(thread, attempt.port)
        elif attempt.path:
            serving = world.paths(thread, attempt.path)
        else:
            return True  # an unnamed socket is nobody's
        return bool(serving) and (self._alone or world.held(serving, self._session))

    def _refuse(self, request: Request, attempt: Attempt, refusal: int, *, breach: bool) -> None:
        if not breach:
            self._answer(request, refusal)
            return
        note = self._who(request, attempt)
        before = self._note(note, request)
        self._answer(request, refusal)
        self._settle(note, before)

    def _answer(self, request: Request, refusal: int) -> None:
        if self._listener is not None:
            seccomp.answer(self._listener, request, refusal)

    def _who(self, request: Request, attempt: Attempt) -> dict[str, Json]:
        """Give the note of an attempt: what was wanted, and by whom."""
        process = world.process(request.thread)
        line = world.read(f"{process}/cmdline")
        own = line == self._command
        key = request.thread, attempt.wanted
        self._dumped[key] += 1
        dump = own and self._killable and self._dumped[key] <= _DUMPS and world.catches(process, SITE_SIGNAL)
        wanted = "an address that cannot be read" if attempt == UNREADABLE else attempt.wanted
        host = attempt.host or (wanted if attempt.port is None else "")
        comm = world.thread_name(request.thread)
        thread = "MainThread" if own and process == request.thread else comm
        return {
            "kernel": True, "wanted": wanted, "host": host, "port": attempt.port, "via": self._via(process, line, comm, own=own),
            "where": None, "line": None, "thread": thread, "command": None if own else spoken(line), "count": 1,
            "process": process, "tid": world.own_number(request.thread), "dump": dump, "loopback": attempt.loopback,
        }  # fmt: skip

    @staticmethod
    def _via(process: int, line: bytes, comm: str, *, own: bool) -> str | None:
        if not own:
            return PurePath(os.fsdecode(line.split(b"\0")[0])).name or comm
        if comm.startswith("event_engine"):
            return "grpcio"
        maps = world.mapped(process)
        loaded = {name for part, name in _LIBRARIES.items() if part in maps}
        return loaded.pop() if len(loaded) == 1 else None

    def _note(self, note: dict[str, Json], request: Request) -> int:
        """Write a note, and ask the thread where it stands if the note says so; give how much was said before."""
        before = os.fstat(self._sites).st_size
        os.write(self._notes, json.dumps(note).encode() + b"\n")
        if note["dump"]:
            seccomp.signal(self._numbers, int(note["process"]), request.thread, SITE_SIGNAL)
        return before

    def _settle(self, note: dict[str, Json], before: int) -> None:
        """Wait until a thread that was asked has said where it stands, or say for it that it did not."""
        if not note["dump"]:
            return
        for _ in range(_PATIENCE):
            if os.fstat(self._sites).st_size > before:
                return
            poll().poll(1)
        os.write(self._sites, _NOWHERE)

    def _look_up(self) -> None:
        """Note the name that is asked for, and say that there is none of it."""
        import _socket  # noqa: PLC0415  # the C half alone

        sink = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM, 0, self._sink)
        try:
            with suppress(OSError):
                query, asker = sink.recvfrom(_DATAGRAM, _socket.MSG_DONTWAIT)
                question = names.asked(query)
                if question is not None:
                    self._named(question[0])
                    sink.sendto(names.nothing(query, question[1]), asker)
        finally:
            sink.detach()

    def _named(self, name: str) -> None:
        """Note a name once for each socket that was connected to the sink."""
        if self._looking is None:
            return
        request, attempt, told = self._looking
        if name not in told and not name.endswith(f".{SEARCH}"):
            told.add(name)
            note = {**self._who(request, attempt), "wanted": name, "host": name, "port": None, "loopback": False}
            self._settle(note, self._note(note, request))


def spoken(line: bytes) -> str:
    """Give a command line in words: the program without its folder, no sign that a terminal acts on.

    >>> spoken(b"/usr/bin/curl\\0-sS\\0http://x\\0")
    'curl -sS http://x'
    """
    program, *arguments = os.fsdecode(line).rstrip("\0").split("\0")
    words = " ".join((PurePath(program).name, *arguments))
    plain = "".join(sign if sign.isprintable() else " " for sign in words)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"
