"""Fixture files: replies that were recorded once, or written by hand, as JSON Lines with where each comes from.

One line is one exchange, version 1 of the format::

    {"invcheck": 1,
     "provenance": {"kind": "recorded" | "hand-written" | "generated", "when": "2026-11-30", "provider": "...", "model": "..."},
     "label": "...", "lane": "...", "optional": false,
     "request": {...}, "ignore": ["metadata.trace"], "request_hash": "sha256:...", "prompt_hash": "sha256:...",
     "reply": {"text": "...", "finish": "stop", "usage": {...}, "tool_calls": [...], "thinking": "...", "refusal": "..."}}

In place of ``reply`` stands ``fault`` (``{"kind": "rate-limit", "retry_after": 20}``), or ``body``, a provider's own JSON,
with its ``dialect`` ("openai.chat", "openai.responses", "anthropic.messages"). A reply may hold ``blocks`` in their order
instead, and ``chunks``, ``latency``, ``pace`` and ``framing``. All but ``invcheck``, ``provenance`` and one of the three may
be left out. A hash is the sha256 of canonical JSON (sorted keys, no blanks, 1.0 as 1): of the request without what ``ignore``
names, and of its prompt alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path

from invcheck import rows
from invcheck.canonical import canonical
from invcheck.errors import DoubleError, FixtureInvalid, NotJson
from invcheck.sources import writing
from invcheck.sources.recording import ANSWERS, Fixture, Provenance
from invcheck.sources.written import Reader, names, scored, wrong
from invcheck.vocabulary import Fault, Json, Outcome, Place

VERSION = 1
"""The version of the format."""
_KEYS = (
    "invcheck", "provenance", "label", "lane", "optional", "request", "ignore", "request-hash", "prompt-hash", "reply", "fault",
    "body", "dialect",
)  # fmt: skip
_READ = Reader(scored)


def line(fixture: Fixture) -> str:
    """Give a fixture as its line, line break included; `parse` gives it back."""
    fields: dict[str, Json] = {"invcheck": VERSION, "provenance": writing.provenance(fixture.provenance)}
    named = ("label", "lane", "optional", "request", "ignore", "request_hash", "prompt_hash", "dialect", "body")
    fields |= {name: value for name in named if (value := getattr(fixture, name)) not in (None, (), False)}
    if fixture.body is None and fixture.outcome is not None:
        kind = "fault" if isinstance(fixture.outcome, Fault) else "reply"
        fields[kind] = writing.fault(fixture.outcome) if isinstance(fixture.outcome, Fault) else writing.reply(fixture.outcome)
    return json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n"


def read(path: str | os.PathLike[str]) -> tuple[Fixture, ...]:
    """Read a fixture file; FixtureInvalid names file, line, where known the column, and the reason."""
    name = os.fspath(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        hint = "it is sought from the project's folder" if isinstance(error, FileNotFoundError) else None
        reason = f"the fixture file {name} cannot be read: {error.strerror}"
        raise FixtureInvalid(reason, hint=hint, reason=reason) from None
    return parse(content, name)


def parse(content: str | bytes, file: str = "<text>") -> tuple[Fixture, ...]:
    """Give the fixtures of the text of a file, see `read`.

    >>> parse('{"invcheck": 1, "provenance": {"kind": "hand-written"}, "reply": {"text": "hi"}}')[0].outcome.text
    'hi'
    """
    held = (content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content).removeprefix(b"\xef\xbb\xbf")
    found: list[Fixture] = []
    for number, row, error in rows.read(BytesIO(held)):
        if error is not None:
            raise _refused(error, Place(file, number, _column(error, held, number)), len(found))
        try:
            found.append(_fixture(row, Place(file, number)))
        except (DoubleError, NotJson) as problem:
            raise _refused(problem, Place(file, number), len(found)) from None
    if not found:
        raise FixtureInvalid("the file holds no recording", place=Place(file, 1), reason="the file holds no recording")
    unlike(found)
    return tuple(found)


def read_line(text: str) -> Fixture:
    """Give the one fixture of one line."""
    (found,) = parse(text)
    return found


def _column(error: NotJson, held: bytes, number: int) -> int | None:
    """Where a line that is cut goes wrong is its end."""
    if error.fields.get("defect") == "TRUNCATED":
        return len(held.split(b"\n")[number - 1].decode()) + 1
    return error.fields.get("column")


def _refused(error: DoubleError | NotJson, place: Place, index: int) -> FixtureInvalid:
    reason = error.message.removeprefix("$: ")
    return FixtureInvalid(reason, place=place, hint=error.hint, index=index, reason=reason, path=error.fields.get("path"))


def _fixture(row: Json, place: Place) -> Fixture:
    fields = _READ.mapping(row, "$", _KEYS)
    if fields.get("invcheck") != VERSION or isinstance(fields["invcheck"], bool):
        raise wrong("$.invcheck", f"the version of this format is {VERSION}, got {fields.get('invcheck')!r}")
    answers = [key for key in ANSWERS if key in fields]
    if len(answers) != 1:
        raise wrong("$", f"a recording has one of {', '.join(ANSWERS)}; got {' and '.join(answers) or 'none'}")
    if ("dialect" in fields) is not ("body" in fields):
        raise wrong("$", "a body and its dialect stand together")
    outcome: Outcome | None = None
    if answers != ["body"]:
        outcome = _READ.reply(fields["reply"], "$.reply") if answers == ["reply"] else _READ.fault(fields["fault"], "$.fault")
    return Fixture(
        _provenance(fields.get("provenance")),
        outcome,
        _READ.mapping(fields["request"], "$.request", None) if "request" in fields else None,
        _named(fields, "request-hash"),
        _named(fields, "prompt-hash"),
        names(fields.get("ignore", []), "$.ignore"),
        _named(fields, "label"),
        _named(fields, "lane"),
        _READ.switch(fields.get("optional", False), "$.optional"),
        _named(fields, "dialect"),
        _READ.mapping(fields["body"], "$.body", None) if "body" in fields else None,
        place,
    )


def _named(fields: Mapping[str, Json], key: str) -> str | None:
    return _READ.text(fields[key], f"$.{scored(key)}") if key in fields else None


def _provenance(value: Json) -> Provenance:
    path = "$.provenance"
    fields = _READ.mapping(value, path, ("kind", "when", "provider", "model"))
    known = {name: _READ.text(given, f"{path}.{name}") for name, given in fields.items()}
    if "kind" not in known:
        raise wrong(path, "the provenance of a recording has a kind")
    return Provenance(**known)


def unlike(fixtures: Iterable[Fixture]) -> None:
    """Refuse an exchange that stands twice, which a label tells apart where it is meant; FixtureInvalid names the second."""
    seen: dict[bytes, Fixture] = {}
    for index, each in enumerate(fixtures):
        first = seen.setdefault(canonical(json.loads(line(each))), each) if each.keyed else each
        if first is not each:
            reason = f"the same exchange stands at {first} already"
            raise FixtureInvalid(reason, place=each.place, hint="remove it, or give each a label of its own", index=index, reason=reason)
