"""Frozen views: plain JSON that cannot be changed, since it is a record of what happened."""

from __future__ import annotations

from typing import Any, NoReturn

from invcheck.vocabulary import Json

_SCALARS = frozenset({str, int, bool, type(None)})


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed; equal to a plain dict of the same items."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is frozen: it is a record of what happened, copy it before a change")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self),))


class FrozenList(list[Any]):
    """A list that cannot be changed; equal to a plain list of the same items."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("FrozenList is frozen: it is a record of what happened, copy it before a change")

    __setitem__ = __delitem__ = append = clear = extend = insert = pop = remove = reverse = sort = _refuse
    __iadd__ = __imul__ = _refuse

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenList, (list(self),))


def frozen(value: Json) -> Json:
    """Give a deeply frozen view of plain JSON; it compares equal to what it was made of.

    >>> frozen({"a": [1]}) == {"a": [1]}
    True
    """
    if isinstance(value, dict):
        return FrozenDict({key: item if type(item) in _SCALARS else frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return FrozenList([item if type(item) in _SCALARS else frozen(item) for item in value])
    return value
