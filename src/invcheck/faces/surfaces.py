"""What an app can be handed of a double, or of one of its lanes: ports, real clients, a transport, a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from invcheck.double import Double
from invcheck.errors import DoubleError
from invcheck.vocabulary import Reply

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic
    from openai import AsyncOpenAI, OpenAI

    from invcheck.faces.server import Server

P = TypeVar("P")

_OF_CLIENTS = {"chat": "openai", "completions": "openai", "responses": "openai", "messages": "anthropic"}
"""What apps ask of a provider's client, and whose client has it."""


class Surfaces:
    """What can be handed to an app; of one lane all of it asks that lane, and DoubleError where another one is named."""

    _lane_name: str | None = None

    if TYPE_CHECKING:

        def _whom(self) -> Double: ...

    def __getattr__(self, name: str) -> Any:
        """Say how a double is asked, since what it is not is the surface of some SDK's client."""
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{_hint(name, type(self))}")

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

        made: P = port(self._whom(), protocol, returns=returns, raises=raises, lane=self._on(lane), like=like, attributes=attributes)
        return made

    def transport(self, *, module: ModuleType | None = None, lane: str | None = None) -> Any:
        """Give an HTTP client's transport that this double answers; see `invcheck.faces.transport.transport`."""
        from invcheck.faces.transport import transport  # noqa: PLC0415  # only an app with an SDK has HTTP

        return transport(self._whom(), module=module, lane=self._on(lane))

    def openai(self, *, lane: str | None = None, **options: Any) -> OpenAI:
        """Give a real ``openai.OpenAI`` that this double answers; ``options`` go to it (max_retries, timeout ...)."""
        from invcheck.faces import clients  # noqa: PLC0415  # as above

        return clients.openai(self._whom(), lane=self._on(lane), **options)

    def async_openai(self, *, lane: str | None = None, **options: Any) -> AsyncOpenAI:
        """Give a real ``openai.AsyncOpenAI`` that this double answers; see `openai`."""
        from invcheck.faces import clients  # noqa: PLC0415  # as above

        return clients.async_openai(self._whom(), lane=self._on(lane), **options)

    def anthropic(self, *, lane: str | None = None, **options: Any) -> Anthropic:
        """Give a real ``anthropic.Anthropic`` that this double answers; see `openai`."""
        from invcheck.faces import clients  # noqa: PLC0415  # as above

        return clients.anthropic(self._whom(), lane=self._on(lane), **options)

    def async_anthropic(self, *, lane: str | None = None, **options: Any) -> AsyncAnthropic:
        """Give a real ``anthropic.AsyncAnthropic`` that this double answers; see `openai`."""
        from invcheck.faces import clients  # noqa: PLC0415  # as above

        return clients.async_anthropic(self._whom(), lane=self._on(lane), **options)

    def serve(self, *, port: int = 0, lane: str | None = None, silence: float = 2.0) -> Server:
        """Serve this double on a port of 127.0.0.1 for the length of a block, for whatever speaks HTTP; see `invcheck.faces.server`."""
        from invcheck.faces.server import Server  # noqa: PLC0415  # most doubles answer in process

        return Server(self._whom(), port=port, lane=self._on(lane), silence=silence)

    def _on(self, lane: str | None) -> str | None:
        if lane is not None and self._lane_name not in (None, lane):
            raise DoubleError(f'this is lane "{self._lane_name}", not "{lane}"', hint=f'ask the double itself: .lane("{lane}")')
        return self._lane_name if lane is None else lane


def _hint(name: str, kind: type) -> str:
    """Say what is meant by a name that is none: a client, another name, or something that a client has."""
    from invcheck.resolve import did_you_mean  # noqa: PLC0415  # only a mistake needs it

    low = name.lower()
    provider = next((each for each in ("openai", "anthropic") if each in low), None)
    if provider is not None:
        aside = "async_" if "async" in low or low.startswith(f"a{provider}") else ""
        return f"; did you mean {aside}{provider}()?"
    near = did_you_mean(low, [each for each in dir(kind) if not each.startswith("_")], cutoff=0.75)
    if near is not None and name not in _OF_CLIENTS:
        return f"; did you mean {near}?"
    client = _OF_CLIENTS.get(name, "openai")
    return (
        ": a double is called, as model(request); give an app that asks a client's own methods a real client, as "
        f"model.{client}(), or a port, by the annotation of its parameter with a Protocol or as model.port(Protocol)"
    )
