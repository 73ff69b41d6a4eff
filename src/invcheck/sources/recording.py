"""One recorded exchange: where it comes from, what it answers, and the hashes by which it is found again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from invcheck import delivery, faults, replies
from invcheck.canonical import digest
from invcheck.freeze import frozen
from invcheck.snapshot import snapshot
from invcheck.sources.written import wrong
from invcheck.vocabulary import Exchange, Fault, Json, Outcome, Place

KINDS = ("recorded", "hand-written", "generated")
"""Where a reply may come from."""
PROMPT = ("messages", "prompt", "input", "system", "instructions")
"""Fields of a request that are its prompt; where it has none of them, all of it is."""

ANSWERS = ("reply", "fault", "body")
"""What a recording may answer, and has one of."""

_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_HASH = re.compile("sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a reply comes from: its ``kind`` (`KINDS`), and if known the day (ISO 8601), the provider and the model.

    >>> str(Provenance("recorded", "2026-11-30", model="m-1"))
    'recorded 2026-11-30 of m-1'
    """

    kind: str
    when: str | None = None
    provider: str | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise wrong("$.provenance.kind", f"kind is one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.when is not None and not _DATE.fullmatch(self.when):
            raise wrong("$.provenance.when", f"when is a day such as 2026-11-30, got {self.when!r}")

    def __str__(self) -> str:
        of = " ".join(filter(None, (self.provider, self.model)))
        return " ".join(filter(None, (self.kind, self.when, f"of {of}" if of else None)))


@dataclass(frozen=True, slots=True)
class Fixture:
    """One exchange of a fixture file, see the module; DoubleError says what is wrong with it.

    With a ``request`` both hashes are derived, and must be those that were given; with a ``body`` the ``outcome`` is what
    its codec reads there. Without a request and a hash it answers whatever is asked, in turn. ``place`` is where it stands.

    >>> from invcheck.vocabulary import Reply, Text
    >>> Fixture(Provenance("hand-written"), Reply((Text("hi"),)), request={"prompt": "hello"}).keyed
    True
    """

    provenance: Provenance
    outcome: Outcome | None = None
    request: Mapping[str, Json] | None = None
    request_hash: str | None = None
    prompt_hash: str | None = None
    ignore: tuple[str, ...] = ()
    label: str | None = None
    lane: str | None = None
    optional: bool = False
    dialect: str | None = None
    body: Mapping[str, Json] | None = None
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in ("request_hash", "prompt_hash"):
            given = getattr(self, name)
            if given is not None and not _HASH.fullmatch(given):
                raise wrong(f"$.{name}", f'a hash is "sha256:" and 64 hexadecimal digits, got {given!r}')
        if self.request is not None:
            self._set("request", frozen(snapshot(self.request, strict=True)))
            self._same("request_hash", hash_of(self.request, self.ignore))
            self._same("prompt_hash", prompt_hash(self.request, self.ignore))
        if self.body is not None:
            self._set("body", frozen(snapshot(self.body, strict=True)))
            self._set("outcome", _decoded(self.dialect, self.body))
        self._set("outcome", _sound(self.outcome))

    def _same(self, name: str, derived: str) -> None:
        given = getattr(self, name)
        if given is not None and given != derived:
            raise wrong(f"$.{name}", f"it is not that of the request, which is {derived}", hint="leave it out: it is derived")
        self._set(name, derived)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def keyed(self) -> bool:
        """Whether it answers one request alone."""
        return self.request_hash is not None or self.prompt_hash is not None

    def __str__(self) -> str:
        where = str(self.place) if self.place else "a recording"
        return f"{where} ({self.label})" if self.label else where


def prompt_of(request: Mapping[str, Json]) -> Mapping[str, Json]:
    """Give what of a request is its prompt: no tools and no settings.

    >>> prompt_of({"messages": [], "temperature": 1})
    {'messages': []}
    """
    return {name: request[name] for name in PROMPT if name in request} or request


def without(request: Mapping[str, Json], ignore: Iterable[str]) -> Mapping[str, Json]:
    """Give a request without the fields that dotted names tell, and without an object that is empty then.

    >>> without({"a": 1, "metadata": {"trace": "x", "b": 2}, "more": {"c": 3}}, ["metadata.trace", "more.c"])
    {'a': 1, 'metadata': {'b': 2}}
    """
    for name in ignore:
        first, _, rest = name.partition(".")
        inner = request.get(first)
        if not rest or isinstance(inner, Mapping):
            left = without(inner, [rest]) if isinstance(inner, Mapping) and rest else None
            request = {key: left if key == first else value for key, value in request.items() if key != first or left}
    return request


def hash_of(request: Mapping[str, Json], ignore: Iterable[str] = ()) -> str:
    """Give the hash of a request, of all but what is ignored; requests that are the same JSON have the same.

    >>> hash_of({"n": 1}) == hash_of({"n": 1.0}), hash_of({"n": 1}) == hash_of({"n": True})
    (True, False)
    """
    return f"sha256:{digest(_integral(without(request, ignore)))}"


def prompt_hash(request: Mapping[str, Json], ignore: Iterable[str] = ()) -> str:
    """Give the hash of a request's prompt, of all but what is ignored."""
    return f"sha256:{digest(_integral(prompt_of(without(request, ignore))))}"


def _integral(value: Json) -> Json:
    """Spell each number that has no fraction as an integer, since 1 and 1.0 are equal and their texts are not."""
    if isinstance(value, Mapping):
        return {key: _integral(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_integral(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _sound(outcome: Outcome | None) -> Outcome:
    if outcome is None:
        raise wrong("$", f"a recording has one of {', '.join(ANSWERS)}; got none")
    if isinstance(outcome, Fault):
        try:
            return faults.completed(outcome)
        except ValueError as error:
            raise wrong("$.fault", str(error)) from None
    if (complaint := replies.complaint(outcome)) is not None:
        raise wrong("$.reply", complaint)
    if outcome.delivery is not None and (complaint := delivery.complaint(outcome.delivery, outcome)) is not None:
        raise wrong("$.reply", complaint)
    return outcome


def _decoded(dialect: str | None, body: Mapping[str, Json]) -> Outcome:
    from invcheck.wire.dialects import DIALECTS  # noqa: PLC0415  # few fixtures hold a provider's own JSON

    if dialect is None or dialect not in DIALECTS:
        raise wrong("$.dialect", f"a body has a dialect, one of {', '.join(DIALECTS)}, got {dialect!r}")
    try:
        outcome: Outcome = DIALECTS[dialect].read(body)
    except ValueError as error:
        raise wrong("$.body", f"this is no body of {dialect}: {error}") from None
    return outcome


def fixture_of(
    exchange: Exchange, provenance: Provenance, *, label: str | None = None, ignore: Sequence[str] = (), lane: str | None = None
) -> Fixture:
    """Give a call of a double, or of a real upstream, as a fixture; DoubleError where nothing was answered.

    A reply's ``value``, in the app's own type, is left out: its text says the same.
    """
    return Fixture(provenance, exchange.outcome, snapshot(exchange.request), ignore=tuple(ignore), label=label, lane=lane or exchange.lane)
