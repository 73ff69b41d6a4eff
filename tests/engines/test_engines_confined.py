"""Confined workers: what user code does to one of them costs its own task only, and nothing gets out."""

import gc
import importlib.util
import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from invcheck.engines import confined, limits, worker
from invcheck.engines import stuck as stuck_module
from invcheck.errors import InvcheckError, Refused
from invcheck.gate import cell, confinement
from invcheck.gate.tiers import Tier

HERE = Path(__file__).parent
PROGRAM = str(HERE / "worker_program.py")
ROOT = HERE.parents[1]
SHORT = 0.5


def loaded(path: str) -> Any:
    """The worker's program as a module of this process."""
    spec = importlib.util.spec_from_file_location("worker_program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


worker_program = loaded(PROGRAM)


@contextmanager
def pool(**options: Any) -> Iterator[confined.Pool]:
    """A pool over the test's worker, whose output goes nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        with confined.Pool([PROGRAM], root=ROOT, output=null, **options) as made:
            yield made
    finally:
        os.close(null)


def last(messages: Iterator[tuple[int, Any]]) -> dict[int, Any]:
    """Each task's last message."""
    return {index: message for index, message in messages if "event" not in message}


def namespaces() -> bool:
    """Whether this kernel lets us confine."""
    with pool() as made:
        return made.layer == "K1"


needs_namespaces = pytest.mark.skipif(not namespaces(), reason="this kernel refuses namespaces")


def gone(pid: int) -> bool:
    """Whether a process is over, waiting for it in the kernel for up to five seconds."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 5)[0])
    finally:
        os.close(descriptor)


def standing(made: confined.Pool) -> list[int]:
    """All processes of a pool's workers, as this machine numbers them: a worker may have numbers of its own."""
    return [process for each in made._workers for process in limits.used(each.cell.keeper).processes]


def test_tasks_come_back_by_index_with_their_events_first() -> None:
    """Every task has one last message; events come before it, in order; large and odd values survive the channel."""
    tasks = [{"do": "echo", "value": {"n": n, "text": "é\ud800\n" * 40_000}, "events": [{"at": 1}, {"at": 2}]} for n in range(5)]
    with pool(jobs=2) as made:
        seen = list(made.run(tasks))
        assert last(iter(seen)) == {n: {"done": task["value"]} for n, task in enumerate(tasks)}
        for n in range(5):
            assert [message["event"] for index, message in seen if index == n and "event" in message] == [{"at": 1}, {"at": 2}]
        assert list(made.run([])) == []
        assert list(made.run(iter([{"do": "echo"}]))) == [(0, {"done": None})]


def test_no_more_workers_than_tasks_or_jobs() -> None:
    """Workers are started when they are needed, and used again."""
    with pool(jobs=4) as made:
        pids = {message["done"]["pid"] for message in last(made.run([{"do": "inside"}])).values()}
        pids |= {message["done"]["pid"] for message in last(made.run([{"do": "inside"}])).values()}
        assert len(pids) == 1


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("sys.exit", "exit 3"),
        ("os._exit", "exit 4"),
        ("segfault", "signal 11 (SIGSEGV)"),
        ("SIGKILL", "signal 9 (SIGKILL)"),
        ("SIGTERM", "signal 15 (SIGTERM)"),
    ],
)
def test_a_worker_that_dies_loses_its_own_task_only(how: str, told: str) -> None:
    """The tasks before and after it are answered, its events stay, and it is replaced."""
    with pool() as made:
        seen = list(made.run([{"do": "echo", "value": 1}, {"do": "end", "how": how}, {"do": "echo", "value": 2}]))
    assert seen == [
        (0, {"done": 1}), (1, {"event": {"before": how}}), (1, {"died": told, "breaches": []}), (2, {"done": 2}),
    ]  # fmt: skip


def test_a_task_apart_is_a_process_of_its_own_and_dies_as_such() -> None:
    """Its child's end is the worker's, by status or by signal, so that the supervisor tells it the same way."""
    with pool() as made:
        tasks = [{"do": "apart", "how": how} for how in ("none", "none", "os._exit", "SIGKILL", "sys.exit")]
        seen = last(made.run([*tasks, {"do": "inside"}]))
    assert len({seen[n]["done"] for n in (0, 1)}) == 2
    assert [seen[n].get("died") for n in (2, 3, 4)] == ["exit 4", "signal 9 (SIGKILL)", "exit 3"]
    assert "done" in seen[5]


def test_a_task_for_a_worker_that_is_over_is_dropped(tmp_path: Path) -> None:
    """Writing to a worker that has just ended is no error: its end is found and told next."""
    null = os.open(os.devnull, os.O_WRONLY)
    ended = worker.Worker(["-c", ""], str(ROOT), str(tmp_path), cell.walls(Tier.SOFT), null)
    os.close(null)
    assert select.select([ended.cell.process], [], [], 5)[0]
    ended.give(0, {"do": "echo"}, 0.0)
    assert ended.flush() is None
    assert ended.hear(1.0) == []
    assert (ended.task, ended.since, ended.over(), ended.over()) == (0, 0.0, "exit 0", "exit 0")
    ended.end()


def test_what_a_dead_worker_noted_is_told() -> None:
    """A breach right before the end is not lost with the worker; one of an earlier task is not told again."""
    with pool() as made:
        message = last(made.run([{"do": "fail", "kind": "network"}, {"do": "end", "how": "breach"}]))[1]
    assert message["died"] == "exit 5"
    assert [(breach["wanted"], breach["where"]) for breach in message["breaches"]] == [
        ("model.invalid:443", "tests/engines/worker_program.py:end")
    ]


def capped(made: confined.Pool, task: Any, processes: list[int] | None = None) -> list[Any]:
    """Give a running worker a short cap and a task that never ends; the cap is put back for its replacement.

    What ran when it told of itself is added to the ``processes``.
    """
    assert last(made.run([{"do": "echo"}])) == {0: {"done": None}}
    made._cap, patient, seen = SHORT, made._cap, []
    for index, message in made.run([task, {"do": "echo", "value": 2}]):
        seen.append((index, message))
        if "event" in message and processes is not None:
            processes += standing(made)
        if "capped" in message:
            made._cap = patient
    return seen


def test_a_stuck_worker_is_capped_and_says_where_it_stands() -> None:
    """Nothing heard for the cap's time: the worker and its child are ended, and the project's frame is named."""
    with pool() as made:
        processes = list[int]()
        seen = capped(made, {"do": "hang", "child": True}, processes)
    told = seen[1][1]
    assert (told["capped"], told["breaches"]) == (SHORT, [])
    assert told["where"].startswith("tests/engines/worker_program.py:hang, line ")
    assert len(processes) >= 3  # a keeper, the worker, and its child
    assert all(map(gone, processes))
    assert seen[2] == (1, {"done": 2})


def test_a_deaf_worker_is_capped_all_the_same() -> None:
    """An app that took the signal away only loses us the place."""
    with pool() as made:
        assert capped(made, {"do": "hang", "deaf": True}) == [(0, {"capped": SHORT, "where": None, "breaches": []}), (1, {"done": 2})]


def test_failures_are_put_into_words() -> None:
    """Our errors keep code, place and hint; a breach is NETWORK; of a foreign error the user sees type and place."""
    with pool() as made:
        tasks = [{"do": "fail", "kind": kind} for kind in ("ours", "network", "foreign")]
        ours, network, foreign = (message["failed"] for message in last(made.run(tasks)).values())
    assert ours == {
        "code": "UNKNOWN_KEY", "exit": 2, "message": "no such key", "place": ["checks/a.yaml", 3, 5], "hint": "did you mean runs?",
    }  # fmt: skip
    assert network["code"] == "NETWORK"
    assert network["message"].startswith("model.invalid:443 was wanted")
    assert foreign["code"] == "INTERNAL"
    assert foreign["message"].startswith("ZeroDivisionError in tests/engines/worker_program.py:fail, line ")


def test_a_forked_child_cannot_answer_for_the_worker() -> None:
    """A child that comes back through the handler is ended before it speaks."""
    with pool() as made:
        assert list(made.run([{"do": "fork"}])) == [(0, {"done": "the worker speaks"})]


def test_the_environment_is_scrubbed_before_exec(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key in os.environ nor in the process's original environment; HOME and TMPDIR are the worker's own and empty."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-live")
    monkeypatch.setenv("HTTPS_PROXY", "http://sk-live@proxy:3128")
    monkeypatch.setenv("SHOP_MODE", "test")
    with pool() as made:
        seen = last(made.run([{"do": "inside"}]))[0]["done"]
        env = seen["environ"]
        assert (env["OPENAI_API_KEY"], env["ANTHROPIC_API_KEY"], env["SHOP_MODE"]) == ("", "", "test")
        assert "HTTPS_PROXY" not in env
        assert "INVCHECK_WORKER" not in env
        assert not seen["secret"]
        assert list(Path(env["HOME"]).iterdir()) == []
        assert Path(env["TMPDIR"]).is_dir()
        assert env["HOME"] != os.environ["HOME"]
        assert seen["cwd"] == str(ROOT)
        assert seen["uid"] == os.getuid()
        assert seen["stdin"] == ""
    assert not Path(env["TMPDIR"]).exists()
    assert not Path(env["TMPDIR"]).parents[1].exists()


def test_no_descriptor_comes_along() -> None:
    """A connected socket of the supervisor would be a way out: the worker has none, and one namespace with loopback only."""
    left, right = socket.socketpair()
    os.set_inheritable(left.fileno(), True)
    with left, right, pool() as made:
        seen = last(made.run([{"do": "inside"}]))[0]["done"]
        assert not [link for link in seen["links"] if link.startswith("socket:")]
        if made.layer == "K1":
            assert seen["interfaces"] == ["lo"]
            assert seen["namespace"] != str(Path("/proc/self/ns/net").readlink())


@needs_namespaces
@pytest.mark.parametrize("way", ["plain", "swallowed", "thread", "forked", "async", "native", "program", "spawned"])
def test_nothing_reaches_a_listener_outside(way: str) -> None:
    """The judge is a listener outside: it sees no connection, whatever the client did; each attempt is noted, with its line."""
    with socket.create_server(("127.0.0.1", 0)) as judge, pool() as made:
        judge.setblocking(False)
        port = judge.getsockname()[1]
        message = last(made.run([{"do": "leak", "way": way, "port": port}]))[0]
        with pytest.raises(BlockingIOError):
            judge.accept()
    assert [breach["wanted"] for breach in message["done"]] == [f"127.0.0.1:{port}"]
    assert message["done"][0]["where"].startswith("tests/engines/worker_program.py:")


def test_the_judge_does_see_a_connection() -> None:
    """The negative twin: the same ways, unconfined, reach the listener."""
    with socket.create_server(("127.0.0.1", 0)) as judge:
        for way in ("native", "program"):
            worker_program.WAYS[way](judge.getsockname()[1])
            judge.accept()[0].close()
    gc.collect()


@needs_namespaces
def test_the_sandboxes_own_servers_work() -> None:
    """Loopback inside the namespace is up: an app may serve and dial, from its own programs too."""
    with pool() as made:
        assert last(made.run([{"do": "own"}]))[0] == {"done": []}


def test_a_trial_is_the_same_in_every_worker() -> None:
    """Equal seeds see equal time and chance in fresh workers, whatever ran before; another seed differs; local time is UTC."""
    with pool() as one, pool() as two:
        first = last(one.run([{"do": "trial", "seed": seed} for seed in (7, 8)]))
        second = last(two.run([{"do": "trial", "seed": seed} for seed in (9, 7)]))
    seen, other, again = first[0]["done"], first[1]["done"], second[1]["done"]
    assert seen["seen"] == again["seen"]
    assert seen["seen"][:3] != other["seen"][:3]
    assert seen["waits"] == [1.5, 2.0]
    assert seen["seen"][3:] == [1_893_456_003.5, [2030, 1, 1, 0, 0, 3]]
    assert "pytest" not in seen["modules"]


def test_a_worker_imports_little_for_itself() -> None:
    """No heavy module is loaded by us before user code asks for it."""
    with confined.Pool([str(HERE / "bare_program.py")], root=ROOT) as made:
        loaded = set(last(made.run([{"do": "modules"}]))[0]["done"])
    assert not loaded & {"asyncio", "pydantic", "time_machine", "uuid", "socket", "subprocess", "tempfile", "hypothesis", "jsonpath_ng"}


def test_stopping_early_ends_the_tasks_in_hand() -> None:
    """Whoever leaves the loop (`-x`) loses running tasks; the pool goes on."""
    with pool(jobs=2) as made:
        for _, message in made.run([{"do": "hang", "child": True}, {"do": "echo"}, {"do": "echo"}]):
            if "event" in message:
                processes = standing(made)
                break
        gc.collect()
        assert last(made.run([{"do": "echo", "value": 3}])) == {0: {"done": 3}}
        assert len(processes) >= 3
        assert all(map(gone, processes))


SUPERVISOR = """
    import os, sys
    from invcheck.engines import confined, limits
    try:
        with confined.Pool([sys.argv[1]], root=sys.argv[2]) as made:
            for _, message in made.run([{"do": "hang", "child": True}]):
                print(made._folder, *limits.used(os.getpid()).processes[1:], flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGKILL", -9)])
def test_nothing_outlives_the_supervisor(name: str, code: int, tmp_path: Path) -> None:
    """Interrupted, it ends its workers and removes their folders; killed, the kernel ends worker and children for it."""
    supervisor = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SUPERVISOR), PROGRAM, str(ROOT)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},  # a killed one cannot remove its folder
    )
    assert supervisor.stdout is not None
    with supervisor.stdout:
        folder, *processes = supervisor.stdout.readline().split()
        supervisor.send_signal(getattr(signal, name))
        assert supervisor.wait(30) == code
    assert len(processes) >= 3
    assert all(gone(int(process)) for process in processes)
    if name == "SIGINT":
        assert not Path(folder).exists()


def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that grants no namespace, as in a container without privileges."""

    def refuse(_flags: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(confinement, "prepare", lambda: refuse)


def test_where_namespaces_are_refused_the_listener_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next tier holds: nothing of Python or C code reaches a listener outside, and the reason is in the kernel's words."""
    refused(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as judge, pool(require_kernel=True) as made:
        assert (made.tier, made.reason) == (Tier.K2, "K1: Operation not permitted (EPERM)")
        judge.setblocking(False)
        port = judge.getsockname()[1]
        seen = last(made.run([{"do": "leak", "way": way, "port": port} for way in ("swallowed", "native", "program", "spawned")]))
        assert len(seen[0]["done"]) == 1
        with pytest.raises(BlockingIOError):
            judge.accept()


def test_where_neither_is_granted_the_static_filter_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """K3 needs no namespace: native code and programs reach nobody by its filter alone."""
    refused(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as judge, pool(require_kernel=True, tiers=[Tier.K1, Tier.K3, Tier.SOFT]) as made:
        assert (made.tier, made.reason) == (Tier.K3, "K1: Operation not permitted (EPERM)")
        judge.setblocking(False)
        port = judge.getsockname()[1]
        seen = last(made.run([{"do": "leak", "way": way, "port": port} for way in ("swallowed", "native", "program", "spawned")]))
        assert len(seen) == 4
        with pytest.raises(BlockingIOError):
            judge.accept()


def test_without_any_wall_the_hook_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The soft tier says so; whoever requires the kernel gets a refusal with every tier's reason and no worker."""
    with socket.create_server(("127.0.0.1", 0)) as judge, pool(tiers=[Tier.SOFT]) as made:
        assert (made.layer, made.reason) == ("soft", None)
        judge.setblocking(False)
        message = last(made.run([{"do": "leak", "way": "swallowed", "port": judge.getsockname()[1]}]))[0]
        assert len(message["done"]) == 1
        with pytest.raises(BlockingIOError):
            judge.accept()
    refused(monkeypatch)
    with pool(require_kernel=True, tiers=[Tier.K1, Tier.SOFT]) as made, pytest.raises(Refused) as caught:
        made.layer  # noqa: B018  # asking starts a worker
    assert (caught.value.code, caught.value.exit) == ("GATE_REQUIRED", 4)
    assert "K1: Operation not permitted (EPERM)" in caught.value.message


@needs_namespaces
def test_the_layer_is_known_before_a_task() -> None:
    """For the banner; and it has no reason where there is nothing to explain."""
    with pool(require_kernel=True) as made:
        assert (made.layer, made.reason) == ("K1", None)
        assert (made.layer, made.reason) == ("K1", None)


def test_a_worker_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    """A folder that is gone is reported with the kernel's words, before any task is lost."""
    with (
        confined.Pool([PROGRAM], root=tmp_path / "gone") as made,
        pytest.raises(InvcheckError, match=r"No such file or directory \(ENOENT\)"),
    ):
        list(made.run([{"do": "echo"}]))


def test_a_program_that_ends_at_once_loses_every_task_and_no_more() -> None:
    """A worker whose program fails to load is told per task, never waited for."""
    null = os.open(os.devnull, os.O_WRONLY)
    with confined.Pool(["-c", "raise SystemExit(7)"], output=null) as made:
        seen = last(made.run([{"do": "echo"}, {"do": "echo", "value": "x" * 200_000}]))
    os.close(null)
    assert seen == {n: {"died": "exit 7", "breaches": []} for n in range(2)}


def test_an_idle_worker_that_will_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing waits for idle workers, but not for ever."""
    monkeypatch.setattr(confined, "_GRACE", 1)
    null = os.open(os.devnull, os.O_WRONLY)
    program = "import sys; from invcheck.engines import channel; channel.serve({'x': lambda t, e: None})\nwhile True: pass"
    with confined.Pool(["-c", program], output=null) as made:
        assert last(made.run([{"do": "x"}])) == {0: {"done": None}}
        processes = standing(made)
    os.close(null)
    assert all(map(gone, processes))


def test_a_dump_is_read_for_the_projects_frame() -> None:
    """The current thread's innermost project frame, else another thread's, else nothing."""
    dump = textwrap.dedent("""\
        Thread 0x1 (most recent call first):
          File "/shop/pool.py", line 3 in work
        Current thread 0x2 (most recent call first):
          File "/usr/lib/python3.11/socket.py", line 5 in recv
          File "/shop/qa.py", line 12 in answer
          File "/shop/main.py", line 1 in <module>
        """)
    assert stuck_module.innermost(dump, "/shop") == "qa.py:answer, line 12"
    assert stuck_module.innermost(dump.replace("/shop/qa", "/lib/qa").replace("/shop/main", "/lib/main"), "/shop") == "pool.py:work, line 3"
    assert stuck_module.innermost(dump, "/elsewhere") is None
    stuck_module.ambient.install(str(ROOT))
    assert stuck_module.ask(2**22 + 1, 0, "/") is None


LOOK = "import os; from invcheck.engines import channel; channel.serve({'look': lambda t, e: [os.listdir('/run'), os.stat('/run').st_dev]})"


def _covered() -> tuple[list[str], int]:
    return sorted(path.name for path in Path("/run").iterdir()), Path("/run").stat().st_dev


@needs_namespaces
def test_sockets_of_daemons_are_not_there() -> None:
    """Path sockets are in no network namespace: their usual folder is an empty one inside, and as it was outside."""
    before = _covered()
    with confined.Pool(["-c", LOOK]) as made:
        names, device = last(made.run([{"do": "look"}]))[0]["done"]
        assert (names, device != before[1]) == ([], True)
        assert _covered() == before


def test_the_supervisors_clock_is_real() -> None:
    """The cap is real time, whatever a trial in the same process does."""
    assert abs(confined._now() - time.monotonic()) < 5


def test_a_worker_that_dies_while_it_idles_costs_no_task() -> None:
    """It is noticed while another works, and one that is needed later is a new one."""
    with pool(jobs=2) as made:
        first, second = (last(made.run([{"do": "inside"}] * 2)), [each.pid for each in made._workers])
        assert (len(first), len(second)) == (2, 2)
        os.kill(second[1], signal.SIGKILL)
        assert select.select([made._workers[1].cell.process], [], [], 5)[0]
        assert list(last(made.run([{"do": "inside"}]))) == [0]
        assert [each.pid for each in made._workers] == second[:1]
        assert list(last(made.run([{"do": "inside"}] * 2))) == [0, 1]
