"""A copy of this process as it stands now, kept aside: later it does work as if nothing had happened in between."""

from __future__ import annotations

import os
from _thread import _count as other_threads
from collections.abc import Callable
from itertools import takewhile
from types import TracebackType
from typing import Self

from invcheck.canonical import packed, unpacked
from invcheck.engines.channel import lines, write
from invcheck.sandbox import network
from invcheck.vocabulary import Json

# held on to, since the work may replace what stands in os
_fork, _leave, _process, _wait = os.fork, os._exit, os.getpid, os.waitpid
_OVER = b"over"


class Spare:
    """Forks at once where ``wanted`` and possible, and does ``work`` in a fresh child of that copy for each `ask`.

    Where user code has started threads, which a fork would lose, there is no copy and every answer is None.
    """

    def __init__(self, work: Callable[[Json], Json], *, wanted: bool = True) -> None:
        self._pid: int | None = None
        if not wanted or other_threads():
            return
        asked, self._ask = os.pipe()
        self._answers, answers = os.pipe()
        self._pid = network.fork()
        if self._pid == 0:
            os.close(self._ask)
            os.close(self._answers)
            _serve(work, asked, answers)
        os.close(asked)
        os.close(answers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pid is not None:
            write(self._ask, _OVER + b"\n")  # closing would not tell: a child that the app left holds this end as well
            os.close(self._ask)
            os.close(self._answers)
            _wait(self._pid, 0)

    def ask(self, task: Json) -> Json:
        """Give what ``work`` makes of the task in the process as it was, None where it died or there is no copy."""
        if self._pid is None:
            return None
        write(self._ask, packed(task))
        heard = [*takewhile(lambda line: line != _OVER, lines(self._answers))]
        return unpacked(heard[0]) if heard else None


def _serve(work: Callable[[Json], Json], asked: int, answers: int) -> None:
    for line in takewhile(lambda line: line != _OVER, lines(asked)):
        child = _fork()
        if child == 0:
            process = _process()
            answer = packed(work(unpacked(line)))
            if _process() == process:  # else a child of the work came back up to us, and must not speak for it
                write(answers, answer)
            _leave(0)
        _wait(child, 0)
        write(answers, _OVER + b"\n")  # whether or not there was an answer: the work may leave without one
    _leave(0)
