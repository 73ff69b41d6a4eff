"""The signals that end a command."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from invcheck.cli.signals import interrupting


@pytest.fixture
def as_before() -> Iterator[None]:
    """The signals are handled afterwards as they were."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("as_before")
def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """SIGHUP under nohup changes nothing; SIGTERM interrupts, and is afterwards what it was."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with interrupting():
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        signal.raise_signal(signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    assert (signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)) == (signal.SIG_IGN, signal.SIG_DFL)


@pytest.mark.usefixtures("as_before")
def test_one_that_is_named_is_heard_although_it_is_ignored() -> None:
    """As SIGINT is in what a script's shell puts into the background; afterwards it is ignored again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with interrupting(signal.SIGINT):
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


@pytest.mark.usefixtures("as_before")
def test_a_second_one_does_not_disturb_the_end_and_a_third_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their kinds: one interrupts, the next finds the command ending, the third leaves with 130."""
    left: list[int] = []
    monkeypatch.setattr(os, "_exit", left.append)
    with interrupting(signal.SIGTERM, signal.SIGHUP):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGHUP)
        assert left == []
        signal.raise_signal(signal.SIGTERM)
    assert left == [130]


@pytest.mark.usefixtures("as_before")
@pytest.mark.parametrize("came", [False, True])
def test_a_process_that_ends_is_interrupted_once(came: bool) -> None:
    """In the last moments of the interpreter a second signal would be its end by that signal; where none came all is as before."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with interrupting(signal.SIGTERM, final=True):
        if came:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == (signal.SIG_IGN if came else signal.SIG_DFL)
