"""What a reply must be, and what is derived where it does not say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.errors import DoubleError
from invcheck.replies import MOST, brief, complaint, completed, counted, plain, usage_of
from invcheck.vocabulary import Fault, Reply, Text, Thinking, ToolCall, Usage

SEARCH = ToolCall("search", {"q": "refund"})

SOUND = [
    Reply(),
    Reply((Text("hi"),)),
    Reply((Text("hi"),), finish=None),
    Reply((Text("hi"),), finish="length"),
    Reply((SEARCH,), finish="tool_calls"),
    Reply((SEARCH,), finish=None),
    Reply((Thinking("hm"), Text("hi")), usage=Usage(0, MOST)),
    Reply((ToolCall("a", {}, "1"), ToolCall("a", {}, "2")), finish="tool_calls"),
]


@pytest.mark.parametrize("reply", SOUND)
def test_what_a_provider_could_have_answered_is_no_complaint(reply: Reply) -> None:
    """Finish agrees with the content, usage are integers, ids are unique."""
    assert complaint(reply) is None


UNSOUND: list[tuple[Any, str]] = [
    (Reply((SEARCH,)), 'finish is "stop"'),
    (Reply((Text("x"),), finish="tool_calls"), "calls no tool"),
    (Reply([Text("x")]), "blocks is a tuple"),  # type: ignore[arg-type]  # the mistake
    (Reply(("x",)), "a block is"),  # type: ignore[arg-type]  # the mistake
    (Reply((Text(1),)), "holds text"),  # type: ignore[arg-type]  # the mistake
    (Reply((ToolCall("", {}),), finish="tool_calls"), "has a name"),
    (Reply((ToolCall("a", []),), finish="tool_calls"), "arguments of a"),  # type: ignore[arg-type]  # the mistake
    (Reply((ToolCall("a", {}, 1),), finish="tool_calls"), "id of a tool call"),  # type: ignore[arg-type]  # the mistake
    (Reply((ToolCall("a", {}, "1"), ToolCall("b", {}, "1")), finish="tool_calls"), "same id '1'"),
    (Reply(finish=3), "finish is text"),  # type: ignore[arg-type]  # the mistake
    (Reply(usage={"input_tokens": 1}), "usage is a Usage"),  # type: ignore[arg-type]  # the mistake
    (Reply(usage=Usage(True)), "bool True"),
    (Reply(usage=Usage(1.0)), "float 1.0"),  # type: ignore[arg-type]  # the mistake
    (Reply(usage=Usage(-1)), "int -1"),
    (Reply(usage=Usage(0, 2**53)), "2**53 - 1"),
]


@pytest.mark.parametrize(("reply", "says"), UNSOUND)
def test_what_no_provider_answers_is_named(reply: Reply, says: str) -> None:
    """Each rule that is broken says which, and with what."""
    assert says in str(complaint(reply))


@given(st.integers(0, MOST), st.integers(0, MOST))
def test_every_count_of_tokens_up_to_the_exact_range_is_fine(one: int, other: int) -> None:
    """Usage are integers from 0 to 2**53 - 1."""
    assert complaint(Reply(usage=Usage(one, other))) is None


def test_usage_is_counted_from_the_bytes() -> None:
    """A quarter of the UTF-8 bytes, rounded up: 15 bytes are 4 tokens; 5 + 3 + 6 + 2 bytes of blocks are 4."""
    reply = Reply((Text("né!1"), Thinking("hm?"), ToolCall("search", {})), finish="tool_calls")
    assert counted(b'{"prompt":"hi"}', reply) == Usage(4, 4)
    assert counted(b"", Reply()) == Usage(0, 0)
    assert counted(b"{}", Reply((Text("\ud800"),))).output_tokens == 2


def test_an_id_is_derived_from_the_request_and_never_drawn() -> None:
    """The same request gives the same ids; another call, another index or an id of its own differ."""
    two = Reply((SEARCH, SEARCH), finish="tool_calls")
    first = completed(two, Usage(), "req_1")
    assert first == completed(two, Usage(), "req_1")
    ids = [call.id for reply in (first, completed(two, Usage(), "req_2")) for call in reply.tool_calls]
    assert len(set(ids)) == 4
    assert all(str(each).startswith("call_") for each in ids)
    own = completed(Reply((ToolCall("a", {}, "mine"),), finish="tool_calls"), Usage(), "req_1")
    assert own.tool_calls[0].id == "mine"


def test_arguments_are_handed_out_frozen() -> None:
    """Nobody changes a reply after it was given, and it holds nothing of the step that made it."""
    arguments: dict[str, Any] = {"ids": [1]}
    call = completed(Reply((ToolCall("a", arguments),), finish="tool_calls"), Usage(), "req").tool_calls[0]
    arguments["ids"].append(2)
    assert call.arguments == {"ids": [1]}
    with pytest.raises(TypeError, match="frozen"):
        call.arguments["ids"].append(3)


def test_a_reply_that_says_everything_is_handed_out_as_it_is() -> None:
    """Nothing is copied where nothing is missing."""
    reply = Reply((Text("a"),), usage=Usage(1, 1))
    assert completed(reply, Usage(1, 1), "") == reply
    assert completed(reply, reply.usage or Usage(), "") is reply


def test_an_outcome_has_one_plain_form() -> None:
    """The observation's form: thinking and value only where there are some, usage without what is unknown."""
    assert plain(None) is None
    assert plain(Fault("server", "oops", 500)) == {"fault": "server", "message": "oops", "status": 500}
    assert plain(Reply((Text("a"),), usage=Usage(1))) == {"text": "a", "finish": "stop", "usage": {"input_tokens": 1}, "tool_calls": []}
    full = plain(Reply((Thinking("hm"), ToolCall("f", {"x": 1}, "c")), "tool_calls", Usage(), {"v": (1,)}))
    assert full == {
        "text": "", "finish": "tool_calls", "usage": None, "tool_calls": [{"id": "c", "name": "f", "arguments": {"x": 1}}],
        "thinking": "hm", "value": {"v": [1]},
    }  # fmt: skip
    assert plain(Reply())["usage"] is None


def test_a_default_for_usage_is_a_mapping_or_a_usage() -> None:
    """Names are those of Usage, and every number is checked before the first call."""
    assert usage_of(None) is None
    assert usage_of({"input_tokens": 3}) == usage_of(Usage(3)) == Usage(3)
    for wrong, says in [({"tokens": 1}, "no 'tokens'"), ({"input_tokens": True}, "bool"), (Usage(-1), "-1"), (7, "mapping or a Usage")]:
        with pytest.raises(DoubleError, match=says):
            usage_of(wrong)  # type: ignore[arg-type]  # the mistake


def test_an_outcome_is_told_briefly() -> None:
    """What a message calls a step by."""
    assert [brief(each) for each in (Fault("server"), Reply((Text("hi"),)), Reply((SEARCH,)), Reply())] == [
        "fault server", '"hi"', "call of search", '""'
    ]  # fmt: skip
