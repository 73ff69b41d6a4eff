"""What is said of an error that a test's own function raised."""

from __future__ import annotations

import json

import pytest

from invcheck.mistakes import said


class Odd(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


def _raised(error: BaseException) -> BaseException:
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


def test_a_test_s_own_words_are_said_on_one_line() -> None:
    """Type and text, without what differs between two runs."""
    assert said(_raised(ValueError("how\nrude"))) == "ValueError: how rude"
    assert said(_raised(ValueError("<Thing at 0x7f00> is odd"))) == "ValueError: <Thing> is odd"


def test_what_has_no_words_or_a_library_s_is_left_out() -> None:
    """The type alone, which the message has, would be no news; a library's wording differs between its versions."""
    assert [said(_raised(error)) for error in (ValueError(), Odd())] == [None, None]
    assert said(KeyError("never raised")) is None
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")
    assert said(caught.value) is None
