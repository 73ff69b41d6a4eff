"""A server of ours in a trial: its thread and its time are none of the app's, and its answers come before any timer."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import aiohttp
import openai
import pytest

from invcheck import ScriptedModel
from invcheck.errors import NetworkBlocked
from invcheck.faces.server import Served, Server
from invcheck.record import Record
from invcheck.sandbox import box, clock, serving, threads
from invcheck.sandbox.serverloop import ServerLoop
from invcheck.sources.steps import fail, reply

CHAT = "/v1/chat/completions"
HELLO: Any = [{"role": "user", "content": "hello"}]


@pytest.fixture
def record() -> Iterator[Record]:
    """A trial in virtual time."""
    with box.trial(Record()) as held:
        yield held


def ask(served: Served, model: str = "m") -> str:
    data = json.dumps({"model": model, "messages": HELLO}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{served}{CHAT}", data)) as answer:
        said: str = json.load(answer)["choices"][0]["message"]["content"]
        return said


def elapsed(record: Record) -> float:
    assert isinstance(record.clock, clock.VirtualClock)
    return record.clock.elapsed


def test_a_client_of_the_standard_library_is_answered_inside_the_gate(record: Record) -> None:
    """The served port can be reached, what the model takes is virtual time, and the app's own wait is the only one noted."""
    with Server(ScriptedModel("one", reply("two", latency=30), fail("rate-limit", retry_after=20), "three")) as served:
        said = [ask(served), ask(served)]
        with pytest.raises(urllib.error.HTTPError) as limited:
            ask(served)
        with limited.value as error:
            time.sleep(float(error.headers["retry-after"]))
        said.append(ask(served))
    assert (said, record.waits, elapsed(record), record.breaches) == (["one", "two", "three"], [20.0], 50.0, [])


def test_no_other_port_is_open(record: Record) -> None:
    """Where nothing of ours listens any more the gate refuses."""
    with Server(ScriptedModel()) as served:
        pass
    with socket.socket() as client, pytest.raises(NetworkBlocked):
        client.connect(("127.0.0.1", served.port))
    record.breaches.clear()


def test_the_time_outs_of_an_event_loop_stay_virtual(record: Record) -> None:
    """An answer that is under way comes before any timer; a silence ends at the client's time-out, in virtual seconds."""

    async def main() -> list[str]:
        said = []
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=40)) as session:
            for _ in range(4):
                try:
                    async with session.post(f"{served}{CHAT}", json={"model": "m", "messages": HELLO}) as answer:
                        said.append((await answer.json())["choices"][0]["message"]["content"])
                except TimeoutError:
                    said.append("timeout")
                await asyncio.sleep(2)
        return said

    with Server(ScriptedModel("one", reply("two", latency=30), fail("timeout"), "three")) as served:
        said = asyncio.run(main())
    assert (said, record.waits, elapsed(record)) == (["one", "two", "timeout", "three"], [2.0] * 4, 30.0 + 40 + 8)


def test_an_sdk_repeats_at_once_where_it_is_told_so(record: Record) -> None:
    """The header for clients outside of a sandbox is sent inside as well, so the wait is a microsecond."""
    with (
        Server(ScriptedModel(fail("rate-limit", retry_after=20), "hi")) as served,
        openai.OpenAI(base_url=served.openai, api_key="k") as client,
    ):
        client.chat.completions.create(model="m", messages=HELLO)
    assert record.waits == [pytest.approx(1e-6)]


def test_threads_of_the_app_ask_at_once(record: Record) -> None:
    """Two threads on two lanes, each with waits of its own: nobody's time-out comes early, and all are answered."""
    lanes = {name: [f"{name} {n}" for n in range(3)] for name in ("a", "b")}
    said: dict[str, list[str]] = {name: [] for name in lanes}

    def agent(name: str) -> None:
        for _ in range(3):
            said[name].append(ask(served, name))
            time.sleep(5)

    with Server(ScriptedModel(lanes=lanes, lane_by="model")) as served:
        agents = [threading.Thread(target=agent, args=(name,)) for name in lanes]
        for each in agents:
            each.start()
        for each in agents:
            each.join(60)
    assert (said, sorted(record.waits)) == (lanes, [5.0] * 6)


def test_a_server_that_was_left_open_is_no_thread_of_the_app(record: Record) -> None:
    """The end of a trial does not wait for it, and finds nothing."""
    server = Server(ScriptedModel("hi"))
    served = server.open()
    assert ask(served) == "hi"
    began = clock.real_monotonic()
    threads.settle(record)
    server.close()
    assert (record.latches, record.ambient) == ([], {})
    assert clock.real_monotonic() - began < threads.PATIENCE


def test_a_real_clock_is_waited_for() -> None:
    """Where a check asks for real time, what a model takes is real too."""
    with box.trial(Record(), clock="real") as record, Server(ScriptedModel(reply("hi", latency=0.01))) as served:
        began = clock.real_monotonic()
        assert ask(served) == "hi"
        assert clock.real_monotonic() - began >= 0.01
        assert record.waits == []


def test_a_server_is_busy_from_the_first_byte_to_the_answer() -> None:
    """What the kernel holds for it counts, what it has answered does not, and without a server nobody is busy."""
    assert not serving.busy()
    let, arrived = threading.Event(), threading.Event()

    def step(request: Any) -> str:
        arrived.set()
        assert let.wait(10)
        return "hi"

    with box.trial(Record(), clock="real"), Server(ScriptedModel(step)) as served:
        asking = threading.Thread(target=ask, args=(served,))
        asking.start()
        assert arrived.wait(10)
        assert serving.busy()
        let.set()
        asking.join(10)
        until = clock.real_monotonic() + 10
        while serving.busy():
            assert clock.real_monotonic() < until
    assert not serving.loops
    assert not serving.threads


def test_what_the_kernel_holds_for_a_server_keeps_it_busy() -> None:
    """A loop that still sleeps although something has arrived does not rest."""
    loop = ServerLoop()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        loop.add_reader(ours, bool)
        loop._polls.resting = True
        assert loop.rests()
        theirs.send(b"a")
        assert not loop.rests()
        loop.remove_reader(ours)
    loop.close()


def test_opening_a_server_moves_no_time(record: Record) -> None:
    """Another thread of the app that sleeps meanwhile goes on sleeping."""
    woken: list[float] = []

    def sleeps() -> None:
        time.sleep(5)
        woken.append(elapsed(record))

    sleeper = threading.Thread(target=sleeps)
    sleeper.start()
    time.sleep(1)
    with Server(ScriptedModel()):
        assert elapsed(record) == 1
    assert woken == []
    sleeper.join()
    assert woken == [5.0]


def test_timers_of_a_server_pass_at_once_and_silences_do_not() -> None:
    """An hour of a step takes nothing, a silence its real time."""

    async def main() -> tuple[float, float, float]:
        begun, real = loop.time(), clock.real_monotonic()
        over = loop.create_future()
        loop.call_later(3600, over.set_result, None)
        await over
        hour, soon = loop.time() - begun, clock.real_monotonic() - real
        loop.silence(60).cancel()  # who leaves before is not waited for
        await loop.silence(0.02)
        return hour, soon, clock.real_monotonic() - real - soon

    loop = ServerLoop()
    try:
        hour, soon, silence = loop.run_until_complete(main())
    finally:
        loop.close()
    assert hour == 3600
    assert soon < 60
    assert 0.02 <= silence < 60
