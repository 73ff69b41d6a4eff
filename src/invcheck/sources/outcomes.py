"""What a step or a fake may answer, and the outcome that it is: text, JSON, a user's object, a fault, a stream of chunks."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Iterator
from inspect import isawaitable
from typing import Any

from invcheck import faults, record
from invcheck.errors import NotJson, ScriptedModelError
from invcheck.request import Call
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Chunk, Fault, Json, Outcome, Reply, Text


def json_text(value: Json) -> str:
    """Give plain JSON as the text that a model would answer with: keys in their order, blanks as usual."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def outcome_of(value: object, call: Call) -> Outcome:
    """Give the outcome that a plain answer is; an exception is raised, what is no answer raises REPLY_INVALID.

    Text is a reply of that text; a dict, a list, a dataclass or a pydantic model is a reply of its JSON text, and the last
    two stand in the reply's ``value`` too.
    """
    if isinstance(value, str):
        return Reply((Text(value),))
    if isinstance(value, Reply):
        return value
    if isinstance(value, BaseException) or (isinstance(value, type) and issubclass(value, BaseException)):
        raise value
    try:
        if isinstance(value, Fault):
            return faults.completed(value)
        if isinstance(value, dict | list):
            return Reply((Text(json_text(snapshot(value, strict=True))),))
        if (dataclasses.is_dataclass(value) or hasattr(type(value), "model_fields")) and not isinstance(value, type):
            return Reply((Text(json_text(snapshot(value, strict=True))),), value=value)
    except (NotJson, ValueError) as error:
        raise _invalid(call, str(error)) from error
    raise _invalid(call, f"it is {type(value).__name__}, and an answer is text, JSON, an object with fields, a Reply or a Fault")


def _invalid(call: Call, reason: str) -> ScriptedModelError:
    return ScriptedModelError(f"the answer to call {call.n + 1} is none: {reason}", code="REPLY_INVALID", lane=call.lane)


async def settle(given: Any, call: Call) -> Outcome:
    """Give the outcome of whatever a function gave: an answer, something to wait for, or a stream that ends in one."""
    if isawaitable(given):
        given = await given
    if hasattr(given, "__anext__"):
        return await _driven(_own(given, call), call)
    if hasattr(given, "__next__"):
        return await _driven(_Pulled(_own(given, call)), call)
    return outcome_of(given, call)


def _own(stream: Any, call: Call) -> Any:
    """An iterator can be consumed once, whichever double does; a second use is latched."""
    trial = record.current()
    consumed = {} if trial is None else trial.consumed
    if id(stream) in consumed or _started(stream):
        raise ScriptedModelError(
            f"the step of call {call.n + 1} holds a {type(stream).__name__} that was already consumed",
            code="SCRIPT_ITERATOR_REUSED",
            lane=call.lane,
            call=f"call {call.n + 1}",
            hint="pass the function that makes it, so that each call gets its own",
        )
    consumed[id(stream)] = stream
    return stream


def _started(stream: Any) -> bool:
    """Whether a generator was begun, perhaps in another trial; other iterators do not tell."""
    for state in ("gi", "ag"):
        if hasattr(stream, f"{state}_frame"):
            return getattr(stream, f"{state}_frame") is None or getattr(stream, f"{state}_suspended", False)
    return False


_OVER = object()


class _Pulled:
    """A plain iterator, pulled as an asynchronous one, so that both are driven by the same rules."""

    def __init__(self, items: Iterator[Any]) -> None:
        self._items = items

    def __aiter__(self) -> _Pulled:
        return self

    async def __anext__(self) -> Any:
        item = next(self._items, _OVER)
        if item is _OVER:
            raise StopAsyncIteration
        return item

    async def aclose(self) -> None:
        close = getattr(self._items, "close", None)
        if close is not None:
            close()


async def _driven(stream: Any, call: Call) -> Outcome:
    """Emit a stream's chunks and give its one final outcome; close it, and never let that replace the first error."""
    try:
        final = await _pulled(stream, call)
    except BaseException as first:
        await _closed(stream, first)
        raise
    await _closed(stream, None)
    return final


async def _pulled(stream: AsyncIterator[Any], call: Call) -> Outcome:
    final: Outcome | None = None
    async for item in stream:
        call.unless_cancelled()
        if final is not None:
            twice = isinstance(item, Reply | Fault)
            raise _broken_stream(
                call,
                "FACTORY_TWO_REPLIES" if twice else "FACTORY_AFTER_REPLY",
                "two final replies" if twice else "a chunk after its final reply",
            )
        if isinstance(item, Reply | Fault):
            final = outcome_of(item, call)
        elif isinstance(item, str):
            await call.emit(Chunk(call.request.id, item))
        elif isinstance(item, Chunk):
            await call.emit(item)
        else:
            raise _broken_stream(call, "REPLY_INVALID", f"{type(item).__name__}, which is no chunk")
    if final is None:
        raise _broken_stream(call, "FACTORY_NO_REPLY", "no final reply")
    return final


def _broken_stream(call: Call, code: str, what: str) -> ScriptedModelError:
    return ScriptedModelError(
        f"the response factory of call {call.n + 1} yielded {what}",
        code=code,
        lane=call.lane,
        hint="yield chunks or text, and last the one Reply",
    )


async def _closed(stream: Any, first: BaseException | None) -> None:
    close = getattr(stream, "aclose", None)
    if close is None:
        return
    try:
        await close()
    except BaseException as error:
        if first is None:
            raise
        first.add_note(f"and closing its response factory raised {type(error).__name__}")
