"""What an app can do to the process it runs in: its case is errored and says why, the others are judged, nothing is left."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from invcheck.engines import limits
from tests.pipeline.conftest import Shop, Told

APP = '''
    """An app that can go wrong in every way a process can."""

    import ctypes
    import os
    import re
    import signal
    import subprocess
    import sys
    import threading


    def loops():
        while True:
            pass


    def backtracks():
        re.match("(a+)+$", "a" * 64 + "!")


    def overflows():
        sys.setrecursionlimit(10**9)
        held = lambda: max([0], key=lambda _: held())
        held()


    def bombs():
        for _ in range(6):
            if os.fork() == 0:
                loops()
        loops()


    def grows():
        held = bytearray()
        while True:
            held += b"x" * (1 << 20)


    def grows_by_little():
        held = []
        while True:
            held.append(bytes(999))


    def program_grows():
        subprocess.run([sys.executable, "-c", "held = bytearray()\\nwhile True: held += b'x' * (1 << 20)"])


    def thread_grows():
        thread = threading.Thread(target=grows)
        thread.start()
        thread.join()


    def thread_raises():
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()


    def swallows():
        try:
            bytearray(1 << 50)
        except MemoryError:
            return


    def refuses():
        raise MemoryError("more than 3 documents")


    WAYS = {
        "segfault": lambda: ctypes.string_at(0),
        "leaves with 0": lambda: os._exit(0),
        "leaves with 3": lambda: os._exit(3),
        "aborts": os.abort,
        "kills itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "terminates": lambda: os.kill(os.getpid(), signal.SIGTERM),
        "real-time signal": lambda: os.kill(os.getpid(), signal.SIGRTMIN + 3),
        "exits": lambda: sys.exit(4),
        "loops": loops,
        "backtracks": backtracks,
        "sums": lambda: sum(range(10**15)),
        "overflows": overflows,
        "bombs": bombs,
        "grows": grows,
        "grows by little": grows_by_little,
        "program grows": program_grows,
        "thread grows": thread_grows,
        "huge": lambda: bytearray(1 << 50),
        "swallows": swallows,
        "refuses": refuses,
        "closes stdout": lambda: os.close(1),
        "closes all": lambda: os.closerange(3, 1000),
        "stops": lambda: os.kill(os.getpid(), signal.SIGSTOP),
        "stops its parent": lambda: os.kill(os.getppid(), signal.SIGSTOP),
        "kills its parent": lambda: os.kill(os.getppid(), signal.SIGKILL),
        "kills its group": lambda: os.killpg(0, signal.SIGKILL),
        "thread raises": thread_raises,
        "fine": lambda: None,
    }


    def answer(how):
        WAYS[how]()
        return how
'''
SETTINGS = 'cpu-seconds = 1.2\ngate.memory = "256MiB"\n'

DIED = "in a trial of this case the worker died: "
BUSY = "in a trial of this case it took more than 1.2 seconds of processor time, in shop.py:"
FULL = "in a trial of this case its processes held more than 256 MiB of memory, in shop.py:"

CRASHES = {
    "segfault": ("WORKER_DIED", f"{DIED}signal 11 (SIGSEGV)"),
    "leaves with 0": ("WORKER_DIED", f"{DIED}exit 0"),
    "leaves with 3": ("WORKER_DIED", f"{DIED}exit 3"),
    "aborts": ("WORKER_DIED", f"{DIED}signal 6 (SIGABRT)"),
    "kills itself": ("WORKER_DIED", f"{DIED}signal 9 (SIGKILL)"),
    "terminates": ("WORKER_DIED", f"{DIED}signal 15 (SIGTERM)"),
    "real-time signal": ("WORKER_DIED", f"{DIED}signal 37 (SIGRTMIN+3)"),
    "loops": ("TRIAL_CPU", f"{BUSY}loops"),
    "backtracks": ("TRIAL_CPU", f"{BUSY}backtracks"),
    "sums": ("TRIAL_CPU", f"{BUSY}<lambda>"),
    "overflows": ("WORKER_DIED", f"{DIED}signal 11 (SIGSEGV)"),
    "bombs": ("TRIAL_CPU", f"{BUSY}loops"),
    "grows": ("TRIAL_MEMORY", f"{FULL}grows"),
    "grows by little": ("TRIAL_MEMORY", f"{FULL}grows_by_little"),
    "program grows": ("TRIAL_MEMORY", f"{FULL}program_grows"),
    "thread grows": ("TRIAL_MEMORY", f"{FULL}thread_grows"),
    "huge": ("OUT_OF_MEMORY", "there was not as much memory as the app asked for"),
    "closes all": ("CHANNEL_CLOSED", "the app closed descriptors that are not its own, so nothing could be told of this case"),
    "stops": ("WORKER_DIED", f"{DIED}signal 19 (SIGSTOP)"),
    "stops its parent": ("WORKER_DIED", f"{DIED}signal 19 (SIGSTOP)"),
    "kills its parent": ("WORKER_DIED", f"{DIED}signal 9 (SIGKILL)"),
    "kills its group": ("WORKER_DIED", f"{DIED}signal 9 (SIGKILL)"),
}
"""The way, and what is told of it: as a person would say what happened, with the numbers of signal(7) on Linux."""

APPS_OWN = {"exits": "SystemExit: 4", "refuses": "MemoryError: more than 3 documents"}
"""What left the app as an exception of its own."""

HOWS = [*CRASHES, *APPS_OWN, "thread raises", "closes stdout", "swallows", "fine"]


def _checks(*hows: str) -> str:
    rows = ", ".join(f"{{id: '{how}', input: {{how: '{how}'}}}}" for how in hows)
    return f"check: hurt\napp: shop:answer\ncases: [{rows}]\nexpect: [{{type: {{of: $.output, is: string}}}}]\n"


def _shop(folder: Path, *hows: str) -> Shop:
    shop = Shop(folder)
    shop.write({"shop.py": APP, "invcheck.toml": SETTINGS, "checks/hurt.yaml": _checks(*hows)})
    return shop


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """The table, run with one worker and with two."""
    return [_shop(tmp_path_factory.mktemp(f"shop{jobs}"), *HOWS).told("-j", str(jobs)) for jobs in (1, 2)]


@pytest.fixture(scope="module", params=[0, 1], ids=["-j1", "-j2"])
def crashed(request: pytest.FixtureRequest, runs: list[Told]) -> Told:
    """Each of these runs."""
    return runs[request.param]


@pytest.mark.parametrize("how", CRASHES)
def test_a_case_that_crashes_is_errored_and_says_what_happened(how: str, crashed: Told) -> None:
    """Check, case and seed are named; it is neither kept nor broken."""
    found, case = crashed.one(f"hurt[{how}]"), crashed.cases[f"hurt[{how}]"]
    assert (found["code"], found["message"]) == CRASHES[how]
    assert (case["verdict"], found["verdict"], case["seed"], case["check"]) == ("errored", "errored", 0, "checks/hurt.yaml::hurt")


@pytest.mark.parametrize("how", APPS_OWN)
def test_what_an_app_raises_itself_is_its_own(how: str, crashed: Told) -> None:
    """An exception that the app's own code raises is judged, also one that looks like a want of memory."""
    assert (crashed.verdict(f"hurt[{how}]"), crashed.one(f"hurt[{how}]")["got"]) == ("broken", APPS_OWN[how])


def test_the_others_go_on(crashed: Told) -> None:
    """Every case has its place in the order of the file, and those that do no harm are judged; the status is that of the worst."""
    assert list(crashed.cases) == [f"hurt[{how}]" for how in HOWS]
    assert [crashed.verdict(f"hurt[{how}]") for how in ("closes stdout", "swallows", "fine")] == ["kept"] * 3
    assert crashed.codes("hurt[thread raises]") == ["THREAD_RAISED"]
    assert crashed.status == 1


def test_two_workers_tell_the_same(runs: list[Told]) -> None:
    """The table on stdout is the same, byte for byte, whoever did what."""
    assert runs[0].out == runs[1].out


def test_crashes_alone_are_status_3(tmp_path: Path) -> None:
    """Nothing was judged broken, and something could not be judged."""
    assert _shop(tmp_path, "segfault", "loops", "fine").run().status == 3


@pytest.mark.parametrize(
    ("harm", "told"),
    [("os._exit(3)", "the worker died: exit 3"), ("sum(range(10**15))", "it took more than 1.2 seconds of processor time, in checks/")],
)
def test_a_file_that_crashes_as_it_is_loaded_is_a_problem(harm: str, told: str, tmp_path: Path) -> None:
    """It is named, and the other files are run."""
    shop = _shop(tmp_path, "fine")
    shop.write({"checks/check_harm.py": f"import os\n\n{harm}\n"})
    seen = shop.told()
    (problem,) = seen.problems
    assert (problem["code"], problem["place"]["file"]) == ("LOAD_DIED", "checks/check_harm.py")
    assert told in problem["message"]
    assert (seen.verdict("hurt[fine]"), seen.status) == ("kept", 2)


DAEMON = """
    import os
    import time


    def answer(how):
        heard, says = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            os.write(says, b"up")
            os.execv("/bin/sleep", ["sleep", how])
        os.wait()
        os.read(heard, 2)
        if how == "7654321":
            open("running", "w").close()
            while True:
                pass
        return how
"""


def _running(argument: str) -> bool:
    """Whether any process has this word on its command line."""
    wanted = argument.encode()
    return any(wanted in _line(process) for process in Path("/proc").iterdir() if process.name.isdigit())


def _line(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return []


def _gone(process: int) -> bool:
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 5)[0])
    finally:
        os.close(descriptor)


def test_a_daemon_of_the_app_ends_with_its_case(tmp_path: Path) -> None:
    """A grandchild that left session, group and parent is found all the same, and the worker does the next case."""
    shop = Shop(tmp_path)
    shop.write({"shop.py": DAEMON, "checks/hurt.yaml": _checks("1234567", "1234568")})
    seen = shop.told()
    assert [case["verdict"] for case in seen.cases.values()] == ["kept", "kept"]
    assert not _running("1234567")
    assert not _running("1234568")


WORKING = """
    import os
    import socket
    import time


    def answer(how):
        heard, says = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            os.write(says, b"up")
            if how == "dials":
                try:
                    socket.create_connection(("models.example.invalid", 443))
                except BaseException:
                    os._exit(0)
            while how == "works":
                pass
            time.sleep(7654322)
        os.wait()
        os.read(heard, 2)
        return how
"""


def test_what_a_daemon_does_belongs_to_the_case(tmp_path: Path) -> None:
    """One that dials is a breach although nobody waits for it; one that works on is no verdict; one that rests is nobody's fault."""
    shop = Shop(tmp_path)
    shop.write({"shop.py": WORKING, "checks/hurt.yaml": _checks("dials", "works", "rests")})
    seen = shop.told()
    assert [seen.codes(f"hurt[{how}]") for how in ("dials", "works", "rests")] == [["NETWORK"], ["CHILDREN_LEFT"], []]
    assert seen.one("hurt[dials]")["got"] == "models.example.invalid:443"


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_whoever_ends_the_run(number: signal.Signals, jobs: str, tmp_path: Path) -> None:
    """A busy app with a daemon: it waits for nobody: 130 and a whole prefix; killed, the kernel ends the rest."""
    shop = Shop(tmp_path)
    shop.write({"shop.py": DAEMON, "checks/hurt.yaml": _checks("7654321")})
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("INVCHECK_", "GITHUB_"))}
    words = [sys.executable, "-m", "invcheck", "run", "-j", jobs, "-o", "told.jsonl"]
    with subprocess.Popen(words, cwd=shop.root, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        for _ in range(500):
            if (shop.root / "running").exists() and _running("7654321"):
                break
            select.select([], [], [], 0.02)
        processes = [process for process in limits.used(run.pid).processes if process != run.pid]
        assert _running("7654321")
        run.send_signal(number)
        out, err = run.communicate(timeout=10)
    assert len(processes) >= 4  # a keeper, the worker, the case and its daemon
    assert all(map(_gone, processes))
    events = [json.loads(line) for line in shop.file("told.jsonl").splitlines()]
    if number == signal.SIGKILL:
        assert ([event["kind"] for event in events], out) == (["run"], "")
        return
    assert (run.returncode, err) == (130, "")
    assert ([event["kind"] for event in events], events[-1]["interrupted"]) == (["run", "end"], True)
    assert "Interrupted" in out.splitlines()[-1]
