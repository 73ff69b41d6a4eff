"""The class of a port: one generated stub per method, which costs a tenth of binding a signature at each call."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Coroutine, Generator, Iterable, Iterator
from functools import lru_cache
from typing import Any, get_args, get_origin

from invcheck.faces.call import requested
from invcheck.faces.fits import fitter
from invcheck.faces.signature import EMPTY, Form, Member, is_self, shape

_STREAMS = (Iterator, Iterable, Generator)
_ASYNC_STREAMS = (AsyncIterator, AsyncIterable, AsyncGenerator)


def manner(form: Form) -> tuple[str, Any]:
    """How a method is run, a key of `_BODIES`, and the hint of what it gives or yields."""
    hint, how = form.returns, form.flag
    origin, args = get_origin(hint), get_args(hint)
    item = args[0] if args else EMPTY
    if how == "plain" and origin in (Awaitable, Coroutine):
        how, hint = "async", args[-1] if args else EMPTY
        origin, args = get_origin(hint), get_args(hint)
        item = args[0] if args else EMPTY
    if how.endswith("generator"):
        return "own astream" if how.startswith("async") else "own stream", item
    if how == "async":
        return ("afirst stream", item) if origin in _ASYNC_STREAMS else ("aask", hint)
    if origin in _ASYNC_STREAMS or hint in _ASYNC_STREAMS:
        return "astream", item
    return ("stream", item) if origin in _STREAMS or hint in _STREAMS else ("ask", hint)


@lru_cache(maxsize=256)
def generated(protocol: Any) -> type:
    """Give the class of a port: instances hold what their stubs ask in ``_invcheck``, see `invcheck.faces.ports`."""
    read = shape(protocol)
    space: dict[str, Any] = {"_is_port": True}
    index = 0
    for member in read.members:
        if member.kind == "attribute":
            continue
        still = _still(member)
        if still is not None:
            space[member.name] = still
        elif len(member.forms) > 1:
            space[member.name] = _overloaded(member, index)
        else:
            space[member.name] = _stub(member.forms[0], index)
        index += len(member.forms)
    name = f"{read.name}Port"
    space["__repr__"] = lambda self: f"<port of {read.name}, answered by {type(self._invcheck.double).__name__}>"
    return type(name, (), space)


def _still(member: Member) -> Any:
    """A method that asks nothing: one that gives Self, or takes nothing and gives None, such as close()."""
    one = member.forms[0]
    silent = (one.returns is None or one.returns is type(None)) and not one.signature.parameters
    if member.name in ("__exit__", "__aexit__"):
        silent = True
    entering = is_self(one.returns) or member.name in ("__enter__", "__aenter__")
    if not (silent or entering):
        return None
    if one.flag == "async":

        async def later(self: Any, *_args: Any) -> Any:
            return self if entering else None

        return later
    return lambda self, *_args: self if entering else None


_BODIES = {
    "ask": "def stub({given}):\n    return {me}._invcheck.ask({index}, {request})",
    "aask": "async def stub({given}):\n    return await {me}._invcheck.aask({index}, {request})",
    "stream": "def stub({given}):\n    return {me}._invcheck.stream({index}, {request})",
    "own stream": "def stub({given}):\n    yield from {me}._invcheck.stream({index}, {request})",
    "astream": "def stub({given}):\n    return {me}._invcheck.stream({index}, {request})",
    "own astream": "async def stub({given}):\n    async for _ in {me}._invcheck.stream({index}, {request}):\n        yield _",
    "afirst stream": "async def stub({given}):\n    return await {me}._invcheck.afirst({index}, {request})",
}
"""How each manner of a method is written; "own" is a generator by its own body, whose flag the stub keeps."""


def _stub(form: Form, index: int) -> Any:
    how, _ = manner(form)
    space: dict[str, Any] = {"__name__": __name__, "_requested": requested}  # so that its frames are told apart from the app's
    me = "self"
    while me in form.signature.parameters:
        me += "_"
    given, request = _written(form, me, space)
    exec(_BODIES[how].format(me=me, given=given, index=index, request=request), space)  # noqa: S102  # parameter names of a function that Python has parsed
    stub = space["stub"]
    stub.__name__ = stub.__qualname__ = form.name
    stub.__annotations__ = {name: hint for name, hint in form.hints.items() if hint is not EMPTY}
    return stub


def _written(form: Form, me: str, space: dict[str, Any]) -> tuple[str, str]:
    """The parameter list and the request, as source text; defaults enter as values.

    Where ``*args`` and ``**kwargs`` gather whatever is given, the request is that of a plain call.
    """
    given, last = [me], None
    request: list[str] = []
    kinds = [p.kind for p in form.signature.parameters.values()]
    positional_only = inspect.Parameter.POSITIONAL_ONLY in kinds
    gathered = None
    if not positional_only:
        given.append("/")  # a keyword may have its name
    for p in form.signature.parameters.values():
        if last is p.POSITIONAL_ONLY and p.kind is not p.POSITIONAL_ONLY:
            given.append("/")
        if p.kind is p.KEYWORD_ONLY and last not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            given.append("*")
        last = p.kind
        stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        default = ""
        if p.default is not EMPTY:
            space[f"_default_{p.name}"] = None if p.default is ... else p.default
            default = f"=_default_{p.name}"
        given.append(f"{stars}{p.name}{default}")
        if p.kind is p.VAR_POSITIONAL and not request and p.VAR_KEYWORD in kinds:
            gathered = p.name
            continue
        spread = p.kind is p.VAR_KEYWORD and not positional_only
        request.append(f"**{p.name}" if spread else f"{p.name!r}: {p.name}")
    if last is inspect.Parameter.POSITIONAL_ONLY:
        given.append("/")
    fields = "{" + ", ".join(request) + "}"
    return ", ".join(given), fields if gathered is None else f"_requested({gathered}, {fields})"


def _overloaded(member: Member, first: int) -> Any:
    """A method with overloads: each call is bound to the first signature that its arguments fit."""
    stubs = [_stub(form, first + offset) for offset, form in enumerate(member.forms)]
    fits = [{name: fitter(hint) for name, hint in form.hints.items() if name != "return"} for form in member.forms]

    def chosen(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for form, stub, known in zip(member.forms, stubs, fits, strict=True):
            try:
                bound = form.signature.bind(*args, **kwargs)
            except TypeError:
                continue
            checks = [(known[name], value) for name, value in bound.arguments.items() if _single(form, name)]
            if all(check is None or check(value) for check, value in checks):
                return stub
        raise TypeError(f"{member.name}() fits none of its overloads:\n" + "\n".join(f"  {form}" for form in member.forms))

    if all(form.flag == "async" for form in member.forms):

        async def later(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            return await chosen(args, kwargs)(self, *args, **kwargs)

        method: Any = later
    else:

        def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            return chosen(args, kwargs)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = member.name
    return method


def _single(form: Form, name: str) -> bool:
    kind = form.signature.parameters[name].kind
    return kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
