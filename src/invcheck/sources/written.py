"""Replies and faults as files spell them: read from plain JSON, every mistake told with its path.

Check files spell keys with dashes (``tool-calls``), fixture files as JSON mostly does (``tool_calls``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from invcheck import delivery, faults, replies
from invcheck.errors import DoubleError
from invcheck.freeze import frozen
from invcheck.resolve import meant
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Block, Chunking, Delivery, Fault, Framing, Json, Refusal, Reply, Text, Thinking, ToolCall, Usage

NEWLINES = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
"""How a file names the ends of lines of `Framing`."""

_PARTS = ("text", "thinking", "tool-calls", "refusal")
_REPLY = (*_PARTS, "blocks", "finish", "usage", "chunks", "latency", "pace", "framing")
_FAULT = ("kind", "message", "status", "retry-after", "headers", "body", "reply", "after", "seconds")


def wrong(path: str, reason: str, index: int | None = None, hint: str | None = None) -> DoubleError:
    """Give the error of a mistake at a path of what was written; ``index`` is that of the step that it stands in."""
    return DoubleError(f"{path}: {reason}", code="MODEL_SPEC", path=path, reason=f"{path}: {reason}", index=index, hint=hint)


def dashed(key: str) -> str:
    """Spell a key as check files do.

    >>> dashed("tool-calls"), scored("tool-calls")
    ('tool-calls', 'tool_calls')
    """
    return key


def scored(key: str) -> str:
    """Spell a key as fixture files do."""
    return key.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads what is written; DoubleError, code MODEL_SPEC, names the path of a mistake.

    >>> Reader().reply({"text": "bil", "finish": "length"}, "$").text
    'bil'
    """

    spell: Callable[[str], str] = dashed

    def mapping(self, value: Json, path: str, known: Iterable[str] | None) -> Mapping[str, Json]:
        """Give a mapping with no other keys than those that are ``known``, spelt with dashes; None knows all."""
        if not isinstance(value, Mapping):
            raise wrong(path, f"a mapping is needed here, got {show(value, 40)}")
        if known is None:
            return value
        spelt = {self.spell(key): key for key in known}
        for key in value:
            if key not in spelt:
                raise wrong(f"{path}.{key}", f'there is no "{key}" here', hint=meant(key, spelt))
        return {spelt[key]: item for key, item in value.items()}

    def text(self, value: Json, path: str) -> str:
        """Give a text."""
        if not isinstance(value, str):
            raise wrong(path, f"text is needed here, got {show(value, 40)}")
        return value

    def switch(self, value: Json, path: str) -> bool:
        """Give true or false."""
        if not isinstance(value, bool):
            raise wrong(path, f"{path.rpartition('.')[2]} is true or false, got {show(value, 40)}")
        return value

    def reply(self, value: Json, path: str) -> Reply:
        """Give a reply: its text alone, or its parts, or its ``blocks`` in order; see `Reply` for the rest.

        Without ``finish`` it is "tool_calls" where tools are called, else "stop"; a null usage stays absent, and one that
        is not there is counted.
        """
        fields = self.mapping({"text": value} if isinstance(value, str) else value, path, _REPLY)
        blocks = self._blocks(fields, path) if "blocks" in fields else self._parts(fields, path)
        calls = any(isinstance(block, ToolCall) for block in blocks)
        finish = fields.get("finish", "tool_calls" if calls else "stop")
        usage = Usage() if fields.get("usage", ...) is None else self.usage(fields.get("usage"), f"{path}.usage")
        how = self.delivery(fields, path)
        framing = self.framing(fields["framing"], f"{path}.framing") if "framing" in fields else None
        made = Reply(blocks, finish, usage, delivery=how, framing=framing)
        if (complaint := replies.complaint(made)) is not None:
            raise wrong(path, complaint)
        if how is not None and isinstance(how.chunking, tuple):
            joins(how.chunking, made.text, f"{path}.chunks")
        return made

    def _parts(self, fields: Mapping[str, Json], path: str) -> tuple[Block, ...]:
        calls = self._list(fields.get("tool-calls", []), f"{path}.{self.spell('tool-calls')}", self.tool_call)
        text = self.text(fields.get("text", ""), f"{path}.text")
        thinking, refusal = (self.text(fields.get(name) or "", f"{path}.{name}") for name in ("thinking", "refusal"))
        blocks: list[Block] = [Thinking(thinking)] if thinking else []
        blocks += [Text(text)] if text or not (calls or refusal) else []
        blocks += [Refusal(refusal)] if refusal else []
        return (*blocks, *calls)

    def _blocks(self, fields: Mapping[str, Json], path: str) -> tuple[Block, ...]:
        beside = next((key for key in _PARTS if key in fields), None)
        if beside is not None:
            raise wrong(f"{path}.{self.spell(beside)}", "the blocks hold all of the reply, and nothing stands beside them")
        return self._list(fields["blocks"], f"{path}.blocks", self._block)

    def _block(self, value: Json, path: str) -> Block:
        fields = self.mapping({"text": value} if isinstance(value, str) else value, path, ("text", "thinking", "tool-call", "refusal"))
        if len(fields) != 1:
            tool = self.spell("tool-call")
            raise wrong(path, f"a block has one of text, thinking, {tool} and refusal; got {' and '.join(fields) or 'none'}")
        kind, held = next(iter(fields.items()))
        if kind == "tool-call":
            return self.tool_call(held, f"{path}.{self.spell(kind)}")
        text = self.text(held, f"{path}.{kind}")
        return Text(text) if kind == "text" else Thinking(text) if kind == "thinking" else Refusal(text)

    def _list(self, value: Json, path: str, read: Callable[[Json, str], Block]) -> tuple[Block, ...]:
        if not isinstance(value, list):
            raise wrong(path, f"{path.rpartition('.')[2]} is a list, got {show(value, 40)}")
        return tuple(read(each, f"{path}[{index}]") for index, each in enumerate(value))

    def tool_call(self, value: Json, path: str) -> ToolCall:
        """Give a call of one of the app's tools; an id that is not there is derived from the request."""
        fields = self.mapping(value, path, ("name", "arguments", "id"))
        arguments = self.mapping(fields.get("arguments", {}), f"{path}.arguments", None)
        named = fields.get("id")
        return ToolCall(
            self.text(fields.get("name"), f"{path}.name"),
            frozen(snapshot(dict(arguments))),
            None if named is None else self.text(named, f"{path}.id"),
        )

    def usage(self, value: Json, path: str) -> Usage | None:
        """Give usage by the names of `Usage`, None of None."""
        try:
            return replies.usage_of(value)
        except DoubleError as error:
            raise wrong(path, error.message, hint=error.hint) from None

    def delivery(self, fields: Mapping[str, Json], path: str) -> Delivery | None:
        """Give how a reply travels, of the keys ``chunks``, ``latency`` and ``pace`` of a mapping; None where it has none."""
        if not {"chunks", "latency", "pace"} & fields.keys():
            return None
        chunks = chunking(fields["chunks"], f"{path}.chunks") if "chunks" in fields else None
        latency, pace = (seconds(fields.get(name, 0.0), f"{path}.{name}") for name in ("latency", "pace"))
        return Delivery(chunks, latency, pace)

    def framing(self, value: Json, path: str) -> Framing:
        """Give the lawful oddities of a streamed body."""
        fields = self.mapping(value, path, ("newline", "comments", "pings", "done", "headers"))
        newline = fields.get("newline", "lf")
        if not isinstance(newline, str) or newline not in NEWLINES:
            raise wrong(f"{path}.newline", f"newline is one of {', '.join(NEWLINES)}, got {show(newline, 40)}")
        switches = {name: self.switch(fields[name], f"{path}.{name}") for name in ("comments", "pings", "done") if name in fields}
        return Framing(NEWLINES[newline], headers=self.headers(fields.get("headers", {}), f"{path}.headers"), **switches)

    def headers(self, value: Json, path: str) -> Mapping[str, str]:
        """Give headers: a mapping of text to text."""
        named = self.mapping(value, path, None)
        headers: Mapping[str, str] = frozen({name: self.text(each, f"{path}.{name}") for name, each in named.items()})
        return headers

    def fault(self, value: Json, path: str) -> Fault:
        """Give a fault: its kind alone, or its fields, see `Fault`."""
        fields = self.mapping({"kind": value} if isinstance(value, str) else value, path, _FAULT)
        headers = self.headers(fields["headers"], f"{path}.headers") if fields.get("headers") is not None else None
        body = self.text(fields["body"], f"{path}.body") if fields.get("body") is not None else None
        reply = self.reply(fields["reply"], f"{path}.reply") if fields.get("reply") is not None else None
        kind, message = self.text(fields.get("kind"), f"{path}.kind"), fields.get("message", "")
        timed = (fields.get("status"), fields.get("retry-after"))
        fault = Fault(kind, message, *timed, headers, body, reply, fields.get("after"), fields.get("seconds"))
        try:
            return faults.completed(fault)
        except ValueError as error:
            raise wrong(path, str(error)) from None


def names(value: Json, path: str) -> tuple[str, ...]:
    """Give a list of names that are not empty."""
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise wrong(path, "a list of names is needed here")
    return tuple(value)


def chunking(value: Json, path: str) -> Chunking:
    """Give how a stream cuts a reply: a name, a number of code points, or the parts themselves."""
    if isinstance(value, list):
        for index, part in enumerate(value):
            if not isinstance(part, str):
                raise wrong(f"{path}[{index}]", f"a chunk is text, got {show(part, 40)}")
        return tuple(value)
    if value in delivery.CHUNKINGS or (type(value) is int and value > 0):
        return value  # type: ignore[no-any-return]  # a text or a number
    raise wrong(path, f"chunks is one of {', '.join(delivery.CHUNKINGS)}, a number of code points from 1, or a list, got {show(value, 40)}")


def unjoined(parts: Sequence[str], text: str) -> int | None:
    """Give the index of the first part that does not continue the text, or how many there are where its end is missing.

    >>> unjoined(["Hel", "lo"], "Hello"), unjoined(["Hel", "la"], "Hello"), unjoined(["Hel"], "Hello")
    (None, 1, 1)
    """
    at = 0
    for index, part in enumerate(parts):
        if not text.startswith(part, at):
            return index
        at += len(part)
    return None if at == len(text) else len(parts)


def joins(parts: Sequence[str], text: str, path: str) -> None:
    """Refuse chunks that do not join to the text, naming the first that does not."""
    index = unjoined(parts, text)
    if index is None:
        return
    stands = text[sum(map(len, parts[:index])) :]
    if index == len(parts):
        raise wrong(path, f"the chunks join to the text, and {show(stands, 40)} is missing at their end")
    raise wrong(f"{path}[{index}]", f"the chunks join to the text, where {show(stands, 40)} stands, got {show(parts[index], 40)}")


def seconds(value: Json, path: str) -> float:
    """Give a finite number of seconds from 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise wrong(path, f"a number of seconds from 0 is needed here, got {show(value, 40)}")
    return value
