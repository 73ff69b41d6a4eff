"""A model spec from a file of its own, YAML or JSON: what `invcheck serve` answers from."""

from __future__ import annotations

import re
from pathlib import Path

from invcheck.errors import CheckFileError, InvcheckError, NotJson
from invcheck.jsontext import loads
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
        place = _place(places, where, shown, key=_UNKNOWN in error.message)
        raise CheckFileError(error.message, code=error.code, place=place, hint=error.hint, **error.fields) from error


def _document(path: Path, shown: str) -> tuple[Json, Places]:
    try:
        text = decode(path.read_bytes(), shown)
    except OSError as error:
        raise CheckFileError(f"it cannot be read: {error.strerror}", code="SCRIPT_FILE", place=Place(shown)) from error
    if path.suffix != ".json":
        return read_yaml(text, shown)
    try:
        value = loads(text)
    except NotJson as error:
        place = Place(shown, error.fields.get("line"), error.fields.get("column"))
        raise CheckFileError(error.message, code=error.code, place=place, hint=error.hint) from error
    # JSON is YAML but for its tabs, which stand between values only; YAML's reader knows where each value stands
    return value, read_yaml(text.replace("\t", " "), shown)[1]


def _place(places: Places, path: str, shown: str, *, key: bool) -> Place:
    """Give where a path of the spec stands, else the nearest thing around it."""
    at: tuple[str | int, ...] = tuple(int(index) if index else name for name, index in _STEPS.findall(path))
    if key and (*at, KEY) in places:
        return places[*at, KEY]
    while at and at not in places:
        at = at[:-1]
    return places.get(at, Place(shown, 1, 1))
