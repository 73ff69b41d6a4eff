"""Snapshots: plain JSON of whatever an app hands over, detached, and marked where it cannot be."""

from __future__ import annotations

import enum
import uuid
from collections import OrderedDict, UserDict, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.canonical import canonical
from invcheck.errors import NotJson
from invcheck.snapshot import snapshot
from invcheck.vocabulary import DEEPEST

texts = st.text(max_size=5)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts


values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=15)


@pytest.mark.parametrize(
    ("value", "path"),
    [(10**5000, "$"), ([1, -(10**4299)], "$[1]"), ({"a": {"b": 10**4299}}, "$.a.b"), ({"n": type("N", (int,), {})(10**4400)}, "$.n")],
    ids=["alone", "in a list", "deep", "of a class"],
)
def test_an_integer_that_cannot_be_written_is_marked(value: Any, path: str) -> None:
    """Python itself writes and reads no more than 4,300 digits: a larger one would be in no report."""
    with pytest.raises(NotJson, match="an integer of 4,300 digits or more") as told:
        snapshot(value, strict=True)
    assert told.value.fields["path"] == path
    assert b"an integer of too many digits" in canonical(snapshot(value))
    assert snapshot([10**4298, -(10**4298)], strict=True) == [10**4298, -(10**4298)]


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Label(enum.StrEnum):
    BILLING = "billing"


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "not me"


class Number(float):
    __slots__ = ()


@dataclass
class Point:
    x: int
    y: object = None


@dataclass
class Property:
    x: int

    @property
    def never(self) -> int:
        raise AssertionError


Pair = namedtuple("Pair", ["one", "two"])  # noqa: PYI024  # the untyped kind is what users have


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    x: int


class Root(pydantic.RootModel[list[int]]):
    pass


class Opaque:
    pass


class Slippery(UserDict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("read me not")


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@given(values)
def test_plain_values_are_copied_exactly(value: Any) -> None:
    """A snapshot of plain JSON equals it, strictly too, and shares nothing that can change."""
    for strict in (False, True):
        taken = snapshot(value, strict=strict)
        assert canonical(taken) == canonical(value)
        if isinstance(value, dict | list):
            assert taken is not value


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, (2,)), [1, [2]]),
        (Pair(1, "b"), [1, "b"]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (UserDict({"a": (1,)}), {"a": [1]}),
        (Colour.RED, "red"),
        (Level.LOW, 1),
        (Label.BILLING, "billing"),
        (Text("text"), "text"),
        (Number(1.5), 1.5),
        ({3, 1, 2}, {"$set": [1, 2, 3]}),
        (frozenset(["b", "a"]), {"$set": ["a", "b"]}),
        (b"\x00\xff", {"$bytes": "AP8="}),
        (bytearray(b"a"), {"$bytes": "YQ=="}),
        (Decimal("1.10"), "1.10"),
        (date(2030, 1, 2), "2030-01-02"),
        (datetime(2030, 1, 2, 3, tzinfo=UTC), "2030-01-02T03:00:00+00:00"),
        (time(3, 4), "03:04:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        (Path("a"), "a"),
        (Point(1, Point(2)), {"x": 1, "y": {"x": 2, "y": None}}),
        (Property(1), {"x": 1}),
        (Model(x=1, more=[2]), {"x": 1, "more": [2]}),  # type: ignore[call-arg]  # extra fields are allowed
        (Root([1]), [1]),
    ],
)
def test_what_can_be_plain_becomes_plain(value: object, plain: Any) -> None:
    """Each kind of value that a user's code hands over has one plain form, with and without strict."""
    for strict in (False, True):
        taken = snapshot({"a": [value]}, strict=strict)["a"][0]
        assert taken == plain
        assert type(taken) is type(plain)


@pytest.mark.parametrize(
    ("value", "mark", "reason"),
    [
        (Opaque(), {"$object": "test_snapshot.Opaque"}, "is test_snapshot.Opaque, which is no plain JSON"),
        (Opaque, {"$object": "test_snapshot.Opaque"}, "is test_snapshot.Opaque, which is no plain JSON"),
        (Point, {"$object": "test_snapshot.Point"}, "is test_snapshot.Point, which is no plain JSON"),
        (float("nan"), {"$number": "nan"}, "is nan, which is no plain JSON"),
        (Number("-inf"), {"$number": "-inf"}, "is -inf, which is no plain JSON"),
        (Slippery(), {"$object": "test_snapshot.Slippery"}, "is test_snapshot.Slippery, which is no plain JSON"),
        (deep(DEEPEST), {"$deep": "builtins.list"}, "is nested deeper than 254 levels"),
    ],
)
def test_what_cannot_is_marked_or_refused(value: object, mark: Any, reason: str) -> None:
    """A placeholder names the type and no address; strict refuses with the path."""
    taken = snapshot({"a": value})["a"]
    while isinstance(taken, list):
        taken = taken[0]
    assert taken == mark
    with pytest.raises(NotJson) as caught:
        snapshot({"a": value}, strict=True)
    assert caught.value.fields["path"].startswith("$.a")
    assert caught.value.message.endswith(reason)
    assert len(caught.value.message) < 200


def test_a_cycle_is_marked() -> None:
    """What holds itself is cut where it begins again; the same value twice side by side is no cycle."""
    loop: list[Any] = [1]
    loop.append({"again": loop})
    assert snapshot(loop) == [1, {"again": {"$cycle": "$[1].again"}}]
    with pytest.raises(NotJson, match=r"\$\[1\]\.again holds itself"):
        snapshot(loop, strict=True)
    twice = [1]
    assert snapshot([twice, twice], strict=True) == [[1], [1]]


def test_iterators_are_not_consumed() -> None:
    """A generator in a request is marked, and still yields all it has."""

    def numbers() -> Iterator[int]:
        yield 1

    generator = numbers()
    assert snapshot([generator]) == [{"$object": "builtins.generator"}]
    assert list(generator) == [1]


def test_keys_become_text_without_loss() -> None:
    """Keys that are no text are spelled as JSON; two that JSON cannot tell apart both stay; strict refuses them."""
    plain = snapshot({1: "a", "1": "b", None: "c", (1, "x"): "d", (2, "é"): "e", Label.BILLING: "f", Text("t"): "g", Opaque: "h"})
    assert plain == {
        "1": "a", "1 (builtins.str)": "b", "null": "c", '[1,"x"]': "d", '[2,"é"]': "e", "billing": "f", "t": "g",
        '{"$object":"test_snapshot.Opaque"}': "h",
    }  # fmt: skip
    assert snapshot({Label.BILLING: 1}, strict=True) == {"billing": 1}
    with pytest.raises(NotJson, match=r"a key at \$\.a is builtins.int, JSON has text keys only"):
        snapshot({"a": {1: 2}}, strict=True)


def test_what_a_library_sets_beside_the_fields_is_no_part_of_a_model() -> None:
    """A client that keeps its raw response in a model's dictionary changes nothing of the model."""
    model = Model(x=1)
    model.__dict__["_raw_response"] = object()
    assert snapshot(model, strict=True) == {"x": 1}
