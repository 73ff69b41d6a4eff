"""Two runs side by side: the lines where something came in."""

from __future__ import annotations

from typing import Any

from invcheck.audits.culprits import culprits

Step = list[Any]


def call(frame: int, line: int, *, parent: int | None = None, asked: int | None = None, module: bool = False, **marks: int) -> Step:
    """A function that begins."""
    return [frame, parent, asked, "a.py", line, "call", module, marks]


def line(frame: int, number: int, *, module: bool = False, **marks: int) -> Step:
    """A line that is over."""
    return [frame, None, None, "a.py", number, "line", module, marks]


def back(frame: int, number: int, value: int, *, parent: int | None = None, asked: int | None = None) -> Step:
    """A function that returns a value."""
    return [frame, parent, asked, "a.py", number, "return", False, {"": value}]


def names(**read: str) -> Any:
    """What each line reads, by its number after an underscore."""
    table = {int(number.removeprefix("_")): frozenset(words.split()) for number, words in read.items()}
    return lambda file, number: table.get(number, frozenset())


def test_runs_that_are_the_same_have_no_culprit() -> None:
    """Nothing came in."""
    steps = [call(0, 1), line(0, 2, a=1), back(0, 3, 1)]
    assert culprits(steps, steps, names()) == []


def test_a_value_that_differs_came_in_on_its_line() -> None:
    """And what is made of it did not."""
    one = [call(0, 1), line(0, 2, now=1), line(0, 3, text=1), back(0, 4, 1)]
    other = [call(0, 1), line(0, 2, now=2), line(0, 3, text=2), back(0, 4, 2)]
    assert culprits(one, other, names(_3="now", _4="text")) == [("a.py", 2)]


def test_a_value_without_an_effect_is_not_blamed() -> None:
    """What is returned leads back to the line that matters, though another came first."""
    one = [call(0, 1), line(0, 2, now=1), line(0, 3, id=1), back(0, 4, 1)]
    other = [call(0, 1), line(0, 2, now=2), line(0, 3, id=2), back(0, 4, 2)]
    assert culprits(one, other, names(_4="id")) == [("a.py", 3)]


def test_a_value_that_is_the_same_again_is_forgotten() -> None:
    """What is made of a name after it was set anew came in where it was made."""
    one = [call(0, 1), line(0, 2, a=1), line(0, 3, a=5), back(0, 4, 1)]
    other = [call(0, 1), line(0, 2, a=2), line(0, 3, a=5), back(0, 4, 2)]
    assert culprits(one, other, names(_4="a")) == [("a.py", 4)]


def test_what_a_function_returns_came_in_there() -> None:
    """The caller's line is not blamed for what it is given."""
    one = [call(0, 1), call(1, 10, parent=0, asked=2), back(1, 11, 1, parent=0, asked=2), line(0, 2, a=1), back(0, 3, 1)]
    other = [call(0, 1), call(1, 10, parent=0, asked=2), back(1, 11, 2, parent=0, asked=2), line(0, 2, a=2), back(0, 3, 2)]
    assert culprits(one, other, names(_3="a")) == [("a.py", 11)]


def test_what_a_function_is_given_came_in_above() -> None:
    """An argument that is made on the line of the call came in on that line."""
    one = [call(0, 1), call(1, 10, parent=0, asked=2, x=1), back(1, 11, 1, parent=0, asked=2), back(0, 2, 1)]
    other = [call(0, 1), call(1, 10, parent=0, asked=2, x=2), back(1, 11, 2, parent=0, asked=2), back(0, 2, 2)]
    assert culprits(one, other, names(_11="x")) == [("a.py", 2)]


def test_what_is_handed_to_others_is_blamed_where_nothing_is_returned() -> None:
    """A prompt goes to the model, and the app returns what it always does."""
    one = [call(0, 1), call(-1, 2, parent=0, asked=2, prompt=1), line(0, 2), back(0, 3, 7)]
    other = [call(0, 1), call(-1, 2, parent=0, asked=2, prompt=2), line(0, 2), back(0, 3, 7)]
    assert culprits(one, other, names()) == [("a.py", 2)]


def test_a_thread_is_blamed_itself_for_what_it_is_given() -> None:
    """Nobody of the project called it."""
    assert culprits([call(0, 5, x=1)], [call(0, 5, x=2)], names()) == [("a.py", 5)]


def test_a_module_has_what_its_functions_read() -> None:
    """A value that was made while the module was imported came in there."""
    one = [call(0, 1, module=True), line(0, 3, module=True, HERE=1), call(1, 5), back(1, 6, 1)]
    other = [call(0, 1, module=True), line(0, 3, module=True, HERE=2), call(1, 5), back(1, 6, 2)]
    assert culprits(one, other, names(_6="HERE")) == [("a.py", 3)]


def test_the_line_before_the_runs_part_has_decided_it() -> None:
    """A condition that holds in one run alone, without a value that differs, came in there."""
    one, other = [call(0, 1), line(0, 2), line(0, 3)], [call(0, 1), line(0, 2), line(0, 5)]
    assert culprits(one, other, names()) == [("a.py", 2)]


def test_a_condition_on_a_value_leads_back_to_it() -> None:
    """The value came in before."""
    one = [call(0, 1), line(0, 2, n=1), line(0, 3), line(0, 4)]
    other = [call(0, 1), line(0, 2, n=2), line(0, 3), line(0, 6)]
    assert culprits(one, other, names(_3="n")) == [("a.py", 2)]


def test_a_run_that_ends_earlier_has_parted() -> None:
    """Where the other one went on, in the frame that it shares with it."""
    one, other = [call(0, 1), line(0, 2)], [call(0, 1), line(0, 2), call(1, 9, parent=0, asked=3)]
    assert culprits(one, other, names()) == culprits(other, one, names()) == [("a.py", 2)]


def test_runs_that_part_in_what_they_hand_over_part_in_the_frame_that_hands_it() -> None:
    """Other functions have no frame of their own, and what an earlier one was handed decided nothing."""
    begin = [call(0, 1), call(-1, 2, parent=0, asked=2, x=1), line(0, 2), line(0, 3)]
    one, other = [*begin, call(-1, 4, parent=0, asked=4)], [*begin, call(-1, 9, parent=0, asked=9)]
    assert culprits(one, other, names()) == [("a.py", 3)]


def test_runs_that_share_nothing_have_no_line() -> None:
    """There is no line before the first."""
    assert culprits([call(0, 1)], [call(0, 2)], names()) == []
