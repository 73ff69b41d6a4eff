"""Whether a reply calls tools that its request has offered: no provider's model can call others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from invcheck.errors import ScriptedModelError
from invcheck.protocol import tools_of
from invcheck.protocol.toolset import grows
from invcheck.show import listed, show
from invcheck.vocabulary import Json, ToolCall


def strange(plain: Mapping[str, Json], calls: Iterable[ToolCall], *, wire: bool) -> ToolCall | None:
    """Give the first call of a tool that the request does not offer; None where all are offered or it cannot be told.

    On the wire a request without tools offers none; an app's own request may know of tools without naming them.

    >>> strange({"tools": [{"name": "search"}]}, [ToolCall("refund", {})], wire=False).name
    'refund'
    """
    if isinstance(plain.get("prompt"), dict) or plain.get("mcp_servers") or grows(plain):
        return None  # a stored prompt, a server or the history itself may offer more
    lists = [given for key in ("tools", "functions") if isinstance(given := plain.get(key), list) and given]
    offered = tools_of(plain) if lists else frozenset() if wire else None
    return None if offered is None else next((call for call in calls if call.name not in offered), None)


def refusal(call: ToolCall, plain: Mapping[str, Json], n: int) -> ScriptedModelError:
    """Give the error of a reply to the ``n``-th call (from 0) that calls a tool which its request does not offer."""
    offered = sorted(tools_of(plain) or ())
    return ScriptedModelError(
        f"the reply to call {n + 1} calls {show(call.name, 40)}, which the request does not offer",
        code="TOOL_NOT_OFFERED",
        call=f"call {n + 1}",
        at=f"$.calls[{n}].request.tools",
        expected=f"a request that offers {show(call.name, 40)}",
        got=f"one that offers {listed(offered)}" if offered else "one that offers no tool",
        hint="let the app send the tool; where a model is to call what is not there, relax the rule tool-not-offered",
    )
