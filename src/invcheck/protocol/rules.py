"""The rules of a history: what every provider refuses, or what only a mistake in the app makes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from invcheck.errors import DoubleError, ScriptedModelError
from invcheck.protocol.history import Entry, History, histories, says_nothing, tools_of
from invcheck.show import listed, show
from invcheck.vocabulary import Json

RULES = ("blank-call-id", "duplicate-call-id", "tool-result-without-call", "unanswered-call", "tool-not-offered", "empty-text")
"""The names under which a rule is told and relaxed; what explains the others goes first."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One breach of a rule: where in the request, what is wanted there and what stands there, in words."""

    rule: str
    path: str
    message: str
    expected: str
    got: str


def relaxed_rules(names: Iterable[str]) -> frozenset[str]:
    """Give rules that are to be relaxed as a set; DoubleError where there is no rule of that name.

    >>> relaxed_rules(["empty-text"])
    frozenset({'empty-text'})
    """
    given = [names] if isinstance(names, str) else list(names)
    for name in given:
        if name not in RULES:
            raise DoubleError(f"there is no rule {name!r} of the request protocol", hint=f"there are: {', '.join(RULES)}")
    return frozenset(given)


def complaints(plain: Mapping[str, Json], relaxed: Collection[str] = (), offered: Collection[str] = ()) -> list[Complaint]:
    """Say what is wrong with the history of a request, which is plain JSON as the app sent it; nothing where it is no chat.

    ``relaxed`` names rules that are not asked for, ``offered`` tools that earlier requests offered: after a handoff the
    history names them rightly. Calls and results that only the provider knows (``previous_response_id``, ``conversation``,
    item references) are not missed.

    >>> orphan = {"role": "tool", "tool_call_id": "c9", "content": "42"}
    >>> [(each.rule, each.path) for each in complaints({"messages": [{"role": "user", "content": "hi"}, orphan]})]
    [('tool-result-without-call', '$.messages[1].tool_call_id')]
    """
    if says_nothing(plain):
        return []
    found = [each for history, holder in histories(plain) for each in _judged(history, holder, offered)]
    if "tool_choice" in plain:
        found += _choice(plain)
    return [each for each in found if each.rule not in relaxed] if relaxed and found else found


def refusal(found: Sequence[Complaint], *, n: int, call: str, lane: str | None = None) -> ScriptedModelError:
    """Give the error with which a call is refused for what was found, at least one complaint; the first one is told.

    ``n`` is the call's place in ``$.calls``, ``call`` how it is spoken of ("call 3").
    """
    first, more = found[0], len(found) - 1
    return ScriptedModelError(
        f"{call} breaks the protocol of requests: {first.message}{f' (and {more} more)' if more else ''}",
        code="REQUEST_PROTOCOL",
        hint=f"a provider may refuse such a request; where it is meant, relax the rule {first.rule}",
        rule=first.rule,
        path=first.path,
        at=f"$.calls[{n}].request{first.path[1:]}",
        expected=first.expected,
        got=first.got,
        call=call,
        lane=lane,
    )


def _judged(history: History, holder: Mapping[str, Json], offered: Collection[str]) -> list[Complaint]:
    found = _blank(history)
    if not found:
        twice = _duplicates(history)
        found += [_duplicate(*each) for each in twice]
        if not (history.elsewhere or holder.get("previous_response_id") or holder.get("conversation")):
            known = {first.id for first, _ in twice}
            found += _unasked(history, known)
            found += _unanswered(history, known)
        found += _legacy(history)
    return found + _not_offered(history, holder, offered) + [_empty(path) for path in history.empty]


def _blank(history: History) -> list[Complaint]:
    """Where no id is told at all the dialect pairs by order, as Ollama's does, and nothing is missed."""
    ids = [entry for entry in history.entries if entry.style != "legacy"]
    if not any(entry.id is not None for entry in ids):
        return []
    blank = [entry for entry in ids if not (entry.id.strip() if isinstance(entry.id, str) else type(entry.id) is int)]
    return [
        Complaint(
            "blank-call-id",
            entry.path,
            f"{_spoken(entry)} at {entry.path} has no id",
            "an id, by which a result and its call find each other",
            "no id" if entry.id is None else show(entry.id, 40),
        )
        for entry in blank
    ]


def _paired(history: History, *, results: bool) -> list[Entry]:
    return [entry for entry in history.entries if entry.id is not None and entry.result is results]


def _duplicates(history: History) -> list[tuple[Entry, Entry]]:
    firsts: dict[Json, Entry] = {}
    return [(first, call) for call in _paired(history, results=False) if (first := firsts.setdefault(call.id, call)) is not call]


def _duplicate(first: Entry, second: Entry) -> Complaint:
    where = f"{first.path} and {second.path}"
    return Complaint(
        "duplicate-call-id", second.path, f"two calls have the id {show(first.id, 40)}: {where}", "each call has an id of its own", where
    )


def _unasked(history: History, twice: Collection[Json]) -> list[Complaint]:
    calls = {call.id: call for call in reversed(_paired(history, results=False))}
    answered: dict[Json, Entry] = {}
    found = []
    for result in _paired(history, results=True):
        call, spelled = calls.get(result.id), show(result.id, 40)
        if call is None or call.at > result.at:
            ids = [entry.id for entry in reversed(calls.values()) if entry.at < result.at]
            before = f"only calls with the ids {listed(ids)}" if ids else "no call"
            got = before if call is None else f"the call comes behind its result, at {call.path}"
            message = f"the result at {result.path} answers no call: none before it has the id {spelled}"
            found.append(_orphan(result, message, f"a call with the id {spelled} before it", got))
        elif (earlier := answered.setdefault(result.id, result)) is not result and result.id not in twice:
            message = f"the result at {result.path} answers the call {spelled} again"
            found.append(_orphan(result, message, "one result for each call", f"one at {earlier.path} as well"))
    return found


def _orphan(result: Entry, message: str, expected: str, got: str) -> Complaint:
    return Complaint("tool-result-without-call", result.path, message, expected, got)


def _unanswered(history: History, twice: Collection[Json]) -> list[Complaint]:
    results: dict[Json, list[Entry]] = {}
    for result in _paired(history, results=True):
        results.setdefault(result.id, []).append(result)
    holding = {entry.at for entry in history.entries if entry.result}
    found = []
    for call in _paired(history, results=False):
        end, own = _end(history.roles, call, holding), results.get(call.id, ())
        behind = [result for result in own if result.at >= call.at]
        told = own and not behind and call.id not in twice  # of a result before its call
        if not told and not any(result.at < end for result in behind):
            found.append(_open(history, call, end, behind[0].path if behind else None))
    return found


_WANTED = {
    "chat": "its result in the messages right behind it",
    "blocks": "its result in the next user message",
    "items": "its result among the items behind it",
    "legacy": "its result in the next message",
}


def _open(history: History, call: Entry, end: int, late: str | None) -> Complaint:
    if late is not None:
        got = f"its result only at {late}"
    elif end < len(history.roles):
        got = f"{history.roles[end] or 'something'} at {history.path}[{end}]"
    else:
        got = "the history ends without it"
    message = f"{_spoken(call)} at {call.path.rpartition('.')[0]} is left without its result"
    return Complaint("unanswered-call", call.path, message, _WANTED[call.style], got)


def _end(roles: Sequence[Json], call: Entry, holding: Collection[int]) -> int:
    """The index of the first message that comes too late for the result of a call; ``holding`` are those that hold results."""
    at = call.at + 1
    if call.style == "items":
        return len(roles)
    if call.style == "blocks":  # providers join consecutive messages of one role into one turn
        while at < len(roles) and roles[at] == "assistant":
            at += 1
        while at < len(roles) and roles[at] != "assistant":
            at += 1
        return at
    while at in holding:
        at += 1
    return at


def _legacy(history: History) -> list[Complaint]:
    """The calls that had no ids: the next message is the result, and has the function's name."""
    legacy = {entry.at: entry for entry in history.entries if entry.style == "legacy"}
    found = []
    for at, entry in legacy.items():
        other = legacy.get(at - 1 if entry.result else at + 1)
        if other is not None and other.result is not entry.result and other.name == entry.name:
            continue
        if entry.result:
            named = entry.name or "a function"
            message = f"the result at {entry.path} answers no call of {named}"
            found.append(_orphan(entry, message, f"a call of {named} in the message before it", "none"))
        else:
            found.append(_open(history, entry, at + 1, None))
    return found


def _not_offered(history: History, holder: Mapping[str, Json], offered: Collection[str]) -> list[Complaint]:
    tools = tools_of(holder)
    if tools is None:
        return []
    strange = [entry for entry in history.entries if entry.name is not None and entry.name not in tools and entry.name not in offered]
    return [_strange(entry.name, entry.path.rpartition(".")[0], tools, f"{_spoken(entry)} at {entry.path}") for entry in strange]


def _strange(name: str | None, path: str, tools: Collection[str], what: str) -> Complaint:
    expected = f"one of the tools that the request offers: {listed(sorted(tools))}"
    return Complaint("tool-not-offered", path, f"{what} names a tool that is not offered", expected, show(name, 60))


def _choice(plain: Mapping[str, Json]) -> list[Complaint]:
    choice, tools = plain["tool_choice"], tools_of(plain)
    if tools is None or not isinstance(choice, dict):
        return []
    inner = choice.get("function", choice)
    name = inner.get("name") if isinstance(inner, dict) else None
    if not isinstance(name, str) or name in tools or choice.get("type") not in ("function", "tool", "custom"):
        return []
    return [_strange(name, "$.tool_choice", tools, "$.tool_choice")]


def _empty(path: str) -> Complaint:
    return Complaint("empty-text", path, f"the text at {path} is empty", "a text, or no block at all", '""')


def _spoken(entry: Entry) -> str:
    kind = "the result" if entry.result else "the call"
    return f"{kind} of {entry.name}" if entry.name else kind
