"""The providers' own clients over a double: their helpers, parsers, retries and errors all work as they would upstream."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

import anthropic
import anyio
import httpx
import openai
import pytest
from pydantic import BaseModel

from invcheck import Fault, Reply, ScriptedModel, Text, Thinking, ToolCall, testing
from invcheck.errors import DoubleError
from invcheck.faces import clients
from invcheck.vocabulary import Counts, Delivery, Framing, Refusal, Usage

ASKED: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
RESPONSE: Any = {"model": "m", "input": "hi"}
OFFERED: Any = [{"type": "function", "name": name, "parameters": {}, "strict": False} for name in ("search", "open")]
USAGE = Usage(20, 9, 12, 3, 4)
CALLS = Reply(
    (ToolCall("search", {"q": "Zürich"}, "call_a"), ToolCall("open", {}, "call_b")), "tool_calls", USAGE, delivery=Delivery("words")
)
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": name,
            "strict": True,
            "parameters": {"type": "object", "properties": {}, "additionalProperties": False, "required": []},
        },
    }
    for name in ("search", "open")
]


class Answer(BaseModel):
    """An answer as an app wants it."""

    label: Literal["bil", "other"]
    cites: list[str]


JSON = '{"label": "bil", "cites": ["a"]}'


def _own(model: Any, **options: Any) -> openai.OpenAI:
    made: openai.OpenAI = model.openai(**options)
    return made


def _legacy(model: Any, **options: Any) -> openai.OpenAI:
    over: Any = httpx.Client(transport=model.transport(module=httpx))
    return openai.OpenAI(api_key="k", base_url="http://double.invalid/v1", http_client=over, **options)


@pytest.fixture(params=[_own, _legacy], ids=["httpx2", "httpx"])
def client(request: pytest.FixtureRequest) -> Callable[..., openai.OpenAI]:
    """OpenAI's client as the double makes it, and as an app with the older HTTP library builds it."""
    made: Callable[..., openai.OpenAI] = request.param
    return made


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the SDKs sleep between attempts."""
    seconds: list[float] = []

    async def asleep(delay: float) -> None:
        seconds.append(delay)

    monkeypatch.setattr(time, "sleep", seconds.append)
    monkeypatch.setattr(anyio, "sleep", asleep)
    return seconds


def test_a_chat_completion_is_what_the_sdk_reads(client: Callable[..., openai.OpenAI]) -> None:
    """Text, finish reason, model and every detail of usage arrive where the SDK has them."""
    with testing():
        got = client(ScriptedModel(Reply((Thinking("hm"), Text("Hello")), "length", USAGE))).chat.completions.create(**ASKED)
        assert (got.choices[0].message.content, got.choices[0].finish_reason, got.model) == ("Hello", "length", "m")
        assert got.choices[0].message.reasoning_content == "hm"  # type: ignore[attr-defined]  # other providers' own field
        assert got.usage is not None
        assert got.usage.prompt_tokens_details is not None
        assert got.usage.completion_tokens_details is not None
        counted = (got.usage.prompt_tokens, got.usage.completion_tokens, got.usage.total_tokens)
        details = (got.usage.prompt_tokens_details.cached_tokens, got.usage.completion_tokens_details.reasoning_tokens)
        assert (counted, details) == ((20, 9, 29), (12, 4))


def test_a_chat_stream_gives_deltas_and_usage_where_it_was_asked_for(client: Callable[..., openai.OpenAI]) -> None:
    """The role comes first, the deltas join to the text, and only the last chunk has usage, if the request wants it."""
    with testing():
        reply = Reply((Text("one two three"),), usage=USAGE, delivery=Delivery("words"))
        asked = client(ScriptedModel(reply, reply))
        plain = list(asked.chat.completions.create(**ASKED, stream=True))
        assert plain[0].choices[0].delta.role == "assistant"
        assert [chunk.choices[0].delta.content for chunk in plain[1:-1]] == ["one ", "two ", "three"]
        assert plain[-1].choices[0].finish_reason == "stop"
        assert [chunk.usage for chunk in plain] == [None] * len(plain)
        counting = list(asked.chat.completions.create(**ASKED, stream=True, stream_options={"include_usage": True}))
        assert len(counting) == len(plain) + 1
        assert [chunk.usage for chunk in counting[:-1]] == [None] * len(plain)
        assert counting[-1].usage is not None
        assert (counting[-1].choices, counting[-1].usage.total_tokens) == ([], 29)


def test_the_chat_stream_helper_builds_what_comes_at_once(client: Callable[..., openai.OpenAI]) -> None:
    """The SDK's own accumulation of a stream of two tool calls is the completion that it gets without a stream."""
    with testing():
        asked = client(ScriptedModel(CALLS, CALLS))
        whole = asked.chat.completions.create(**ASKED, tools=TOOLS)
        with asked.chat.completions.stream(**ASKED, tools=TOOLS, stream_options={"include_usage": True}) as stream:
            names = [(event.name, event.arguments) for event in stream if event.type == "tool_calls.function.arguments.done"]
            final = stream.get_final_completion()
        assert names == [("search", '{"q": "Zürich"}'), ("open", "{}")]
        calls = [[(c.id, c.function.name, c.function.arguments) for c in got.choices[0].message.tool_calls or ()] for got in (whole, final)]  # type: ignore[union-attr]  # no custom tool is offered
        assert calls[0] == calls[1] == [("call_a", "search", '{"q": "Zürich"}'), ("call_b", "open", "{}")]
        assert final.choices[0].finish_reason == whole.choices[0].finish_reason == "tool_calls"
        assert final.usage == whole.usage


def test_a_schema_is_parsed_by_the_sdk(client: Callable[..., openai.OpenAI]) -> None:
    """``parse`` gives the app's own model, whole and streamed, in both dialects, and the request carries its schema."""
    with testing():
        model = ScriptedModel(JSON, Reply((Text(JSON),), delivery=Delivery(3)), JSON, Reply((Text(JSON),), delivery=Delivery(3)))
        asked = client(model)
        want = Answer(label="bil", cites=["a"])
        assert asked.chat.completions.parse(**ASKED, response_format=Answer).choices[0].message.parsed == want
        with asked.chat.completions.stream(**ASKED, response_format=Answer) as chat:
            assert chat.get_final_completion().choices[0].message.parsed == want
        assert asked.responses.parse(**RESPONSE, text_format=Answer).output_parsed == want
        with asked.responses.stream(**RESPONSE, text_format=Answer) as response:
            assert response.get_final_response().output_parsed == want
        assert "cites" in model.requests[0]["response_format"]["json_schema"]["schema"]["properties"]
        assert "cites" in model.requests[2]["text"]["format"]["schema"]["properties"]


def test_a_reply_that_was_cut_by_length_is_the_parsers_error(client: Callable[..., openai.OpenAI]) -> None:
    """The SDK's parser refuses what has no end, as it would upstream."""
    with testing(), pytest.raises(openai.LengthFinishReasonError):
        client(ScriptedModel(Reply((Text('{"label"'),), "length"))).chat.completions.parse(**ASKED, response_format=Answer)


def test_a_refusal_stands_where_the_sdk_has_it(client: Callable[..., openai.OpenAI]) -> None:
    """It is no content and parses to nothing; a stream of it says so too."""
    with testing():
        reply = Reply((Refusal("I will not."),), delivery=Delivery("words"))
        asked = client(ScriptedModel(*[reply] * 4))
        message = asked.chat.completions.parse(**ASKED, response_format=Answer).choices[0].message
        assert (message.refusal, message.content, message.parsed) == ("I will not.", None, None)
        with asked.chat.completions.stream(**ASKED, response_format=Answer) as chat:
            assert [event.refusal for event in chat if event.type == "refusal.done"] == ["I will not."]
        output: Any = asked.responses.create(**RESPONSE).output
        assert [(part.type, part.refusal) for part in output[0].content] == [("refusal", "I will not.")]
        with asked.responses.stream(**RESPONSE) as response:
            said = [event.delta for event in response if event.type == "response.refusal.delta"]
        assert "".join(said) == "I will not."


def test_a_response_is_what_the_sdk_reads(client: Callable[..., openai.OpenAI]) -> None:
    """Reasoning, text and a function call are items in order, and usage has its details."""
    with testing():
        reply = Reply((Thinking("hm"), Text("Hello"), ToolCall("search", {"q": "x"}, "call_a")), "tool_calls", USAGE)
        got = client(ScriptedModel(reply)).responses.create(**RESPONSE, tools=OFFERED)
        assert [item.type for item in got.output] == ["reasoning", "message", "function_call"]
        assert (got.output_text, got.status) == ("Hello", "completed")
        call: Any = got.output[2]
        assert (call.call_id, call.name, call.arguments) == ("call_a", "search", '{"q": "x"}')
        assert got.usage is not None
        assert got.usage.input_tokens_details.cached_tokens == 12
        assert got.usage.output_tokens_details.reasoning_tokens == 4


def test_the_response_stream_helper_builds_what_comes_at_once(client: Callable[..., openai.OpenAI]) -> None:
    """The SDK's accumulation of items, parts and arguments ends in the response that it gets without a stream."""
    with testing():
        blocks = (Thinking("hm hm"), Text("Hello, world"), *CALLS.blocks)
        reply = Reply(blocks, "tool_calls", USAGE, delivery=Delivery("words"))
        asked = client(ScriptedModel(reply, reply))
        whole = asked.responses.create(**RESPONSE, tools=OFFERED)
        with asked.responses.stream(**RESPONSE, tools=OFFERED) as stream:
            kinds = [event.type for event in stream]
            final = stream.get_final_response()
        assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
        assert kinds[-1] == "response.completed"
        assert kinds.count("response.function_call_arguments.done") == 2
        assert (final.output_text, [item.type for item in final.output]) == (whole.output_text, [item.type for item in whole.output])
        assert final.usage == whole.usage


def test_a_response_that_was_cut_by_length_is_incomplete(client: Callable[..., openai.OpenAI]) -> None:
    """Its status, its reason and the last event of its stream say so."""
    with testing():
        reply = Reply((Text("Hel"),), "length")
        asked = client(ScriptedModel(reply, reply))
        got = asked.responses.create(**RESPONSE)
        assert got.incomplete_details is not None
        assert (got.status, got.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        assert list(asked.responses.create(**RESPONSE, stream=True))[-1].type == "response.incomplete"


def test_raw_and_streaming_responses_show_headers_and_lines(client: Callable[..., openai.OpenAI]) -> None:
    """``with_raw_response`` and ``with_streaming_response`` see what a server would have sent."""
    with testing():
        model = ScriptedModel("a", "b")
        raw = client(model).chat.completions.with_raw_response.create(**ASKED)
        assert "x-invcheck-double" in raw.headers
        assert raw.request_id == model.requests[0].id
        assert raw.parse().choices[0].message.content == "a"
        with client(model).chat.completions.with_streaming_response.create(**ASKED, stream=True) as streaming:
            lines = [line for line in streaming.iter_lines() if line]
        assert lines[-1] == "data: [DONE]"


ERRORS = {
    "bad-request": openai.BadRequestError,
    "unauthorized": openai.AuthenticationError,
    "forbidden": openai.PermissionDeniedError,
    "not-found": openai.NotFoundError,
    "conflict": openai.ConflictError,
    "unprocessable": openai.UnprocessableEntityError,
    "rate-limit": openai.RateLimitError,
    "overloaded": openai.InternalServerError,
    "timeout": openai.APITimeoutError,
    "connection": openai.APIConnectionError,
}


@pytest.mark.parametrize("kind", ERRORS)
def test_a_fault_is_the_sdks_own_exception(client: Callable[..., openai.OpenAI], kind: str) -> None:
    """Each kind of fault is the class that the SDK's users catch, with the message of the fault."""
    with testing():
        with pytest.raises(ERRORS[kind]) as caught:
            client(ScriptedModel(Fault(kind, "so it was")), max_retries=0).chat.completions.create(**ASKED)
        assert type(caught.value) is ERRORS[kind]
        assert isinstance(caught.value, openai.APIConnectionError) or "so it was" in str(caught.value)


def test_the_sdk_repeats_what_upstream_would_let_it_repeat(client: Callable[..., openai.OpenAI], slept: list[float]) -> None:
    """Retry-After is obeyed to the second; three attempts of one app call are three calls, numbered."""
    with testing():
        model = ScriptedModel(Fault("rate-limit", retry_after=20), Fault("connection"), "at last")
        assert client(model).chat.completions.create(**ASKED).choices[0].message.content == "at last"
        assert slept[0] == 20
        assert len(slept) == 2
        assert [(call.attempt, call.state.value) for call in model.calls] == [(0, "failed"), (1, "failed"), (2, "served")]


def test_the_sdk_does_not_repeat_what_the_double_refuses(client: Callable[..., openai.OpenAI], slept: list[float]) -> None:
    """A script that is over is asked once for each app call, and what the app swallows stays a finding."""
    with testing() as record:
        model = ScriptedModel(Fault("bad-request"))
        asked = client(model)
        for _ in range(2):
            with pytest.raises(openai.BadRequestError):
                asked.chat.completions.create(**ASKED)
        assert (model.counts, slept) == (Counts(failed=1, refused=1), [])
        assert [finding.code for finding in record.findings()] == ["SCRIPT_EXHAUSTED"]
        record.latches.clear()


def test_a_stream_that_breaks_is_what_the_sdk_makes_of_it(client: Callable[..., openai.OpenAI]) -> None:
    """Cut is a connection error, an error event is an API error with its text, and a silent end raises nothing."""
    with testing():
        reply = Reply((Text("Hello, world"),), delivery=Delivery("words"))
        broken = [Fault(kind, "so it was", reply=reply, after=600) for kind in ("cut", "stream-error", "truncated")]
        asked = client(ScriptedModel(*broken, broken[1]))
        with pytest.raises(openai.APIConnectionError):
            list(asked.chat.completions.create(**ASKED, stream=True))
        with pytest.raises(openai.APIError, match="so it was"):
            list(asked.chat.completions.create(**ASKED, stream=True))
        arrived = list(asked.chat.completions.create(**ASKED, stream=True))
        assert [chunk.choices[0].finish_reason for chunk in arrived] == [None] * len(arrived)
        with pytest.raises(openai.APIError, match="so it was"):
            list(asked.responses.create(**RESPONSE, stream=True))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lawful_framing_is_nothing_to_the_sdk(client: Callable[..., openai.OpenAI], newline: str) -> None:
    """Ends of line, comments, pings and a missing end marker leave a stream what it is."""
    with testing():
        framing = Framing(newline, comments=True, pings=True, done=False)
        stream = client(ScriptedModel(Reply((Text("Hello"),), framing=framing))).chat.completions.create(**ASKED, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "Hello"


def test_a_stream_that_the_app_leaves_is_cancelled(client: Callable[..., openai.OpenAI]) -> None:
    """``close`` on the SDK's stream reaches the call."""

    async def factory(request: Any) -> AsyncIterator[Any]:
        yield "one "
        yield "two"
        yield Reply((Text("one two"),))

    with testing():
        model = ScriptedModel(factory)
        with client(model).chat.completions.create(**ASKED, stream=True) as stream:
            next(chunk for chunk in stream if chunk.choices[0].delta.content)
        assert model.counts == Counts(cancelled=1)


def test_the_async_client_is_answered_alike(slept: list[float]) -> None:
    """Whole, streamed, parsed and repeated, in an event loop."""

    async def program(asked: openai.AsyncOpenAI) -> list[Any]:
        whole = await asked.chat.completions.create(**ASKED)
        stream = await asked.chat.completions.create(**ASKED, stream=True)
        parts = [chunk.choices[0].delta.content async for chunk in stream]
        async with asked.responses.stream(**RESPONSE, text_format=Answer) as response:
            parsed = (await response.get_final_response()).output_parsed
        return [whole.choices[0].message.content, "".join(part or "" for part in parts), parsed]

    with testing():
        model = ScriptedModel("a", Fault("rate-limit", retry_after=20), "b c", JSON, chunks="words")
        assert asyncio.run(program(model.async_openai())) == ["a", "b c", Answer(label="bil", cites=["a"])]
        assert slept == [20]
        assert model.counts == Counts(served=3, failed=1)


def test_the_async_client_leaves_a_stream_and_a_call() -> None:
    """An async stream that is closed, and a task that is cancelled while it waits, are cancelled calls."""
    begun = asyncio.Event()

    async def factory(request: Any) -> AsyncIterator[Any]:
        yield "one "
        begun.set()
        await asyncio.Event().wait()
        yield Reply((Text("one "),))

    async def leaves(asked: openai.AsyncOpenAI) -> None:
        async with await asked.chat.completions.create(**ASKED, stream=True) as stream:
            async for chunk in stream:
                if chunk.choices[0].delta.content:
                    break

    async def cancels(asked: openai.AsyncOpenAI) -> None:
        task = asyncio.ensure_future(asked.chat.completions.create(**ASKED))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with testing():
        model = ScriptedModel(factory, factory)
        asyncio.run(leaves(model.async_openai()))
        asyncio.run(cancels(model.async_openai()))
        assert model.counts == Counts(cancelled=2)


def test_anthropics_clients_are_answered_alike(slept: list[float]) -> None:
    """Whole, streamed with its helper, with a tool call, and repeated after Retry-After, sync and async."""
    tools = [{"name": "search", "input_schema": {"type": "object"}}]
    asked: Any = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}], "tools": tools}

    async def program(client: anthropic.AsyncAnthropic) -> list[Any]:
        whole = await client.messages.create(**asked)
        async with client.messages.stream(**asked) as stream:
            texts = [text async for text in stream.text_stream]
            final = await stream.get_final_message()
        return [whole.content, texts, [block.type for block in final.content], final.stop_reason]

    def steps() -> list[Any]:
        call = Reply((Text("one two"), ToolCall("search", {"q": "x"}, "toolu_a")), "tool_calls", delivery=Delivery("words"))
        return [Fault("overloaded", retry_after=20), "Hello", call]

    with testing():
        model = ScriptedModel(*steps())
        client: anthropic.Anthropic = model.anthropic()
        whole = client.messages.create(**asked)
        assert [block.text for block in whole.content if block.type == "text"] == ["Hello"]
        with client.messages.stream(**asked) as stream:
            assert list(stream.text_stream) == ["one ", "two"]
            assert stream.get_final_message().stop_reason == "tool_use"
        amodel = ScriptedModel(*steps())
        contents, *rest = asyncio.run(program(amodel.async_anthropic()))
        assert contents == whole.content
        assert rest == [["one ", "two"], ["text", "tool_use"], "tool_use"]
        assert (slept, model.counts, amodel.counts) == ([20, 20], Counts(served=2, failed=1), Counts(served=2, failed=1))


def test_options_go_to_the_sdks_client() -> None:
    """What the SDK takes is passed on, but for the HTTP client, which is the double's own."""
    with testing():
        model = ScriptedModel(lanes={"a": ["x"]})
        client = model.openai(lane="a", max_retries=0, timeout=3.5, base_url="http://elsewhere.invalid/v9", api_key="k")
        assert (client.max_retries, client.timeout, str(client.base_url), client.api_key) == (0, 3.5, "http://elsewhere.invalid/v9/", "k")
        assert client.responses.create(**RESPONSE).output_text == "x"
        with pytest.raises(DoubleError, match=r"transport=double\.transport"):
            model.openai(http_client=None)


@pytest.mark.parametrize("name", ["openai", "async_openai", "anthropic", "async_anthropic"])
def test_a_missing_sdk_says_what_to_install(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Where the SDK is not installed the error says how to get it; an error inside of it stays what it is."""
    package = name.removeprefix("async_")
    missing = package

    def gone(asked: str) -> Any:
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(clients, "importlib", type("Importlib", (), {"import_module": staticmethod(gone)}))
    with testing():
        model = ScriptedModel(lanes={"a": []})
        with pytest.raises(DoubleError, match=f"pip install {package}"):
            getattr(model, name)()
        missing = "jiter"
        with pytest.raises(ModuleNotFoundError, match="jiter"):
            getattr(model, name)()


def test_the_http_library_is_the_one_that_the_sdk_builds_on() -> None:
    """An SDK whose client comes of httpx gets that one."""

    class Old(httpx.Client):
        """As the SDKs of before."""

    assert clients._module_of(Old) is httpx
    assert clients._module_of(openai.DefaultHttpxClient) is importlib.import_module("httpx2")
