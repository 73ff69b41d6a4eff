"""asyncio in virtual time."""

import asyncio
import selectors
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from invcheck.errors import NetworkBlocked
from invcheck.record import Record
from invcheck.sandbox import box, loop


def run(main: object, record: Record | None = None) -> tuple[object, Record]:
    """Run a coroutine in a trial."""
    record = record or Record()
    with box.trial(record):
        return asyncio.run(main), record  # type: ignore[arg-type]  # a coroutine


async def _slept(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return asyncio.get_running_loop().time()


def test_asyncio_run_uses_the_virtual_loop() -> None:
    """Every way to make a loop gives ours, in a trial and outside."""
    for make in (asyncio.new_event_loop, asyncio.SelectorEventLoop, asyncio.get_event_loop_policy().new_event_loop):
        made = make()
        assert isinstance(made, loop.Loop)
        made.close()


def test_sleeps_side_by_side_take_the_longest() -> None:
    """gather(sleep 5, sleep 3) is five virtual seconds, both are noted in the order of asking."""

    async def main() -> list[float]:
        return await asyncio.gather(_slept(5), _slept(3))

    times, record = run(main())
    assert times == [1005.0, 1003.0]
    assert record.waits == [5.0, 3.0]
    assert record.clock is not None
    assert record.clock.elapsed == 5.0  # type: ignore[attr-defined]  # the trial's clock has it


def test_a_sleep_of_nothing_is_a_yield() -> None:
    """asyncio.sleep(0) is how libraries yield, so it is no wait; its result is handed through."""
    value, record = run(asyncio.sleep(0, "here"))
    assert value == "here"
    assert record.waits == []


def test_timeouts_and_timers_come_in_virtual_time() -> None:
    """A timeout of an hour fires at once at 3,600 s; call_later in its order."""

    async def main() -> list[object]:
        seen: list[object] = []
        running = asyncio.get_running_loop()
        running.call_later(20, seen.append, "b")
        running.call_later(10, seen.append, "a")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await asyncio.Event().wait()
        return [*seen, running.time()]

    assert run(main())[0] == ["a", "b", 4600.0]


def test_no_false_timeout_over_an_executor_job() -> None:
    """Time stands still while a job runs: a limit of a millisecond never fires over honest work."""

    async def main() -> int:
        return await asyncio.wait_for(asyncio.to_thread(sum, range(300_000)), 0.001)

    assert run(main())[0] == sum(range(300_000))


def test_a_sleep_in_a_thread_and_one_in_a_task_overlap() -> None:
    """gather(sleep 5, to_thread(sleep 3)) is five seconds, however the threads are scheduled."""

    async def main() -> float:
        await asyncio.gather(asyncio.sleep(5), asyncio.to_thread(time.sleep, 3))
        return asyncio.get_running_loop().time()

    for _ in range(50):
        value, record = run(main())
        assert value == 1005.0
        assert sorted(record.waits) == [3.0, 5.0]


def test_a_job_that_nobody_awaits_still_holds_the_time() -> None:
    """A cancelled await leaves its thread running: time moves only when that is over."""

    async def main() -> tuple[bool, float]:
        gate = asyncio.Event()
        running = asyncio.get_running_loop()
        done: list[bool] = []

        def job() -> None:
            running.call_soon_threadsafe(gate.set)
            done.append(sum(range(300_000)) > 0)

        task = asyncio.create_task(asyncio.to_thread(job))
        await gate.wait()
        task.cancel()
        await asyncio.sleep(7)
        return bool(done), running.time()

    assert run(main())[0] == (True, 1007.0)


def test_an_own_pool_counts_too() -> None:
    """A pool that the app brings is watched like the default one, and a job it refuses holds nothing up."""

    async def main() -> tuple[list[int], float]:
        running = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as pool:
            got = await asyncio.wait_for(asyncio.gather(*(running.run_in_executor(pool, abs, -n) for n in (1, 2))), 0.001)
        with pytest.raises(RuntimeError):
            running.run_in_executor(pool, abs, 1)
        await asyncio.sleep(2)
        return list(got), running.time()

    assert run(main())[0] == ([1, 2], 1002.0)


def test_no_false_timeout_over_a_subprocess() -> None:
    """Time stands still while a subprocess of asyncio is open."""

    async def main() -> tuple[bytes, float]:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print('done')", stdout=asyncio.subprocess.PIPE)
        out, _ = await asyncio.wait_for(process.communicate(), 0.001)
        await asyncio.sleep(1)
        return out, asyncio.get_running_loop().time()

    assert run(main())[0] == (b"done\n", 1001.0)


def test_sockets_within_the_process_are_served_before_time_moves() -> None:
    """What is ready is handled first: an echo over a socket pair beats a timeout."""

    async def main() -> bytes:
        left, right = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=left)
        _, other = await asyncio.open_connection(sock=right)
        other.write(b"ping\n")
        line = await asyncio.wait_for(reader.readline(), 0.001)
        writer.close()
        other.close()
        return line

    assert run(main())[0] == b"ping\n"


def test_an_own_server_on_loopback_works() -> None:
    """An app that serves and asks itself by name in one loop is inside the sandbox."""

    async def main() -> bytes:
        async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"hello\n")
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(greet, "localhost", 0, family=socket.AF_INET)
        async with server:
            reader, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
            line = await asyncio.wait_for(reader.readline(), 3600)
            writer.close()
            await writer.wait_closed()
        return line

    value, record = run(main())
    assert value == b"hello\n"
    assert record.breaches == []


def test_a_busy_wait_on_the_loop_ends() -> None:
    """`while loop.time() < end: await sleep(0)` comes to its end, and asyncio's own reads do not move time."""

    async def main() -> float:
        running = asyncio.get_running_loop()
        end = running.time() + 0.01
        while running.time() < end:  # noqa: ASYNC110  # the habit that must come to an end
            await asyncio.sleep(0)
        for _ in range(3_000):
            await asyncio.sleep(0)
        return round(running.time() - end, 6)

    assert run(main())[0] == 0.001


def test_outside_of_a_trial_the_loop_is_real() -> None:
    """Timers then take real time, a real poll returns what is ready."""

    async def main() -> float:
        before = time.monotonic()
        await asyncio.sleep(0.002)
        return asyncio.get_running_loop().time() - before

    assert asyncio.run(main()) >= 0.002


def test_a_foreign_selector_is_left_alone() -> None:
    """A loop over the app's own selector works, in real time for its waits."""
    made = asyncio.SelectorEventLoop(selectors.SelectSelector())
    try:
        with box.trial(Record()):
            assert made.run_until_complete(asyncio.sleep(0, 3)) == 3
    finally:
        made.close()


def test_a_lookup_names_who_asked() -> None:
    """asyncio looks names up in a thread, where no frame of the app is left: the loop asks the gate first."""
    record = Record()

    async def dial() -> None:
        await asyncio.open_connection("model.invalid", 443)

    with pytest.raises(NetworkBlocked, match=r"model\.invalid:443"):
        run(dial(), record)
    assert [breach["where"] for breach in record.breaches] == ["tests/sandbox/test_sandbox_loop.py:dial"]
    assert record.breaches[0]["via"] == "asyncio"


def test_what_is_ready_comes_before_a_timer() -> None:
    """Data that has arrived is read although a timer is due some day: no virtual time passes, and nothing times out."""

    async def main() -> tuple[bytes, float]:
        running = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            reading = asyncio.create_task(asyncio.wait_for(running.sock_recv(ours, 5), 60))
            began = running.time()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            theirs.send(b"there")
            return await reading, running.time() - began

    assert run(main())[0] == (b"there", 0.0)


def test_a_selector_of_no_loop_polls() -> None:
    """It looks for events for real."""
    made = loop._Selector()
    assert made.select(0) == []
    made.close()


def test_a_timer_that_never_comes_lets_no_time_pass() -> None:
    """`sleep(inf)` is no wait of a day after the other: another task's end comes after its own time."""

    async def main() -> float:
        forever = asyncio.create_task(asyncio.sleep(float("inf")))
        await asyncio.sleep(200_000)
        forever.cancel()
        return asyncio.get_running_loop().time()

    value, record = run(main())
    assert value == 201_000
    assert record.waits == [200_000]
