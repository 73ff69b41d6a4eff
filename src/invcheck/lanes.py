"""What is wrong with a lane: one that nobody declared, and one on which calls overlap."""

from __future__ import annotations

from collections.abc import Collection

from invcheck.errors import ScriptedModelError


def overlap(lane: str | None) -> ScriptedModelError:
    """Give the error of calls that waited on one lane at once."""
    on = "the unnamed lane" if lane is None else f'lane "{lane}"'
    return ScriptedModelError(
        f"two calls waited on {on} at once: which of them takes which step is not decided",
        code="LANE_OVERLAP",
        lane=lane,
        expected=f"one call at a time on {on}",
        got="calls that overlap",
        hint="give each agent, task or thread a lane of its own (lanes=, lane_by=)",
    )


def undeclared(lane: str | None, lanes: Collection[str | None]) -> ScriptedModelError:
    """Give the error of a call on a lane that is none."""
    known = ", ".join(sorted(name for name in lanes if name is not None)) or "none: only the unnamed lane"
    what = "a call without a lane" if lane is None else f"a call on the undeclared lane {lane!r}"
    return ScriptedModelError(
        f"{what}; declared are {known}", code="LANE_UNDECLARED", lane=lane, hint="ask through double.lane(NAME), or say lane_by="
    )


def asked_within(lane: str | None) -> ScriptedModelError:
    """Give the error of a double that is asked while it looks for what answers a call of the same lane."""
    return ScriptedModelError(
        "a double was asked by what decides its own answer", code="ASKED_WITHIN", lane=lane, hint="a predicate of when= asks no double"
    )
