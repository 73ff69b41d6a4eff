"""How a double is asked: as a plain callable, or as an object that satisfies the app's own Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from invcheck.faces.binding import bind
from invcheck.faces.call import CallFace

if TYPE_CHECKING:
    from invcheck.faces.compare import check_port
    from invcheck.faces.partials import partial
    from invcheck.faces.ports import port

__all__ = ["CallFace", "bind", "check_port", "partial", "port"]

_HOMES = {"check_port": "compare", "partial": "partials", "port": "ports"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'invcheck.faces' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # an app with a plain callable needs no Protocol: 8 ms

    value: object = getattr(import_module(f"invcheck.faces.{_HOMES[name]}"), name)
    return value
