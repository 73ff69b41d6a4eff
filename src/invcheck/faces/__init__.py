"""How a double is asked: as a plain callable, or as an object that satisfies the app's own Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from invcheck.faces.binding import bind
from invcheck.faces.call import CallFace

if TYPE_CHECKING:
    from invcheck.faces.compare import check_port
    from invcheck.faces.ports import port

__all__ = ["CallFace", "bind", "check_port", "port"]


def __getattr__(name: str) -> object:
    if name not in ("check_port", "port"):
        raise AttributeError(f"module 'invcheck.faces' has no attribute {name!r}")
    from invcheck.faces import compare, ports  # noqa: PLC0415  # an app with a plain callable needs no Protocol: 8 ms

    return compare.check_port if name == "check_port" else ports.port
