"""Time of several threads and tasks: it moves only when all of them wait, and whatever they do has one order."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import os
import queue
import selectors
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from invcheck.record import Record
from invcheck.sandbox import box, clock, loop, polls, scheduler, serving, waiters, waits
from tests.sandbox.conftest import Schedules

SCHEDULES = 200

App = Callable[[Record], object]


def joined(*threads: threading.Thread) -> None:
    """Start threads, and wait for them in their order."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def thread(*jobs: Callable[[], object]) -> threading.Thread:
    """A thread that does one job after the other."""
    return threading.Thread(target=lambda: [job() for job in jobs])


def sleeps(seconds: float) -> Callable[[], None]:
    """A job that sleeps."""
    return lambda: time.sleep(seconds)


# apps, and what each gives: (result, seconds elapsed, waits)


def a_thread_beside_main(_record: Record) -> None:
    other = thread(sleeps(4))
    other.start()
    time.sleep(1)
    other.join()


def a_pool_of_four(_record: Record) -> list[None]:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(time.sleep, [1, 2, 3, 4, 5]))


def a_pool_of_two(_record: Record) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(time.sleep, [1, 2, 3, 4, 5]))


def a_task_beside_a_thread(_record: Record) -> None:
    async def main() -> None:
        await asyncio.gather(asyncio.sleep(5), asyncio.to_thread(time.sleep, 3))

    asyncio.run(main())


def a_limit_over_a_sleeping_thread(_record: Record) -> float:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(time.sleep, 3), 1)
        return asyncio.get_running_loop().time()

    return asyncio.run(main())


def an_event_that_nobody_sets(_record: Record) -> tuple[bool, float]:
    return threading.Event().wait(2), time.monotonic()


def an_event_that_a_timer_sets(_record: Record) -> bool:
    event = threading.Event()
    threading.Timer(3, event.set).start()
    return event.wait(5)


def a_queue_that_runs_dry(_record: Record) -> list[int]:
    line: queue.Queue[int] = queue.Queue()
    producer = threading.Thread(target=lambda: [(time.sleep(1), line.put(n)) for n in range(3)])
    producer.start()
    taken = []
    with suppress(queue.Empty):
        while True:
            taken.append(line.get(timeout=1.5))
    producer.join()
    return taken


def a_queue_that_is_full(_record: Record) -> list[int]:
    line: queue.Queue[int] = queue.Queue(1)
    reader = threading.Thread(target=lambda: [(time.sleep(2), taken.append(line.get())) for _ in range(2)])
    taken: list[int] = []
    reader.start()
    line.put(1)
    line.put(2, timeout=3)
    with pytest.raises(queue.Full):
        line.put(3, timeout=1)
    reader.join()
    return taken


def a_simple_queue(_record: Record) -> tuple[str, str]:
    line: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Timer(1, line.put, ["first"]).start()
    threading.Timer(4, line.put_nowait, ["second"]).start()
    first = line.get()
    with pytest.raises(queue.Empty):
        line.get(timeout=2)
    with pytest.raises(queue.Empty):
        line.get_nowait()
    return first, line.get(timeout=2)


def a_future_that_is_late(_record: Record) -> float:
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(time.sleep, 5)
        with pytest.raises(TimeoutError):
            late.result(timeout=2)
        return time.monotonic()


def futures_of_which_some_are_late(_record: Record) -> tuple[int, int, float]:
    with ThreadPoolExecutor(3) as pool:
        done, late = concurrent.futures.wait([pool.submit(time.sleep, seconds) for seconds in (1, 2, 7)], timeout=3)
        return len(done), len(late), time.monotonic()


def futures_as_they_come(_record: Record) -> list[int]:
    with ThreadPoolExecutor(3) as pool:
        begun = {pool.submit(time.sleep, seconds): seconds for seconds in (3, 1, 2)}
        return [begun[done] for done in concurrent.futures.as_completed(begun, timeout=10)]


def a_join_that_gives_up(_record: Record) -> tuple[bool, float]:
    other = thread(sleeps(9))
    other.start()
    other.join(4)
    gave_up = other.is_alive(), time.monotonic()
    other.join()
    return gave_up


def a_barrier(_record: Record) -> list[int]:
    barrier, passed = threading.Barrier(3), []
    joined(*[thread(sleeps(n), barrier.wait, lambda n=n: passed.append(n)) for n in (3, 1, 2)])  # type: ignore[misc]  # a default binds n
    return sorted(passed)


def a_semaphore_of_two(_record: Record) -> None:
    semaphore = threading.Semaphore(2)

    def guarded(seconds: float) -> None:
        with semaphore:
            time.sleep(seconds)

    joined(*[thread(lambda n=n: guarded(n)) for n in (3, 1, 2, 2)])  # type: ignore[misc]  # a default binds n


def two_loops(_record: Record) -> None:
    joined(*[thread(lambda n=n: asyncio.run(asyncio.sleep(n))) for n in (3, 4)])  # type: ignore[misc]  # a default binds n


def a_condition(_record: Record) -> list[bool]:
    condition, items = threading.Condition(), []

    def gives() -> None:
        time.sleep(2)
        with condition:
            items.append(1)
            condition.notify()

    giver = thread(gives)
    giver.start()
    with condition:
        told = [condition.wait(timeout=1), condition.wait_for(lambda: items != [], timeout=5), condition.wait(0)]
    giver.join()
    return told


@pytest.mark.parametrize(
    ("app", "given", "elapsed", "waits"),
    [
        (a_thread_beside_main, None, 4, [1, 4]),
        (a_pool_of_four, [None] * 5, 6, [1, 2, 3, 4, 5]),
        (a_pool_of_two, None, 9, [1, 2, 3, 4, 5]),  # 1+3+5 beside 2+4
        (a_task_beside_a_thread, None, 5, [5, 3]),
        (a_limit_over_a_sleeping_thread, 1001, 3, [3]),
        (an_event_that_nobody_sets, (False, 1002), 2, []),
        (an_event_that_a_timer_sets, True, 3, []),
        (a_queue_that_runs_dry, [0, 1, 2], 4.5, [1, 1, 1]),
        (a_queue_that_is_full, [1, 2], 4, [2, 2]),
        (a_simple_queue, ("first", "second"), 4, []),
        (a_future_that_is_late, 1002, 5, [5]),
        (futures_of_which_some_are_late, (2, 1, 1003), 7, [1, 2, 7]),
        (futures_as_they_come, [1, 2, 3], 3, [3, 1, 2]),
        (a_join_that_gives_up, (True, 1004), 9, [9]),
        (a_barrier, [1, 2, 3], 3, [3, 1, 2]),
        (a_semaphore_of_two, None, 5, [3, 1, 2, 2]),  # 3+2 beside 1+2
        (two_loops, None, 4, [3, 4]),
        (a_condition, [False, True, False], 2, [2]),
    ],
)
def test_time_is_that_of_the_longest_way(app: App, given: object, elapsed: float, waits: list[float], schedules: Schedules) -> None:
    """Waits side by side take as long as the longest, limits end in virtual time, and all of it is the same each time."""
    for result, record in schedules(app, SCHEDULES):
        assert (result, record.clock.elapsed, record.waits) == (given, elapsed, waits)  # type: ignore[union-attr]  # the trial's clock has it


def test_who_waited_longest_goes_on_first(schedules: Schedules) -> None:
    """Threads take turns in the order in which their waits began, deadlines first: what they enter has one order."""

    def app(record: Record) -> None:
        def told(name: str, *seconds: float) -> None:
            for each in seconds:
                time.sleep(each)
                record.effect(name, at=time.monotonic() - 1000)

        joined(*[thread(lambda each=each: told(*each)) for each in (("a", 2, 1), ("b", 1, 2), ("c", 3, 0))])  # type: ignore[misc]  # as above

    for _, record in schedules(app, SCHEDULES):
        assert [(entry["name"], entry["at"]) for entry in record.effects] == [("b", 1), ("a", 2), ("c", 3), ("b", 3), ("a", 3), ("c", 3)]


def test_a_sleep_of_nothing_lets_others_go_first(schedules: Schedules) -> None:
    """`sleep(0)` hands the turn on, and a loop of it ends when the other's time comes, as a loop over the clock does."""

    def app(_record: Record) -> bool:
        done = threading.Event()
        other = thread(sleeps(0.5), done.set)
        other.start()
        while not done.is_set():
            time.sleep(0)
        other.join()
        return True

    for result, record in schedules(app, 3):
        assert result is True
        assert record.clock.elapsed >= 0.5  # type: ignore[union-attr]  # as above


def test_who_sleeps_for_nothing_lets_calls_go_first(schedules: Schedules) -> None:
    """A loop that polls until another thread has its answer ends at once, after as many sleeps each time."""

    def app(record: Record) -> None:
        answers: list[bool] = []
        other = thread(lambda: answers.append(record.turns.taken("only")))
        other.start()
        while not answers:
            time.sleep(0)
        other.join()

    seen = {(record.clock.elapsed, *record.waits) for _, record in schedules(app, SCHEDULES)}  # type: ignore[union-attr]  # as above
    assert len(seen) == 1
    assert seen.pop()[0] == 0


def test_alone_a_loop_of_sleeps_for_nothing_ends() -> None:
    """It waits for a time, which its reads of the clock bring nearer; the sleeps do not make them forgotten."""
    with box.trial(Record()):
        until = time.monotonic() + 0.01
        while time.monotonic() < until:
            time.sleep(0)


def test_time_that_passes_a_thread_out_of_sight_is_noted() -> None:
    """Once, with the place where the thread is: what it does meanwhile has no order."""
    gate = threading.Lock()
    gate.acquire()

    def waits_out_of_sight() -> None:
        gate.acquire()

    record = Record()
    with box.trial(record):
        other = thread(waits_out_of_sight)
        other.start()
        time.sleep(1)
        time.sleep(1)
        gate.release()
        other.join()
        time.sleep(1)
    assert record.ambient == {("unseen wait", "tests/sandbox/test_sandbox_scheduler.py:waits_out_of_sight"): 1}


def test_a_thread_in_a_lock_stops_nobody() -> None:
    """What is stuck out of sight is left out after a while: sleeps then pass, and who holds the lock goes on."""
    lock, order = threading.Lock(), []

    def guarded(seconds: float) -> None:
        with lock:
            time.sleep(seconds)
            order.append(seconds)

    record = Record()
    with box.trial(record):
        joined(*[thread(lambda n=n: guarded(n)) for n in (3, 1)])  # type: ignore[misc]  # as above
        assert time.monotonic() == 1004
    assert order == [3, 1]


def test_limits_take_real_time_where_a_thread_is_stuck() -> None:
    """Nobody knows what it will do, so that a limit which jumps would be a false one: it ends early when it is told, else for real."""
    gate = threading.Lock()
    gate.acquire()
    told: list[bool] = []
    with box.trial(Record()):
        event = threading.Event()
        other = thread(gate.acquire, lambda: told.append(event.wait(0.01)), event.set)
        other.start()
        assert event.wait(0.05) is False
        assert time.monotonic() == 1000.05
        gate.release()
        assert event.wait(3600) is True
        other.join()
    assert told == [False]


def test_a_job_that_is_stuck_holds_the_time_of_its_loop() -> None:
    """A limit over a job that waits out of sight, here in a lock that a thread with work to do releases, is no false one."""
    gate = threading.Lock()
    gate.acquire()

    def releases() -> None:
        clock.real_sleep(0.05)
        gate.release()

    async def main() -> bool:
        outside = threading.Thread(target=releases)
        outside.start()
        taken = await asyncio.wait_for(asyncio.to_thread(gate.acquire), 0.001)
        outside.join()
        return taken

    with box.trial(Record()):
        assert asyncio.run(main()) is True


def test_a_pool_that_is_kept_works_in_the_next_trial(schedules: Schedules) -> None:
    """Its threads wait from one trial to the next, at work outside of one as well."""
    pool = ThreadPoolExecutor(2)

    def app(_record: Record) -> float:
        list(pool.map(time.sleep, [1, 2]))
        return time.monotonic()

    assert {result for result, _ in schedules(app, 20)} == {1002}
    assert pool.submit(sum, [1, 2]).result() == 3
    clock.real_sleep(0.05)  # until the thread is back at its queue
    assert {result for result, _ in schedules(app, 20)} == {1002}
    pool.shutdown()


def test_a_loop_that_is_kept_works_in_the_next_trial(schedules: Schedules) -> None:
    """So does an event loop in a thread of its own."""
    kept = asyncio.new_event_loop()
    runs = threading.Thread(target=kept.run_forever)

    def app(_record: Record) -> float:
        if runs.ident is None:
            runs.start()
        asyncio.run_coroutine_threadsafe(asyncio.sleep(2), kept).result(timeout=5)
        return time.monotonic()

    assert {result for result, _ in schedules(app, 20)} == {1002}
    kept.call_soon_threadsafe(kept.stop)
    runs.join()
    kept.close()


def test_who_waits_for_a_time_when_the_trial_ends_is_none_of_the_next() -> None:
    """A daemon's wait is real from then on, and moves no clock; what it is told it hears all the same."""
    stop, told = threading.Event(), []
    begun = threading.Event()

    def daemon() -> None:
        begun.set()
        told.append(stop.wait(3600))
        stopped = threading.Event()
        told.append(stopped.wait(0.001))
        chained = threading.Thread(target=lambda: told.append(stopped.wait(0.001)))
        chained.start()
        chained.join()
        time.sleep(0.001)

    left = threading.Thread(target=daemon, daemon=True)
    with box.trial(Record()):
        left.start()
        begun.wait()
    record = Record()
    with box.trial(record):
        time.sleep(5)
        stop.set()
        while left.is_alive():
            clock.real_sleep(0.001)
        assert time.monotonic() == 1005
    assert told == [True, False, False]
    assert record.waits == [5]


def test_a_wait_ends_for_real_when_its_trial_is_over() -> None:
    """What the rest of its limit was, it waits outside of any trial."""
    told, begun = [], threading.Event()

    def daemon() -> None:
        begun.set()
        told.append(threading.Event().wait(0.01))

    left = threading.Thread(target=daemon, daemon=True)
    with box.trial(Record()):
        left.start()
        begun.wait()
    left.join()
    assert told == [False]


def test_a_handler_may_wait_within_a_wait() -> None:
    """A signal arrives while the main thread waits: its handler waits too, and the wait goes on."""
    waited = []

    def handler(*_: object) -> None:
        time.sleep(1)
        waited.append(time.monotonic())

    def sends() -> None:
        os.kill(os.getpid(), signal.SIGUSR1)
        clock.real_sleep(0.02)
        event.set()

    before = signal.signal(signal.SIGUSR1, handler)
    event = threading.Event()
    try:
        with box.trial(Record()):
            other = thread(sends)
            other.start()
            assert event.wait() is True
            other.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert waited == [1001]


def test_an_error_within_a_wait_leaves_nothing_behind() -> None:
    """A handler that raises ends the wait; the thread is in none any more."""

    def handler(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, handler)
    event = threading.Event()
    try:
        with box.trial(Record()):
            other = thread(lambda: os.kill(os.getpid(), signal.SIGUSR1), lambda: clock.real_sleep(0.01))
            other.start()
            with pytest.raises(KeyboardInterrupt):
                event.wait()
            assert scheduler.waiting(threading.get_ident()) is None
            other.join()
            event.set()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_child_has_its_own_time() -> None:
    """A child by fork has none of the threads that wait, and a clock that moves."""
    with box.trial(Record()):
        event = threading.Event()
        other = thread(event.wait)
        other.start()
        time.sleep(1)
        child = os.fork()
        if child == 0:
            time.sleep(2)
            os._exit(int(time.monotonic()) - 1000)
        _, status = os.waitpid(child, 0)
        event.set()
        other.join()
    assert os.waitstatus_to_exitcode(status) == 3


def test_a_server_that_has_something_to_say_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time stands still while a server of ours has not answered; its threads take no turns."""

    class Serves:
        looks = 0

        def rests(self) -> bool:
            Serves.looks += 1
            return Serves.looks > 3

    monkeypatch.setattr(serving, "loops", [Serves()])
    with box.trial(Record()):
        event = threading.Event()
        event.wait(1)
        assert Serves.looks > 3
        monkeypatch.setattr(serving, "threads", {threading.get_ident()})
        assert scheduler.current() is None
        assert scheduler.in_hand() is not None


def test_a_finalizer_in_a_choice_chooses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever code runs in the middle of a choice is not a second one."""
    monkeypatch.setattr(scheduler, "_choosing", True)
    assert scheduler.turn() is None  # type: ignore[func-returns-value]  # it gives nothing, and comes back


def test_a_loop_over_a_selector_of_the_app_takes_no_turns() -> None:
    """So that who asks for a turn knows that it cannot have one there."""
    made = loop.Loop(selectors.SelectSelector())
    assert made.takes_turns is False
    made.close()


def test_context_and_run_of_a_thread_are_its_own() -> None:
    """A thread whose `run` was replaced on the instance runs that, and has it again; one that cannot start says so."""
    seen: list[Any] = []
    name = contextvars.ContextVar("name", default="none")
    with box.trial(Record()):
        other = threading.Thread(name="own")
        other.run = run = lambda: seen.append(name.get())  # type: ignore[method-assign]  # what an app may do
        other.start()
        other.join()
        assert other.run is run
        with pytest.raises(RuntimeError, match="once"):
            other.start()
        with pytest.raises(RuntimeError, match="before it is started"):
            threading.Thread().join()
        with pytest.raises(RuntimeError, match="un-acquired"):
            threading.Condition().wait()
    assert seen == ["none"]


def test_who_is_notified_twice_was_notified_once() -> None:
    """As a lock it cannot be released again, by which a condition knows that its notice did not arrive; strangers may give it."""
    waiter = waits._Waiter()
    waiter.release()
    with pytest.raises(RuntimeError, match="unlocked"):
        waiter.release()
    assert waiter.is_notified() is True


def test_a_thread_about_to_end_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no frame any more and is not over: time must not overtake who joins it."""
    with box.trial(Record()):
        looks = iter([False, False, False])
        monkeypatch.setattr(scheduler, "_gone", lambda _thread: next(looks, True))
        thread = threading.Thread()
        thread._ident = -1  # type: ignore[attr-defined]  # a number that no thread with a frame has
        held = scheduler.current()
        assert held is not None
        assert held.stay(waiters.Wait(lambda: held.left(thread), thread=thread), 10**9) is True
        assert time.monotonic() == 1000


def test_a_pool_that_began_outside_of_trials_takes_turns_in_them() -> None:
    """Its threads come from the queue with an item of the trial."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        clock.real_sleep(0.01)
        with box.trial(Record()):
            pool.submit(time.sleep, 5).result()
            assert time.monotonic() == 1005


def test_a_child_process_holds_the_time_of_a_loop_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without another thread as well: what it will do is not known."""
    monkeypatch.setattr(polls, "other_threads", lambda: 0)

    async def main() -> tuple[bytes, float]:
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print('done')", stdout=asyncio.subprocess.PIPE)
        out, _ = await asyncio.wait_for(child.communicate(), 0.001)
        return out, asyncio.get_running_loop().time()

    with box.trial(Record()):
        assert asyncio.run(main()) == (b"done\n", 1000)
