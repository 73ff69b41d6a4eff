"""What escaped from user code, told without what differs between machines and Python versions."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from invcheck import ScriptedModel, escaped, testing
from invcheck.folders import Folders


def _raised(body: str, root: Path) -> BaseException:
    """The error that code standing in the project raises."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011  # any error is what these tests are about
        exec(compile(body, f"{root}/shop.py", "exec"), {"__name__": "shop", "json": json})
    return caught.value


def test_a_message_is_kept_where_the_project_raised(tmp_path: Path) -> None:
    """The app's own `raise` tells its message and where, relative to the project and without a line."""
    told = escaped.told(_raised("def f():\n    raise KeyError('d9')\nf()", tmp_path), Folders(tmp_path, tmp_path / "temp"), None)
    assert told == {"type": "KeyError", "module": "builtins", "message": "'d9'", "where": "shop.py:f"}


def test_a_message_of_the_standard_library_is_left_out(tmp_path: Path) -> None:
    """Wording of the standard library differs between Python versions, so only the type and the app's function stand."""
    told = escaped.told(_raised("def f():\n    json.loads('{')\nf()", tmp_path), Folders(tmp_path, tmp_path / "temp"), None)
    assert (told["type"], told["message"], told["where"]) == ("JSONDecodeError", None, "shop.py:f")


def test_an_error_that_cannot_say_what_it_is_has_no_message(tmp_path: Path) -> None:
    """An exception whose own text raises is told by its type."""
    body = "class Odd(Exception):\n    def __str__(self):\n        raise RuntimeError\nraise Odd"
    told = escaped.told(_raised(body, tmp_path), Folders(tmp_path, tmp_path / "temp"), None)
    assert (told["type"], told["module"], told["message"]) == ("Odd", "shop", None)


def test_threads_are_told_in_an_order_of_their_own(tmp_path: Path) -> None:
    """Which thread ended first is chance: the finding is the same whatever the order."""
    folders = Folders(tmp_path, tmp_path / "temp")
    errors = [_raised(f"def f():\n    raise {name}('x')\nf()", tmp_path) for name in ("ValueError", "KeyError")]
    one, other = escaped.in_threads(errors, folders), escaped.in_threads(errors[::-1], folders)
    assert one == other
    assert (one.code, one.message) == ("THREAD_RAISED", "a thread of the app ended with KeyError: 'x' in shop.py:f, and 1 more")


def test_a_message_that_a_double_raises_is_kept_behind_a_library(tmp_path: Path) -> None:
    """What the test wrote for a double to raise, or words of ours, are told although an SDK or a pool lies between."""
    body = "def f():\n    executor.submit(model, 'hi').result()\nf()"
    with testing(), ThreadPoolExecutor(1) as executor, pytest.raises(RuntimeError) as caught:  # noqa: PT012  # a model needs the block
        names = {"__name__": "shop", "executor": executor, "model": ScriptedModel(RuntimeError("boom"))}
        exec(compile(body, f"{tmp_path}/shop.py", "exec"), names)
    told = escaped.told(caught.value, Folders(tmp_path, tmp_path / "temp"), None)
    assert (told["type"], told["message"], told["where"]) == ("RuntimeError", "boom", "shop.py:f")


def test_who_raised_is_told_of_what_was_raised_alone() -> None:
    """An error that nobody raised comes from nowhere."""
    assert not escaped.raised_here(KeyError("x"))
