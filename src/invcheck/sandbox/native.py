"""What the kernel refused, told as the audit hook tells its own: by C code, by threads of C, by programs that the app started.

The supervisor has noted what was wanted and by whom. Where a thread of Python stood, it has said itself: a signal made it
write its frames, which works inside C code too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from invcheck.sandbox import ambient, reasons, spawning
from invcheck.vocabulary import Json

SITE_SIGNAL = 40
"""What asks a thread where it stands: a real-time signal, as apps have uses for the others."""

_BLOCK = "Stack ("
_NOWHERE = "Stack (none)"
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')
_ESCAPED = re.compile(r"\\[xuU](?P<digits>(?<=x)[0-9a-f]{2}|(?<=u)[0-9a-f]{4}|(?<=U)[0-9a-f]{8})")
_PACKAGED = re.compile(r"/(?:site|dist)-packages/(?P<name>[^/]+?)(?:\.py)?(?:/|$)")
_STANDARD = re.compile(r"/python3\.\d+/(?P<path>[^/]+(?:/[^/]+)*)\.py$")
_WHOLE = ("http.", "urllib.", "xmlrpc.")
_DNS = 53

Frame = tuple[str, int, str]


def listen(sites: int) -> None:
    """Have every thread of this process say where it stands, into ``sites``, when the kernel's gate asks it."""
    import faulthandler  # noqa: PLC0415  # a worker's alone

    faulthandler.register(SITE_SIGNAL, file=sites, all_threads=False)


def blocks(text: str) -> list[str]:
    """Part what was written to the sites into what each thread said, in order.

    >>> blocks('Stack (none)\\nStack (most recent call first):\\n  File "a.py", line 1 in f\\n')
    ['Stack (none)', 'Stack (most recent call first):\\n  File "a.py", line 1 in f']
    """
    return [_BLOCK + part.rstrip("\n") for part in text.split(_BLOCK)[1:]]


def paired(notes: Sequence[dict[str, Json]], said: Sequence[str]) -> Iterator[tuple[dict[str, Json], str]]:
    """Give each note with what its thread said, which is nothing where it was not asked.

    Who was too slow has been answered for; when it spoke after all, the answer for it goes.
    """
    asked, answers = sum(bool(note["dump"]) for note in notes), list(said)
    while len(answers) > asked:
        answers.remove(_NOWHERE if _NOWHERE in answers else answers[0])
    waiting = iter(answers)
    for note in notes:
        yield note, next(waiting, _NOWHERE) if note["dump"] else _NOWHERE


def breaches(notes: Sequence[dict[str, Json]], said: Sequence[str]) -> Iterator[dict[str, Json] | None]:
    """Give the breach that each of the kernel's notes tells of, None where it is a second try of the one before.

    A thread is asked a few times only for one address: what it wanted later is told as what it wanted before.
    """
    known: dict[tuple[Json, Json], dict[str, Json]] = {}
    last: dict[str, Json] = {}
    for note, block in paired(notes, said):
        same = note["wanted"], note["process"]
        if note["command"] is not None:
            breach = _of_program(note)
        elif note["dump"] or same not in known:
            breach = known[same] = _of_thread(note, list(_frames(block)))
        else:
            breach = known[same]
        yield None if _again(last, breach) else dict(breach)
        last = breach


def _again(before: dict[str, Json], breach: dict[str, Json]) -> bool:
    """Say whether somebody who wants ``localhost`` goes on from one of its addresses to the other."""
    hosts = before.get("host"), breach["host"]
    return hosts == ("::1", "127.0.0.1") and all(before.get(name) == breach.get(name) for name in ("port", "where", "line", "command"))


def _of_program(note: dict[str, Json]) -> dict[str, Json]:
    """Give the breach of a program that the app started: its place is where that was done."""
    command = spawning.plain(note["command"])
    program = spawning.of(command)
    where, line = (program.where, program.line) if program is not None else (None, None)
    told = _told(note, where, line, via=spawning.plain(note["via"] or command.partition(" ")[0]), thread=None)
    return {**told, "command": spawning.shown(command, program)}


def _of_thread(note: dict[str, Json], frames: list[Frame]) -> dict[str, Json]:
    """Give the breach of a thread of this process, or of its fork."""
    site = next(((index, file, frame) for index, frame in enumerate(frames) if (file := ambient.relative(frame[0]))), None)
    where, line, below = None, None, list[Frame]()
    if site is not None:
        index, file, frame = site
        where, line, below = f"{file}:{frame[2]}", frame[1], frames[:index]
    return _told(note, where, line, via=_library(below) or note["via"] or "native code", thread=_thread(note["thread"], frames))


def _told(note: dict[str, Json], where: str | None, line: int | None, *, via: str, thread: str | None) -> dict[str, Json]:
    wanted, host, port = note["wanted"], note["host"], note["port"]
    if host == os.uname().nodename:
        wanted = host = "this-host"  # the machine's name has no place in a result
    if port == _DNS:  # nor has its server of names
        wanted, host, port = reasons.LOOKUP, reasons.LOOKUP, None
    # what the relay tells of an allowed port
    said: dict[str, Json] = {name: note[name] for name in ("what", "why", "hint") if name in note}
    own: Mapping[str, Json] = said or reasons.reasons(host, port, loopback=note["loopback"], program=note["command"] is not None)
    return {
        "wanted": wanted, "host": host, "port": port, "via": via, "where": where or (None if said else ambient.OUTSIDE), "line": line,
        "thread": thread, "count": note["count"], **own,
    }  # fmt: skip


def _frames(block: str) -> Iterator[Frame]:
    for text in block.splitlines():
        found = _FRAME.match(text)
        if found:
            file = _ESCAPED.sub(lambda sign: chr(int(sign["digits"], 16)), found["file"])
            yield file, int(found["line"]), found["function"]


def _library(below: Iterable[Frame]) -> str | None:
    """Name the library that the project's code called: the outermost module below its frame."""
    for file, _, _ in reversed(list(below)):
        if ambient.own(file):
            continue
        packaged, standard = _PACKAGED.search(file), _STANDARD.search(file)
        if packaged:
            return packaged["name"]
        if standard:
            module = standard["path"].removesuffix("/__init__").replace("/", ".")
            return module if module.startswith(_WHOLE) else module.partition(".")[0]
    return None


def _thread(comm: str, frames: list[Frame]) -> str:
    """Name a thread: the main one, one of C by its own name, else any: the kernel knows no names that Python gives."""
    if not frames:
        return "a native thread" if comm.startswith("python") else comm
    return "a thread" if frames[-1][0].endswith("/threading.py") else "MainThread"
