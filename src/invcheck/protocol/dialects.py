"""What a request on the wire has to have, by the dialect it is written in: without it the provider answers 400, whatever the model.

The fields and roles are those of the providers' references of 2026; what only some models refuse, such as a prefill, is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from invcheck.protocol.complaint import Complaint, empty
from invcheck.show import listed, show
from invcheck.vocabulary import Json

_TEXTS = ("text", "input_text", "output_text")
_INSTEAD = ("tool_calls", "function_call", "audio", "refusal")
"""What an assistant may have said instead of a content, in chat completions."""


@dataclass(frozen=True, slots=True)
class _Demands:
    """What one dialect demands: its fields, and its roles; ``stored`` are fields that stand for messages told before.

    ``blank``: a text of whitespace is as good as none, whoever said it, and the system's comes first in a field of its own; else
    only what the user says has to be a text.
    """

    fields: tuple[str, ...]
    messages: str
    roles: tuple[str, ...]
    stored: tuple[str, ...] = ()
    blank: bool = False


_DEMANDS = {
    "openai.chat": _Demands(("model",), "messages", ("developer", "system", "user", "assistant", "tool", "function")),
    "openai.responses": _Demands(
        ("model",), "input", ("user", "assistant", "system", "developer"), ("previous_response_id", "prompt", "conversation")
    ),
    "anthropic.messages": _Demands(("model", "max_tokens"), "messages", ("user", "assistant", "system"), blank=True),
}
DIALECTS = tuple(_DEMANDS)
"""The dialects that are known, by the names of the methods of their calls."""


def demanded(plain: Mapping[str, Json], dialect: str) -> list[Complaint]:
    """Say what is missing in a request on the wire: fields, messages, their roles and texts; KeyError for another dialect.

    >>> [each.path for each in demanded({"messages": [{"role": "usr", "content": "hi"}]}, "openai.chat")]
    ['$.model', '$.messages[0].role']
    """
    demands = _DEMANDS[dialect]
    found = [_missing(f"$.{key}", plain, key) for key in demands.fields if plain.get(key) in (None, "") and not _stored(plain, key)]
    path, messages = f"$.{demands.messages}", plain.get(demands.messages)
    if isinstance(messages, list):
        for at, message in enumerate(messages):
            found += _message(message, f"{path}[{at}]", demands, first=at == 0, last=at == len(messages) - 1)
    if not messages and any(plain.get(key) for key in demands.stored):
        return found
    if messages is None:
        found.append(_missing(path, plain, demands.messages))
    elif demands.stored and isinstance(messages, str):
        found += [empty(path, '""')] if messages == "" else []
    elif not isinstance(messages, list) or not messages:
        found.append(
            Complaint("no-messages", path, f"there are no messages at {path}", "a list of at least one message", show(messages, 40))
        )
    found += _tools(plain.get("tools"), dialect)
    system = plain.get("system")
    return found + (_texts(system, "$.system", demands) if demands.blank and system != [] else [])


def _tools(tools: Json, dialect: str) -> list[Complaint]:
    """Say which tools have no name where the dialect has it: those of another dialect are refused by every provider."""
    found = []
    for at, tool in enumerate(tools if isinstance(tools, list) else ()):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if not isinstance(tool, dict) or kind not in (None, "function", "custom" if dialect == "anthropic.messages" else None):
            continue  # hosted tools have names of their own
        if kind is None and dialect != "anthropic.messages":
            found.append(_missing(f"$.tools[{at}].type", tool, "type"))
            continue
        key = "function" if dialect == "openai.chat" else "name"
        holder = tool.get(key) if key == "function" else tool
        named = isinstance(holder, dict) and isinstance(holder.get("name"), str)
        if not named or (dialect == "anthropic.messages" and kind == "function"):
            found.append(_missing(f"$.tools[{at}].{'function.name' if key == 'function' else 'name'}", tool, key))
    return found


def _stored(plain: Mapping[str, Json], key: str) -> bool:
    return key == "model" and bool(plain.get("prompt"))  # a stored prompt may name its model


def _missing(path: str, holder: Mapping[str, Json], key: str) -> Complaint:
    got = show(holder[key], 40) if key in holder else "nothing"
    return Complaint("missing-field", path, f"{path} is missing", f"a value for {key}", got)


def _message(message: Json, here: str, demands: _Demands, *, first: bool, last: bool) -> list[Complaint]:
    if not isinstance(message, dict):
        return [_role(here, demands.roles, show(message, 40))]
    role, kind = message.get("role"), message.get("type")
    if demands.stored and (kind not in (None, "message") or (kind is None and "role" not in message)):
        return []  # an item that is no message, or a reference to one
    roles = [each for each in demands.roles if each != "system"] if demands.blank and first else demands.roles
    if role not in roles:
        return [_role(f"{here}.role", roles, show(role, 40) if "role" in message else "nothing")]
    content = message.get("content")
    if content is None:
        return [] if _silent(message, role, demands) else [_missing(f"{here}.content", message, "content")]
    prefill = role == "assistant" and last and content in ("", [])
    return [] if prefill or not (demands.blank or role == "user") else _texts(content, f"{here}.content", demands)


def _role(path: str, roles: Sequence[str], got: str) -> Complaint:
    return Complaint("unknown-role", path, f"{path} is no role that stands here", f"one of {listed(roles)}", got)


def _silent(message: Mapping[str, Json], role: Json, demands: _Demands) -> bool:
    if demands.blank:
        return role == "system" and bool(message.get("output_config"))
    return role == "function" or (role == "assistant" and any(message.get(key) for key in _INSTEAD))


def _texts(content: Json, path: str, demands: _Demands) -> list[Complaint]:
    """Complain of what says nothing in a text or in a list of blocks."""
    if content == []:
        return [empty(path, "[]", "a text, or blocks")]
    texts = {path: content} if isinstance(content, str) else {}
    for place, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict) and block.get("type") in _TEXTS and isinstance(block.get("text"), str):
            texts[f"{path}[{place}].text"] = block["text"]
    return [empty(at, show(text, 40)) for at, text in texts.items() if not (text.strip() if demands.blank else text)]
