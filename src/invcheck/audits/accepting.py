"""What a check accepts to differ: paths that are taken out of both documents before they are compared."""

from __future__ import annotations

from collections.abc import Sequence

from invcheck.errors import PathError
from invcheck.paths import STAR, Path, compile_path
from invcheck.pathsyntax import Other
from invcheck.vocabulary import Json

_ACCEPTED = {"$accepted": True}


def accepted(text: str) -> Path:
    """Compile a path that may differ; PathError where it is none, or takes in the whole observation.

    >>> accepted("$.ledger[*].created_at").text
    '$.ledger[*].created_at'
    """
    path = compile_path(text)
    first = path.segments[0] if path.segments else STAR
    if first is STAR or (isinstance(first, Other) and not first.descends) or (isinstance(first, Other) and "*" in first.text):
        hint = "name what may differ, such as $.ledger[*].created_at"
        raise PathError(f"{text} accepts every difference, and an audit of nothing finds nothing", column=1, path=text, hint=hint)
    return path


def without(document: Json, paths: Sequence[Path]) -> tuple[Json, list[Path]]:
    """Give the document with a mark wherever a path leads, and the paths that led nowhere although something stood on their way.

    A wildcard over an empty list, and a field of null, have nothing on their way.

    >>> without({"rows": [{"at": 1, "n": 2}]}, [compile_path("$.rows[*].at")])
    ({'rows': [{'at': {'$accepted': True}, 'n': 2}]}, [])
    """
    stray = []
    for path in paths:
        places = [compile_path(match.path).steps or () for match in path.find(document)]
        if not places and not _empty(document, path):
            stray.append(path)
        for steps in places:
            document = _put(document, steps)
    return document, stray


def masked(document: Json, places: Sequence[str]) -> Json:
    """Give the document with a mark at each of the places that it has, which are normalised locations."""
    for place in places:
        path = compile_path(place)
        if path.steps and path.find(document):
            document = _put(document, path.steps)
    return document


def _put(value: Json, steps: Sequence[object]) -> Json:
    if not steps:
        return _ACCEPTED
    step, rest = steps[0], steps[1:]
    if isinstance(value, dict):
        return {key: _put(item, rest) if key == step else item for key, item in value.items()}
    return [_put(item, rest) if place == step else item for place, item in enumerate(value)]


def _empty(document: Json, path: Path) -> bool:
    """Whether the way ends at a list or an object without items, or at null."""
    if path.steps is None:
        return False
    here = [document]
    for step in path.steps:
        if all(value in (None, [], {}) for value in here):
            return True
        single = Path("", singular=False, steps=(step,), segments=(step,))
        here = [hit for value in here for hit in single.values(value)]
    return False
