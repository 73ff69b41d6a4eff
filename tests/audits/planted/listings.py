"""Answers that lean on the order in which a folder is listed."""
# ruff: noqa: PTH207, PTH208  # what apps write

import glob
import os
from pathlib import Path
from typing import Any

NOTES = Path(__file__).parent / "notes"


def listed(name: str) -> Any:
    return os.listdir("notes")


def globbed(name: str, model: Any) -> Any:
    notes = [Path(each).read_text() for each in glob.glob("notes/*.md")]
    return model("\n".join([*notes, name])).text


def first_note(name: str) -> Any:
    note = next(NOTES.iterdir())
    return note.name


def scanned(name: str) -> Any:
    sizes = {}
    with os.scandir("notes") as entries:
        for entry in entries:
            sizes[entry.name] = entry.stat().st_size
    return list(sizes)


def walked(name: str) -> Any:
    found = []
    for _folder, _folders, files in os.walk("notes"):
        found += files
    return found
