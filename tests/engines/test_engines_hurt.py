"""What an app does to its own process costs its own case, at once, and no other case and no report."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from invcheck.engines.spare import Spare
from tests.pipeline.conftest import Shop, Told

APP = """
import os
import socket
import sys


class Mute:
    def write(self, text):
        return len(text)


class Leaver:
    def flush(self):
        os._exit(0)


def answer(how):
    if how == "none":
        sys.stdout = sys.stderr = None
    if how == "closed":
        sys.stdout.close()
    if how == "mute":
        sys.stdout = Mute()
    if how == "leaver":
        sys.stdout = Leaver()
    if how == "left":
        os._exit(0)
    if how == "other program":
        os.execv("/bin/true", ["true"])
    if how == "parent left" and os.fork():
        os._exit(0)
    if how == "dials":
        try:
            socket.create_connection(("models.example.invalid", 443))
        except BaseException:
            pass
    return how
"""
INNOCENT = ("none", "closed", "mute", "fine")
LOST = ("leaver", "left", "other program", "parent left")
HOWS = ("dials", *INNOCENT, *LOST, "last")


def _checks(*hows: str, runs: int = 1) -> str:
    rows = ", ".join(f"{{id: {how}, input: {how}}}" for how in hows)
    return f"check: hurt\napp: shop:answer\nruns: {runs}\ncases: [{rows}]\nexpect: [{{type: {{of: $.output, is: string}}}}]\n"


def _told(folder: Path, app: str, *hows: str, runs: int = 1) -> Told:
    shop = Shop(folder)
    shop.write({"shop.py": app, "checks/hurt.yaml": _checks(*hows, runs=runs)})
    return shop.told()


@pytest.fixture(scope="module")
def hurt(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """One run over all the ways, in one worker."""
    return _told(tmp_path_factory.mktemp("shop"), APP, *HOWS)


@pytest.mark.parametrize("how", [*INNOCENT, "last"])
def test_streams_that_an_app_spoils_are_nobodys_fault(how: str, hurt: Told) -> None:
    """A standard stream that is gone, closed or without flush changes no verdict: not of its own case, not of the next."""
    assert (hurt.verdict(f"hurt[{how}]"), hurt.codes(f"hurt[{how}]")) == ("kept", [])


@pytest.mark.parametrize("how", LOST)
def test_a_case_that_ends_without_an_answer_is_lost_at_once(how: str, hurt: Told) -> None:
    """An app that leaves with status 0 has not answered: WORKER_DIED, not a wait for the cap of real time."""
    assert hurt.codes(f"hurt[{how}]") == ["WORKER_DIED"]
    assert "exit 0" in hurt.one(f"hurt[{how}]")["message"]


def test_a_breach_is_told_of_its_own_case_only(hurt: Told) -> None:
    """The cases after one that dialled are not red for it."""
    assert hurt.codes("hurt[dials]") == ["NETWORK"]
    assert hurt.verdict("hurt[last]") == "kept"


@pytest.mark.parametrize(
    "spoiled",
    [
        "json.dumps = functools.partial(json.dumps, indent=2)",
        "json.dumps = lambda *a, **k: '{}'",
        "json.loads = lambda *a, **k: {}",
        "os.write = lambda *a: 0",
        "os._exit = os.getpid = os.waitpid = os.fork = None",
        "json.JSONEncoder.encode = lambda *a: 'x\\n'",
    ],
)
def test_what_an_app_does_to_the_standard_library_is_its_own_affair(spoiled: str, tmp_path: Path) -> None:
    """An app that replaces what a worker speaks with, as it is imported, changes neither its verdict nor another's."""
    app = f"import functools, json, os, socket\n\n{spoiled}\n\n{APP}"
    told = _told(tmp_path, app, "dials", "fine", runs=2)
    assert (told.codes("hurt[dials]"), told.verdict("hurt[fine]"), told.status) == (["NETWORK"], "kept", 1)


def test_a_message_that_cannot_be_read_is_the_end_of_its_worker_alone(tmp_path: Path) -> None:
    """Whoever writes into the channel itself loses its own case; the report is whole, and the next case is judged."""
    app = """
    import os
    from invcheck.sandbox import inherited

    def answer(how):
        if how == "noise":
            os.write(inherited.inherited().messages, b"no message" + bytes([10]))
        if how == "shapeless":
            os.write(inherited.inherited().messages, b"{}" + bytes([10]))
        return how
    """
    told = _told(tmp_path, app, "noise", "shapeless", "fine")
    assert [told.codes(f"hurt[{how}]") for how in ("noise", "shapeless")] == [["WORKER_DIED"]] * 2
    assert "it sent what is no message" in told.one("hurt[noise]")["message"]
    assert (told.verdict("hurt[fine]"), told.status) == ("kept", 3)


def test_a_spare_whose_work_leaves_without_an_answer_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that ends its process with status 0 has said nothing, and is not waited for; the next task is done all the same."""

    def work(task: object) -> object:
        if task == "leave":
            os._exit(0)
        if task == "leave a child" and os.fork():
            os._exit(0)
        return task

    monkeypatch.setattr("invcheck.engines.spare.other_threads", lambda: 0)  # the test runner's own
    with Spare(work) as spare:
        assert [spare.ask("leave"), spare.ask("leave a child"), spare.ask("live")] == [None, None, "live"]
