"""What a request's history says of tools, whichever dialect it is written in.

Read by shape: OpenAI chat messages, OpenAI Responses items, Anthropic messages, and an app's own lists that use the same words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from invcheck.vocabulary import Json

# tuples, since what stands in a request need not be hashable
_CALLS = ("function_call", "custom_tool_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")
_ELSEWHERE = ("item_reference", "compaction")  # they stand for items that only the provider sees
_ITEMS = (*_CALLS, *_RESULTS, *_ELSEWHERE)
_TALK = ("user", "system", "developer")
_SPEAKERS = (*_TALK, "assistant")
_TOOLS = ("tool", "function")
KNOWN = (*_SPEAKERS, *_TOOLS)
"""Every role that is read."""
_TEXTS = ("text", "input_text", "output_text")
_KINDS = (None, "function", "custom", "tool_call")
_IDS = ("tool_call_id", "call_id", "tool_use_id")
_SAYS_NOTHING = ("role", "content", "name", "type", "id", "status")
_BARE = 2
"""Fields of a message that holds its role and its content, and nothing else."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A call of a tool, or the result of one, as it stands in a history.

    ``at`` is the index of its message, ``path`` leads to its id. ``style`` says where the dialect wants the result: "chat"
    in the messages right behind the call's, "blocks" in the next user turn, "items" anywhere behind it, "legacy" in the next
    message, by name.
    """

    style: str
    at: int
    path: str
    id: Json
    name: str | None
    result: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """One list of messages: its roles, its calls and results in order, and the paths of texts in it that are empty.

    ``elsewhere``: a part of it is known to the provider alone.
    """

    path: str
    roles: tuple[Json, ...]
    entries: tuple[Entry, ...]
    empty: tuple[str, ...]
    elsewhere: bool


def says_nothing(plain: Mapping[str, Json]) -> bool:
    """Say whether a request has nothing but texts, of which a chat has those of its roles: nearly every one, seen at once."""
    for value in plain.values():
        kind = type(value)
        if kind is dict:
            return False
        if kind is list:
            for item in value:  # a loop, since a generator costs more than what it looks at
                if type(item) is not str and not _says_text(item):
                    return False
    return True


def _says_text(item: Json) -> bool:
    return (
        type(item) is dict
        and len(item) == _BARE
        and type(item.get("content")) is str
        and item["content"] != ""
        and item.get("role") in _SPEAKERS
    )


def histories(plain: Mapping[str, Json]) -> list[tuple[History, Mapping[str, Json]]]:
    """Give the histories of a request that tell something of tools or of empty texts, each with the mapping it stands in.

    Of several lists of messages those called ``messages`` or ``input`` count alone: the others may be parts of something.
    """
    lists = [each for each in _lists(plain) if any(map(_speaks, each[1]))]
    if len(lists) > 1:
        lists = [each for each in lists if each[0].endswith((".messages", ".input"))]
    return [(history, holder) for path, messages, holder in lists if (history := _history(messages, path)) is not None]


def _speaks(item: Json) -> bool:
    return isinstance(item, dict) and ("role" in item or item.get("type") in _ITEMS)


def _lists(plain: Mapping[str, Json]) -> Iterator[tuple[str, list[Json], Mapping[str, Json]]]:
    """Every list that may hold messages: a field, an argument, or a field of one of those."""
    for key, value in plain.items():
        if isinstance(value, list):
            yield _below(key), value, plain
            if key == "args":
                for place, each in enumerate(value):
                    if isinstance(each, list):
                        yield f"$.args[{place}]", each, plain
                    elif isinstance(each, dict):
                        yield from _fields(f"$.args[{place}]", each)
        elif isinstance(value, dict):
            yield from _fields(_below(key), value)


def _fields(at: str, value: dict[str, Json]) -> Iterator[tuple[str, list[Json], Mapping[str, Json]]]:
    for key, each in value.items():
        if isinstance(each, list):
            yield at + _below(key)[1:], each, value


def _below(key: str) -> str:
    return f"$.{key}" if key.isidentifier() else f"$[{key!r}]"


def _history(messages: list[Json], path: str) -> History | None:
    reader = None
    for at, message in enumerate(messages):
        if not isinstance(message, dict):
            continue
        role, content = message.get("role"), message.get("content")
        if type(content) is str and content and (role in _TALK or (role == "assistant" and len(message) == _BARE)):
            continue  # nearly every message is one of these
        reader = reader or _Reader(path, len(messages))
        reader.message(at, message, role)
    if reader is None or not (reader.entries or reader.empty):
        return None
    roles = tuple(each.get("role") if isinstance(each, dict) else None for each in messages)
    return History(path, roles, tuple(reader.entries), tuple(reader.empty), reader.elsewhere)


class _Reader:
    """Gathers what the messages of one list say."""

    def __init__(self, path: str, length: int) -> None:
        self.path, self.length = path, length
        self.entries: list[Entry] = []
        self.empty: list[str] = []
        self.elsewhere = False

    def message(self, at: int, message: dict[str, Json], role: Json) -> None:
        here, kind = f"{self.path}[{at}]", message.get("type")
        if kind is None and role is None and tuple(message) == ("id",):
            self.elsewhere = True
        elif kind in _ITEMS:
            self.elsewhere = self.elsewhere or kind in _ELSEWHERE
            if kind not in _ELSEWHERE:
                name = None if "namespace" in message else _text(message.get("name"))
                self.entries.append(Entry("items", at, f"{here}.call_id", message.get("call_id"), name, result=kind in _RESULTS))
        elif role == "assistant":
            self.assistant(at, message, here)
        elif role in _TOOLS:
            self.result(at, message, here, role)
        elif role in _TALK:
            self.blocks(at, message.get("content"), f"{here}.content")

    def assistant(self, at: int, message: dict[str, Json], here: str) -> None:
        content = message.get("content")
        if content == "" and at < self.length - 1 and not any(message[key] for key in message if key not in _SAYS_NOTHING):
            self.empty.append(f"{here}.content")
        self.blocks(at, content, f"{here}.content")
        called = message.get("tool_calls")
        for place, call in enumerate(called if isinstance(called, list) else ()):
            if isinstance(call, dict) and call.get("type") in _KINDS:
                self.entries.append(Entry("chat", at, f"{here}.tool_calls[{place}].id", call.get("id"), tool_name(call)))
        legacy = message.get("function_call")
        if isinstance(legacy, dict):
            self.entries.append(Entry("legacy", at, f"{here}.function_call.name", None, _text(legacy.get("name"))))

    def result(self, at: int, message: dict[str, Json], here: str, role: Json) -> None:
        name = _text(message.get("name", message.get("tool_name")))
        key = next((key for key in _IDS if key in message), None)
        if role == "function" and key is None:
            self.entries.append(Entry("legacy", at, f"{here}.name", None, name, result=True))
        elif not self.blocks(at, message.get("content"), f"{here}.content", texts=False):
            self.entries.append(Entry("chat", at, f"{here}.{key or _IDS[0]}", message.get(key or ""), name, result=True))

    def blocks(self, at: int, content: Json, here: str, *, texts: bool = True) -> bool:
        """Read a message's blocks, and say whether one of them is a result; what a tool gave may be empty."""
        before = len(self.entries)
        for place, block in enumerate(content if isinstance(content, list) else ()):
            if not isinstance(block, dict):
                continue
            kind, there = block.get("type"), f"{here}[{place}]"
            if kind == "tool_use":
                name = None if "toolset_name" in block else _text(block.get("name"))
                self.entries.append(Entry("blocks", at, f"{there}.id", block.get("id"), name))
            elif kind == "tool_result":
                self.entries.append(Entry("blocks", at, f"{there}.tool_use_id", block.get("tool_use_id"), None, result=True))
            elif texts and block.get("text") == "" and (kind in _TEXTS or len(block) == 1):
                self.empty.append(f"{there}.text")
        return any(entry.result for entry in self.entries[before:])


def tool_name(call: dict[str, Json]) -> str | None:
    """Give the name that stands in the call of a tool, or in the tool itself, which write it alike."""
    inner = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), dict)), call)
    return _text(inner.get("name"))


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
