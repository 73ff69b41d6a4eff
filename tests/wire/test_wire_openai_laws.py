"""Laws of OpenAI's two dialects: what is written can be read, and a stream says what its twin says at once."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.delivery import chunks
from invcheck.vocabulary import Block, Framing, Refusal, Reply, Text, Thinking, ToolCall, Usage
from invcheck.wire.dialect import Dialect, merged
from invcheck.wire.openai_chat import openai_chat
from invcheck.wire.openai_responses import openai_responses
from invcheck.wire.sse import Event, frame, parse

KEY = "req_0123456789abcdef_0"
STREAMED = {"model": "m", "stream": True, "stream_options": {"include_usage": True}}
DIALECTS: list[Dialect] = [openai_chat, openai_responses]

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_WORDS = st.text(max_size=12)
_CALL = st.builds(ToolCall, st.text(min_size=1, max_size=8), st.dictionaries(st.text(max_size=5), _JSON, max_size=3), st.none())
_BLOCKS = st.lists(st.builds(Text, _WORDS) | st.builds(Thinking, _WORDS) | st.builds(Refusal, _WORDS) | _CALL, max_size=6)
_TOKENS = st.integers(0, 2**53 - 1)
_USAGE = st.none() | st.builds(Usage, st.none() | _TOKENS, st.none() | _TOKENS, *[st.none() | _TOKENS] * 3)
_CHUNKING = st.sampled_from([None, "whole", "words", "keyed", 1, 3])


@st.composite
def _replies(draw: st.DrawFn) -> Reply:
    blocks = draw(_BLOCKS)
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    numbered = {id(call): replace(call, id=f"call_{place}") for place, call in enumerate(calls)}
    ended = "tool_calls" if calls else "stop"
    finish = draw(st.sampled_from([ended, "length", "content_filter", "paused", None]))
    return Reply(tuple(numbered.get(id(block), block) for block in blocks), finish, draw(_USAGE))


def _alike(name: str, reply: Reply) -> Reply:
    """A reply as the dialect can say it: details of usage are never absent, and chat has one field for each kind of text."""
    usage = reply.usage and replace(
        reply.usage,
        cache_read_input_tokens=reply.usage.cache_read_input_tokens or 0,
        cache_creation_input_tokens=reply.usage.cache_creation_input_tokens or 0,
        reasoning_output_tokens=reply.usage.reasoning_output_tokens or 0,
    )
    blocks = merged(reply.blocks)
    if name == "openai.chat":
        kinds: list[Any] = [Thinking, Text, Refusal]
        of_kind = [[block for block in blocks if type(block) is kind] for kind in kinds]
        texts: list[Block] = [kind("".join(b.text for b in found)) for kind, found in zip(kinds, of_kind, strict=True) if found]
        blocks = [*texts, *(block for block in blocks if isinstance(block, ToolCall))]
    return replace(reply, blocks=tuple(blocks), usage=usage)


def _streamed(dialect: Dialect, reply: Reply, chunking: Any) -> list[Event]:
    encoder = dialect.encoder(STREAMED, KEY, None)
    events = encoder.start()
    for chunk in chunks(reply, KEY, chunking):
        events += encoder.chunk(chunk)
    return events + encoder.end(reply) + encoder.done()


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(reply=_replies())
def test_what_is_written_whole_is_read_again(dialect: Dialect, reply: Reply) -> None:
    """Reading the body of a reply gives the reply, as far as the dialect has words for it."""
    assert dialect.read(dialect.whole(reply, {"model": "m"}, KEY)) == _alike(dialect.name, reply)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(reply=_replies(), chunking=_CHUNKING, newline=st.sampled_from(["\n", "\r\n", "\r"]), odd=st.booleans())
def test_a_stream_says_what_its_twin_says_at_once(dialect: Dialect, reply: Reply, chunking: Any, newline: str, odd: bool) -> None:
    """However a reply is cut and framed, its stream joins to the very body that answers at once."""
    framing = Framing(newline, comments=odd, pings=odd)
    body = b"".join(frame(event, framing, ping=dialect.ping) for event in _streamed(dialect, reply, chunking))
    assert dialect.join(parse(body)) == dialect.whole(reply, STREAMED, KEY)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(reply=_replies())
def test_a_reply_that_no_chunk_said_is_said_at_the_end(dialect: Dialect, reply: Reply) -> None:
    """A source that emits no chunks gives the same body: what was not said is said before the end."""
    encoder = dialect.encoder(STREAMED, KEY, None)
    events = encoder.start() + encoder.end(reply) + encoder.done()
    assert dialect.join(events) == dialect.whole(reply, STREAMED, KEY)


@given(reply=_replies(), chunking=_CHUNKING)
def test_events_of_a_response_are_numbered_and_places_are_opened_before_they_are_filled(reply: Reply, chunking: Any) -> None:
    """Sequence numbers count from 0 without a gap; each delta belongs to an item that was added and is not done."""
    said = [json.loads(event.data) for event in _streamed(openai_responses, reply, chunking)]
    assert [event["sequence_number"] for event in said] == list(range(len(said)))
    state: dict[int, str] = {}
    for event in said:
        if event["type"] == "response.output_item.added":
            assert event["output_index"] == len(state)
            assert "open" not in state.values()
            state[event["output_index"]] = "open"
        elif event["type"] == "response.output_item.done":
            assert state[event["output_index"]] == "open"
            state[event["output_index"]] = "done"
        elif "item_id" in event:
            assert state[event["output_index"]] == "open"
    assert set(state.values()) <= {"done"}
