"""Server-sent events: what is written is what the standard reads, with every oddity that it allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.vocabulary import Framing
from invcheck.wire.sse import Event, frame, parse

# the standard's own examples (WHATWG HTML §9.2.6), with what it says each of them dispatches
STANDARD = {
    b"data: YHOO\ndata: +2\ndata: 10\n\n": [Event(None, "YHOO\n+2\n10")],
    b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n": [
        Event(None, "first event"),
        Event(None, "second event"),
    ],
    b"data\n\ndata\ndata\n\ndata:": [Event(None, ""), Event(None, "\n")],
    b"data:test\n\ndata: test\n\n": [Event(None, "test"), Event(None, "test")],
    b"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n": [Event("add", "73857293"), Event("remove", "2153")],
}


@pytest.mark.parametrize("body", STANDARD)
def test_the_standards_own_examples_are_read_as_it_says(body: bytes) -> None:
    """Each stream that the standard shows dispatches the events that it names."""
    assert parse(body) == STANDARD[body]


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"\xef\xbb\xbfdata: a\n\n", [Event(None, "a")]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [Event(None, "a"), Event(None, "b"), Event(None, "c")]),
        (b"event: lost\n\ndata: a\n\n", [Event(None, "a")]),
        (b"retry: 10\nnonsense\ndata: a\n\n", [Event(None, "a")]),
        (b"data: caf\xc3\n\n", [Event(None, "caf\ufffd")]),
        (b"data: a\n\ndata: b\n", [Event(None, "a")]),
        ("data: a\u2028b\x0bc\n\n".encode(), [Event(None, "a\u2028b\x0bc")]),
    ],
    ids=["byte order mark", "ends of line", "no data", "other fields", "cut character", "cut event", "other separators"],
)
def test_oddities_are_read_as_the_standard_reads_them(body: bytes, events: list[Event]) -> None:
    """Nothing but CR, LF and CRLF ends a line, and only a blank line dispatches an event, if it has data."""
    assert parse(body) == events


def test_a_plain_event_is_three_lines() -> None:
    """Without oddities an event is its name, its data and a blank line, all ended by LF."""
    assert frame(Event("delta", '{"a":1}')) == b'event: delta\ndata: {"a":1}\n\n'
    assert frame(Event(None, "[DONE]")) == b"data: [DONE]\n\n"


def test_a_ping_is_the_dialects_event_or_a_comment() -> None:
    """A ping stands before the event: the dialect's own, and where it has none a block that dispatches nothing."""
    framing = Framing(pings=True, newline="\r\n")
    assert frame(Event(None, "x"), framing, ping=Event("ping", "{}")) == b"event: ping\r\ndata: {}\r\n\r\ndata: x\r\n\r\n"
    assert frame(Event(None, "x"), framing) == b": ping\r\n\r\ndata: x\r\n\r\n"


def test_a_comment_stands_in_the_events_own_block() -> None:
    """A comment is the first line of the event that it stands before."""
    assert frame(Event("e", "x"), Framing(comments=True)) == b": comment\nevent: e\ndata: x\n\n"


_NAMES = st.none() | st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: not name.startswith(" ")
)
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    st.lists(st.builds(Event, _NAMES, _TEXTS)),
    st.none() | st.builds(Framing, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans()),
)
def test_what_is_framed_is_read_again(events: list[Event], framing: Framing | None) -> None:
    """Reading gives the events that were written, in whatever framing; ends of line in data become LF, as the standard says."""
    normal = [Event(event.name, event.data.replace("\r\n", "\n").replace("\r", "\n")) for event in events]
    assert parse(b"".join(frame(event, framing) for event in events)) == normal
