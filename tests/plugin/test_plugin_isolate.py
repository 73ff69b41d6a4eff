"""A pytest that is run once more behind the kernel's walls: what native code and children do reaches nobody, and is told."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.plugin.conftest import Tests

DIALS = """
import ctypes, os, socket, struct, subprocess, sys

PORT = int(os.environ["JUDGE"])
DIAL = f"import socket; socket.create_connection(('127.0.0.1', {PORT}))"


def test_quiet():
    assert os.environ.get("OPENAI_API_KEY") == ""
    assert "INVCHECK_WORKER" not in os.environ


def test_native():
    with socket.socket() as one:
        where = struct.pack("=HH4s8x", 2, socket.htons(PORT), bytes([127, 0, 0, 1]))
        assert ctypes.CDLL(None).connect(one.fileno(), where, 16) == -1


def test_child():
    assert subprocess.run([sys.executable, "-c", DIAL], capture_output=True).returncode == 1


def test_inside():
    with socket.create_server(("127.0.0.1", 0)) as own, socket.create_connection(own.getsockname()):
        own.accept()[0].close()
"""


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A listener outside, which alone says whether anything got out."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.setblocking(False)
        monkeypatch.setenv("JUDGE", str(made.getsockname()[1]))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-live")
        yield made


def seen(judge: socket.socket) -> bool:
    """Whether anybody reached the listener."""
    try:
        judge.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def test_nothing_gets_out_of_an_isolated_run(tests: Tests, judge: socket.socket) -> None:
    """The listener sees nothing, each attempt fails its own test, and the header names the tier."""
    told = tests(DIALS, "--invcheck-isolate")
    assert not seen(judge)
    assert told.outcomes == {"test_quiet": "passed", "test_native": "failure", "test_child": "failure", "test_inside": "passed"}, told.text
    assert f"127.0.0.1:{os.environ['JUDGE']} was wanted" in told.messages["test_native"]
    assert "invcheck: gate K" in told.text
    assert told.status == 1


def test_workers_of_an_isolated_run_are_inside_as_well(tests: Tests, judge: socket.socket) -> None:
    """What they attempt reaches nobody either; where no test fails of it, the run does."""
    told = tests(DIALS, "--invcheck-isolate", "-n", "2", "-k", "native or inside")
    assert not seen(judge)
    assert told.outcomes == {"test_native": "passed", "test_inside": "passed"}
    assert f"127.0.0.1:{os.environ['JUDGE']} by python" in told.text
    assert told.status == 1


def test_the_twin_without_walls_gets_out(tests: Tests, judge: socket.socket) -> None:
    """The negative twin: the in-process layer does not see native code, and the listener does."""
    told = tests(DIALS, "--invcheck-gate", "-k", "native")
    assert seen(judge)
    assert told.outcomes == {"test_native": "failure"}


@pytest.mark.parametrize(
    ("text", "status"), [("def test_it(): pass", 0), ("def test_it(): assert 0", 1), ("def test_it(: pass", 2), ("", 5)]
)
def test_the_status_is_that_of_the_tests(tests: Tests, text: str, status: int) -> None:
    """An isolated run ends as the run itself would."""
    assert tests(text, "--invcheck-isolate").status == status


def test_what_the_settings_allow_is_reached(tests: Tests, judge: socket.socket, tmp_path: Path) -> None:
    """The project's own settings hold behind the walls as well: the allowed port by native code, and the kept variable."""
    text = f"{DIALS}\n\ndef test_kept():\n    assert os.environ['SHOP_SIGNING_KEY'] == 'k'\n"
    (tmp_path / "invcheck.toml").write_text(
        f'[gate]\nallow = ["tcp:127.0.0.1:{os.environ["JUDGE"]}"]\nkeep-env = ["SHOP_SIGNING_KEY"]\n', encoding="utf-8"
    )
    os.environ["SHOP_SIGNING_KEY"] = "k"
    try:
        told = tests(text, "--invcheck-isolate", "-k", "kept or child")
    finally:
        del os.environ["SHOP_SIGNING_KEY"]
    assert told.outcomes == {"test_child": "failure", "test_kept": "passed"}, told.text  # the child did connect
    assert "was wanted" not in told.text
    assert seen(judge)


def test_settings_that_cannot_be_read_are_usage(tests: Tests, tmp_path: Path) -> None:
    """4, pytest's own status for it, with the place and no traceback."""
    (tmp_path / "invcheck.toml").write_text('[gate]\nallow = ["tcp:example.com:80"]\n', encoding="utf-8")
    told = tests("def test_it(): pass", "--invcheck-isolate")
    assert (told.status, "Traceback" in told.text) == (4, False)
    assert "invcheck.toml:2:1" in told.text


def test_a_run_that_is_killed_ends_as_a_shell_says(tests: Tests) -> None:
    """128 and the signal's number, and no traceback of ours."""
    told = tests("import os, signal\ndef test_it(): os.kill(os.getpid(), signal.SIGKILL)", "--invcheck-isolate")
    assert (told.status, "Traceback" in told.text) == (128 + signal.SIGKILL, False)


def test_an_interrupt_is_pytests_own(tmp_path: Path) -> None:
    """Both get the terminal's signal: pytest ends in its own words and with its own status, and nothing is left running."""
    (tmp_path / "test_it.py").write_text(
        "import os, sys, threading\ndef test_it():\n  os.write(2, f'pid {os.getpid()}\\n'.encode())\n  threading.Event().wait()\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "--invcheck-isolate"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stderr is not None
        inside = int(running.stderr.readline().removeprefix("pid "))
        os.killpg(running.pid, signal.SIGINT)
        out, _ = running.communicate(timeout=30)
    assert running.returncode == 2
    assert "KeyboardInterrupt" in out
    assert not Path(f"/proc/{inside}").exists()


def test_the_variable_alone_is_no_wall(tests: Tests, judge: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sets it gets walls all the same: the kernel's word counts, and the run claims none that is not there."""
    monkeypatch.setenv("INVCHECK_ISOLATED", "K1")
    told = tests(DIALS, "--invcheck-isolate", "-k", "native")
    assert not seen(judge)
    assert told.outcomes == {"test_native": "failure"}
    assert "invcheck: gate in-process" in tests(DIALS, "--invcheck-gate", "-k", "quiet").text


def test_a_run_that_is_told_to_end_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM to the supervising process: the isolated one ends with it, and its folder is gone."""
    temp = tmp_path / "temp"
    temp.mkdir()
    monkeypatch.setenv("TMPDIR", str(temp))
    (tmp_path / "test_it.py").write_text(
        "import os, threading\ndef test_it():\n  os.write(2, f'pid {os.getpid()}\\n'.encode())\n  threading.Event().wait()\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "--invcheck-isolate"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("pid ")
        running.terminate()
        running.communicate(timeout=30)
    assert running.returncode == 128 + signal.SIGTERM
    assert list(temp.iterdir()) == []
