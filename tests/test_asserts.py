"""What a plain assert claims, read from its own source."""

from __future__ import annotations

from pathlib import Path

from invcheck.asserts import claimed
from invcheck.vocabulary import Json


def told(tmp_path: Path, text: str, rest: str | None = None) -> dict[str, Json]:
    """What is claimed of the error that a file of that text raises; ``rest`` is what the file holds by then."""
    file = tmp_path / "check_a.py"
    file.write_text(text if rest is None else rest, encoding="utf-8")
    try:
        exec(compile(text, str(file), "exec"), {"loop": [], "thing": object()})  # it is a check
    except (AssertionError, ZeroDivisionError) as error:
        trace = error.__traceback__
    return claimed(trace, str(file))


def test_an_assert_tells_its_text_and_the_plain_values_of_its_names(tmp_path: Path) -> None:
    """Each name once, in the order of the text; what is no plain JSON, or no name at all, is not shown."""
    assert told(tmp_path, "count, word = 2, 'hi'\nassert count > 3 or word == thing or count < 0\n") == {
        "text": "count > 3 or word == thing or count < 0",
        "values": 'count = 2, word = "hi"',
    }


def test_a_value_that_holds_more_than_json_is_not_shown(tmp_path: Path) -> None:
    """A list is plain, until something in it is not."""
    assert told(tmp_path, "mixed = [object()]\nassert not mixed\n") == {"text": "not mixed", "values": ""}


def test_the_innermost_assert_counts(tmp_path: Path) -> None:
    """An assert that a helper of the same file fails is the one that is told, with its own names."""
    text = "def helps(n):\n    assert n == 1\n\ndef runs(n):\n    helps(n + 1)\n\nruns(1)\n"
    assert told(tmp_path, text) == {"text": "n == 1", "values": "n = 2"}


def test_what_is_no_assert_claims_nothing(tmp_path: Path) -> None:
    """Another error on a line without one, and an assert that failed in another file."""
    assert told(tmp_path, "1 / 0\n") == {}
    other = tmp_path / "check_b.py"
    other.write_text("assert False\n", encoding="utf-8")
    try:
        exec(compile("assert False", "elsewhere.py", "exec"), {})  # as above
    except AssertionError as error:
        trace = error.__traceback__
    assert claimed(trace, str(other)) == {}


def test_a_source_that_cannot_be_read_claims_nothing(tmp_path: Path) -> None:
    """It is gone, or was changed into what is no Python while it ran."""
    assert told(tmp_path, "assert False\n", rest="assert (\n") == {}
    assert claimed(None, str(tmp_path / "gone.py")) == {}
