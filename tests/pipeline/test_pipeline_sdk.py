"""Unmodified programs over the providers' SDKs, in the sandbox: virtual back-off, wire attempts, and one verdict."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import Shop, Told

PROGRAM = """
    import json


    def ask_openai(client, question):
        messages = [{"role": "user", "content": question}]
        tools = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
        first = client.chat.completions.create(model="gpt", messages=messages, tools=tools)
        call = first.choices[0].message.tool_calls[0]
        messages.append(first.choices[0].message.model_dump(exclude_none=True))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "found " + json.loads(call.function.arguments)["q"]})
        stream = client.chat.completions.create(model="gpt", messages=messages, tools=tools, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in stream)


    def ask_anthropic(client, question):
        messages = [{"role": "user", "content": question}]
        tools = [{"name": "search", "input_schema": {"type": "object"}}]
        first = client.messages.create(model="claude", max_tokens=99, messages=messages, tools=tools)
        call = next(block for block in first.content if block.type == "tool_use")
        messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in first.content]})
        found = {"type": "tool_result", "tool_use_id": call.id, "content": "found " + call.input["q"]}
        messages.append({"role": "user", "content": [found]})
        with client.messages.stream(model="claude", max_tokens=99, messages=messages, tools=tools) as stream:
            return "".join(stream.text_stream)


    async def aask_openai(client, question):
        stream = await client.responses.create(model="gpt", input=question, stream=True)
        return "".join([event.delta async for event in stream if event.type == "response.output_text.delta"])
"""
APPS = """
    import asyncio

    import program


    def with_openai(question, model):
        return program.ask_openai(model.openai(), question)


    def with_anthropic(question, model):
        return program.ask_anthropic(model.anthropic(), question)


    def with_async_openai(question, model):
        return asyncio.run(program.aask_openai(model.async_openai(), question))


    def hides(question, model):
        client = model.openai()
        try:
            client.models.list()
        except Exception:
            pass
        return client.responses.create(model="gpt", input=question).output_text
"""
CHECKS = """
    checks:
      - check: openai
        app: apps:with_openai
        cases: [{id: a, input: "How do I get a refund?"}]
        model:
          chunks: words
          script:
            - {tool-call: {name: search, arguments: {q: refund}}}
            - {fail: {kind: rate-limit, retry-after: 20}}
            - By mail, within 30 days.
        expect:
          - {equals: {of: $.output, to: "By mail, within 30 days."}}
          - {equals: {of: $.waits, to: [20]}}
          - {equals: {of: "$.calls[1].attempt", to: 0}}
          - {equals: {of: "$.calls[2].attempt", to: 1}}
          - {calls: {served: 2, failed: 1}}
      - check: hides
        app: apps:hides
        cases: [{id: a, input: "How do I get a refund?"}]
        model: {script: ["By mail."]}
        expect:
          - {equals: {of: $.output, to: "By mail."}}
      - check: async
        app: apps:with_async_openai
        cases: [{id: a, input: "How do I get a refund?"}]
        model:
          latency: 2
          pace: 0.5
          chunks: words
          script: [{fail: {kind: overloaded, retry-after: 20}}, "By mail."]
        expect:
          - {equals: {of: $.output, to: "By mail."}}
          - {equals: {of: $.waits, to: [20]}}
"""
_FIRST = CHECKS[CHECKS.index("      - check: openai") : CHECKS.index("      - check: hides")]


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run of all of them."""
    shared.write({"program.py": PROGRAM, "apps.py": APPS, "checks/a.yaml": CHECKS + _FIRST.replace("openai", "anthropic")})
    return shared.told("--runs", "2")


@pytest.mark.parametrize("name", ["openai", "anthropic", "async"])
def test_an_unmodified_program_waits_as_it_was_told_to(told: Told, name: str) -> None:
    """A tool call, a stream, and 429 with Retry-After: the SDK sleeps its twenty seconds, and they are virtual."""
    assert told.cases[f"{name}[a]"]["findings"] == []
    assert told.verdict(f"{name}[a]") == "kept"


def test_an_endpoint_that_no_double_has_cannot_be_hidden(told: Told) -> None:
    """What the app swallowed is a finding, and it says which endpoints there are."""
    finding = told.one("hides[a]")
    assert finding["code"] == "ENDPOINT_UNKNOWN"
    assert "/chat/completions" in finding["expected"]
