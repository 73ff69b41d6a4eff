"""What the project's lines make of a run, step by step."""

from __future__ import annotations

import decimal
import random
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.sandbox import ambient, trace
from invcheck.sandbox.trace import Steps, mark, traced

ROOT = Path(__file__).parents[2]
APP = dedent("""\
    import json
    LIMIT = 3
    def double(n):
        return n * 2
    def app(n):
        a = n + 1
        b = double(a)
        text = json.dumps({"b": b})
        return text
""")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    ambient.install(str(tmp_path))
    yield tmp_path
    ambient.install(str(ROOT))


def taken(project: Path, work: Callable[[dict[str, Any]], object], steps: Steps | None = None) -> list[Any]:
    """The steps of some work with the app's names."""
    file = project / "app.py"
    file.write_text(APP, encoding="utf-8")
    space: dict[str, Any] = {"__name__": "app"}
    held = steps or Steps()
    code = compile(APP, str(file), "exec")
    with traced(held):
        exec(code, space)
        work(space)
    return held.taken


def test_lines_calls_and_returns_are_steps(project: Path) -> None:
    """In order, each line when it is over, with what changed; a function of somebody else is told with what it was handed."""
    steps = taken(project, lambda space: space["app"](4))
    told = [
        [number, parent, asked, line, kind, sorted(changed)]
        for number, parent, asked, _, line, kind, module, changed in steps
        if not module
    ]
    at = next(n for n, step in enumerate(told) if step[3] == 5 and step[4] == "call")
    frame = told[at][0]
    inner = frame + 1
    assert told[at : at + 8] == [
        [frame, None, None, 5, "call", ["n"]],
        [frame, None, None, 5, "line", []],
        [frame, None, None, 6, "line", ["a"]],
        [inner, frame, 7, 3, "call", ["n"]],
        [inner, frame, 7, 3, "line", []],
        [inner, frame, 7, 4, "return", [""]],
        [frame, None, None, 7, "line", ["b"]],
        [-1, frame, 8, 8, "call", [*sorted(set(told[at + 7][5]))]],
    ]
    assert told[-1] == [frame, None, None, 9, "return", [""]]
    assert {step[3] for step in steps} == {"app.py"}


def test_a_module_is_told_as_one_without_its_own_names(project: Path) -> None:
    """What Python sets in every module differs from folder to folder."""
    steps = taken(project, lambda space: None)
    changed = {name for step in steps if step[6] for name in step[7]}
    assert {"json", "LIMIT", "double", "app"} <= changed
    assert not [name for name in changed if name.startswith("__")]


def test_two_runs_of_the_same_are_the_same(project: Path) -> None:
    """And another input shows where it comes in first."""
    one, again, other = (taken(project, lambda space, n=n: space["app"](n)) for n in (4, 4, 5))
    assert one == again
    first = next(mine for mine, its in zip(one, other, strict=True) if mine != its)
    assert (first[4], first[5]) == (5, "call")


def test_threads_are_told_too(project: Path) -> None:
    """Their first function has no parent."""

    def threaded(space: dict[str, Any]) -> None:
        thread = threading.Thread(target=space["double"], args=(3,))
        thread.start()
        thread.join()

    steps = taken(project, threaded)
    assert [(step[1], step[5]) for step in steps if step[4] == 4] == [(None, "return")]


def test_events_are_heard_as_python_tells_them(project: Path) -> None:
    """One by one, by hand: a call, a line, a return, what raises, what is handed to others, and who is none of the project's."""
    heard: list[Any] = []
    steps = Steps()

    def tell(event: str, argument: object = None) -> None:
        frame = sys._getframe(1)
        heard.append(steps.begin(frame, event, argument) if event == "call" else steps.go_on(frame, event, argument))

    def foreign(prompt: object, own: object) -> None:
        tell("call")

    lines = [
        'tell("call")',
        "a = n",
        'tell("line")',
        'foreign("hi", tell)',
        "foreign(tell, tell)",
        'tell("exception")',
        'tell("return", 5)',
    ]
    text = "\n    ".join(["tell('call')\ndef app(n, tell, foreign):", *lines])
    space: dict[str, Any] = {"tell": tell}
    exec(compile(text, str(project / "app.py"), "exec"), space)
    space["app"](4, tell, foreign)
    assert [step[4:6] for step in steps.taken] == [[1, "call"], [3, "call"], [3, "line"], [6, "call"], [5, "return"]]
    assert [sorted(step[7]) for step in steps.taken] == [["tell"], ["foreign", "n", "tell"], ["a"], ["prompt"], [""]]
    assert [found is not None for found in heard] == [True, True, True, False, False, True, True]
    assert steps.begin(sys._getframe(), "call", None) is None
    assert steps.begin(sys._getframe(), "line", None) is None


def test_who_was_told_of_calls_before_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A debugger, in this thread and in those that begin later."""
    set_here: list[object] = []
    set_there: list[object] = []
    monkeypatch.setattr(sys, "settrace", set_here.append)
    monkeypatch.setattr(threading, "settrace", set_there.append)
    before, others, steps = sys.gettrace(), threading.gettrace(), Steps()
    with traced(steps):
        pass
    assert (set_here, set_there) == ([steps.begin, before], [steps.begin, others])


def test_a_long_run_is_told_as_far_as_it_goes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No list grows without an end."""
    monkeypatch.setattr(trace, "MOST", 6)
    assert len(taken(project, lambda space: [space["app"](n) for n in range(9)])) == 6


def test_what_raises_is_told_like_what_returns(project: Path) -> None:
    """Python says that such a frame returns nothing."""

    def raising(space: dict[str, Any]) -> None:
        with pytest.raises(TypeError):
            space["double"](None)

    assert taken(project, raising)[-1][5] == "return"


def test_folders_of_the_worker_are_taken_out_of_texts(project: Path) -> None:
    """They are other ones in every worker."""
    one = taken(project, lambda space: space["double"]("/tmp/1/x"), Steps(lambda text: text.replace("/tmp/1", "")))
    other = taken(project, lambda space: space["double"]("/tmp/2/x"), Steps(lambda text: text.replace("/tmp/2", "")))
    assert one == other


@dataclass
class Held:
    """An object with a value."""

    value: object


class Bare:
    """An object with nothing."""

    __slots__ = ()


SAME: list[Callable[[], object]] = [
    lambda: None,
    lambda: True,
    lambda: 1.5,
    lambda: b"x",
    lambda: bytearray(b"x"),
    lambda: ["a", {"b": (1, 2)}],
    lambda: {"x", "y"},
    lambda: Held([1]),
    object,
    Bare,
    lambda: Path("a/b"),
    lambda: date(2030, 1, 1),
    lambda: uuid.UUID(int=5),
    lambda: decimal.Decimal("1.5"),
    lambda: random.Random(7),
    random.SystemRandom,
    lambda: len,
    lambda: random,
    lambda: Held,
    lambda: iter("a"),  # made anew
    Steps,
]


@pytest.mark.parametrize("make", SAME)
def test_the_same_value_has_the_same_mark(make: Callable[[], object]) -> None:
    """Wherever it lies in memory."""
    assert mark(make()) == mark(make())


DIFFERENT: list[object] = [
    None, True, 1, 1.0, "1", b"1", [1], (1,), [1, 2], [2, 1], {1}, {1, 2}, {"a": 1}, {"a": 2}, {"a": 1, "b": 2}, {"b": 2, "a": 1},
    Held(1), Held(2), Path("a"), Path("b"), date(2030, 1, 1), date(2030, 1, 2), random.Random(1), random.Random(2),
]  # fmt: skip


def test_other_values_have_other_marks() -> None:
    """The order of a list and of a dictionary counts, and what an object holds."""
    assert len({mark(value) for value in DIFFERENT}) == len(DIFFERENT)


@given(st.lists(st.text(max_size=3), max_size=6, unique=True))
def test_the_order_of_a_set_is_no_part_of_its_mark(items: list[str]) -> None:
    """Only who iterates one brings an order in."""
    assert mark(set(items)) == mark({*sorted(items)}) == mark({*sorted(items, reverse=True)})


def test_a_mark_of_something_endless_ends() -> None:
    """A list that holds itself, and one of very many items."""
    endless: list[object] = []
    endless.append(endless)
    assert mark(endless) == mark(endless)
    assert mark(list(range(10**6))) == mark(list(range(10**6)))
