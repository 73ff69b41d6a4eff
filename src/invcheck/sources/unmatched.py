"""Why the step whose turn it is does not take a call: where they differ first, and which other step is the nearest."""

from __future__ import annotations

from collections.abc import Iterable

from invcheck.errors import ScriptedModelError
from invcheck.request import Call
from invcheck.sources.comparing import Difference
from invcheck.sources.steps import Queued

Waiting = tuple[str | None, Queued]
"""A step that was not taken yet, and the name of its lane."""


def mismatch(call: Call, step: Queued, differs: Difference, waiting: Iterable[Waiting]) -> ScriptedModelError:
    """Give the error of a call that the step whose turn it is does not expect; the step stays where it is."""
    spoken = f"call {call.ordinal}{_on(call.lane)}"
    near = nearest(call, waiting)
    told = f"{spoken} is not what {step} expects: at {differs.path} expected {differs.expected}, got {differs.got}"
    return ScriptedModelError(
        f"{told}; {near}" if near else told,
        code="STEP_MISMATCH",
        hint="the step was not taken; a script is answered in its order, so correct the request, the step's when, or the order",
        lane=call.lane,
        n=call.n,
        step=step.index,
        path=differs.path,
        at=f"$.calls[{call.entry['n']}].request{differs.path[1:]}" if call.entry else None,
        expected=differs.expected,
        got=differs.got,
        call=spoken,
    )


def nearest(call: Call, waiting: Iterable[Waiting]) -> str | None:
    """Say which waiting step expects this request, else which one comes nearest; None where none says what it expects."""
    best: tuple[float, str] | None = None
    for lane, step in waiting:
        if step.when is None:
            continue
        differs = step.when.nearness(call.request)
        named = f"{step}{'' if lane == call.lane else _of(lane)}"
        if differs is None:
            return f"{named} expects it"
        share = differs.agrees / differs.leaves
        if share and (best is None or share > best[0]):
            best = share, f"the nearest other is {named}, which differs first at {differs.path}"
    return None if best is None else best[1]


def _on(lane: str | None) -> str:
    return "" if lane is None else f' on lane "{lane}"'


def _of(lane: str | None) -> str:
    return "" if lane is None else f' of lane "{lane}"'
