"""The words in which a worker tells what went wrong."""

import json
import os
import signal
from typing import Any

import pytest

from invcheck.canonical import packed, unpacked
from invcheck.engines import channel, stuck
from invcheck.errors import CheckFileError, InvcheckError, NetworkBlocked
from invcheck.sandbox import ambient
from invcheck.sandbox.inherited import Inherited


def failure_of(raising: object) -> dict[str, object]:
    """What `failure` makes of what a callable raises."""
    answer = channel.answer({"do": lambda _task, _emit: raising()}, {"do": "do"}, lambda _event: None)  # type: ignore[operator]  # a callable
    return answer["failed"]  # type: ignore[no-any-return]  # JSON


def raising(error: BaseException) -> object:
    """A callable that raises."""

    def call() -> None:
        raise error

    return call


def test_an_own_error_keeps_its_fields() -> None:
    """Code, exit status, message and hint; no place where it has none."""
    assert failure_of(raising(CheckFileError("no case", hint="add one"))) == {
        "code": "CHECK_FILE", "exit": 2, "message": "no case", "place": None, "hint": "add one",
    }  # fmt: skip


def test_a_breach_that_comes_out_is_told_as_one() -> None:
    """NetworkBlocked is a BaseException, and still only a failure of its task."""
    assert failure_of(raising(NetworkBlocked("a:1 was wanted")))["code"] == "NETWORK"


def test_a_foreign_error_names_type_and_place_but_not_its_text() -> None:
    """Of an error of a library the innermost file is named where no frame is the project's; nobody sees a traceback."""
    told = failure_of(lambda: json.loads("{"))
    assert told["code"] == "INTERNAL"
    assert str(told["message"]).startswith("JSONDecodeError in ")
    assert channel.failure(ValueError("secret text"))["message"] == "ValueError in an unknown place"


def test_an_unknown_task_is_a_failure_of_that_task() -> None:
    """A task that names no handler is answered, not lost."""
    assert channel.answer({}, {"do": "x"}, lambda _event: None)["failed"]["message"].startswith("KeyError in ")


def test_the_traceback_is_for_us(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With INVCHECK_DEBUG it goes to stderr, without it nothing does."""
    failure_of(raising(ValueError("boom")))
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("INVCHECK_DEBUG", "1")
    failure_of(raising(ValueError("boom")))
    assert "ValueError: boom" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_what_ends_the_worker_is_not_caught(kind: type[BaseException]) -> None:
    """sys.exit and an interrupt pass through."""
    with pytest.raises(kind):
        failure_of(raising(kind()))


def test_a_process_that_is_no_worker_serves_nothing() -> None:
    """Without a channel there is an error that says so."""
    with pytest.raises(InvcheckError, match="this process is no worker"):
        channel.serve({})


def test_an_error_of_a_library_is_placed_in_its_own_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no frame is the project's, the innermost one is named by file and function, without its folder."""
    monkeypatch.setattr(ambient, "_root", None)
    library: dict[str, Any] = {}
    exec(compile("def boom():\n    raise ValueError('secret')\n\ndef calls():\n    boom()\n", "/opt/lib/shop.py", "exec"), library)
    monkeypatch.setattr(ambient, "innermost", lambda _trace: None)
    assert failure_of(library["calls"])["message"] == "ValueError in shop.py:boom"


def test_a_worker_with_threads_does_its_task_itself_and_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork would lose the threads: it says that it can do no further task, then answers; what goes along comes first."""
    asked, ask = os.pipe()
    heard, speak = os.pipe()
    channel.write(ask, packed({"do": "look"}))
    os.close(ask)
    monkeypatch.setattr(channel, "inherited", lambda: Inherited(-1, asked, speak, -1, -1, -1, "K1", True, (), "/run/x"))
    monkeypatch.setattr(channel, "other_threads", lambda: 1)
    monkeypatch.setattr(stuck, "listener", lambda _frames: lambda _wanted: None)

    def look(_task: Any, emit: channel.Emit) -> int:
        emit("looking")
        return os.getpid()

    try:
        channel.serve({"look": look}, apart={"look"})
    finally:
        os.close(speak)
        os.close(asked)
    assert [unpacked(line) for line in channel.lines(heard)] == [{"event": "looking"}, {"spent": True}, {"done": os.getpid()}]
    os.close(heard)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_dies_as_its_child_did(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same signal, which nothing that the app set may catch; it listens to nobody while the child runs."""
    before = signal.getsignal(signal.SIGTERM)
    child = os.posix_spawn("/bin/sh", ["sh", "-c", f"kill -{int(number)} $$"], {})
    done: list[tuple[object, ...]] = []
    monkeypatch.setattr(channel, "_fork", lambda: child)
    monkeypatch.setattr(channel, "_leave", lambda code: done.append(("left", code)))
    monkeypatch.setattr(os, "kill", lambda pid, what: done.append((pid, what, signal.getsignal(signal.SIGTERM))))
    answered = os.pipe()
    os.set_blocking(answered[0], False)
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        channel._in_child(lambda: None, answered, lambda wanted: done.append((wanted,)))
    finally:
        signal.signal(signal.SIGTERM, before)
        for end in answered:
            os.close(end)
    handled = signal.SIG_DFL if number is signal.SIGTERM else signal.SIG_IGN
    assert done == [(False,), (True,), (os.getpid(), number, handled), ("left", -number)]
