"""What escaped from user code, told without what differs between machines and Python versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from invcheck import escaped
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
