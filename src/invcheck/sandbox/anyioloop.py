"""anyio on asyncio: its threads do jobs of the loop as an executor's do, so that time does not jump past one that is stuck.

Everything else of anyio is made of what asyncio and trio give it. Nothing of anyio is imported here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar

from invcheck.sandbox import loop

T = TypeVar("T")


class _Job:
    """One function that a thread is given, and whether it has begun and ended."""

    __slots__ = ("_function", "_loop", "begun")

    def __init__(self, function: Callable[..., Any], running: loop.Loop) -> None:
        self._function, self._loop, self.begun = function, running, False

    def __call__(self, *args: Any) -> Any:
        self.begun = True
        try:
            return self._function(*args)
        finally:
            self._loop.done(self)


def _watched(run: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(run)
    async def watched(cls: Any, func: Callable[..., T], args: tuple[Any, ...], *rest: Any, **options: Any) -> Any:
        running = asyncio.get_running_loop()
        if not isinstance(running, loop.Loop):
            return await run(cls, func, args, *rest, **options)
        job = _Job(func, running)
        running.work.jobs.add(job)
        try:
            return await run(cls, job, args, *rest, **options)
        finally:
            if not job.begun:  # it was cancelled before: no thread will begin it
                running.work.jobs.discard(job)

    return watched


def prepare(module: ModuleType) -> None:
    """Prepare `anyio._backends._asyncio`, right after it was imported."""
    backend = module.AsyncIOBackend
    run = backend.__dict__["run_sync_in_worker_thread"].__func__
    backend.run_sync_in_worker_thread = classmethod(_watched(run))
    setattr(module, "sleep", asyncio.sleep)  # noqa: B010  # it may have been taken from asyncio before that was prepared
