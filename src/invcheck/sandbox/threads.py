"""Threads that the app leaves running when it returns: what they still do belongs to the trial, so they are waited for.

The trial is over once every other thread has ended or rests, in a wait without a timeout that nothing but new work ends
(a pool's worker, a thread at its queue). A daemon that stands in one place, such as in a wait with a timeout, is noted in
``$.ambient`` and left alone: no program waits for it. Any other thread that does not come to rest in two real seconds is
THREADS_LEFT, errored, since what it may still do was not seen. Whatever a thread that was left does later is a finding
of its own trial (AFTER_RETURN, NETWORK), never of another.
"""

from __future__ import annotations

import os
import sys
import threading
from threading import get_ident
from types import CodeType, FrameType

from invcheck import record as records
from invcheck.record import Record
from invcheck.sandbox import ambient, clock, polls, programs, scheduler, serving, stdtime, unhandled, unseen, waits
from invcheck.vocabulary import Finding, Verdict

PATIENCE = 2.0
"""Real seconds that a thread at work is waited for."""

_STANDS = 0.5  # real seconds after which a daemon in a wait of the standard library counts as one that idles
_SETTLES = 0.02  # the same where a thread has idled before
_LOOK = 0.001
_TICKS = 2  # of processor time: a thread that stands still takes none, and one that runs in a circle stands still as well
_ROUNDS = 5  # ticks for each real second of patience, which a thread that looks round takes and one at work exceeds
_LIBRARY = os.path.dirname(os.__file__) + "/"  # noqa: PTH120  # compared with the file names of code objects
_LOOPS = [os.path.join(os.path.dirname(__file__), name) for name in ("loop.py", "trioloop.py")]  # noqa: PTH118, PTH120  # likewise
_SLEEPS = (clock.__file__, stdtime.__file__, waits.__file__, *_LOOPS)
_ROUND = (scheduler.__file__, unseen.__file__, polls.__file__, programs.__file__, unhandled.__file__)
_POOL = ("/concurrent/futures/thread.py", "_worker")

_Spot = tuple[tuple[CodeType, int], ...]
_known: set[_Spot] = set()


def settle(record: Record) -> None:
    """Wait until every other thread has ended, rests or has used up its time; latch and note what is left at work."""
    held, others = record.clock, scheduler.current()
    if isinstance(held, clock.VirtualClock):
        held.tire()
    if others is not None:
        others.leave_out(get_ident())  # the app's own thread waits for all others now
    try:
        _settle(record)
    finally:
        if others is not None:
            others.take_in(get_ident())


def _settle(record: Record) -> None:
    now = began = clock.real_monotonic()
    stands: dict[int, tuple[_Spot, float, int]] = {}
    first: dict[int, int] = {}
    sure = False
    while now - began < PATIENCE:
        left = {ident: frame for ident, frame in _others() if not _rests(ident, frame)}
        named = {thread.ident: thread for thread in threading.enumerate()}
        for ident, frame in left.items():
            spot = _spot(frame)
            if ident not in stands or stands[ident][0] != spot:
                stands[ident] = spot, now, _spent(named.get(ident))
                first.setdefault(ident, stands[ident][2])
        if all(_idles(ident, frame, *stands[ident][:2], now) for ident, frame in left.items()):
            if sure:
                break
            sure = True  # but for one that has just taken an item and is not seen to have it: it gets its turn, and a second look
        else:
            sure = False
        clock.real_sleep(_LOOK)
        now = clock.real_monotonic()
    else:
        left = {ident: frame for ident, frame in _others() if not _rests(ident, frame)}
    named = {thread.ident: thread for thread in threading.enumerate()}
    for ident, frame in left.items():  # as they were found: who idled a moment ago may just be looking round
        thread = named.get(ident)
        spot, since, spent = stands.get(ident, ((), now, 0))
        # who goes from place to place is met at one of them again: only a short way is a look round
        taken, allowed = (spent, _TICKS) if now - since >= _STANDS else (first.get(ident, 0), _ROUNDS * PATIENCE)
        still = thread is not None and (now - began < PATIENCE or (spot == _spot(frame) and _spent(thread) - taken <= allowed))
        _leave(record, ident, thread, frame, spot if still else None)


def _others() -> list[tuple[int, FrameType]]:
    ours = {get_ident(), *serving.threads, *scheduler.older()}
    return [(ident, _seen(frame)) for ident, frame in sys._current_frames().items() if ident not in ours]  # noqa: SLF001  # its documented use


def _seen(frame: FrameType) -> FrameType:
    """Give the frame that waits: where the scheduler looks round is not a place of the thread's own."""
    while frame.f_back is not None and frame.f_code.co_filename in _ROUND:
        frame = frame.f_back
    return frame


def _rests(ident: int, frame: FrameType) -> bool:
    """Say whether a thread is in a wait that only another thread can end, and none has."""
    wait = scheduler.waiting(ident)
    if wait is not None:
        return wait.deadline is None and not wait.calls and not wait.over()
    code, held = frame.f_code, frame.f_locals
    if code.co_filename.endswith(_POOL[0]) and code.co_name == _POOL[1]:
        return held.get("work_item") is None and held["work_queue"].empty()
    if code.co_filename == threading.__file__:
        if code.co_name == "wait" and "waiter" in held:
            return held.get("timeout") is None and bool(held["waiter"].locked())
        return code.co_name in ("join", "_wait_for_tstate_lock") and held.get("timeout", -1) in (None, -1)
    return False


def _idles(ident: int, frame: FrameType, spot: _Spot, since: float, now: float) -> bool:
    """Say whether a thread need not be waited for any longer: it stands where another stood, or a daemon in a wait."""
    wait = scheduler.waiting(ident)
    if _notified(frame) or (wait is not None and wait.over()):
        return False
    file = frame.f_code.co_filename
    waits = file in _SLEEPS or (file.startswith(_LIBRARY) and "site-packages" not in file)
    return now - since >= (_SETTLES if spot in _known else _STANDS) and (spot in _known or (waits and _daemon(ident)))


def _notified(frame: FrameType) -> bool:
    waiter = frame.f_locals.get("waiter") if frame.f_code.co_filename == threading.__file__ else None
    return waiter is not None and not waiter.locked()


def _daemon(ident: int) -> bool:
    return all(thread.daemon for thread in threading.enumerate() if thread.ident == ident)


def _spent(thread: threading.Thread | None) -> int:
    """Give the processor time of a thread, in the kernel's ticks (proc(5), utime and stime)."""
    if thread is None:
        return 0  # no thread of Python's own: nobody knows
    try:
        return unseen.spent(thread.native_id)
    except OSError:  # it has ended
        return sys.maxsize


def _leave(record: Record, ident: int, thread: threading.Thread | None, frame: FrameType, spot: _Spot | None) -> None:
    where = ambient.place(frame, thread)
    if spot is not None:
        _known.add(spot)
    if spot is not None and _daemon(ident):
        record.ambient["thread", where] = 1
    else:
        record.latch(
            Finding(
                "THREADS_LEFT",
                Verdict.ERRORED,
                f"the app returned while a thread was at work, in {where}; what it still does is not judged",
                expected="every thread ends or rests",
                got=where,
                hint="join it before the app returns, or end what it waits for",
            )
        )
    records.stray(ident, thread, record)


def _spot(frame: FrameType | None) -> _Spot:
    spot = []
    while frame is not None:
        spot.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(spot)
