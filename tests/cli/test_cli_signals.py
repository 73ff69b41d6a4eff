"""The signals that end a command."""

from __future__ import annotations

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
