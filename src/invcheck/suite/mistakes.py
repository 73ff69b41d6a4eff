"""Everything that is wrong with one check file, each with its place; one mistake never hides another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from invcheck.errors import CheckFileError, InvcheckError
from invcheck.resolve import did_you_mean
from invcheck.show import show
from invcheck.suite.advice import advice
from invcheck.vocabulary import Json, Place
from invcheck.yamltext import KEY, Places

if TYPE_CHECKING:
    from pydantic import ValidationError

At = tuple[str | int, ...]

_NEEDED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "none_required": "null",
    "string_too_short": "a text that is not empty",
    "string_pattern_mismatch": "a text of one line",
    "too_short": "at least one entry",
}


class Mistakes:
    """Collects CheckFileErrors of one file; ``places`` is the table that came with its YAML."""

    def __init__(self, file: str, text: str, places: Places) -> None:
        self.file, self.lines, self.places = file, text.removeprefix("\ufeff").split("\n"), places
        self.found: list[CheckFileError] = []

    def place(self, at: At, *, key: bool = False) -> Place:
        """Where the value at a path stands, or its key; the nearest thing around it where it is not there."""
        if key and (*at, KEY) in self.places:
            return self.places[*at, KEY]
        while at and at not in self.places:
            at = at[:-1]
        return self.places.get(at, Place(self.file, 1, 1))

    def add(self, code: str, message: str, at: At, *, key: bool = False, hint: str | None = None) -> None:
        """Enter a mistake at a path of the document."""
        self.found.append(CheckFileError(message, code=code, place=self.place(at, key=key), hint=hint))

    def raised(self, error: InvcheckError, at: At) -> None:
        """Enter what a claim or a path said of its own fields, at the place of the text that it is about."""
        key = error.code in ("UNKNOWN_KEY", "UNKNOWN_ASSERTION")
        place = self.place(at, key=key)
        column = error.fields.get("column")
        if column is not None and place.column is not None:
            place = Place(place.file, place.line, self._inside(place, str(error.fields.get("path", "")), column))
        self.found.append(CheckFileError(error.message, code=error.code, place=place, hint=error.hint))

    def _inside(self, place: Place, text: str, column: int) -> int:
        """The column of a character of ``text`` in the file, where it is spelled there as it is."""
        start = (place.column or 1) - 1
        line = self.lines[(place.line or 1) - 1]
        quote = line[start : start + 1] in ("'", '"')
        return start + quote + column if line.startswith(text, start + quote) else start + 1

    def structure(self, error: ValidationError, value: Json, at: At) -> None:
        """Enter what pydantic found wrong with ``value``: one mistake a place, whichever branches said so."""
        needed: dict[At, list[str]] = {}
        missing: list[tuple[At, str]] = []
        for fault in error.errors(include_url=False, include_input=False):
            path, below = _walk(value, fault["loc"])
            kind, context = fault["type"], fault.get("ctx", {})
            where = (*at, *path)
            if kind == "extra_forbidden":
                self._unknown(where, *_likely(_at(value, path[:-1]), str(path[-1])))
            elif kind == "missing":
                missing.append((where, str(below)))
            elif kind.isupper() and kind != "UNKNOWN_KIND":
                got = _at(value, path)
                hint = _near(got, context.get("kinds")) or advice(path, got)
                self.add(kind, f"expected {fault['msg']}, got {show(got)}", where, hint=hint)
            elif kind == "UNKNOWN_KIND":
                self._kind(where, _at(value, path), fault["msg"])
            else:
                needed.setdefault(path, []).append(_need(kind, context, fault["msg"]))
        for where, name in missing:
            if not any(error.hint == f"did you mean {name!r}?" for error in self.found):  # then the misspelt key says it all
                self.add("MISSING_KEY", f"the key {name!r} is missing", where, key=True)
        for path, words in needed.items():
            got = _at(value, path)
            where = (*at, *path)
            self.add("WRONG_TYPE", f"expected {' or '.join(dict.fromkeys(words))}, got {_told(got)}", where, hint=advice(where, got))

    def _unknown(self, where: At, known: Sequence[str], home: str | None) -> None:
        word = str(where[-1])
        near = did_you_mean(word.replace("_", "-"), list(known))
        hint = f"{word!r} stands {home}" if home else f"did you mean {near!r}?" if near else None
        self.add("UNKNOWN_KEY", f"unknown key {word!r}", where, key=True, hint=hint)

    def _kind(self, where: At, got: Json, needed: str) -> None:
        if isinstance(got, Mapping) and got:
            word = str(next(iter(got)))
            self.add(
                "UNKNOWN_KEY",
                f"expected {needed}, got the key {word!r}",
                (*where, word),
                key=True,
                hint=_near(word, needed.rpartition("one of ")[2]),
            )
        else:
            self.add("WRONG_TYPE", f"expected {needed}, got {_told(got)}", where, hint=advice(where, got))


def _walk(value: Json, loc: Sequence[str | int]) -> tuple[At, str | int | None]:
    """The path in the data that pydantic's ``loc`` means, and the first part of it that is not there.

    A loc also holds the names of union branches, which are no part of the data.
    """
    path: list[str | int] = []
    missing: str | int | None = None
    here: Any = value
    for part in loc:
        keyed = isinstance(here, Mapping) and part in here
        if keyed or (isinstance(here, list) and isinstance(part, int) and part < len(here)):
            here = here[part]
            path.append(part)
            missing = None
        else:
            missing = part
    return tuple(path), missing


def _likely(value: Mapping[str, Json], word: str) -> tuple[list[str], str | None]:
    """The keys of the specs that a mapping shares most keys with and that refuse ``word``, and where that key does stand."""
    from invcheck.suite.shapes import spellings  # noqa: PLC0415  # it imports pydantic

    specs = spellings()
    refusing = [keys for _, keys in specs if word not in keys]
    shared = [len(value.keys() & set(keys)) for keys in refusing]
    likely = list(dict.fromkeys(key for keys, count in zip(refusing, shared, strict=True) if count == max(shared) for key in keys))
    return likely, next((home for home, keys in specs if word in keys and home), None)


def _at(value: Any, path: At) -> Json:
    here: Any = value
    for part in path:
        here = here[part]
    return here


def _need(kind: str, context: Mapping[str, Any], message: str) -> str:
    if kind == "literal_error":
        return str(context["expected"]).replace("'", "")
    if kind in ("greater_than_equal", "less_than_equal"):
        return f"at {'least' if kind[0] == 'g' else 'most'} {context['ge' if kind[0] == 'g' else 'le']}"
    return _NEEDED.get(kind, message)


def _told(value: Json) -> str:
    from invcheck.paths import kind  # noqa: PLC0415  # only a mistake pays for it

    return "null" if value is None else f"{kind(value)} {show(value)}"


def _near(word: object, kinds: str | None) -> str | None:
    near = did_you_mean(str(word), kinds.split(", ")) if kinds else None
    return f"did you mean {near!r}?" if near else None
