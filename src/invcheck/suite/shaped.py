"""Whether a value of a check file has its shape, asked of pydantic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from pydantic import TypeAdapter, ValidationError

from invcheck.vocabulary import Json

_LOADER = "pydantic.plugin._loader"


def wrong(module: str, name: str, value: Json) -> ValidationError | None:
    """Give what does not fit the shape ``name`` of ``invcheck.suite.MODULE``, None where all of it does.

    >>> wrong("specs", "ClockStart", {"start": "2030-01-01T00:00:00Z"}) is None
    True
    """
    with _no_plugins():
        try:
            _adapter(module, name).validate_python(value)
        except ValidationError as error:
            return error
    return None


@cache
def _adapter(module: str, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(getattr(import_module(f"invcheck.suite.{module}"), name))


@contextmanager
def _no_plugins() -> Iterator[None]:
    """Keep pydantic from looking for plugins of the shapes that it builds here.

    It would read the metadata of every installed package, which takes a tenth of the time of a small run.
    """
    if _LOADER in sys.modules:
        yield
        return
    none = ModuleType(_LOADER)
    none.get_plugins = tuple  # type: ignore[attr-defined]  # the one function that is asked for
    sys.modules[_LOADER] = none
    try:
        yield
    finally:
        del sys.modules[_LOADER]
