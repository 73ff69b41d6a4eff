"""Children that the app leaves running when it returns: what they still do belongs to the trial, so they are waited for.

Children by fork and programs are alike. One that takes no processor time for half a real second rests, as the idle worker of
a pool or a server does; any other that has not ended in two is CHILDREN_LEFT, errored. A program that rests ends with its
case, whatever it was waiting to do: that it was left is noted in ``$.ambient``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from invcheck.record import Record
from invcheck.sandbox import clock, network, spawning
from invcheck.sandbox.inherited import inherited
from invcheck.vocabulary import Finding, Verdict

PATIENCE = 2.0
"""Real seconds that a child at work is waited for."""

_STANDS = 0.5
_LOOK = 0.002
_rested: dict[int, int] = {}

# held on to, since an app may replace them, as a fake file system does
_list, _open, _parent, _process = os.listdir, open, os.getppid, os.getpid


def settle(record: Record) -> None:
    """Wait until every child has ended or rests, and note a program that rests; latch that one is still at work."""
    now = began = clock.real_monotonic()
    stands: dict[int, tuple[int, float]] = {}
    while now - began < PATIENCE:
        left = _left()
        for child, spent in left.items():
            if child not in stands or stands[child][0] != spent:
                stands[child] = spent, now
        if all(_rested.get(child) == spent or now - stands[child][1] >= _STANDS for child, spent in left.items()):
            _rested.update(left)
            _note(record, left)
            return
        clock.real_sleep(_LOOK)
        now = clock.real_monotonic()
    message = "the app returned while a child or a program was at work; what it still does is not judged"
    hint = "wait for it before the app returns, or end it"
    record.latch(Finding("CHILDREN_LEFT", Verdict.ERRORED, message, expected="every child ends or rests", got="one at work", hint=hint))


def _left() -> dict[int, int]:
    """Give the children that have not ended, each with its processor time in the kernel's ticks (proc(5))."""
    own = _read("self/cmdline")
    tasks = _list("/proc/self/task") if own else ()  # other systems tell nothing of them
    children = {int(child) for task in tasks for child in _read(f"self/task/{task}/children").split()}
    left = {}
    for child in (children | _adopted(own)) - network.ours:
        fields = _read(f"{child}/stat").rpartition(b")")[2].split()
        if fields and fields[0] not in (b"Z", b"X"):
            left[child] = int(fields[11]) + int(fields[12])
    return left


def _note(record: Record, left: Iterable[int]) -> None:
    """Note the programs among children that rest: those of multiprocessing rest for as long as there are any."""
    own = _read("self/cmdline")
    for child in left:
        line = _read(f"{child}/cmdline")
        if line not in (own, b"") and b"multiprocessing" not in line:
            name = spawning.spoken([each.decode("utf-8", "replace") for each in line.rstrip(b"\0").split(b"\0")][:1])
            if ("program left", name) not in record.ambient:
                record.read("program left", name)


def _adopted(own: bytes) -> set[int]:
    """Give what has left this process and come to the worker, which gets all orphans, where a case runs in a child of it."""
    parent = _parent()
    if inherited() is None or _read(f"{parent}/cmdline") != own:
        return set()
    return {int(child) for child in _read(f"{parent}/task/{parent}/children").split()} - {_process()}


def _read(name: str) -> bytes:
    try:
        with _open(f"/proc/{name}", "rb") as file:
            return file.read()
    except OSError:  # it has ended
        return b""
