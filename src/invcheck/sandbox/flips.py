"""The axes of `run --audit`: what surrounds a trial and must not show in what comes of it, each set as a task says.

A double's answers, its drift and its script stay as they are: only what the app was never given changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum

from invcheck.sandbox import chance, clock, listing, pids, waiters
from invcheck.vocabulary import Json


class Axis(StrEnum):
    """One thing that surrounds a trial, in the words of a report."""

    CLOCK = "clock"
    ZONE = "time zone"
    HASH = "hash seed"
    RANDOM = "random seed"
    ENTROPY = "entropy"
    LISTING = "listing order"
    LOCALE = "locale"
    FOLDER = "working folder"
    PROCESS = "process number"
    SCHEDULE = "schedule"


WAYS = {axis: 8 if axis in (Axis.HASH, Axis.SCHEDULE) else 2 for axis in Axis}
"""How many other ways of each axis are tried: under one other hash seed 53 % of sets of two texts keep their order, under eight 1 %."""

MOST = max(WAYS.values())

_DAY, _SECOND = 86_400, clock.SECOND
# whole seconds, which keep a double's rounding: clocks below 2**31 and 1,024 round what is added to them as the trial's own do
_CLOCKS = ((2_054 * _DAY + 49_659, -277), (1_172 * _DAY + 81_905, -411))
_ZONES = ("<-1130>+11:30", "<+1345>-13:45")
_HASHES = ("101", "202", "303", "404", "505", "606", "707", "808")
_MASKS = (31, 7, 1, 3, 15, 63, 5, 2)
_FOREIGN = ("de_DE.UTF-8", "fr_FR.UTF-8", "pl_PL.UTF-8", "pt_BR.UTF-8", "tr_TR.UTF-8", "sv_SE.UTF-8")
_PLAIN = ("C.UTF-8", "C")


def task(axes: Mapping[Axis, int], *, folder: str, languages: tuple[str, str], copy: int = 0, traced: bool = False) -> Json:
    """Give what a task's ``flips`` say: ``axes`` with the number of the way each goes, from 0; all others stay.

    ``folder`` holds what the project holds, and is where the app runs while that axis is flipped. ``languages`` are those of
    `languages`. What modules can see while they are imported, and each ``copy``, has workers of its own.
    """
    environ: dict[str, str] = {}
    if Axis.ZONE in axes:
        environ["TZ"] = _ZONES[axes[Axis.ZONE]]
    if Axis.HASH in axes:
        environ["PYTHONHASHSEED"] = _HASHES[axes[Axis.HASH]]
    if Axis.LOCALE in axes:
        spoken = languages[axes[Axis.LOCALE]]
        environ |= {"LANG": spoken, "LC_ALL": spoken, "LANGUAGE": spoken.partition("_")[0].lower()}
    inside = {axis.value: way for axis, way in axes.items() if axis not in (Axis.ZONE, Axis.HASH, Axis.LOCALE, Axis.FOLDER)}
    cwd = folder if Axis.FOLDER in axes else None
    seen = [f"{axis} {inside[axis]}" for axis in (Axis.LISTING, Axis.PROCESS) if axis in inside]
    own = ", ".join([str(copy), *seen, *(["traced"] if traced else [])])
    return {"environ": environ, "cwd": cwd, "copy": own, "axes": inside, "trace": traced}


def languages() -> tuple[str, str]:
    """Give two other locales: one of another language and the plainest where this machine has one, else the two plainest."""
    import locale  # noqa: PLC0415  # only an audit asks

    before = locale.setlocale(locale.LC_TIME)
    try:
        return next(name for name in _FOREIGN if _speaks(name)), _PLAIN[1]
    except StopIteration:
        return _PLAIN
    finally:
        locale.setlocale(locale.LC_TIME, before)


def _speaks(name: str) -> bool:
    import locale  # noqa: PLC0415  # as above

    try:
        locale.setlocale(locale.LC_TIME, name)
    except locale.Error:
        return False
    return True


@contextmanager
def around(flips: Json) -> Iterator[None]:
    """Let modules be imported as ``flips`` say, as far as that is no matter of trials: folders, and the number of the process."""
    ways = flips["axes"]
    with listing.ordered(ways.get(Axis.LISTING)), pids.numbered(ways.get(Axis.PROCESS)):
        yield


@contextmanager
def applied(flips: Json) -> Iterator[None]:
    """Let trials run as ``flips`` say, which `task` made, until the block is left.

    Folders are listed in one order, by their names where nothing else is said, and the process has a number of the audit's.
    """
    ways = {Axis(name): way for name, way in flips["axes"].items()}
    with ExitStack() as stack:
        if Axis.CLOCK in ways:
            wall, monotonic = _CLOCKS[ways[Axis.CLOCK]]
            stack.enter_context(clock.shifted(wall * _SECOND, monotonic * _SECOND))
        stack.enter_context(chance.salted(ways.get(Axis.RANDOM), ways.get(Axis.ENTROPY)))
        stack.enter_context(around(flips))
        if Axis.SCHEDULE in ways:
            stack.enter_context(waiters.renumbered(_MASKS[ways[Axis.SCHEDULE]]))
        yield
