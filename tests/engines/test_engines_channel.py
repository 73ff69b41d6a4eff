"""The words in which a worker tells what went wrong."""

import json

import pytest

from invcheck.engines import channel
from invcheck.errors import CheckFileError, InvcheckError, NetworkBlocked


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
