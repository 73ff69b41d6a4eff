"""How a reply is cut into chunks: whatever the way, they join to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck import delivery
from invcheck.errors import DoubleError, ScriptedModelError
from invcheck.replies import arguments_text, completed
from invcheck.sources import reply, tool_call
from invcheck.vocabulary import Chunk, Delivery, Fault, Refusal, Reply, Text, Thinking, ToolPart, Usage

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
calls = st.builds(
    tool_call,
    st.sampled_from(["search", "refund"]),
    st.dictionaries(st.sampled_from(["q", "n", "é"]), st.integers(-9, 9) | texts, max_size=3),
)
blocks = st.lists(st.builds(Text, texts) | st.builds(Thinking, texts) | st.builds(Refusal, texts) | calls, max_size=5)
ways = st.none() | st.sampled_from(["whole", "words", "keyed"]) | st.integers(1, 9)


def _cut(made: list[object], chunking: object) -> tuple[Reply, list[Chunk]]:
    whole = completed(Reply(tuple(made), None), Usage(1, 1), "req")  # type: ignore[arg-type]  # blocks
    return whole, list(delivery.chunks(whole, "req", chunking))  # type: ignore[arg-type]  # a chunking


@given(blocks, ways)
def test_chunks_always_join_to_the_whole(made: list[object], chunking: object) -> None:
    """Text, thinking, refusal and the arguments of tools: whatever cuts them, nothing is lost or added, and no chunk is empty."""
    whole, chunks = _cut(made, chunking)
    assert "".join(chunk.text for chunk in chunks) == whole.text
    assert "".join(chunk.thinking for chunk in chunks) == whole.thinking
    assert "".join(chunk.refusal for chunk in chunks) == whole.refusal
    assert delivery.differs(chunks, whole) is None
    for chunk in chunks:
        assert sum([bool(chunk.text), bool(chunk.thinking), bool(chunk.refusal), chunk.tool_call is not None, chunk.part is not None]) == 1
    assert [*_cut(made, chunking)[1]] == chunks


@given(blocks, st.integers(1, 9))
def test_a_chunk_of_n_code_points_has_at_most_n(made: list[object], size: int) -> None:
    """A number counts code points, of a tool's arguments too."""
    for chunk in _cut(made, size)[1]:
        assert max(map(len, (chunk.text, chunk.thinking, chunk.refusal, chunk.part.arguments if chunk.part else ""))) <= size


@given(st.lists(texts.filter(bool), max_size=6), st.data())
def test_parts_that_are_given_are_the_chunks(parts: list[str], data: st.DataObject) -> None:
    """A text in one block is cut just where it is said, and one in two blocks is cut at their border besides."""
    text = "".join(parts)
    assert [chunk.text for chunk in _cut([Text(text)], tuple(parts))[1]] == parts
    border = data.draw(st.integers(0, len(text)))
    cut = [chunk.text for chunk in _cut([Text(text[:border]), Text(text[border:])], tuple(parts))[1]]
    ends = {sum(map(len, parts[: n + 1])) for n in range(len(parts))} | ({border} if 0 < border < len(text) else set())
    assert {sum(map(len, cut[: n + 1])) for n in range(len(cut))} == ends


def test_words_keep_their_blanks() -> None:
    """Each chunk is one word with the blanks behind it; blanks in front stay with the first."""
    assert delivery.pieces("  one two\nthree ", "words") == ["  one ", "two\n", "three "]
    assert delivery.pieces(" \n", "words") == [" \n"]


def test_keyed_sizes_differ_between_requests_and_never_between_runs() -> None:
    """Sizes are 1 to 8 code points, decided by request and block alone."""
    text = "a" * 400
    first = [len(piece) for piece in delivery.pieces(text, "keyed", "req_1/0")]
    assert first == [len(piece) for piece in delivery.pieces(text, "keyed", "req_1/0")]
    assert first != [len(piece) for piece in delivery.pieces(text, "keyed", "req_2/0")]
    assert set(first) == set(range(1, 9))


def test_a_tool_call_is_named_before_its_arguments_come() -> None:
    """The first part has name and id and no arguments; the parts after it join to the JSON of the arguments."""
    _, chunks = _cut([tool_call("search", {"q": "refund", "n": 3}, id="c1")], 8)
    parts = [chunk.part for chunk in chunks]
    assert parts[0] == ToolPart(0, "", "search", "c1")
    assert [part.arguments for part in parts[1:] if part] == ['{"q": "r', 'efund", ', '"n": 3}']
    assert arguments_text({"q": "refund", "n": 3}) == '{"q": "refund", "n": 3}'


@pytest.mark.parametrize(
    ("chunks", "says"),
    [
        ([Chunk("r", "By ")], 'join to "By ", but the reply\'s text is "By mail."'),
        ([Chunk("r", "By mail."), Chunk("r", thinking="x")], 'join to "x", but the reply\'s thinking is ""'),
        ([Chunk("r", "By mail."), Chunk("r", tool_call=tool_call("g"))], "call other tools than the reply"),
        (
            [Chunk("r", "By mail."), Chunk("r", tool_call=tool_call("f", id="other"))],
            "give a tool call the id 'other', the reply gives it 'c1'",
        ),
        ([Chunk("r", "By mail."), Chunk("r", part=ToolPart(0, '{"q"', "f"))], "make no tool call: "),
        ([Chunk("r", "By mail."), Chunk("r", part=ToolPart(0, "[1]", "f"))], 'make no tool call: the arguments of f are "[1]"'),
        ([Chunk("r", "By mail."), Chunk("r", part=ToolPart(1, "{}"))], "make no tool call: a part of tool call 2 came while 0 had begun"),
    ],
)
def test_chunks_that_do_not_join_are_told(chunks: list[Chunk], says: str) -> None:
    """What differs first is named: a kind of text, a tool, an id, or arguments that are no JSON object."""
    told = delivery.differs(chunks, reply("By mail.", tool_calls=[tool_call("f", id="c1")]))
    assert told is not None
    assert told.startswith(says)


def test_chunks_that_leave_tools_and_thoughts_out_are_fine() -> None:
    """A factory may stream the text alone: what it does not stream is in the reply."""
    assert delivery.differs([Chunk("r", "a")], reply("a", thinking="hm", tool_calls=[tool_call("f")])) is None


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (Delivery(latency=-1), "latency is a number of seconds from 0, got -1"),
        (Delivery(pace=True), "pace is a number of seconds from 0, got True"),
        (Delivery(pace=float("inf")), "pace is a number"),
        (Delivery(0), "chunks of 0 code points are none"),
        (Delivery(True), "chunks of True code points are none"),
        (Delivery("letters"), "chunks is whole, words, keyed, a number of code points or a list of texts, got 'letters'"),
        (Delivery(("a", 1)), "chunks is a list of texts"),  # type: ignore[arg-type]  # the mistake
        (Delivery(("a", "b")), 'the chunks join to "ab", but the text is "abc"'),
    ],
)
def test_a_delivery_that_cannot_be_is_refused(made: Delivery, says: str) -> None:
    """Each wrong value is told with what is wanted and what was given."""
    assert str(delivery.complaint(made, Reply((Text("abc"),)))).startswith(says)


def test_parts_belong_to_one_reply() -> None:
    """A double cannot have parts for all its replies; a reply's own parts must join to its text."""
    with pytest.raises(DoubleError, match="belong to one reply"):
        delivery.of(["a"], 0, 0)
    with pytest.raises(DoubleError, match="join to"):
        reply("abc", chunks=["a", "b"])
    assert delivery.of(None, 0, 0) is None
    assert reply("abc", chunks=["a", "bc"]).delivery == Delivery(("a", "bc"))


def test_a_replys_own_delivery_goes_before_the_doubles() -> None:
    """Each of the three is completed by the double's where the reply does not say."""
    assert delivery.merged(Delivery(3, pace=2.0), Delivery("words", 1.0, 9.0)) == Delivery(3, 1.0, 2.0)
    assert delivery.merged(None, Delivery("words")) == Delivery("words")
    assert delivery.merged(None, None) == Delivery()


@pytest.mark.parametrize(
    ("fault", "body", "kept"),
    [
        (Fault("cut", after=3), b"abcdef", 3),
        (Fault("cut", after=9), b"abcdef", 6),
        (Fault("cut"), b"abcdef", 3),
        (Fault("stall"), b"abcdef", 0),
        (Fault("stall", after=2), b"abcdef", 2),
        (Fault("cut", after="character"), "nähe".encode(), 2),  # n, then the first byte of ä (RFC 3629)
    ],
)
def test_how_many_bytes_arrive_before_a_break(fault: Fault, body: bytes, kept: int) -> None:
    """After n bytes, inside the first character of several bytes, or after half; a stall lets nothing through."""
    assert delivery.cut_at(fault, body) == kept


def test_a_cut_inside_a_character_needs_one() -> None:
    """A text without a character of several bytes cannot be broken inside one."""
    with pytest.raises(ScriptedModelError, match="cut after character breaks nothing: there are 4 bytes"):
        delivery.cut_at(Fault("cut", after="character"), b"abcd")


def test_what_arrives_in_process_of_a_broken_reply() -> None:
    """The text up to the break without a half character, no finish, and the chunks of the double's own way."""
    fault = Fault("cut", reply=Reply((Text("one twö three"),)), after=7)
    chunks, part = delivery.broken(fault, "r", Delivery("words"))
    assert [chunk.text for chunk in chunks] == ["one ", "tw"]
    assert (part.text, part.finish) == ("one tw", None)
    assert delivery.broken(Fault("cut"), "r", None) == ([], Reply((), None))


def test_a_stall_lasts_as_long_as_it_says() -> None:
    """Without seconds it lasts the ten minutes after which the providers' own clients give up."""
    assert delivery.silence(Fault("stall", seconds=2.5)) == 2.5
    assert delivery.silence(Fault("stall")) == 600.0
