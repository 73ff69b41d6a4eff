"""The frozen request, its signal, and the call in hand."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from invcheck.canonical import digest
from invcheck.errors import CallCancelled, ScriptedModelError
from invcheck.faces.call import driven
from invcheck.request import AbortSignal, Call, Request
from invcheck.vocabulary import Chunk, State


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        ({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}, "a"),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}, "b"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}, "b"]}]}, "ab"),
        ({"messages": [{"role": "user", "content": None}]}, ""),
        ({"history": ["x", {"role": "system", "content": "s"}], "prompt": "p"}, "p"),
        ({"model": "m", "prompt": "p"}, "p"),
        ({"n": 1, "question": "q"}, "q"),
        ({"n": 1}, ""),
    ],
)
def test_the_last_user_text_is_found(plain: dict[str, Any], text: str) -> None:
    """The last user message, in whatever shape providers write it; else the prompt, else the first text."""
    assert Request(plain).last_user == text


def test_a_request_is_equal_to_what_was_asked_and_keeps_its_identity_in_a_pickle() -> None:
    """A request compares as plain data; its id and digest are derived from it and survive pickling and copying."""
    request = Request({"prompt": "hi"}, 3)
    assert request == {"prompt": "hi"}
    assert request.digest == digest({"prompt": "hi"})
    assert request.id == f"req_{request.digest[:16]}_3"
    back = pickle.loads(pickle.dumps(request))
    assert (back, back.id, back.digest) == (request, request.id, request.digest)
    assert copy.deepcopy(request) is request
    with pytest.raises(TypeError, match="frozen"):
        request["prompt"] = "mine"


def test_a_signal_stays_aborted() -> None:
    """A signal goes one way, and nothing else can be set on it."""
    signal = AbortSignal()
    assert not signal.aborted
    signal.abort()
    signal.abort()
    assert signal.aborted
    with pytest.raises(AttributeError):
        signal.aborted = False  # type: ignore[misc]  # the mistake


def test_a_call_takes_its_own_chunks_until_it_is_cancelled() -> None:
    """A chunk of another request is refused, and so is any chunk after the signal."""
    call = Call({"prompt": "hi"}, None, None, AbortSignal())
    call.n = 0
    driven(call.emit(Chunk(call.request.id, "a")))
    with pytest.raises(ScriptedModelError, match="belongs to request 'other'") as caught:
        driven(call.emit(Chunk("other", "b")))
    assert caught.value.code == "REQUEST_MISMATCH"
    call.live_signal.abort()
    with pytest.raises(CallCancelled, match="call 1 was cancelled"):
        driven(call.emit(Chunk(call.request.id, "c")))
    assert [chunk.text for chunk in call.parts] == ["a"]


def test_a_call_begins_as_what_never_came_back() -> None:
    """Until something is known of it, a call counts as cancelled; a call without a signal is never aborted."""
    call = Call({}, "lane", "method", None)
    assert (call.state, call.outcome, call.lane, call.method) == (State.CANCELLED, None, "lane", "method")
    call.unless_cancelled()
    assert not call.live_signal.aborted
    assert call.live_signal is call.signal
