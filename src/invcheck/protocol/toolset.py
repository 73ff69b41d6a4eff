"""Which tools a request offers, and what of it names another one."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from invcheck.protocol.complaint import Complaint
from invcheck.protocol.history import tool_name
from invcheck.show import listed, show
from invcheck.vocabulary import Json

_HOSTED = ("web_search", "file_search", "code_", "image_generation", "computer", "local_shell", "shell", "apply_patch", "mcp")
"""How the types of tools begin that are known by no name of their own: their calls are items of their own too."""

_NAMED = ("function", "tool", "custom")
_ELSEWHERE = ("tools", "functions", "prompt", "mcp_servers")
"""Fields that offer tools, of which a stored prompt and a server of tools do not say which."""

_GROWS = ("additional_tools", "tool_search_output", "tool_addition", "tool_search_tool_result")


def tools_of(holder: Mapping[str, Json]) -> frozenset[str] | None:
    """Give the names of the tools that a request offers; None where it offers none, or not all of them can be told.

    >>> sorted(tools_of({"tools": [{"type": "function", "function": {"name": "search"}}, {"type": "web_search"}]}))
    ['search']
    """
    names: set[str] = set()
    for given in (holder.get("tools"), holder.get("functions")):
        for tool in given if isinstance(given, list) else ():
            told = _offered(tool)
            if told is None:
                return None
            names |= told
    return frozenset(names) or None


def _offered(tool: Json) -> set[str] | None:
    """The names under which one tool can be called, or None where it may be called by others."""
    if isinstance(tool, str):
        return {tool}
    if not isinstance(tool, dict):
        return None
    kind, inner = tool.get("type"), tool.get("tools")
    if kind == "namespace" and isinstance(inner, list):
        told = [_offered(each) for each in inner]
        return None if None in told else set().union(*filter(None, told))
    name = tool_name(tool)
    if name is not None:
        return {name}
    return set() if isinstance(kind, str) and kind.startswith(_HOSTED) else None


def grows(holder: Mapping[str, Json]) -> bool:
    """Say whether a history offers tools on its way, beside those that the request begins with."""
    for value in holder.values():
        for item in value if isinstance(value, list) else ():
            if isinstance(item, dict):
                content = item.get("content")
                blocks = content if isinstance(content, list) else ()
                if any(each.get("type") in _GROWS for each in (item, *blocks) if isinstance(each, dict)):
                    return True
    return False


def strange(name: str | None, path: str, tools: Collection[str], what: str) -> Complaint:
    """Complain of the name of a tool that is not one of the ``tools``."""
    expected = f"one of the tools that the request offers: {listed(sorted(tools))}"
    return Complaint("tool-not-offered", path, f"{what} names a tool that is not offered", expected, show(name, 60))


def choice(plain: Mapping[str, Json], *, wire: bool) -> list[Complaint]:
    """Say what is wrong with ``tool_choice``: a tool that is not offered, or on the wire a call wanted of none at all."""
    chosen, tools = plain["tool_choice"], tools_of(plain)
    if wire and _forces(chosen) and not any(plain.get(key) for key in _ELSEWHERE) and not grows(plain):
        message = "$.tool_choice wants a call of a tool, and none is offered"
        return [Complaint("tool-not-offered", "$.tool_choice", message, "tools to choose from, or no such choice", show(chosen, 60))]
    if tools is None or not isinstance(chosen, dict):
        return []
    named = _allowed(chosen) if chosen.get("type") == "allowed_tools" else {"$.tool_choice": chosen}
    found = [(path, tool_name(each)) for path, each in named.items() if each.get("type") in _NAMED]
    return [strange(name, path, tools, path) for path, name in found if name is not None and name not in tools]


def _forces(chosen: Json) -> bool:
    if not isinstance(chosen, dict):
        return isinstance(chosen, str) and chosen == "required"
    if chosen.get("type") != "allowed_tools":
        return chosen.get("type") not in ("auto", "none")
    inner = chosen.get("allowed_tools", chosen)
    mode = inner.get("mode") if isinstance(inner, dict) else None
    return isinstance(mode, str) and mode == "required"


def _allowed(chosen: dict[str, Json]) -> dict[str, dict[str, Json]]:
    """The tools to which a choice is narrowed down, by their paths: OpenAI's two dialects write them at two places."""
    inner, path = chosen.get("allowed_tools"), "$.tool_choice.allowed_tools"
    if not isinstance(inner, dict):
        inner, path = chosen, "$.tool_choice"
    tools = inner.get("tools")
    return {f"{path}.tools[{place}]": tool for place, tool in enumerate(tools if isinstance(tools, list) else ()) if isinstance(tool, dict)}
