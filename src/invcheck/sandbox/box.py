"""The sandbox of a worker: installed once before any user code is imported, opened once per trial."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from invcheck import record as records
from invcheck.sandbox import (
    ambient,
    chance,
    clients,
    clock,
    dotenv,
    environ,
    imports,
    listeners,
    network,
    scheduler,
    stdtime,
    unhandled,
    waits,
)
from invcheck.sandbox.inherited import inherited
from invcheck.sandbox.turns import Turns

if TYPE_CHECKING:
    from types import ModuleType

    from invcheck.record import Record
    from invcheck.vocabulary import Json

_installed = False


def install(root: str | PathLike[str], *, armed: bool = True) -> None:
    """Prepare this process, for good; outside of a trial only the gate shows.

    ``root`` is the project's folder. Without ``armed`` the network is cut in trials only, for a process that is not the
    sandbox's own. A worker takes everything else from what it inherits.
    """
    global _installed  # noqa: PLW0603  # one sandbox per process
    given = inherited()
    ambient.install(fspath(root))
    listeners.install(alone=given is not None and given.alone, temp=given.temp if given else None, allow=given.allow if given else ())
    if given is None:
        network.install(armed=armed)
    else:
        soft, kernel = given.tier == "soft", given.tier in ("K1", "K2")
        network.install(given.notes, given.sites, armed=armed, soft=soft, kernel=kernel)
    if not _installed:
        stdtime.install()
        waits.install()
        unhandled.install()
        chance.install()
        environ.install()
        imports.after("asyncio", _prepare_asyncio)
        imports.after("trio", _prepare_trio)
        imports.after("anyio._backends._asyncio", _prepare_anyio)
        clients.install()
        dotenv.install()
        _installed = True


def _prepare_asyncio(module: ModuleType) -> None:
    from invcheck.sandbox import loop  # noqa: PLC0415  # it imports asyncio, which most apps never do

    loop.prepare(module)


def _prepare_trio(module: ModuleType) -> None:
    from invcheck.sandbox import trioloop  # noqa: PLC0415  # it imports trio

    trioloop.prepare(module)


def _prepare_anyio(module: ModuleType) -> None:
    from invcheck.sandbox import anyioloop  # noqa: PLC0415  # it imports asyncio

    anyioloop.prepare(module)


class trial:  # noqa: N801  # it is used as `with box.trial(record):`; a class, since nested generators cost more than a trivial app
    """The sandbox, open for one trial: ``record`` is in hand, its clock is set, and all chance comes from its seed.

    ``clock`` is None (virtual, from 2030), ``"real"`` or ``{"start": "2031-05-01T12:00:00Z"}``. At the end everything is
    as before, and what children of the app noted is in the record.
    """

    __slots__ = ("_before", "_record", "_time")

    def __init__(self, record: Record, *, clock: Json = None) -> None:
        self._record, self._time = record, _clock.make(record, clock)
        self._before: tuple[Any, ...] = ()

    def __enter__(self) -> Record:
        record = self._record
        network.merge()  # what came late belongs to the trial before
        record.clock = self._time
        time = _clock.begin(self._time)  # first, as it alone may refuse
        virtual = self._time if isinstance(self._time, _clock.VirtualClock) else None
        others = None
        if virtual is not None:
            virtual.others = others = scheduler.Scheduler(virtual)
            record.turns = Turns()
        self._before = (time, records.hold(record), chance.begin(record.seed), scheduler.begin(others))
        environ.begin()
        dotenv.begin(record)
        return record

    def __exit__(self, *_exc: object) -> None:
        time, record, entropy, others = self._before
        try:
            network.over(self._record)
        finally:
            scheduler.begin(others)
            if isinstance(self._time, _clock.VirtualClock):
                self._time.end()
            _clock.end(time)
            environ.end()
            chance.end(entropy)
            records.hold(record)


_clock = clock
