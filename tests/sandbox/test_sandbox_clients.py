"""The tripwires: whoever builds a provider's real client where the network is cut, and whoever has every right to."""

from __future__ import annotations

import copy
import importlib
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Self
from unittest import mock

import anthropic
import anthropic._base_client
import anthropic.lib.bedrock
import anthropic.lib.foundry
import anthropic.lib.google_cloud
import anthropic.lib.vertex
import httpx2
import openai
import openai._base_client
import pytest

from invcheck import ScriptedModel
from invcheck.errors import NetworkBlocked
from invcheck.record import Record
from invcheck.sandbox import box, clients, network

HERE = "tests/sandbox/test_sandbox_clients.py"
FACELESS = "no double speaks this provider's protocol"


def kinds(base: type) -> Iterator[type]:
    """Every class that is made of another, at any depth."""
    for kind in base.__subclasses__():
        if kind.__module__.partition(".")[0] in ("openai", "anthropic"):
            yield kind
            yield from kinds(kind)


ALL = sorted(
    {*kinds(openai._base_client.BaseClient), *kinds(anthropic._base_client.BaseClient)}, key=lambda kind: (kind.__module__, kind.__name__)
)


def refused(build: Callable[[], object]) -> tuple[dict[str, Any], str]:
    """Build a client in a trial, where it must be refused: the one breach, and the error's text."""
    record = Record()
    with box.trial(record), pytest.raises(NetworkBlocked) as caught:
        build()
    (breach,) = record.breaches
    assert caught.value.fields == breach
    return breach, str(caught.value)


def built(build: Callable[[], Any]) -> Any:
    """Build a client in a trial, where it must pass."""
    record = Record()
    with box.trial(record):
        made = build()
    assert record.breaches == []
    return made


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_class_of_the_sdks_is_guarded(kind: type) -> None:
    """Sync and async, Azure, Bedrock, Vertex, Foundry, the module's own: without a key too, where the class itself checks first."""
    breach, _ = refused(kind)
    assert breach["wanted"].startswith(f"{kind.__module__.partition('.')[0]}.")
    assert breach["where"] == f"{HERE}:refused"


def test_what_is_built_is_named_with_its_host_and_its_line() -> None:
    """What was wanted, by whom, why it is refused, and the line that binds a double; as fields and in words."""

    def app() -> None:
        openai.OpenAI(api_key="sk-live")

    breach, text = refused(app)
    line = app.__code__.co_firstlineno + 1
    hint = (
        "bind a double: hand the app model.openai(), or build "
        "openai.OpenAI(..., http_client=openai.DefaultHttpxClient(transport=model.transport()))"
    )
    assert breach == {
        "wanted": "openai.OpenAI (api.openai.com)",
        "host": "api.openai.com",
        "port": None,
        "via": "openai",
        "what": "a real client was built",
        "where": f"{HERE}:app",
        "line": line,
        "thread": "MainThread",
        "count": 1,
        "hint": hint,
    }
    assert text == (
        "openai.OpenAI (api.openai.com) was wanted, through openai\n"
        f"  who: {HERE}:app, line {line}\n"
        "  why: a real client was built, and no double answers it\n"
        f"  hint: {hint}"
    )


@pytest.mark.parametrize(
    ("build", "wanted", "hint"),
    [
        (lambda: openai.AsyncOpenAI(api_key="x"), "openai.AsyncOpenAI (api.openai.com)", "hand the app model.async_openai(), or build"),
        (lambda: openai.OpenAI(api_key="x", base_url="https://llm.example/v1"), "openai.OpenAI (llm.example)", "model.openai()"),
        (
            lambda: openai.AzureOpenAI(api_key="x", api_version="1", azure_endpoint="https://shop.openai.azure.com"),
            "openai.AzureOpenAI (shop.openai.azure.com)",
            "openai.AzureOpenAI(..., http_client=openai.DefaultHttpxClient(transport=model.transport()))",
        ),
        (anthropic.Anthropic, "anthropic.Anthropic (api.anthropic.com)", "hand the app model.anthropic(), or build"),
        (
            anthropic.AsyncAnthropic,
            "anthropic.AsyncAnthropic (api.anthropic.com)",
            "anthropic.AsyncAnthropic(..., http_client=anthropic.DefaultAsyncHttpxClient(transport=model.transport()))",
        ),
        (
            lambda: anthropic.lib.vertex.AnthropicVertex(region="eu", project_id="p"),
            "anthropic.AnthropicVertex",
            "anthropic.AnthropicVertex(..., http_client=",
        ),
        (lambda: openai.chat.completions.create(model="m", messages=[]), "openai.OpenAI (api.openai.com)", "model.openai()"),
    ],
)
def test_each_client_has_its_own_line(build: Callable[[], object], wanted: str, hint: str) -> None:
    """The host where it is known, and the very class and module in the line that binds a double."""
    breach, text = refused(build)
    assert breach["wanted"] == wanted
    assert hint in breach["hint"]
    assert text.startswith(f"{wanted} was wanted")


def test_a_swallowed_client_is_one_breach_with_its_count() -> None:
    """Whatever the app makes of the error: the record has it."""
    record = Record()
    with box.trial(record):
        for _ in range(3):
            with suppress(BaseException):
                openai.OpenAI(api_key="x")
    assert [(breach["wanted"], breach["count"]) for breach in record.breaches] == [("openai.OpenAI (api.openai.com)", 3)]


def test_the_library_between_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrapper that builds the client for the project is `via`, and the line is the project's."""
    (tmp_path / "wrapping_c4.py").write_text("import openai\ndef make():\n    return openai.OpenAI(api_key='x')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    wrapping = importlib.import_module("wrapping_c4")
    breach, _ = refused(wrapping.make)
    assert (breach["via"], breach["where"]) == ("wrapping_c4", f"{HERE}:refused")
    del sys.modules["wrapping_c4"]


class Keyed(openai.OpenAI):
    """A subclass with a constructor of its own, as wrappers have them."""

    def __init__(self, key: str, client: Any = None) -> None:
        super().__init__(api_key=key, http_client=client)


class Plain(anthropic.Anthropic):
    """A subclass without one."""


def test_a_subclass_is_what_it_is_given_at_the_end() -> None:
    """Its own constructor decides what the SDK's is given: refused without a fake, built with one."""
    assert refused(lambda: Keyed("x"))[0]["wanted"] == "openai.OpenAI (api.openai.com)"
    assert refused(lambda: Plain(api_key="x"))[0]["wanted"] == "anthropic.Anthropic (api.anthropic.com)"
    made = built(lambda: Keyed("x", openai.DefaultHttpxClient(transport=ScriptedModel("hello").transport())))
    assert type(made) is Keyed


def test_a_doubles_own_clients_are_built_and_answer() -> None:
    """All four, and what is copied from them with other options."""

    def app() -> list[str]:
        model = ScriptedModel("one", "two", "three")
        client = model.openai()
        model.async_openai().with_options(timeout=3)
        model.async_anthropic().copy()
        answers = [
            client.responses.create(model="m", input="hi").output_text,
            client.with_options(max_retries=0).responses.create(model="m", input="hi").output_text,
        ]
        asked = [{"role": "user", "content": "hi"}]
        said = model.anthropic().copy(timeout=5).messages.create(model="m", max_tokens=9, messages=asked)  # type: ignore[arg-type]
        return [*answers, said.content[0].text]

    assert built(app) == ["one", "two", "three"]


def answer(_request: httpx2.Request) -> httpx2.Response:
    """What a fake of the user's answers."""
    return httpx2.Response(200)


@pytest.mark.parametrize(
    "build",
    [
        lambda: openai.OpenAI(api_key="x", http_client=httpx2.Client(transport=httpx2.MockTransport(answer))),
        lambda: openai.AsyncOpenAI(api_key="x", http_client=httpx2.AsyncClient(transport=httpx2.ASGITransport(app=answer))),
        lambda: anthropic.Anthropic(api_key="x", http_client=httpx2.Client(transport=httpx2.MockTransport(answer))),
        lambda: openai.AzureOpenAI(
            api_key="x",
            api_version="1",
            azure_endpoint="https://a.example",
            http_client=httpx2.Client(transport=httpx2.MockTransport(answer)),
        ),
        lambda: anthropic.lib.vertex.AnthropicVertex(
            region="eu", project_id="p", http_client=httpx2.Client(transport=httpx2.MockTransport(answer))
        ),
        lambda: openai.OpenAI(api_key="x", http_client=mock.Mock(spec=httpx2.Client, timeout=5)),
    ],
)
def test_a_fake_transport_may_be_anybodys(build: Callable[[], object]) -> None:
    """A client whose own HTTP client leads to no socket is a fake already."""
    built(build)


@pytest.mark.parametrize(
    "build",
    [
        lambda: openai.OpenAI(api_key="x", http_client=openai.DefaultHttpxClient()),
        lambda: openai.AsyncOpenAI(api_key="x", http_client=httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(retries=3))),
        lambda: anthropic.Anthropic(api_key="x", http_client=anthropic.DefaultHttpxClient(timeout=3)),
    ],
)
def test_a_real_transport_is_none(build: Callable[[], object]) -> None:
    """An HTTP client of the user's own with other time-outs or retries leads to the provider like any."""
    refused(build)


LOCAL = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("variable", "build"),
    [
        ("OPENAI_BASE_URL", lambda: openai.OpenAI(api_key="x")),
        ("OPENAI_BASE_URL", lambda: openai.AsyncOpenAI(api_key="x")),
        ("AZURE_OPENAI_ENDPOINT", lambda: openai.AzureOpenAI(api_key="x", api_version="1")),
        ("ANTHROPIC_BASE_URL", anthropic.Anthropic),
        ("ANTHROPIC_VERTEX_BASE_URL", lambda: anthropic.lib.vertex.AnthropicVertex(region="eu", project_id="p")),
        ("ANTHROPIC_BEDROCK_BASE_URL", lambda: anthropic.AnthropicBedrock(aws_region="eu", api_key="x")),
        ("ANTHROPIC_FOUNDRY_BASE_URL", lambda: anthropic.AnthropicFoundry(api_key="x")),
        ("", lambda: openai.OpenAI(api_key="x", base_url=httpx2.URL("http://localhost:9/v1"))),
        ("", lambda: openai.OpenAI(api_key="x", base_url="http://[::1]:9/v1").with_options(timeout=1)),
        ("", lambda: openai.AzureOpenAI(api_key="x", api_version="1", azure_endpoint=LOCAL).copy()),
        ("", lambda: anthropic.Anthropic(api_key="x", base_url=LOCAL)),
    ],
)
def test_this_machines_own_servers_are_the_gates_business(
    variable: str, build: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base URL on loopback passes, by argument or by the variable that this client reads: the gate decides what is reachable there."""
    if variable:
        refused(build)
        monkeypatch.setenv(variable, LOCAL)
    built(build)


def test_a_served_double_is_found_by_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `double.serve()` says of itself is enough for an unmodified client."""
    record = Record()
    with box.trial(record), ScriptedModel("hello").serve() as served:
        for name, value in served.environ.items():
            monkeypatch.setenv(name, value)
        assert openai.OpenAI().responses.create(model="m", input="hi").output_text == "hello"
        anthropic.Anthropic()
    assert record.breaches == []


def test_what_constructs_nothing_is_left_alone() -> None:
    """Mocks with the class's signature, a fake with a `__new__` of its own, a patched class, copies."""

    class Fake(openai.OpenAI):
        def __new__(cls, *_args: object, **_options: object) -> SimpleNamespace:  # type: ignore[misc]  # what fakes do
            return SimpleNamespace(chat="fake")

    class Silent(openai.OpenAI):
        def __init__(self) -> None:
            self.answers = ["one"]

    def app() -> list[object]:
        specified = mock.create_autospec(openai.OpenAI)
        specified(api_key="x").with_options(timeout=3)
        with pytest.raises(TypeError):
            specified(no_such="x")
        with mock.patch("openai.OpenAI") as patched:
            assert openai.OpenAI() is patched.return_value
        with mock.patch.object(openai.OpenAI, "__init__", return_value=None):
            openai.OpenAI(api_key="x")
        client = ScriptedModel("hello").openai()
        return [Fake(), Silent(), openai.OpenAI.__new__(openai.OpenAI), copy.copy(client)]

    fake, silent, bare, copied = built(app)
    assert fake == SimpleNamespace(chat="fake")
    assert silent.answers == ["one"]
    assert type(bare) is type(copied) is openai.OpenAI


def test_the_constructor_looks_as_it_did() -> None:
    """Its signature, its name and its words are the SDK's, for editors and for mocks that are made from it."""
    record = Record()
    with box.trial(record), pytest.raises(NetworkBlocked):
        openai.OpenAI()
    assert "api_key" in inspect.signature(openai.OpenAI).parameters
    assert openai.OpenAI.__init__.__qualname__ == "OpenAI.__init__"


def test_a_base_beside_the_sdks_is_built_as_ever() -> None:
    """A class that mixes in one with a `__new__` of its own gives it its arguments."""

    class Numbered:
        def __new__(cls, *_args: object, **options: object) -> Self:
            made = super().__new__(cls)
            made.seen = options  # type: ignore[attr-defined]
            return made

    class Mixed(openai.OpenAI, Numbered):
        pass

    made = built(lambda: Mixed(api_key="x", base_url=LOCAL))
    assert made.seen == {"api_key": "x", "base_url": LOCAL}


def test_a_base_without_a_constructor_is_built_as_ever() -> None:
    """An SDK of another make, whose base has nothing to watch: what there is to refuse is the gate's."""

    class Bare:
        pass

    clients._guard(clients.Sdk("bare", "bare._base", "Bare", "Bare", "bare.example", {}), SimpleNamespace(Bare=Bare))  # type: ignore[arg-type]  # it stands for a module
    assert type(built(Bare)) is Bare


def test_outside_of_the_gate_a_client_is_a_client() -> None:
    """No trial, no armed gate: nothing is refused, nothing is noted."""
    assert openai.OpenAI(api_key="x").api_key == "x"
    assert network.pending() == []


def test_an_armed_gate_needs_no_trial() -> None:
    """At import time and between trials it is nobody's trial, and refused all the same; as far as the gate goes."""
    before = network.arm(True)
    try:
        with pytest.raises(NetworkBlocked):
            anthropic.Anthropic()
    finally:
        network.arm(before)
    (breach,) = network.pending()
    assert breach["wanted"] == "anthropic.Anthropic (api.anthropic.com)"
    before = network.arm(None)
    try:
        assert built(lambda: anthropic.Anthropic(api_key="x")).api_key == "x"
    finally:
        network.arm(before)


def test_a_module_that_is_imported_anew_is_guarded_anew() -> None:
    """A test that drops the SDK from `sys.modules` gets other classes, which are tripwired like the first."""
    old = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "anthropic"}
    try:
        again = importlib.import_module("anthropic")
        assert again is not old["anthropic"]
        breach, _ = refused(again.Anthropic)
    finally:
        for name in list(sys.modules):
            if name.partition(".")[0] == "anthropic":
                del sys.modules[name]
        sys.modules.update(old)
    assert breach["wanted"] == "anthropic.Anthropic (api.anthropic.com)"


ORDERS = {
    "before": "from openai import OpenAI\nimport invcheck.sandbox.box as box\nbox.install({root!r})\n",
    "after": "import invcheck.sandbox.box as box\nbox.install({root!r})\nfrom openai import OpenAI\n",
}


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_imports_does_not_matter(order: str, tmp_path: Path) -> None:
    """A name that was imported from the SDK before or after the sandbox stands leads to the tripwire."""
    code = ORDERS[order].format(root=str(tmp_path)) + "OpenAI(api_key='x')\n"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "NetworkBlocked: openai.OpenAI (api.openai.com) was wanted" in ran.stderr


def test_nothing_is_imported_for_it(tmp_path: Path) -> None:
    """A worker whose app has no SDK loads none."""
    code = f"""
        import sys
        before = set(sys.modules)  # whatever measures this process is there already
        import invcheck.sandbox.box as box
        box.install({str(tmp_path)!r})
        loaded = {{name.partition(".")[0] for name in set(sys.modules) - before}}
        print(sorted(loaded & {{"openai", "anthropic", "google", "botocore", "boto3", "urllib"}}))
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


class Answering(httpx2.BaseTransport):
    """A transport of the user's."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return answer(request)


@pytest.fixture
def genai() -> ModuleType:
    """Google's SDK, where it is installed."""
    return pytest.importorskip("google.genai")


def test_googles_client_is_guarded(genai: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a key, without one, over Vertex; a fake of the user's and a local address pass."""
    for build in (genai.Client, lambda: genai.Client(api_key="x")):
        breach, _ = refused(build)
        assert breach["wanted"] == "google.genai.Client (generativelanguage.googleapis.com)"
        assert breach["hint"].startswith(FACELESS)
    assert refused(lambda: genai.Client(vertexai=True, project="p", location="eu"))[0]["wanted"] == "google.genai.Client"
    import httpx  # noqa: PLC0415  # what this SDK is built over, by whether it is there

    module = httpx2 if isinstance(genai.Client(api_key="x")._api_client._httpx_client, httpx2.Client) else httpx
    fake = module.MockTransport(lambda _request: module.Response(200))
    built(lambda: genai.Client(api_key="x", http_options={"client_args": {"transport": fake}}))
    built(lambda: genai.Client(api_key="x", http_options=genai.types.HttpOptions(httpx_client=module.Client(transport=fake))))
    built(lambda: genai.Client(api_key="x", http_options={"base_url": LOCAL}))
    refused(lambda: genai.Client(api_key="x", http_options={"client_args": {"transport": module.HTTPTransport()}}))
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", LOCAL)
    built(lambda: genai.Client(api_key="x"))


@pytest.fixture
def boto3() -> ModuleType:
    """AWS's SDK, where it is installed."""
    return pytest.importorskip("boto3")


KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}


@pytest.mark.parametrize("service", sorted(clients.BEDROCK))
def test_bedrocks_clients_are_guarded(boto3: Any, service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By boto3 or botocore, before a region or a key is looked for; a local address passes."""
    breach, _ = refused(lambda: boto3.client(service))
    assert breach["wanted"] == f"boto3.client({service!r})"
    assert (breach["via"], breach["where"]) == ("boto3", f"{HERE}:<lambda>")
    assert breach["hint"].startswith(FACELESS)
    session = importlib.import_module("botocore.session").Session()
    assert (
        refused(lambda: session.create_client(service, "eu-west-1"))[0]["wanted"]
        == f"boto3.client({service!r}) ({service}.eu-west-1.amazonaws.com)"
    )
    built(lambda: boto3.client(service, region_name="eu-west-1", endpoint_url=LOCAL, **KEYS))
    monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service.replace('-', '_').upper()}", LOCAL)
    built(lambda: boto3.client(service, region_name="eu-west-1", **KEYS))


def test_other_services_of_aws_are_the_gates_business(boto3: Any) -> None:
    """A client for a store is no client of a model."""
    built(lambda: boto3.client("s3", region_name="eu-west-1", **KEYS))
