"""What a plain assert of a check claims: its own text, and the values of the names in it.

Nothing is evaluated a second time, since that could do something; only names that stand for plain JSON are shown.
"""

from __future__ import annotations

import ast
from types import FrameType, TracebackType

from invcheck.errors import NotJson
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json

_NAMES, _LONGEST = 6, 200
_PLAIN = (bool, int, float, str, list, tuple, dict)


def claimed(traceback: TracebackType | None, file: str) -> dict[str, Json]:
    """Give ``text`` and ``values`` of the innermost assert that failed in ``file``; empty where its source cannot be read.

    >>> claimed(None, "checks/check_a.py")
    {}
    """
    frame, line = None, 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            frame, line = traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
    try:
        with open(file, encoding="utf-8") as source:  # noqa: PTH123  # pathlib is slow to import
            tree = ast.parse(source.read())
    except (OSError, ValueError, SyntaxError):
        return {}
    holding = [node for node in ast.walk(tree) if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or 0)]
    if frame is None or not holding:
        return {}
    test = holding[-1].test
    return {"text": ast.unparse(test), "values": ", ".join(_values(test, frame))}


def _values(test: ast.expr, frame: FrameType) -> list[str]:
    names = dict.fromkeys(node.id for node in ast.walk(test) if isinstance(node, ast.Name))
    return [f"{name} = {text}" for name in list(names)[:_NAMES] if (text := _value(frame, name)) is not None]


def _value(frame: FrameType, name: str) -> str | None:
    value = frame.f_locals.get(name, frame.f_globals.get(name, frame))
    try:
        return show(snapshot(value, strict=True), _LONGEST) if isinstance(value, _PLAIN) or value is None else None
    except NotJson:
        return None
