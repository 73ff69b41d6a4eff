"""What stands on a line, and the words for it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from invcheck.audits.written import Written
from invcheck.sandbox.flips import Axis

TEXT = dedent("""\
    import uuid
    def answer(topic, found):
        for tag in {topic, "b"}:
            found.append(tag)
        number = uuid.uuid4()
        left = set(found)
        one = left.pop()
        with open(topic) as file, \\
             open(one):
            text = file.read()
        return hash(text) + len(
            found,
        )
    """)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    (tmp_path / "a.py").write_text(TEXT, encoding="utf-8")
    (tmp_path / "bad.py").write_text("def (", encoding="utf-8")
    return Written(tmp_path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (3, {"topic"}),
        (4, {"found", "tag"}),
        (8, {"open", "topic", "one"}),
        (10, {"file"}),
        (12, {"hash", "text", "len", "found"}),
        (99, set()),
    ],
)
def test_a_statement_reads_what_stands_in_its_own_lines(line: int, expected: set[str], written: Written) -> None:
    """Of a loop or a block only its head, of a statement over several lines all of them."""
    assert written.names("a.py", line) == expected


@pytest.mark.parametrize(
    ("axis", "line", "words"),
    [
        (Axis.HASH, 3, "iteration over a set"),
        (Axis.HASH, 7, "takes one out of a set"),
        (Axis.HASH, 11, "hash() of a text"),
        (Axis.ENTROPY, 5, "makes a uuid"),
        (Axis.ENTROPY, 4, "draws from the system's entropy"),
        (Axis.CLOCK, 99, "reads the clock"),
        (None, 5, "makes a uuid"),
        (None, 4, None),
    ],
)
def test_a_line_is_put_into_words(axis: Axis | None, line: int, words: str | None, written: Written) -> None:
    """By what it calls where that is known, else by the axis."""
    assert written.words(axis, "a.py", line) == words


@pytest.mark.parametrize("axis", Axis)
def test_every_axis_has_words(axis: Axis, written: Written) -> None:
    """Also where the line says nothing."""
    assert written.words(axis, "a.py", 99)


@pytest.mark.parametrize("file", ["bad.py", "none.py"])
def test_a_file_that_cannot_be_read_says_nothing(file: str, written: Written) -> None:
    """It may have been made by the app and be gone."""
    assert written.names(file, 1) == frozenset()
