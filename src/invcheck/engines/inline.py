"""The engine without workers: the same tasks and messages in this process, for tests, debuggers and pytest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from invcheck.engines.channel import Handler, answer
from invcheck.vocabulary import Json


class Pool:
    """Runs each task right here; nothing confines it, and what ends the process ends the run.

    >>> pool = Pool({"double": lambda task, emit: 2 * task["n"]})
    >>> list(pool.run([{"do": "double", "n": 21}]))
    [(0, {'done': 42})]
    """

    layer = "in-process"
    reason: str | None = "the inline engine runs in this process"

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def run(self, tasks: Iterable[Json]) -> Iterator[tuple[int, Json]]:
        """Give (task index, message): the events of a task once it is over, then ``done`` or ``failed``."""
        for index, task in enumerate(tasks):
            events: list[Json] = []
            last = answer(self._handlers, task, events.append)
            yield from ((index, {"event": event}) for event in events)
            yield index, last

    def close(self) -> None:
        """Nothing to end: the same call as on confined workers."""
