"""The gate, the clock and the chance of a trial, in the tests that ask for them and in no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Tests = Callable[..., Any]

GATE = """
import asyncio, contextlib, os, socket, threading
import pytest
import invcheck


def dial():
    socket.create_connection(("192.0.2.1", 443))


def swallowed():
    with contextlib.suppress(BaseException):
        dial()


@pytest.mark.invcheck(gate=True)
def test_marker():
    dial()


@pytest.mark.invcheck(gate=True)
def test_swallowed():
    swallowed()
    swallowed()


def test_fixture(invcheck_gate):
    swallowed()


def test_fixture_asked_late(request):
    request.getfixturevalue("invcheck_gate")
    swallowed()


@pytest.mark.invcheck(gate=True)
def test_thread():
    thread = threading.Thread(target=swallowed)
    thread.start()
    thread.join()


@pytest.mark.invcheck(gate=True)
def test_name_in_asyncio():
    async def ask():
        with contextlib.suppress(BaseException):
            await asyncio.open_connection("api.example.com", 443)

    asyncio.run(ask())


@pytest.mark.invcheck(gate=True)
def test_forked_child():
    child = os.fork()
    if not child:
        swallowed()
        os._exit(0)
    os.waitpid(child, 0)


@pytest.mark.invcheck(gate=True)
def test_inside_testing():
    with invcheck.testing():
        swallowed()


@pytest.mark.invcheck(gate=True)
def test_inside_testing_that_fails():
    with invcheck.testing():
        swallowed()
        assert 1 == 2


@pytest.mark.invcheck(gate=True)
def test_own_listener():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


@pytest.fixture(scope="module")
def shared():
    swallowed()


@pytest.mark.invcheck(gate=True)
def test_shared_fixture(shared):
    pass


@pytest.fixture
def last():
    yield
    swallowed()


@pytest.mark.invcheck(gate=True)
def test_in_teardown(last):
    pass


@pytest.fixture
def broken():
    swallowed()
    raise ValueError("no database")


@pytest.mark.invcheck(gate=True)
def test_in_setup(broken):
    pass


def test_ungated(scripted_model):
    scripted_model("a")("hi")
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 1))


def test_ungated_testing():
    with invcheck.testing(), pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 1))
"""
BREACHED = (
    *("test_marker", "test_swallowed", "test_fixture", "test_fixture_asked_late", "test_thread", "test_name_in_asyncio"),
    *("test_forked_child", "test_inside_testing", "test_inside_testing_that_fails", "test_shared_fixture"),
)


ALLOWING = """
import contextlib, socket, subprocess, sys
import pytest

SERVE = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); s.settimeout(20); s.accept()"
SERVER = subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE)
PORT = int(SERVER.stdout.readline())


def dial():
    with contextlib.suppress(BaseException):
        socket.create_connection(("127.0.0.1", PORT)).close()


@pytest.mark.invcheck(gate=True)
def test_before():
    dial()


@pytest.mark.invcheck(gate=True, allow=[f"tcp:localhost:{PORT}"])
def test_allowed():
    dial()
    assert SERVER.wait(20) == 0  # it has served one


@pytest.mark.invcheck(gate=True)
def test_after():
    dial()
"""


def test_what_a_test_allows_is_reached_by_it_alone(tests: Tests) -> None:
    """A service of another process, by its exact port, and not before or after that test."""
    told = tests(ALLOWING)
    assert told.outcomes == {"test_before": "failure", "test_allowed": "passed", "test_after": "failure"}, told.text


def test_a_breach_fails_the_test_that_asked_for_the_gate(tests: Tests) -> None:
    """Swallowed or not, from a thread, a child or a fixture: with host, port, file and line; other tests have their network."""
    told = tests(GATE)
    assert told.outcomes == {
        **dict.fromkeys(BREACHED, "failure"),
        "test_own_listener": "passed",
        "test_in_teardown": "error",
        "test_in_setup": "error",
        "test_ungated": "passed",
        "test_ungated_testing": "passed",
    }, told.text
    said = "192.0.2.1:443 was wanted, through socket, at test_it.py:8 in dial"
    for name in (
        "test_fixture",
        "test_fixture_asked_late",
        "test_thread",
        "test_forked_child",
        "test_inside_testing",
        "test_shared_fixture",
    ):
        thread = ", in the thread Thread-N (swallowed)" if name == "test_thread" else ""
        assert told.messages[name].startswith(f"Failed: NETWORK: {said}{thread}\n"), name
    assert told.messages["test_swallowed"].startswith(f"Failed: NETWORK: {said} (2 times)\n  expected  nothing reaches the network\n")
    assert "  gate      in-process\n" in told.messages["test_swallowed"]
    assert "api.example.com:443 was wanted, through asyncio, at test_it.py:47 in ask" in told.messages["test_name_in_asyncio"]
    assert told.messages["test_inside_testing_that_fails"].startswith("assert 1 == 2")
    assert told.text.count("invcheck: wrong as well") == 3  # the marker's own NetworkBlocked, the failed assert, the setup's error
    assert "invcheck: gate in-process for 12 of 15 tests" in told.text


EVERY = """
import socket
import pytest


def test_swallows():
    try:
        socket.create_connection(("192.0.2.1", 443))
    except BaseException:
        pass


def test_quiet():
    pass


@pytest.mark.invcheck(gate=False)
def test_opts_out():
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 1))
"""


@pytest.mark.parametrize("how", ["option", "ini", "workers"])
def test_the_gate_for_every_test(tests: Tests, how: str) -> None:
    """By option or ini, also in workers of xdist; the header says which layer holds, and one test may opt out."""
    ini = "[pytest]\nfilterwarnings = error\n"
    args = {"option": ["--invcheck-gate"], "ini": [], "workers": ["--invcheck-gate", "-n", "2"]}[how]
    told = tests(EVERY, *args, ini=f"{ini}invcheck_gate = true\n" if how == "ini" else ini)
    assert told.outcomes == {"test_swallows": "failure", "test_quiet": "passed", "test_opts_out": "passed"}, told.text
    assert "invcheck: gate in-process (--invcheck-isolate puts the kernel's around it)" in told.text


CLOCK = """
import asyncio, datetime, random, time, uuid
import pytest
from invcheck import Fault


def slow():
    time.sleep(3600)


@pytest.mark.invcheck(clock="virtual")
def test_virtual(invcheck_record, scripted_model):
    model = scripted_model("a")
    before = time.monotonic()
    slow()
    asyncio.run(asyncio.sleep(60))
    model("hi")
    assert (invcheck_record.waits, time.monotonic() - before) == ([3600, 60], 3660)
    assert [entry["kind"] for entry in invcheck_record.journal] == ["wait", "wait", "call"]
    assert datetime.datetime.now(datetime.timezone.utc).isoformat() == "2030-01-01T01:01:00+00:00"


@pytest.mark.invcheck(clock={"start": "2031-05-01T12:00:00Z"})
def test_start():
    assert datetime.datetime.now(datetime.timezone.utc).year == 2031


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.invcheck(clock="real", seed=7)
def test_chance(n):
    print("DRAWN", random.random(), uuid.uuid4())
    assert time.time() < 1_893_456_000


@pytest.mark.parametrize("n", [1, 2])
def test_no_chance(n):
    print("ELSE", uuid.uuid4())
    assert time.time() < 1_893_456_000


@pytest.mark.invcheck(clock="virtual")
def test_no_gate_by_itself():
    import socket
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 1))


@pytest.mark.invcheck(clock="virtual", gate=True)
def test_both():
    import socket
    slow()
    try:
        socket.create_connection(("192.0.2.1", 443))
    except BaseException:
        pass
"""


def test_the_clock_and_chance_of_a_trial(tests: Tests) -> None:
    """Where a marker asks, hours pass at once and draws are the seed's; elsewhere time and chance are real."""
    told = tests(CLOCK, "-rP")
    assert {name: how for name, how in told.outcomes.items() if how != "passed"} == {"test_both": "failure"}, told.text
    assert told.messages["test_both"].startswith("Failed: NETWORK: 192.0.2.1:443 was wanted, through socket, at test_it.py:")
    drawn = [line for line in told.text.splitlines() if line.startswith("DRAWN")]
    others = [line for line in told.text.splitlines() if line.startswith("ELSE")]
    assert [len(drawn), len(set(drawn)), len(others), len(set(others))] == [2, 1, 2, 2]
