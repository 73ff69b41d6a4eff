"""The face that a parameter's annotation asks for."""

from __future__ import annotations

import types
from typing import Annotated, Any, Protocol, Union, get_args, get_origin

from invcheck.double import Double
from invcheck.errors import PortMismatch
from invcheck.faces.call import CallFace
from invcheck.faces.render import renderer


def bind(double: Double, annotation: object = None) -> Any:
    """Give a port where ``annotation`` is a Protocol (or an optional one), else the double as a plain callable.

    PortMismatch where the annotation is a text that could not be resolved, or the port cannot be made.
    """
    if isinstance(annotation, str):
        raise PortMismatch(
            f"the annotation {annotation!r} could not be resolved, so no port can be made of it",
            hint="import the Protocol at run time, outside of `if TYPE_CHECKING:`",
        )
    protocol = None if annotation is None or annotation is Any else _protocol(annotation)
    if protocol is not None:
        from invcheck.faces.ports import port  # noqa: PLC0415  # a plain callable needs none of it

        return port(double, protocol)
    return double if callable(double) else CallFace(double, render=renderer(None))


def _protocol(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        return _protocol(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return next((found for arm in get_args(annotation) if (found := _protocol(arm)) is not None), None)
    kind = get_origin(annotation) or annotation
    return annotation if isinstance(kind, type) and getattr(kind, "_is_protocol", False) and kind is not Protocol else None
