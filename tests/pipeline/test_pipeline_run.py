"""A whole run: what is lost with a worker, what stops it early, what is replayed, and that nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.conftest import Shop, Told

APP = '''
    """An app that can lose its worker."""

    import os
    import socket
    import time


    def answer(how):
        if how == "killed":
            os.kill(os.getpid(), 9)
        if how == "left":
            os._exit(4)
        if how == "interrupt":
            raise KeyboardInterrupt
        if how == "dialled":
            try:
                socket.create_connection(("models.example.invalid", 443))
            except BaseException:
                os._exit(5)
        if how == "stuck":
            while True:
                pass
        if how == "swallowed":
            try:
                socket.create_connection(("models.example.invalid", 443))
            except BaseException:
                return how
        if how == "dials":
            socket.create_connection(("models.example.invalid", 443))
        return how


    def unlucky(rng):
        return "red" if rng.random() < 0.3 else "green"
'''
HOWS = ("fine", "killed", "left", "interrupt", "dialled", "swallowed", "dials", "last")


def cases(*hows: str) -> str:
    """A check file with one case for each way."""
    rows = ", ".join(f"{{id: {how}, input: {how}}}" for how in hows)
    return f"check: lost\napp: shop:answer\ncases: [{rows}]\nexpect: [{{type: {{of: $.output, is: string}}}}]\n"


@pytest.fixture(scope="module", params=["1", "2"])
def lost(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """One run over all the ways to lose a worker, with one worker and with two."""
    shop = Shop(tmp_path_factory.mktemp("shop"))
    shop.write(
        {
            "shop.py": APP,
            "checks/lost.yaml": cases(*HOWS),
            "checks/other.yaml": cases("fine").replace("lost", "other"),
        }
    )
    return shop.told("-j", request.param)


@pytest.mark.parametrize("how", ["fine", "last"])
def test_a_worker_that_dies_loses_its_own_case_only(how: str, lost: Told) -> None:
    """The others are run and kept, whoever was first."""
    assert (lost.verdict(f"lost[{how}]"), lost.verdict("other[fine]")) == (
        "kept",
        "kept",
    )
    assert list(lost.cases) == [*(f"lost[{each}]" for each in HOWS), "other[fine]"]


@pytest.mark.parametrize(("how", "end"), [("killed", "signal 9 (SIGKILL)"), ("left", "exit 4")])
def test_a_case_whose_worker_died_is_no_verdict(how: str, end: str, lost: Told) -> None:
    """It is errored, and says how the worker ended."""
    found = lost.one(f"lost[{how}]")
    assert (found["code"], found["verdict"]) == ("WORKER_DIED", "errored")
    assert found["message"] == f"in a trial of this case the worker died: {end}"
    assert (lost.verdict(f"lost[{how}]"), lost.cases[f"lost[{how}]"]["trials"]) == (
        "errored",
        {"errored": 1},
    )


def test_an_app_that_interrupts_itself_is_no_verdict(lost: Told) -> None:
    """KeyboardInterrupt is an error of the app's like any other: a worker has no terminal."""
    assert [code for code in lost.codes("lost[interrupt]") if code != "UNJUDGED"] == ["APP_RAISED"]


def test_a_breach_is_not_lost_with_its_worker(lost: Told) -> None:
    """It was noted before the worker ended: broken, and told beside the death."""
    assert (lost.verdict("lost[dialled]"), lost.codes("lost[dialled]")) == (
        "broken",
        ["NETWORK", "WORKER_DIED"],
    )
    assert lost.cases["lost[dialled]"]["findings"][0]["got"] == "models.example.invalid:443"


@pytest.mark.parametrize("how", ["swallowed", "dials"])
def test_a_breach_is_told_once_swallowed_or_not(how: str, lost: Told) -> None:
    """NETWORK with the place of the call, and no second finding of the error that it raised."""
    found = lost.one(f"lost[{how}]")
    assert (found["code"], found["verdict"], found["got"]) == (
        "NETWORK",
        "broken",
        "models.example.invalid:443",
    )
    assert found["place"][0] == "shop.py"


def test_the_statuses_are_those_of_the_worst(shop: Shop) -> None:
    """A dead worker alone is 3; beside a broken claim the run is 1."""
    shop.write({"shop.py": APP, "checks/lost.yaml": cases("fine", "killed")})
    assert shop.run().status == 3
    shop.write({"checks/lost.yaml": cases("fine", "killed", "swallowed")})
    assert shop.run().status == 1


def test_a_stuck_trial_is_stopped(shop: Shop) -> None:
    """After its real time it is errored with the frame where it stood, and the other case is run."""
    shop.write(
        {
            "shop.py": APP,
            "checks/lost.yaml": cases("stuck", "last"),
            "invcheck.toml": "trial-seconds = 1\n",
        }
    )
    told = shop.told()
    found = told.one("lost[stuck]")
    assert (told.status, found["code"], found["verdict"]) == (
        3,
        "TRIAL_TIMEOUT",
        "errored",
    )
    assert found["message"].startswith("in a trial of this case nothing was heard for 1 seconds, in shop.py:answer, line ")
    assert told.verdict("lost[last]") == "kept"


UNLUCKY = """
    check: luck
    app: shop:unlucky
    runs: 20
    cases: [{id: only, input: {}}]
    expect:
      - equals: {of: $.output, to: green}
      - same-across-runs: $.output
      - not-equals: {of: $.output, to: blue}
"""


def test_findings_are_grouped_and_replayed(shop: Shop) -> None:
    """One finding a claim, with the first seed that shows it and how many did; its command shows the same one again."""
    shop.write({"shop.py": APP, "checks/luck.yaml": UNLUCKY})
    told = shop.told()
    case = told.cases["luck[only]"]
    first, across = case["findings"]
    assert (first["code"], across["code"]) == ("EQUALS", "SAME_ACROSS_RUNS")
    assert 1 <= first["count"] == case["trials"]["broken"] < 20
    assert case["trials"]["kept"] == 20 - first["count"]
    assert "seed" not in across
    replays = [line.split("replay")[1].strip() for line in told.out.splitlines() if line.strip().startswith("replay")]
    assert replays == [
        f"invcheck run 'checks/luck.yaml::luck[only]' --seed {first['seed']} --runs 1",
        "invcheck run 'checks/luck.yaml::luck[only]' --seed 0 --runs 20",
    ]
    again = shop.command(f"{replays[0]} -o again.jsonl")
    found, left = next(each["findings"] for line in shop.file("again.jsonl").splitlines() if "findings" in (each := json.loads(line)))
    assert (again.status, found, left["code"]) == (1, {**first, "count": 1}, "UNJUDGED")
    assert shop.command(replays[1]).out == told.out


def test_fewer_runs_leave_claims_across_runs_unjudged(shop: Shop) -> None:
    """With --runs below the check's own only the claims about each trial are judged."""
    shop.write(
        {
            "shop.py": APP,
            "checks/luck.yaml": UNLUCKY.replace("equals: {of: $.output, to: green}", "type: {of: $.output, is: string}"),
        }
    )
    assert shop.told("--runs", "19").codes("luck[only]") == []
    assert shop.told("--runs", "20").codes("luck[only]") == ["SAME_ACROSS_RUNS"]


def test_early_stops_are_in_plan_order(shop: Shop) -> None:
    """-x and --max-failures give the first ones of the plan, although a later one was ready before."""
    slow = APP.replace(
        "def answer(how):",
        "def answer(how):\n        if how == 'slow':\n            sum(range(5_000_000))\n            return 1\n",
    )
    shop.write(
        {
            "shop.py": slow,
            "checks/lost.yaml": cases("fine", "slow", "swallowed", "dials", "last"),
        }
    )
    told = shop.told("-x", "-j", "2")
    assert list(told.cases) == ["lost[fine]", "lost[slow]"]
    assert told.out.splitlines()[-1].startswith("2 cases: 1 kept, 1 broken.")
    assert "Stopped early, 3 more were planned." in told.out
    assert list(shop.told("--max-failures", "2", "-j", "2").cases) == [
        "lost[fine]",
        "lost[slow]",
        "lost[swallowed]",
    ]
    assert "Stopped early" not in shop.told("--max-failures", "3", "-k", "slow or swallowed or dials").out


BYSTANDER = cases("fine").replace("lost", "bystander")
BAD = {
    "a Python file that raises": ({"checks/check_bad.py": "1 / 0\n"}, "IMPORT_RAISED", "checks/check_bad.py:1", 2),
    "a Python file with no check": ({"checks/check_bad.py": "x = 1\n"}, "NO_CHECK", "checks/check_bad.py:1:1", 2),
    "a Python file that does not parse": ({"checks/check_bad.py": "x = (\n"}, "IMPORT_RAISED", "checks/check_bad.py:1:5", 2),
    "a Python file that leaves": ({"checks/check_bad.py": "import os\nos._exit(7)\n"}, "LOAD_DIED", "checks/check_bad.py", 2),
    "a Python file that exits": ({"checks/check_bad.py": "raise SystemExit\n"}, "IMPORT_RAISED", "checks/check_bad.py:1", 2),
    "a Python file that dials": (
        {"checks/check_bad.py": "import socket\nsocket.create_connection(('a.example.invalid', 1))\n"},
        "NETWORK",
        "checks/check_bad.py:2",
        2,
    ),
    "an app that is not there": (
        {"checks/bad.yaml": "check: bad\napp: shop:answr\ncases: [{input: 1}]\nexpect: [{calls: 0}]\n"},
        "REFERENCE_MISSING",
        "checks/bad.yaml:2:6",
        2,
    ),
    "a setup that is not there": (
        {"checks/bad.yaml": "check: bad\napp: shop:answer\nsetup: shp:go\ncases: [{input: 1}]\nexpect: [{calls: 0}]\n"},
        "REFERENCE_MISSING",
        "checks/bad.yaml:3:8",
        2,
    ),
    "a fake that is not there": (
        {"checks/bad.yaml": "check: bad\napp: shop:answer\nmodel: {drifting: shop:fake}\ncases: [{input: 1}]\nexpect: [{calls: 0}]\n"},
        "REFERENCE_MISSING",
        "checks/bad.yaml:3:19",
        2,
    ),
    "an input that does not fit": (
        {"checks/bad.yaml": "check: bad\napp: shop:answer\ncases: [{input: {hw: 1}}]\nexpect: [{calls: 0}]\n"},
        "INPUT_MISMATCH",
        "checks/bad.yaml:3:9",
        2,
    ),
    "an app whose module dials": (
        {
            "dialling.py": "import socket\ntry:\n    socket.getaddrinfo('a.example.invalid', 1)\nexcept BaseException:\n    go = print\n",
            "checks/bad.yaml": "check: bad\napp: dialling:go\ncases: [{input: 1}]\nexpect: [{calls: 0}]\n",
        },
        "NETWORK",
        "checks/bad.yaml",
        2,
    ),
    "a check with a parameter that nothing fills": (
        {"checks/check_bad.py": "from invcheck import check\n\n\n@check()\ndef bad(trial, question):\n    assert question\n"},
        "INPUT_MISMATCH",
        "checks/check_bad.py:4",
        2,
    ),
    "a check that asks for a model and has none": (
        {"checks/check_bad.py": "from invcheck import check\n\n\n@check()\ndef bad(trial, model):\n    assert model\n"},
        "INPUT_MISMATCH",
        "checks/check_bad.py:4",
        2,
    ),
    "a file that is not there": ({}, "MISSING_FILE", "checks/none.yaml", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_told_and_the_rest_runs(name: str, shop: Shop) -> None:
    """Each is one problem with its code, its place and its status; the check beside it is run and kept."""
    files, code, place, status = BAD[name]
    shop.write({"shop.py": APP, "checks/bystander.yaml": BYSTANDER, **files})
    told = shop.told("checks", *(() if files else ("checks/none.yaml",)))
    assert told.verdict("bystander[fine]") == "kept"
    assert (told.status, told.problems[0]["code"]) == (status, code)
    assert {problem["code"] for problem in told.problems} == {code} | ({"NETWORK"} if "dials" in name else set())
    line = next(line for line in told.err.splitlines() if line.startswith(code))
    assert line.startswith(f"{code}  {place}: ")


CHANGING = """
    import os
    from pathlib import Path

    from invcheck import check

    first = not Path("imported").exists()
    Path("imported").touch()


    @check()
    def leaves(trial):
        assert os._exit(3)


    @check(cases=["one", "two"] if first else ["one"])
    def some_cases(trial):
        assert trial.case


    if first:

        @check()
        def once(trial):
            assert trial.case
"""


def test_a_file_that_is_another_each_time_is_no_verdict(shop: Shop) -> None:
    """A check and a case that the next worker does not find again are errored, with the reason; the others are judged."""
    shop.write({"checks/check_changing.py": CHANGING})
    told = shop.told()
    assert {name: told.codes(name) for name in told.cases} == {
        "leaves[default]": ["WORKER_DIED"],
        "some_cases[1]": [],
        "some_cases[2]": ["CHECK_LOST"],
        "once[default]": ["CHECK_LOST"],
    }
    assert told.status == 3
    assert told.one("once[default]")["message"] == "'once' was collected, and is not there when the file is imported again"


def test_a_shard_with_a_problem_can_be_merged(shop: Shop) -> None:
    """A check that cannot be run leaves its cases out of its shard; the merged report tells the problem."""
    shop.write(
        {"shop.py": APP, "checks/bystander.yaml": BYSTANDER, "checks/bad.yaml": BAD["an app that is not there"][0]["checks/bad.yaml"]}
    )
    for shard in ("1", "2"):
        shop.run("--shard", f"{shard}/2", "-o", f"{shard}.jsonl")
    merged = shop.command("invcheck merge 1.jsonl 2.jsonl")
    assert merged.status == 2
    assert merged.err.count("REFERENCE_MISSING  checks/bad.yaml:2:6: ") == 1
    assert "1 case: 1 kept." in merged.out


def test_only_a_selection_of_nothing_is_empty(shop: Shop) -> None:
    """No check at all is status 5; a broken file alone is 2, since it explains why nothing runs."""
    shop.write({"shop.py": APP})
    assert shop.run().status == 5
    assert "there is no case to run" in shop.run().err
    shop.write({"checks/bad.yaml": "check: bad\n"})
    ran = shop.run()
    assert (ran.status, "there is no case to run" in ran.err) == (2, False)


def test_a_listing_is_the_plan(shop: Shop) -> None:
    """`invcheck list` names the cases in plan order and runs none; what cannot be used is told with its code."""
    shop.write(
        {
            "shop.py": APP,
            "checks/lost.yaml": cases("killed", "fine"),
            "checks/bad.yaml": "check: bad\n",
        }
    )
    ran = shop.command("invcheck list")
    assert (ran.status, ran.out) == (
        2,
        "checks/lost.yaml::lost[killed]\nchecks/lost.yaml::lost[fine]\n",
    )
    assert re.match(r"[A-Z_]+  checks/bad.yaml:1:1: ", ran.err)


SLEEPER = '''
    """A trial that says that it runs, and then runs for ever."""

    from pathlib import Path


    def sleepy(how):
        if how == "fine":
            return how
        Path("running").write_text("x")
        while True:
            pass
'''


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found] + [grand for child in found for grand in _children(int(child))]


def _until(holds: object) -> None:
    """Look again every 20 ms, for ten seconds."""
    for _ in range(500):
        if holds():  # type: ignore[operator]  # a callable
            return
        select.select([], [], [], 0.02)
    raise AssertionError("it did not come true")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_leaves_nothing_but_its_prefix(number: signal.Signals, shop: Shop, tmp_path: Path) -> None:
    """SIGINT, SIGTERM or SIGHUP to the supervisor: 130, the lines so far are whole, and no worker and no temp folder is left."""
    shop.write(
        {
            "shop.py": SLEEPER,
            "checks/lost.yaml": cases("fine", "long", "last").replace("answer", "sleepy"),
        }
    )
    temp = tmp_path / "temp"
    temp.mkdir()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("INVCHECK_", "GITHUB_"))}
    words = [sys.executable, "-m", "invcheck", "run", "-o", "told.jsonl"]
    with subprocess.Popen(
        words,
        cwd=shop.root,
        env={**environ, "TMPDIR": str(temp)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        _until((shop.root / "running").exists)
        workers = _children(run.pid)
        run.send_signal(number)
        out, err = run.communicate(timeout=20)
    assert (run.returncode, err) == (130, "")
    assert out.splitlines()[-1].startswith("1 case: 1 kept. 0 of 1 trial broken. Interrupted.")
    events = [json.loads(line) for line in shop.file("told.jsonl").splitlines()]
    assert [event["kind"] for event in events] == ["run", "case", "end"]
    assert events[-1]["interrupted"] is True
    assert workers
    assert not [pid for pid in workers if Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert list(temp.iterdir()) == []


def test_a_pool_that_cannot_be_confined_is_refused_where_it_must_be(shop: Shop) -> None:
    """--require-kernel runs under the kernel's walls or not at all: status 0 here, or 4 with the reason."""
    shop.write({"shop.py": APP, "checks/lost.yaml": cases("fine")})
    ran = shop.run("--require-kernel")
    assert (ran.status, "gate K1" in ran.out) in {(0, True), (4, False)}
