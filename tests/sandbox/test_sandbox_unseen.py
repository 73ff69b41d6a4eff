"""What is known of a thread in no wait of ours: it is at work, or stuck."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from invcheck.sandbox import clock, unseen

Look = Callable[[], bool]


def looked(target: Callable[[], object], looks: Callable[[Look, unseen.Unseen, int], None], native: int | None = None) -> None:
    """Look at a thread that runs ``target``."""
    known = unseen.Unseen()
    thread = threading.Thread(target=target)
    thread.start()
    ident = thread.ident
    assert ident is not None

    def look() -> bool:
        clock.real_sleep(0.002)
        return known.works(ident, thread.native_id if native is None else native)

    try:
        looks(look, known, ident)
    finally:
        thread.join()


def until(look: Look, wanted: bool) -> int:
    """Give how many looks it took."""
    return next(n for n in range(10_000) if look() is wanted)


def test_a_thread_in_a_lock_is_stuck() -> None:
    """It is asleep, and was not scheduled since: after a while, not at once; what is forgotten is looked at anew."""
    lock = threading.Lock()
    lock.acquire()

    def looks(look: Look, known: unseen.Unseen, ident: int) -> None:
        assert look() is True
        assert until(look, False) >= 1
        assert look() is False
        known.forget(ident)
        known.forget(ident)
        assert look() is True
        lock.release()

    looked(lock.acquire, looks)


def test_a_thread_that_sleeps_with_a_limit_is_looked_at_for_longer() -> None:
    """It may be about to get the interpreter's lock, which takes far less than a quarter of a second."""
    lock = threading.Lock()
    lock.acquire()

    def looks(look: Look, _known: unseen.Unseen, _ident: int) -> None:
        began = clock.real_monotonic()
        until(look, False)
        assert clock.real_monotonic() - began >= 0.25
        lock.release()

    looked(lambda: lock.acquire(timeout=60), looks)


def test_a_thread_that_computes_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """For longer than one that looks round, since its end is near; but not for ever: some threads never wait."""
    monkeypatch.setattr(unseen, "PATIENCE", 0.1)
    stop: list[bool] = []

    def computes() -> None:
        while not stop:
            sum(range(100))

    def looks(look: Look, _known: unseen.Unseen, _ident: int) -> None:
        try:
            began = clock.real_monotonic()
            while clock.real_monotonic() - began < 0.3:
                assert look() is True
            monkeypatch.setattr(unseen, "LIMIT", 0.0)
            assert look() is False
        finally:
            stop.append(True)

    looked(computes, looks)


@pytest.mark.parametrize("native", [None, -1])
def test_a_thread_that_looks_round_is_waited_for_as_long_as_patience_lasts(native: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes next to no processor time; where the kernel does not tell, that is all there is as well."""
    monkeypatch.setattr(unseen, "PATIENCE", 0.4)
    stop: list[bool] = []

    def rounds() -> None:
        while not stop:
            clock.real_sleep(0.01)

    def looks(look: Look, _known: unseen.Unseen, _ident: int) -> None:
        try:
            assert until(look, False) >= 1
        finally:
            stop.append(True)

    looked(rounds, looks, native)


def test_who_is_told_of_is_told_of_once() -> None:
    """Until it has been in a wait of ours again."""
    known = unseen.Unseen()
    known.works(-1, None)
    assert known.untold([-1, -2]) == [-1, -2]
    assert known.untold([-1]) == []
    known.forget(-1)
    assert known.untold([-1, -2]) == [-1]


def test_a_thread_that_the_kernel_does_not_tell_of_is_known_by_its_place() -> None:
    """Where it stands still it is stuck as well."""
    lock = threading.Lock()
    lock.acquire()

    def looks(look: Look, _known: unseen.Unseen, _ident: int) -> None:
        assert look() is True
        assert until(look, False) >= 1
        lock.release()

    looked(lock.acquire, looks, native=-1)


def test_a_thread_that_runs_now_has_no_mark() -> None:
    """The one that looks is running, so the kernel says; one that is not there any more stays where it is."""
    assert unseen._mark(threading.get_ident(), threading.get_native_id()) is None
    assert unseen._mark(-1, None) == (True,)
