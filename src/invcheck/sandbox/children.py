"""Children by fork that the app leaves running when it returns: what they still do belongs to the trial, so they are waited for.

A child that has become another program is none of these. One that takes no processor time for half a real second rests, as
the idle worker of a pool does; any other that has not ended in two is CHILDREN_LEFT, errored.
"""

from __future__ import annotations

import os

from invcheck.record import Record
from invcheck.sandbox import clock, network
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
    """Wait until every child by fork has ended or rests; latch that one is still at work."""
    now = began = clock.real_monotonic()
    stands: dict[int, tuple[int, float]] = {}
    while now - began < PATIENCE:
        left = _left()
        for child, spent in left.items():
            if child not in stands or stands[child][0] != spent:
                stands[child] = spent, now
        if all(_rested.get(child) == spent or now - stands[child][1] >= _STANDS for child, spent in left.items()):
            _rested.update(left)
            return
        clock.real_sleep(_LOOK)
        now = clock.real_monotonic()
    message = "the app returned while a child by fork was at work; what it still does is not judged"
    hint = "wait for it before the app returns, or end it"
    record.latch(Finding("CHILDREN_LEFT", Verdict.ERRORED, message, expected="every child ends or rests", got="one at work", hint=hint))


def _left() -> dict[int, int]:
    """Give the children by fork that have not ended, each with its processor time in the kernel's ticks (proc(5))."""
    own = _read("self/cmdline")
    tasks = _list("/proc/self/task") if own else ()  # other systems tell nothing of them
    children = {int(child) for task in tasks for child in _read(f"self/task/{task}/children").split()}
    left = {}
    for child in (children | _adopted(own)) - network.ours:
        fields = _read(f"{child}/stat").rpartition(b")")[2].split()
        if fields and fields[0] not in (b"Z", b"X") and _read(f"{child}/cmdline") == own:
            left[child] = int(fields[11]) + int(fields[12])
    return left


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
