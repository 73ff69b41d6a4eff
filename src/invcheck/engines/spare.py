"""A copy of this process as it stands now, kept aside: later it does work as if nothing had happened in between."""

from __future__ import annotations

import json
import os
from _thread import _count as other_threads
from collections.abc import Callable
from types import TracebackType
from typing import Self

from invcheck.engines.channel import lines, write
from invcheck.vocabulary import Json


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
        self._pid = os.fork()
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
            os.close(self._ask)
            os.close(self._answers)
            os.waitpid(self._pid, 0)

    def ask(self, task: Json) -> Json:
        """Give what ``work`` makes of the task in the process as it was, None where it died or there is no copy."""
        if self._pid is None:
            return None
        write(self._ask, json.dumps(task).encode("ascii") + b"\n")
        return json.loads(next(lines(self._answers), b"null"))


def _serve(work: Callable[[Json], Json], asked: int, answers: int) -> None:
    for line in lines(asked):
        child = os.fork()
        if child == 0:
            write(answers, json.dumps(work(json.loads(line))).encode("ascii") + b"\n")
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            write(answers, b"null\n")
    os._exit(0)
