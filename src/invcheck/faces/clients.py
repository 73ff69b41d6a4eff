"""The providers' own clients over a double: what an app imports and builds, but nothing leaves the process."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from invcheck.double import Double
from invcheck.errors import DoubleError
from invcheck.faces.transport import transport

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic
    from openai import AsyncOpenAI, OpenAI

HOST = "http://double.invalid"
"""A host that no resolver knows (RFC 6761 §6.4), for whatever would ask around the transport."""

KEY = "invcheck"
"""What stands for a key; no real one is ever read."""


def openai(double: Double, *, lane: str | None = None, **options: Any) -> OpenAI:
    """Give a real ``openai.OpenAI`` that this double answers; ``options`` go to it (max_retries, timeout ...).

    >>> import invcheck
    >>> with invcheck.testing():
    ...     client = openai(invcheck.ScriptedModel("hello"))
    ...     client.responses.create(model="m", input="hi").output_text
    'hello'
    """
    made: OpenAI = _client(double, "openai", "OpenAI", "Client", lane, options)
    return made


def async_openai(double: Double, *, lane: str | None = None, **options: Any) -> AsyncOpenAI:
    """Give a real ``openai.AsyncOpenAI`` that this double answers; see `openai`."""
    made: AsyncOpenAI = _client(double, "openai", "AsyncOpenAI", "AsyncClient", lane, options)
    return made


def anthropic(double: Double, *, lane: str | None = None, **options: Any) -> Anthropic:
    """Give a real ``anthropic.Anthropic`` that this double answers; see `openai`."""
    made: Anthropic = _client(double, "anthropic", "Anthropic", "Client", lane, options)
    return made


def async_anthropic(double: Double, *, lane: str | None = None, **options: Any) -> AsyncAnthropic:
    """Give a real ``anthropic.AsyncAnthropic`` that this double answers; see `openai`."""
    made: AsyncAnthropic = _client(double, "anthropic", "AsyncAnthropic", "AsyncClient", lane, options)
    return made


def _client(double: Double, package: str, name: str, kind: str, lane: str | None, options: dict[str, Any]) -> Any:
    if "http_client" in options:
        raise DoubleError(
            "http_client is what the double answers through",
            hint="build the SDK's client yourself over an HTTP client of your own, with transport=double.transport()",
        )
    try:
        sdk = importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise DoubleError(f"{package}'s SDK is not installed", hint=f"pip install {package}") from None
    client = sdk.DefaultHttpxClient if kind == "Client" else sdk.DefaultAsyncHttpxClient
    over = client(transport=transport(double, module=_module_of(client), lane=lane))
    where = HOST if package == "anthropic" else f"{HOST}/v1"
    return getattr(sdk, name)(**{"api_key": KEY, "base_url": where, **options}, http_client=over)


def _module_of(client: type) -> ModuleType:
    """Give the module whose client an SDK builds on: httpx2 where it is new, httpx before."""
    roots = [kind.__module__.partition(".")[0] for kind in client.__mro__]
    return sys.modules[next(root for root in roots if root in ("httpx2", "httpx"))]
