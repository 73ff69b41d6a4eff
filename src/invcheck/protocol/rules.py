"""The rules of a history: what every provider refuses, or what only a mistake in the app makes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from invcheck.protocol.complaint import Complaint, empty
from invcheck.protocol.dialects import demanded
from invcheck.protocol.history import KNOWN, Entry, History, histories, says_nothing
from invcheck.protocol.toolset import choice, grows, strange, tools_of
from invcheck.show import listed, show
from invcheck.vocabulary import Json


def complaints(
    plain: Mapping[str, Json], relaxed: Collection[str] = (), offered: Collection[str] = (), dialect: str | None = None
) -> list[Complaint]:
    """Say what is wrong with a request, which is plain JSON as the app sent it; nothing where it is no chat.

    ``relaxed`` names rules that are not asked for, ``offered`` tools that earlier requests offered: after a handoff the
    history names them rightly. A provider takes it too where the history, once stored, names a tool since removed; that is
    told all the same, since the model may call it again, and can be relaxed (``tool-not-offered``). Calls and results that
    only the provider knows (``previous_response_id``, ``conversation``, item references) are not missed.

    ``dialect`` is the method of a call on the wire, one of `DIALECTS`: what its provider demands of every request is asked
    then. In the process the app's own dialect is not known, and may go without ids, as Ollama's does.

    >>> orphan = {"role": "tool", "tool_call_id": "c9", "content": "42"}
    >>> [(each.rule, each.path) for each in complaints({"messages": [{"role": "user", "content": "hi"}, orphan]})]
    [('tool-result-without-call', '$.messages[1].tool_call_id')]
    """
    if dialect is None and says_nothing(plain):
        return []
    found = [] if dialect is None else demanded(plain, dialect)
    for history, holder in histories(plain):
        found += _judged(history, holder, offered, wire=dialect is not None)
    if "tool_choice" in plain:
        found += choice(plain, wire=dialect is not None)
    return [each for each in found if each.rule not in relaxed] if relaxed and found else found


def _judged(history: History, holder: Mapping[str, Json], offered: Collection[str], *, wire: bool) -> list[Complaint]:
    found = _blank(history, wire=wire)
    if not found:
        twice = _duplicates(history)
        found += [_duplicate(*each) for each in twice]
        if not (history.elsewhere or holder.get("previous_response_id") or holder.get("conversation")):
            known = {first.id for first, _ in twice}
            found += _unasked(history, known)
            found += _unanswered(history, known)
            found += _by_order(history)
        found += _legacy(history)
    return found + _not_offered(history, holder, offered) + ([] if wire else [empty(path, '""') for path in history.empty])


def _blank(history: History, *, wire: bool) -> list[Complaint]:
    """Where no id is told at all an app's own dialect may pair by order, as Ollama's does."""
    ids = [entry for entry in history.entries if entry.style != "legacy" and not _by_name(entry)]
    if not wire and all(entry.id is None and entry.style == "chat" for entry in ids):
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


def _by_name(entry: Entry) -> bool:
    """Whether a result names its tool instead of its call, which OpenAI's responses allow."""
    return entry.style == "items" and entry.result and entry.id is None and entry.name is not None


def _by_order(history: History) -> list[Complaint]:
    """Of calls and results without ids: a result that nobody can have asked for, and a call that ends the history."""
    plain = [entry for entry in history.entries if entry.style == "chat" and entry.id is None]
    first = min((entry.at for entry in plain if not entry.result), default=len(history.roles))
    holding = {entry.at for entry in history.entries if entry.result}
    found = []
    for entry in plain:
        if not entry.result:
            if entry.at == len(history.roles) - 1:
                found.append(_open(history, entry, entry.at + 1, None))
        elif entry.at < first and _unbidden(history.roles[: entry.at], holding):
            message = f"the result at {entry.path.rpartition('.')[0]} answers no call: there is none before it"
            found.append(_orphan(entry, message, "a call before it", "no call"))
    return found


def _unbidden(before: Sequence[Json], holding: Collection[int]) -> bool:
    """Whether no assistant spoke last before a result: what it says may be the call, in the app's own words."""
    at = len(before) - 1
    while at in holding:
        at -= 1
    return all(role in KNOWN for role in before) and (at < 0 or before[at] != "assistant")


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
    named = {entry.name for entry in history.entries if _by_name(entry)}
    for call in _paired(history, results=False):
        if call.style == "items" and call.name in named:
            continue
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
    known = {*tools, *offered}
    named = [entry for entry in history.entries if entry.name is not None and entry.name not in known]
    if not named or grows(holder):
        return []
    return [strange(entry.name, entry.path.rpartition(".")[0], tools, f"{_spoken(entry)} at {entry.path}") for entry in named]


def _spoken(entry: Entry) -> str:
    kind = "the result" if entry.result else "the call"
    return f"{kind} of {entry.name}" if entry.name else kind
