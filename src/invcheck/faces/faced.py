"""A double that can be asked through every face; the doubles that users build are these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from invcheck.double import Double, Hand, Source, own
from invcheck.errors import DoubleError
from invcheck.faces.call import CallFace, Plain
from invcheck.faces.render import renderer
from invcheck.request import Request
from invcheck.vocabulary import Reply, Usage

P = TypeVar("P")


def _handing(returns: Callable[[Reply], Any] | None) -> Hand | None:
    if returns is None:
        return None
    asked = own("returns", returns)
    return lambda reply, _: asked(reply)


class Faced(Double, Plain):
    """A double with its faces: itself as a plain callable, and a port of the app's own Protocol.

    ``returns`` makes the app's own object of a reply, ``raises`` the app's own exceptions of faults; both are what every
    face uses that is not told otherwise. ``attributes`` are values for a Protocol's members that are no methods.
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str,
        usage: Usage | Mapping[str, int | None] | None = None,
        lane_by: str | Callable[[Request], str] | None = None,
        returns: Callable[[Reply], Any] | None = None,
        raises: Mapping[str, Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        self._render = renderer(raises)
        super().__init__(source, name=name, usage=usage, lane_by=lane_by)
        self.returns, self.raises, self.attributes = returns, raises, attributes
        self._hand = _handing(returns)

    def _whom(self) -> Double:
        return self  # a face that it held beside itself would be a ring, which only the collector frees

    def __getattr__(self, name: str) -> Any:
        """Say how a double is asked, since what it is not is the surface of some SDK's client."""
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}: a double is called, as model(request); give an app that asks "
            "a client's own methods a port, by the annotation of its parameter with a Protocol or as model.port(Protocol)"
        )

    def lane(self, name: str) -> CallFace:
        """Give the plain face of one declared lane; LANE_UNDECLARED where there is no such lane."""
        self._declared(name)
        return CallFace(self, lane=name, hand=_handing(self.returns), render=renderer(self.raises))

    def port(
        self,
        protocol: Callable[..., P],
        *,
        returns: Callable[[Reply], Any] | None = None,
        raises: Mapping[str, Any] | None = None,
        lane: str | None = None,
        like: object = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> P:
        """Give an object that satisfies the app's own Protocol and is answered by this double; see `invcheck.port`."""
        from invcheck.faces.ports import port  # noqa: PLC0415  # an app with a plain callable needs no Protocol

        made: P = port(self, protocol, returns=returns, raises=raises, lane=lane, like=like, attributes=attributes)
        return made

    def _declared(self, name: str | None) -> None:
        lanes = self._source.lanes
        if name not in lanes:
            raise DoubleError(
                f"the double has no lane {name!r}",
                code="LANE_UNDECLARED",
                hint=f"declare it with lanes=; there are {', '.join(sorted(map(str, lanes)))}"
                if None not in lanes
                else "declare it with lanes=",
            )
