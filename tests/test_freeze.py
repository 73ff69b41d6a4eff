"""Frozen views: equal to what they were made of, and unchangeable."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.freeze import FrozenDict, FrozenList, frozen

texts = st.text(max_size=5)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts


values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=15)


@pytest.mark.parametrize(
    "change",
    [
        lambda each: each.update(a=2), lambda each: each.__setitem__("a", 2), lambda each: each.__delitem__("a"), lambda each: each.clear(),
        lambda each: each.pop("a"), lambda each: each.popitem(), lambda each: each.setdefault("b", 1), lambda each: each.__ior__({"b": 1}),
    ],
)  # fmt: skip
def test_a_frozen_dict_cannot_change(change: Callable[[Any], object]) -> None:
    """Every way to change a dict is refused, and says why."""
    view = frozen({"a": 1})
    with pytest.raises(TypeError, match="FrozenDict is frozen"):
        change(view)
    assert view == {"a": 1}


@pytest.mark.parametrize(
    "change",
    [
        lambda each: each.append(2), lambda each: each.__setitem__(0, 2), lambda each: each.__delitem__(0), lambda each: each.clear(),
        lambda each: each.extend([2]), lambda each: each.insert(0, 2), lambda each: each.pop(), lambda each: each.remove(1),
        lambda each: each.reverse(), lambda each: each.sort(), lambda each: each.__iadd__([2]), lambda each: each.__imul__(2),
    ],
)  # fmt: skip
def test_a_frozen_list_cannot_change(change: Callable[[Any], object]) -> None:
    """Every way to change a list is refused, and says why."""
    view = frozen([1])
    with pytest.raises(TypeError, match="FrozenList is frozen"):
        change(view)
    assert view == [1]


@given(values)
def test_a_frozen_view_is_equal_and_travels(value: Any) -> None:
    """It equals what it was made of, is frozen all the way down, and survives pickle, copy and JSON."""
    view = frozen({"a": [value]})
    assert view == {"a": [value]}
    assert isinstance(view["a"], FrozenList)
    for again in (copy.copy(view), copy.deepcopy(view)):
        assert again is view
    assert copy.copy(view["a"]) is copy.deepcopy(view["a"]) is view["a"]
    back = pickle.loads(pickle.dumps(view))
    assert back == view
    assert (type(back), type(back["a"])) == (FrozenDict, FrozenList)
    assert json.loads(json.dumps(view)) == json.loads(json.dumps({"a": [value]}))
    assert type(view | {"b": 1}) is dict
