"""A model spec from a file of its own, YAML or JSON: what `invcheck serve` answers from."""

from __future__ import annotations

import re
from pathlib import Path

from invcheck.errors import CheckFileError, InvcheckError
from invcheck.jsontext import loads
from invcheck.sources.jsonplaces import scan
from invcheck.sources.spec import Load, Make, read
from invcheck.vocabulary import Json, Place
from invcheck.yamltext import KEY, Places, decode
from invcheck.yamltext import read as read_yaml

_STEPS = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_UNKNOWN = 'there is no "'


def script(path: Path, shown: str, *, load: Load) -> Make:
    """Read a file that holds one model spec, and give what builds its double; ``shown`` is the file as a person names it.

    CheckFileError says what is wrong, with file, line and column, and the path of the step in it: a file that cannot be read,
    a text that is no YAML or JSON, and whatever `invcheck.sources.read` refuses.
    """
    value, places = _document(path, shown)
    try:
        return read(value, load=load)
    except InvcheckError as error:
        where = str(error.fields.get("path", "$"))
        place = error.place or _place(places, where, shown, key=_UNKNOWN in error.message)
        hint = _meant(value) or error.hint
        raise CheckFileError(error.message, code=error.code, place=place, hint=hint, **error.fields) from error


def _meant(value: Json) -> str | None:
    """Say what to write instead of a list of steps alone, or of what a check file holds."""
    if isinstance(value, list):
        return "put the steps below a key, as script: [...]"
    if isinstance(value, dict) and "model" in value:
        return "drop the key model: the file holds what stands below it in a check file"
    return None


def _document(path: Path, shown: str) -> tuple[Json, Places]:
    try:
        text = decode(path.read_bytes(), shown)
    except OSError as error:
        raise CheckFileError(f"it cannot be read: {error.strerror}", code="SCRIPT_FILE", place=Place(shown)) from error
    if path.suffix != ".json":
        return read_yaml(text, shown)
    places, fault = scan(text, shown)
    if fault is not None:
        place, reason = fault
        raise CheckFileError(f"this is no JSON: {reason}", code="NOT_JSON", place=place)
    return loads(text), places


def _place(places: Places, path: str, shown: str, *, key: bool) -> Place:
    """Give where a path of the spec stands, else the nearest thing around it."""
    at: tuple[str | int, ...] = tuple(int(index) if index else name for name, index in _STEPS.findall(path))
    if key and (*at, KEY) in places:
        return places[*at, KEY]
    while at and at not in places:
        at = at[:-1]
    return places.get(at, Place(shown, 1, 1))
