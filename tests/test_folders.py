"""What a result says instead of a folder of this machine, and that a trial leaves nothing in the worker's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from invcheck.folders import Folders

SHOP = Folders(Path("/srv/shop"), Path("/tmp/invcheck-a1/2/temp"))


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("/srv/shop/a/b.py", "a/b.py"),
        ("in '/srv/shop'", "in '.'"),
        ("/srv/shop/", "./"),
        ("file:///srv/shop/a", "file://a"),
        ("/srv/shopping/a", "/srv/shopping/a"),
        ("http://example.org/srv/shop/a", "http://example.org/srv/shop/a"),
        ("/srv/shop-2", "/srv/shop-2"),
        ("/tmp/invcheck-a1/2/temp/trial/x", "<tmp>/x"),
        ("/tmp/invcheck-a1/2/temp/tmpab", "<temp>/tmpab"),
        ("/tmp/invcheck-a1/2/home/.cache", "<home>/.cache"),
    ],
)
def test_a_text_names_no_folder(text: str, spelt: str) -> None:
    """Names in the project become relative; whole names only, so that what merely begins alike stays."""
    assert SHOP.spelt(text) == spelt


def test_a_text_names_no_python() -> None:
    """The interpreter's own folder, which differs by machine and version, is <python>."""
    assert SHOP.spelt(f"from {json.__file__}") == "from <python>/json/__init__.py"


def test_a_document_keeps_the_projects_folder() -> None:
    """It may be a word of the app; the worker's folders are spelt in keys and values, and everything else is as it was."""
    document = {"/tmp/invcheck-a1/2/temp/x": ["/srv/shop/a", 7, None, {"é": "/tmp/invcheck-a1/2/home"}]}
    assert SHOP.document(document) == {"<temp>/x": ["/srv/shop/a", 7, None, {"é": "<home>"}]}
    plain = {"a": ["/srv/shop/a"]}
    assert SHOP.document(plain) is plain


def test_what_came_is_removed_and_what_stood_stays(tmp_path: Path) -> None:
    """Files, folders and links that are new go, from the temp folder and the home; a link's target stays."""
    for name in ("temp/old", "home/old", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    folders = Folders(tmp_path, tmp_path / "temp")
    before = folders.standing()
    (tmp_path / "elsewhere" / "kept").write_text("x")
    for name in ("temp", "home"):
        (tmp_path / name / "file").write_text("x")
        (tmp_path / name / "folder" / "deep").mkdir(parents=True)
        (tmp_path / name / "link").symlink_to(tmp_path / "elsewhere")
    folders.clear(before)
    assert {path.name for name in ("temp", "home") for path in (tmp_path / name).iterdir()} == {"old"}
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["kept"]


def test_folders_are_listed_again_only_when_they_change(tmp_path: Path) -> None:
    """Their own times are trusted once they are older than a tick: what comes in the same tick as a change is removed too."""
    for name in ("temp", "home"):
        (tmp_path / name).mkdir()
    now = [0.0]
    folders = Folders(tmp_path, tmp_path / "temp", monotonic=lambda: now[0])
    before, listings = folders.standing(), []
    listed = folders.standing
    folders.standing = lambda: listings.append(now[0]) or listed()  # type: ignore[method-assign, func-returns-value]  # a spy
    for seconds in (0.0, 0.01, 1.0, 2.0, 3.0):
        now[0] = seconds
        folders.clear(before)
    assert listings == [0.0, 0.01, 1.0]  # the last one saw a time that no later change can bear
    (tmp_path / "home" / "file").write_text("x")
    folders.clear(before)
    assert listings == [0.0, 0.01, 1.0, 3.0]
    assert not any((tmp_path / "home").iterdir())
