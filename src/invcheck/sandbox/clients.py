"""The providers' own clients: who builds a real one where the network is cut learns it at once, at that line.

A constructor reaches for nothing, so that the gate alone would speak of it only at the first call, from deep inside a
library, or never where the key is missing. The tripwire stands at the base class of each SDK, set as soon as that module
is imported: names that were imported from it before or after, and subclasses, all lead there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from sys import _getframe as frame_at
from types import FrameType, ModuleType
from typing import Any

from invcheck.sandbox import imports, listeners, network

WHAT = "a real client was built"
WHY = f"{WHAT}, and no double answers it"

_NO_FACE = "no double speaks this provider's protocol: ask it behind a function or a port of your own, and bind the double there"
_NETWORK = frozenset({"HTTPTransport", "AsyncHTTPTransport", "AiohttpTransport"})
"""The transports that lead to sockets, httpx2's, httpx's and those over aiohttp; whatever else a client is given is a fake."""


@dataclass(frozen=True, slots=True)
class Sdk:
    """One provider's SDK: the class ``base`` of ``module`` that all its clients are made of.

    Its ``main`` client asks ``host`` where nobody says another. ``addresses`` is by a client's name, without Async, the
    variable that holds its base URL. ``doubles`` says whether a double speaks the protocol.
    """

    package: str
    module: str
    base: str
    main: str
    host: str
    addresses: Mapping[str, str]
    doubles: bool = True


SDKS = (
    Sdk(
        "openai",
        "openai._base_client",
        "BaseClient",
        "OpenAI",
        "api.openai.com",
        {"OpenAI": "OPENAI_BASE_URL", "AzureOpenAI": "AZURE_OPENAI_ENDPOINT", "BedrockOpenAI": "AWS_BEDROCK_BASE_URL"},
    ),
    Sdk(
        "anthropic",
        "anthropic._base_client",
        "BaseClient",
        "Anthropic",
        "api.anthropic.com",
        {
            "Anthropic": "ANTHROPIC_BASE_URL",
            "AnthropicAWS": "ANTHROPIC_AWS_BASE_URL",
            "AnthropicBedrock": "ANTHROPIC_BEDROCK_BASE_URL",
            "AnthropicBedrockMantle": "ANTHROPIC_BEDROCK_MANTLE_BASE_URL",
            "AnthropicFoundry": "ANTHROPIC_FOUNDRY_BASE_URL",
            "AnthropicGoogleCloud": "ANTHROPIC_GOOGLE_CLOUD_BASE_URL",
            "AnthropicVertex": "ANTHROPIC_VERTEX_BASE_URL",
        },
    ),
    Sdk(
        "google.genai",
        "google.genai._api_client",
        "BaseApiClient",
        "Client",
        "generativelanguage.googleapis.com",
        {},  # the class in front of it has looked already
        doubles=False,
    ),
)
BEDROCK = frozenset({"bedrock", "bedrock-runtime", "bedrock-agent-runtime"})
"""The services of AWS that lead to models; any other client of botocore is the gate's business alone."""


def install() -> None:
    """Set the tripwires: now where an SDK is imported already, else each time it is; nothing is imported for it."""
    for sdk in SDKS:
        imports.after(sdk.module, partial(_guard, sdk), again=True)
    imports.after("botocore.session", _guard_botocore, again=True)


def _guard(sdk: Sdk, module: ModuleType) -> None:
    """Have every class that is made of the SDK's base watched from the first time on that one is built."""
    base = getattr(module, sdk.base)
    own = f"{sdk.package}."

    def __new__(cls: type, *args: Any, **options: Any) -> Any:  # noqa: N807  # what it becomes
        home = _home(cls, own)
        if home is not None and not hasattr(vars(home)["__init__"], "__tripwire__"):
            setattr(home, "__init__", _watched(sdk, home, vars(home)["__init__"]))  # noqa: B010  # mypy knows no other way
        make = super(base, cls).__new__
        return make(cls) if make is object.__new__ else make(cls, *args, **options)

    base.__new__ = __new__


def _home(kind: type, own: str) -> type | None:
    """Give the class whose constructor is the SDK's own, the outermost: what it is given is what the client will be."""
    for each in kind.__mro__:
        if str(getattr(vars(each).get("__init__"), "__module__", None)).startswith(own):
            return each
    return None


def _watched(sdk: Sdk, home: type, build: Callable[..., None]) -> Callable[..., None]:
    own, names = f"{sdk.package}.", build.__code__.co_varnames[1:]

    @wraps(build)
    def constructor(self: Any, *args: Any, **options: Any) -> None:
        if network.holds() and _home(type(self), own) is home:  # else an inner one, whose outer was judged
            given = {**dict(zip(names, args, strict=False)), **options}
            name = sdk.main if home.__name__ == sdk.base else home.__name__
            _judge(sdk, name, {**given, **_plain(given.get("http_options"))}, frame_at(1))
        build(self, *args, **options)

    setattr(constructor, "__tripwire__", True)  # noqa: B010  # as above
    return constructor


def _judge(sdk: Sdk, name: str, given: Mapping[str, Any], frame: FrameType) -> None:
    """Let a client pass that is answered by a fake, or from this machine, where the gate sees to it; refuse any other."""
    if any(map(_fake, _transports(given))):
        return
    plain = name.removeprefix("Async")
    address = given.get("base_url") or given.get("azure_endpoint") or os.environ.get(sdk.addresses.get(plain, ""))
    host = _host(address) if address else sdk.host if plain == sdk.main and not given.get("vertexai") else None
    _refuse_unless_local(f"{sdk.package}.{name}", host, sdk.package, _bind(sdk, name), frame)


def _refuse_unless_local(client: str, host: str | None, package: str, hint: str, frame: FrameType) -> None:
    if host is None or not listeners.loopback(host):
        wanted, own = f"{client} ({host})" if host else client, {"what": WHAT, "hint": hint}
        network.refuse(wanted, host=host or client, via=package, why=WHY, own=own, frame=frame)


def _transports(given: Mapping[str, Any]) -> Iterator[Any]:
    """Give what a client's HTTP clients send through, as far as its builder chose them."""
    for name in ("http_client", "httpx_client", "httpx_async_client"):
        if given.get(name) is not None:
            yield getattr(given[name], "_transport", given[name])
    for name in ("client_args", "async_client_args"):
        if (given.get(name) or {}).get("transport") is not None:
            yield given[name]["transport"]


def _fake(transport: Any) -> bool:
    return not any(kind.__name__ in _NETWORK for kind in type(transport).__mro__)


def _plain(options: Any) -> Mapping[str, Any]:
    return options if isinstance(options, Mapping) else vars(options) if options is not None else {}


def _host(address: Any) -> str | None:
    from urllib.parse import urlsplit  # noqa: PLC0415  # whoever builds a client has loaded it

    return urlsplit(str(address)).hostname


def _bind(sdk: Sdk, name: str) -> str:
    """Say how a double takes the place of a client, in the line that builds it."""
    if not sdk.doubles:
        return _NO_FACE
    kind = "Async" if name.startswith("Async") else ""
    client = f"http_client={sdk.package}.Default{kind}HttpxClient(transport=model.transport())"
    face = f"{'async_' if kind else ''}{sdk.package}"
    return f"bind a double: hand the app model.{face}(), or build {sdk.package}.{name}(..., {client})"


def _guard_botocore(module: ModuleType) -> None:
    session = module.Session
    build = session.create_client

    @wraps(build)
    def create_client(self: Any, service_name: str, *args: Any, **options: Any) -> Any:
        if service_name in BEDROCK and network.holds():
            variable = f"AWS_ENDPOINT_URL_{service_name.replace('-', '_').upper()}"
            address = options.get("endpoint_url") or os.environ.get(variable) or os.environ.get("AWS_ENDPOINT_URL")
            region = options.get("region_name") or (args[0] if args else None)
            host = _host(address) if address else f"{service_name}.{region}.amazonaws.com" if region else None
            _refuse_unless_local(f"boto3.client({service_name!r})", host, "botocore", _NO_FACE, frame_at(1))
        return build(self, service_name, *args, **options)

    session.create_client = create_client
