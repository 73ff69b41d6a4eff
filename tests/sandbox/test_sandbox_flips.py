"""The axes of an audit: each changes what it is named for, in a trial alone, and nothing else."""

from __future__ import annotations

import asyncio
import locale
import os
import random
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from invcheck.record import Record
from invcheck.sandbox import box, flips, waiters
from invcheck.sandbox.flips import WAYS, Axis
from invcheck.vocabulary import Json

LANGUAGES = ("xx_XX.UTF-8", "C")


def asked(**axes: int) -> Json:
    """What a task says for axes by their names."""
    return flips.task({Axis[name]: way for name, way in axes.items()}, folder="/elsewhere", languages=LANGUAGES)


def ran(app: Callable[[], Any], **axes: int) -> Any:
    """What an app gives in a trial with axes flipped."""
    with flips.applied(asked(**axes)), box.trial(Record(3)):
        return app()


def appended() -> list[int]:
    """The order in which six threads come to their turn."""
    found: list[int] = []
    threads = [threading.Thread(target=found.append, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def rung() -> list[int]:
    """The order in which tasks wake that sleep equally long, and one that sleeps less."""
    found: list[int] = []

    async def ask(n: int) -> None:
        await asyncio.sleep(2 if n else 1)
        found.append(n)

    async def several() -> None:
        await asyncio.gather(*map(ask, range(4)))

    asyncio.run(several())
    return found


SOURCES: dict[str, Callable[[], Any]] = {
    "CLOCK": lambda: (time.time(), time.monotonic(), time.gmtime()[:5]),
    "RANDOM": random.random,
    "ENTROPY": lambda: (uuid.uuid4(), os.urandom(4), random.Random().random()),
    "LISTING": lambda: os.listdir("/"),  # noqa: PTH208  # what is set
    "PROCESS": lambda: (os.getpid(), os.getppid()),
    "SCHEDULE": appended,
}


@pytest.mark.parametrize("axis", SOURCES)
def test_an_axis_changes_what_it_is_named_for(axis: str) -> None:
    """Every way of it is another than the trial's own, and the same each time; the others leave it alone."""
    plain = ran(SOURCES[axis])
    assert ran(SOURCES[axis]) == plain
    for way in range(2):
        changed = ran(SOURCES[axis], **{axis: way})
        assert changed != plain
        assert ran(SOURCES[axis], **{axis: way}) == changed
    assert ran(SOURCES[axis], **dict.fromkeys(SOURCES.keys() - {axis}, 0)) == plain


def test_durations_are_the_same_on_any_clock() -> None:
    """To the last bit: clocks that start elsewhere round what is added to them as the trial's own do."""

    def measured() -> list[float]:
        spent = []
        for wait in (0.1, 0.7, 1 / 3, 2.9):
            wall, began = time.time(), time.monotonic()
            time.sleep(wait)
            spent += [time.time() - wall, time.monotonic() - began]
        return spent

    assert ran(measured) == ran(measured, CLOCK=0) == ran(measured, CLOCK=1)


def test_other_clocks_show_another_of_everything() -> None:
    """Year, month, day, weekday, hour, minute and second are other ones than those of the trial's own start."""
    first = time.gmtime(1_893_456_000)
    for way in range(2):
        other = time.gmtime(ran(time.time, CLOCK=way))
        assert not [
            name for name, one in zip(("year", "month", "day"), zip(first[:3], other[:3], strict=True), strict=True) if one[0] == one[1]
        ]
        assert not [place for place in range(3, 7) if first[place] == other[place]]


def test_tasks_that_wake_at_one_moment_come_in_another_order() -> None:
    """Who sleeps less still comes first; a trial like any other has one order."""
    assert ran(rung) == ran(rung)
    orders = {tuple(ran(rung, SCHEDULE=way)) for way in range(8)}
    assert {order[0] for order in orders} == {0}
    assert len(orders) > 1


def test_timers_of_one_loop_compare_with_any_other() -> None:
    """One that began before an audit did has no number."""

    async def compare() -> tuple[bool, bool]:
        loop = asyncio.get_running_loop()
        with waiters.renumbered(1):
            ours = loop.call_at(loop.time() + 5, print)
        other = asyncio.TimerHandle(loop.time() + 6, print, (), loop)
        ours.cancel()
        return ours < other, other < ours

    assert ran(lambda: asyncio.run(compare())) == (True, False)


def test_nothing_is_left_behind() -> None:
    """After the block every source is the real one again."""
    before = os.listdir, os.scandir, os.getpid, os.getppid, os.kill, waiters.numbers()
    ran(lambda: None, CLOCK=0, RANDOM=0, ENTROPY=0, LISTING=0, PROCESS=0, SCHEDULE=0)
    assert (os.listdir, os.scandir, os.getpid, os.getppid, os.kill, waiters.numbers()) == before


def test_what_only_a_new_process_can_have_stands_in_its_environment() -> None:
    """Zone, hash seed and locale are variables, the folder is the one that is given; the rest is told to the worker."""
    said = asked(ZONE=1, HASH=2, LOCALE=0, FOLDER=0, CLOCK=1)
    assert said["environ"] == {
        "TZ": "<+1345>-13:45", "PYTHONHASHSEED": "303", "LANG": "xx_XX.UTF-8", "LC_ALL": "xx_XX.UTF-8", "LANGUAGE": "xx",
    }  # fmt: skip
    assert (said["cwd"], said["axes"], said["trace"]) == ("/elsewhere", {"clock": 1}, False)
    assert asked()["cwd"] is None


def test_what_a_module_can_see_has_workers_of_its_own() -> None:
    """The order of folders, the number of the process, another copy, and a trace; not what only a trial can see."""
    tasks = [asked(), asked(LISTING=0), asked(LISTING=1), asked(PROCESS=0)]
    tasks += [flips.task({}, folder="", languages=LANGUAGES, copy=1), flips.task({}, folder="", languages=LANGUAGES, traced=True)]
    assert len({task["copy"] for task in tasks}) == len(tasks)
    assert asked(CLOCK=0)["copy"] == asked(RANDOM=1, SCHEDULE=7)["copy"] == asked()["copy"]


@pytest.mark.parametrize("axis", Axis)
def test_every_axis_has_as_many_ways_as_are_tried(axis: Axis) -> None:
    """Each of them is another task."""
    ways = [flips.task({axis: way}, folder=f"/{axis}", languages=LANGUAGES) for way in range(WAYS[axis])]
    assert len({str(way) for way in ways}) == (1 if axis is Axis.FOLDER else len(ways))
    assert flips.task({axis: 0}, folder="/x", languages=LANGUAGES) != flips.task({}, folder="/x", languages=LANGUAGES)


def test_a_locale_of_another_language_is_taken_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the two plainest ones; the process keeps its own."""
    own = locale.setlocale(locale.LC_TIME)
    assert flips.languages()[1] == "C"
    assert locale.setlocale(locale.LC_TIME) == own
    monkeypatch.setattr(flips, "_FOREIGN", ("no_NOWHERE", "C.UTF-8"))
    assert flips.languages() == ("C.UTF-8", "C")
    monkeypatch.setattr(flips, "_FOREIGN", ("no_NOWHERE",))
    assert flips.languages() == ("C.UTF-8", "C")
    assert locale.setlocale(locale.LC_TIME) == own
