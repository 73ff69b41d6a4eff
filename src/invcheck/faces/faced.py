"""A double that can be asked through every face; the doubles that users build are these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypedDict, Unpack

from invcheck import delivery
from invcheck.double import Double, Hand
from invcheck.errors import DoubleError
from invcheck.faces.call import CallFace, Plain
from invcheck.faces.render import renderer
from invcheck.faces.surfaces import Surfaces
from invcheck.mistakes import own
from invcheck.request import Request
from invcheck.source import Source
from invcheck.vocabulary import Chunking, Reply, Usage


def _handing(returns: Callable[[Reply], Any] | None) -> Hand | None:
    if returns is None:
        return None
    asked = own("returns", returns)
    return lambda reply, _: asked(reply)


class Options(TypedDict, total=False):
    """What every double can be told beside what it answers.

    ``usage`` is the default for replies that do not say; ``lane_by`` names the lane of a request: the name of one of its
    fields, or a function of it. ``returns`` makes the app's own object of a reply, ``raises`` the app's own exceptions of
    faults; both are what every face uses that is not told otherwise. ``attributes`` are values for a Protocol's members
    that are no methods. ``chunks``, ``latency`` and ``pace`` (virtual seconds) are how replies are handed over that do not
    say, see `Delivery`; ``cached`` counts what a request shares with the one before it as read from a cache; ``relax``
    names rules of `invcheck.protocol` that requests may break; ``keep`` bounds how many calls are held.
    """

    usage: Usage | Mapping[str, int | None] | None
    lane_by: str | Callable[[Request], str] | None
    returns: Callable[[Reply], Any] | None
    raises: Mapping[str, Any] | None
    attributes: Mapping[str, Any] | None
    chunks: Chunking | None
    latency: float
    pace: float
    cached: bool
    relax: Collection[str]
    keep: int | None


def _unknown(name: str, given: Collection[str]) -> TypeError:
    """A misspelt option would silently change what a double does."""
    from invcheck.resolve import did_you_mean  # noqa: PLC0415  # only a mistake needs it

    wrong = min(given)
    near = did_you_mean(wrong, sorted(Options.__annotations__))
    hint = f"did you mean {near}?" if near else f"there are {', '.join(Options.__annotations__)}"
    return TypeError(f"{name} takes no argument {wrong!r}; {hint}")


class Faced(Double, Plain, Surfaces):
    """A double with its faces: itself as a plain callable, its streams, and what `Surfaces` has; see `Options`."""

    def __init__(self, source: Source, *, name: str, **options: Unpack[Options]) -> None:
        if options and not options.keys() <= Options.__annotations__.keys():
            raise _unknown(name, options.keys() - Options.__annotations__.keys())
        self.returns, self.raises, self.attributes = options.get("returns"), options.get("raises"), options.get("attributes")
        self._render = renderer(self.raises)
        super().__init__(
            source,
            name=name,
            usage=options.get("usage"),
            lane_by=options.get("lane_by"),
            delivery=delivery.of(options.get("chunks"), options.get("latency", 0.0), options.get("pace", 0.0)) if options else None,
            cached=options.get("cached", False),
            relax=options.get("relax", ()),
            keep=options.get("keep"),
        )
        self._hand = _handing(self.returns)

    def _whom(self) -> Double:
        return self  # a face that it held beside itself would be a ring, which only the collector frees

    def lane(self, name: str) -> CallFace:
        """Give the plain face of one declared lane; LANE_UNDECLARED where there is no such lane."""
        self._declared(name)
        return CallFace(self, lane=name, hand=_handing(self.returns), render=renderer(self.raises))

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
