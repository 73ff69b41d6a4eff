"""Why no recording answers a call: the nearest one, and where the request first differs from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from invcheck.errors import ScriptedModelError
from invcheck.paths import equal
from invcheck.request import Call
from invcheck.show import show
from invcheck.sources.recording import Fixture, hash_of, prompt_hash, prompt_of, without
from invcheck.vocabulary import Json

_BEFORE, _AFTER = 20, 40
"""How many characters around the first difference of two texts are shown."""
_DIGITS = len("sha256:") + 12
"""How much of a hash is shown."""
_FAR = 10**9
"""Farther than any two requests are; also a length that no text is cut at."""


def miss(call: Call, every: Sequence[Fixture], left: Sequence[Fixture]) -> ScriptedModelError:
    """Give the error of a call that none of the recordings ``left`` answers; ``every`` has those that were used as well."""
    asked = call.plain
    used = [each for each in every if each not in left and _same(each, asked)]
    if not left or used:
        return _exhausted(call, len(every), used)
    near = min(left, key=lambda each: _distance(each, asked))
    old, new = near.prompt_hash, prompt_hash(asked, near.ignore)
    if old == new or old is None:
        return _changed(call, near, "REQUEST_CHANGED", near.request_hash or "", hash_of(asked, near.ignore))
    return _changed(call, near, "PROMPT_CHANGED", old, new)


def _same(fixture: Fixture, asked: Mapping[str, Json]) -> bool:
    if fixture.request_hash is not None:
        return fixture.request_hash == hash_of(asked, fixture.ignore)
    return fixture.prompt_hash == prompt_hash(asked, fixture.ignore)


def _exhausted(call: Call, length: int, used: Sequence[Fixture]) -> ScriptedModelError:
    on = "" if call.lane is None else f' on lane "{call.lane}"'
    spoken = f"call {call.ordinal} of {length}"
    which = f"what was recorded for this request was used: {', '.join(map(str, used))}" if used else "every recording was used"
    times = len(used) or length
    return ScriptedModelError(
        f"{spoken}{on}: {which}",
        code="SCRIPT_EXHAUSTED",
        lane=call.lane,
        n=call.n,
        length=length,
        call=spoken,
        expected=f"at most {times} call{'' if times == 1 else 's'}{' of this request' if used else ''}{on}",
        got=f"call {call.ordinal}, which asked {show(call.request.last_user, 60)}",
        hint="record the further call, or ask once less",
    )


def _changed(call: Call, near: Fixture, code: str, old: str, new: str) -> ScriptedModelError:
    spoken = f"call {call.ordinal}"
    whole = code == "REQUEST_CHANGED"
    what = "its prompt was recorded, and other fields of the request differ" if whole else "its prompt is not the one that was recorded"
    differs = _difference(near, call.plain, whole=whole)
    where = f"; they differ first at {differs[0]}" if differs else ""
    return ScriptedModelError(
        f"{spoken}: {what}: the nearest is {near}, {near.provenance}, with {_short(old)}, and this is {_short(new)}{where}",
        code=code,
        lane=call.lane,
        n=call.n,
        call=spoken,
        expected=f"{differs[0]}: {differs[1]}" if differs else _short(old),
        got=differs[2] if differs else _short(new),
        path=differs[0] if differs else None,
        recording=str(near),
        hashes=(old, new),
        hint="record it again; strict: false also takes a recording of the same prompt" if whole else "record it again, or undo the change",
    )


def _short(digest: str) -> str:
    return digest[:_DIGITS]


def _difference(near: Fixture, asked: Mapping[str, Json], *, whole: bool) -> tuple[str, str, str] | None:
    """Where a recorded request and this one differ first; None where only hashes were kept."""
    if near.request is None:
        return None
    from invcheck.assertions.difference import difference  # noqa: PLC0415  # only a miss looks for it
    from invcheck.paths import compile_path  # noqa: PLC0415  # as above

    want, got = (dict(each if whole else prompt_of(each)) for each in (without(near.request, near.ignore), without(asked, near.ignore)))
    found = difference(want, got)
    assert found is not None  # hashes differ where the requests do, for the type checker's sake
    values = [value for each in (want, got) for value in compile_path(found[0]).values(each)]
    return (found[0], *_around(*values)) if [*map(type, values)] == [str, str] else found


def _around(old: str, new: str) -> tuple[str, str]:
    """Two texts where they differ first, so that a long one still shows it."""
    at = next((n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
    begin = max(at - _BEFORE, 0)
    return show(old[begin : at + _AFTER]), show(new[begin : at + _AFTER])


def _distance(fixture: Fixture, asked: Mapping[str, Json]) -> tuple[int, float]:
    """How far a recorded request is from this one: in how many values they differ, then in how many characters."""
    if fixture.request is None:
        return _FAR, 1.0
    old, new = without(fixture.request, fixture.ignore), without(asked, fixture.ignore)
    from difflib import SequenceMatcher  # noqa: PLC0415  # only a miss looks for it

    return _differing(old, new), 1.0 - SequenceMatcher(None, show(old, _FAR), show(new, _FAR), autojunk=False).quick_ratio()


def _differing(old: Json, new: Json) -> int:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return sum(_differing(old.get(key), new.get(key)) for key in {**old, **new})
    if isinstance(old, list) and isinstance(new, list):
        return sum(_differing(*pair) for pair in zip_longest(old, new))
    return int(not equal(old, new))
