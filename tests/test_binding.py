"""Binding: a case's input and what invcheck gives fill an app's parameters, or the mistake is told before the app runs."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any, Protocol

import pytest

from invcheck.binding import GIVEN, arguments, fits, wanted
from invcheck.errors import CheckFileError


class ChatModel(Protocol):
    """A Protocol of the user's own."""


def answer(question: str, doc_ids: list[str], model: ChatModel, limit: int = 3) -> tuple[Any, ...]:
    """Stand for an app that takes a mapping apart."""
    return question, doc_ids, model, limit


def whole(input: Any, rng: object = None) -> Any:  # noqa: A002  # the parameter's name is what is under test
    """Stand for an app that takes its input whole."""
    return input, rng


def first(text: str, sleep: Callable[[float], None]) -> Any:
    """Stand for an app of one input."""
    return text, sleep


def mismatch(function: Callable[..., object], value: object, names: frozenset[str] = GIVEN, **more: bool) -> CheckFileError:
    """Give the error that a misfit is told with."""
    with pytest.raises(CheckFileError) as caught:
        fits(function, value, names, **more)
    assert caught.value.code == "INPUT_MISMATCH"
    return caught.value


def test_a_mapping_fills_the_parameters_of_the_same_names() -> None:
    """Defaults stay, and the model is given by name."""
    value = {"question": "Why?", "doc_ids": ["d1"]}
    fits(answer, value)
    assert answer(**arguments(answer, value, {"model": 7, "clock": 8})) == ("Why?", ["d1"], 7, 3)


@pytest.mark.parametrize("value", [{"a": 1}, [1], "x", None, 5])
def test_a_parameter_named_input_gets_it_whole(value: object) -> None:
    """Also a mapping, whatever its keys are."""
    fits(whole, value)
    assert whole(**arguments(whole, value, {"rng": 4})) == (value, 4)


def test_an_input_taken_whole_may_have_keys_of_given_names() -> None:
    """Nothing is filled from them, so nothing can be mistaken."""
    assert arguments(whole, {"model": "x"}, {"model": 1}) == {"input": {"model": "x"}}


@pytest.mark.parametrize("value", ["Hello", ["a"], 5, None])
def test_any_other_input_goes_to_the_first_parameter(value: object) -> None:
    """The first one that invcheck does not fill itself."""

    def late(model: object, text: str) -> None: ...

    assert arguments(first, value, {"sleep": 1}) == {"text": value, "sleep": 1}
    assert arguments(late, value, {"model": 1}) == {"text": value, "model": 1}


def test_no_input_needs_no_parameter() -> None:
    """A null input is fine for an app that takes none; any other is not."""

    def nothing(model: object) -> None: ...

    fits(nothing, None)
    assert arguments(nothing, None, {"model": 1}) == {"model": 1}
    assert mismatch(nothing, "x").message == "nothing(model) has no parameter for the input"


APP = "answer(question, doc_ids, model, limit)"
OURS = "invcheck fills this parameter itself: give the input another name, or take it whole as `input`"


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ({"qestion": "Why?"}, f"the input has a key 'qestion', and {APP} no such parameter", "did you mean 'question'?"),
        ({"zzz": 1}, f"the input has a key 'zzz', and {APP} no such parameter", "a parameter named `input` takes the input whole"),
        ({"model": 1}, "the input has a key 'model', which is the name of what invcheck gives", OURS),
        ({"question": "Why?"}, f"the parameter 'doc_ids' of {APP} is left empty", "the input fills 'question'"),
        ("Why?", f"the parameter 'doc_ids' of {APP} is left empty", "let the input be a mapping that names every parameter"),
    ],
)
def test_a_misfit_names_both_sides(value: object, message: str, hint: str) -> None:
    """The key or the parameter, the function, and what to do."""
    error = mismatch(answer, value)
    assert (error.message, error.hint) == (message, hint)


def test_a_model_that_no_check_declares_is_left_empty() -> None:
    """The hint says what to add."""
    error = mismatch(answer, {"question": "Why?", "doc_ids": []}, GIVEN - {"model"})
    assert error.message == "the parameter 'model' of answer(question, doc_ids, model, limit) is left empty"
    assert error.hint == "give the check a `model`"
    with pytest.raises(CheckFileError, match="left empty"):
        arguments(answer, {"question": "Why?", "doc_ids": []}, {})


def test_a_setup_may_fill_the_rest() -> None:
    """Open ended, an empty parameter is no mistake yet; a wrong key still is."""
    fits(answer, {"question": "Why?"}, open_ended=True)
    assert arguments(answer, {"question": "Why?"}, {"model": 1, "doc_ids": [2]})["doc_ids"] == [2]
    mismatch(answer, {"qestion": "Why?"}, open_ended=True)


def test_a_setup_that_gives_what_nobody_takes_is_a_mistake() -> None:
    """Names of its own are compared with the parameters; the given ones may stay unused."""
    with pytest.raises(CheckFileError, match="the setup gives 'docs_ids', and answer"):
        arguments(answer, {"question": "Why?", "doc_ids": []}, {"model": 1, "docs_ids": 2})


def test_further_keywords_take_any_key_but_the_given_ones() -> None:
    """An app with **kwargs takes every key of the input, and nothing of ours that it does not name."""

    def open_app(question: str, **more: object) -> None: ...

    assert arguments(open_app, {"question": "a", "b": 1}, {"rng": 1, "db": 2}) == {"question": "a", "b": 1, "db": 2}
    mismatch(open_app, {"question": "a", "rng": 1})


class Desk:
    """An app with state."""

    def __init__(self, name: str = "desk") -> None:
        self.name = name

    def __call__(self, question: str, *, model: ChatModel) -> str:
        """Answer."""
        return f"{self.name} {question} {model}"

    def method(self, question: str) -> str:
        """Answer without a model."""
        return question

    @classmethod
    def made(cls, question: str, model: ChatModel) -> str:
        """Answer from the class."""
        return f"{question}{model}"


async def slow(question: str, model: ChatModel) -> str:
    """Answer later."""
    return f"{question} {model}"


@pytest.mark.parametrize(
    ("app", "expected"),
    [
        (Desk(), "desk a 1"),
        (Desk().made, "a1"),
        (Desk.made, "a1"),
        (functools.partial(answer, doc_ids=["d"], limit=1), ("a", ["d"], 1, 1)),
        (functools.partial(Desk("x"), "ignored"), None),
    ],
    ids=["instance", "bound-method", "class-method", "partial", "partial-that-fills-it"],
)
def test_whatever_can_be_called_is_an_app(app: Callable[..., object], expected: object) -> None:
    """Instances, methods and partials are asked for the parameters that are still open."""
    if expected is None:
        assert "no such parameter" in mismatch(app, {"question": "a"}).message
        return
    fits(app, {"question": "a"})
    assert app(**arguments(app, {"question": "a"}, {"model": 1})) == expected
    assert wanted(app)["model"] is ChatModel


def test_an_async_app_is_filled_alike() -> None:
    """Awaiting is somebody else's business."""
    assert asyncio.run(slow(**arguments(slow, "a", {"model": 1}))) == "a 1"


def test_wanted_gives_annotations_resolved() -> None:
    """Text annotations are resolved in the module that wrote them; what only type checkers know stays text."""

    def app(a: int, model: ChatModel, rng, clock: Unknown) -> None: ...  # type: ignore[no-untyped-def, name-defined]  # noqa: F821, ANN001  # under test

    def plain(model: int) -> None: ...

    plain.__annotations__["model"] = int
    assert wanted(app) == {"model": ChatModel, "rng": None, "clock": "Unknown"}
    assert wanted(plain) == {"model": int}
    assert wanted(Desk().method) == {}
    assert wanted(Desk) == {}


def test_a_decorated_app_is_seen_through() -> None:
    """functools.wraps keeps the signature, and the annotations of the module that wrote it."""

    @functools.wraps(answer)
    def wrapper(*args: object, **kwargs: object) -> object:
        return answer(*args, **kwargs)  # type: ignore[arg-type]  # handed through as they are

    assert wanted(wrapper) == {"model": ChatModel}
    fits(wrapper, {"question": "a", "doc_ids": []})


def test_parameters_that_have_no_name_are_refused() -> None:
    """They are filled by name, so a positional-only parameter cannot be."""

    def app(text: str, /) -> None: ...

    def fine(text: str, other: int = 0, /, *, more: int = 1) -> None: ...

    error = mismatch(app, "a")
    assert (error.message, error.hint) == (
        "app() takes 'text' by position only",
        "wrap it in a function of your own, whose parameters have names",
    )
    mismatch(fine, "a")


def test_what_is_no_function_or_does_not_tell_is_refused() -> None:
    """Both name the object."""
    assert mismatch(5, "a").message == "int is int, not a function"  # type: ignore[arg-type]  # under test
    assert mismatch(max, "a").message == "max does not tell its parameters"


def test_many_functions_are_remembered_a_while() -> None:
    """The memory of signatures is bounded, and never mixes two functions up."""

    def make(number: int) -> Callable[..., object]:
        return eval(f"lambda p{number}: p{number}")  # type: ignore[no-any-return]  # a hundred different signatures

    for number in range(150):
        assert arguments(make(number), "a", {}) == {f"p{number}": "a"}
