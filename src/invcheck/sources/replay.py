"""A double that answers with recordings: each request gets what was once recorded for it, and nothing else is said."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

from invcheck.errors import DoubleError, FixtureInvalid
from invcheck.faces.faced import Faced, Options
from invcheck.request import Call
from invcheck.resolve import meant
from invcheck.sources import fixtures, misses
from invcheck.sources.recording import Fixture, hash_of, prompt_hash
from invcheck.vocabulary import Finding, Outcome, Verdict

Recordings: TypeAlias = str | os.PathLike[str] | Fixture | Sequence["Recordings"]
"""A fixture file, the text of one, a fixture, or several of them."""

_SHOWN = 8
"""How many unused recordings a message lists."""


class _Taken:
    """A recording that answers one call."""

    __slots__ = ("_fixture",)

    def __init__(self, fixture: Fixture) -> None:
        self._fixture = fixture

    async def give(self, call: Call) -> Outcome:
        """Give what was recorded, and enter where it comes from."""
        call.entry["provenance"] = self._fixture.provenance.kind
        outcome = self._fixture.outcome
        assert outcome is not None  # a fixture always has one, for the type checker's sake
        return outcome


class _Lane:
    """The recordings of one lane: all of them, which are not used yet, and those of each key in their order."""

    __slots__ = ("_keys", "all", "left")

    def __init__(self, all_of_it: Sequence[Fixture]) -> None:
        self.all = tuple(all_of_it)
        self.left = dict.fromkeys(range(len(self.all)))
        # by what is hashed of a request (all of it, or its prompt; without what), then by hash
        self._keys: dict[tuple[bool, tuple[str, ...]], dict[str, deque[int]]] = {}
        for position, each in enumerate(self.all):
            digest = each.request_hash or each.prompt_hash
            if digest is not None:
                of_kind = self._keys.setdefault((each.request_hash is not None, each.ignore), {})
                of_kind.setdefault(digest, deque()).append(position)

    def find(self, request: Mapping[str, Any]) -> int | None:
        """Give the next recording of a request, or where no recording names one the next of all; None where none is left."""
        if not self._keys:
            return next(iter(self.left), None)
        found = []
        for (whole, ignore), keys in self._keys.items():
            waiting = keys.get((hash_of if whole else prompt_hash)(request, ignore))
            if waiting:
                found.append(waiting[0])
        return min(found, default=None)

    @property
    def unkeyed(self) -> bool:
        """Whether its recordings say nothing of the requests that they answer."""
        return not self._keys

    def same_prompt(self, request: Mapping[str, Any]) -> int | None:
        """Give the next recording that has the prompt of a request, whatever else that asks."""
        return next((n for n in self.left if self.all[n].prompt_hash == prompt_hash(request, self.all[n].ignore)), None)

    def take(self, position: int) -> Fixture:
        """Take a recording, which then is used."""
        del self.left[position]
        taken = self.all[position]
        digest = taken.request_hash or taken.prompt_hash
        if digest is not None:
            self._keys[taken.request_hash is not None, taken.ignore][digest].remove(position)
        return taken


class Replay:
    """The source of a `ReplayModel`: recordings by lane."""

    def __init__(self, found: Sequence[Fixture], *, strict: bool) -> None:
        self.strict = strict
        self.lanes: dict[str | None, _Lane] = {}
        for name in dict.fromkeys(each.lane for each in found):
            self.lanes[name] = _Lane([each for each in found if each.lane == name])

    def ordered(self, lane: str | None) -> bool:
        """Whether a lane's recordings are taken in their order, since they do not say what they answer."""
        return lane in self.lanes and self.lanes[lane].unkeyed

    def twice(self, lane: str | None) -> bool:  # noqa: ARG002  # what every source is asked
        """A recording is no iterator."""
        return False

    @property
    def pending(self) -> int:
        """How many recordings were not used yet."""
        return sum(len(lane.left) for lane in self.lanes.values())

    def draw(self, call: Call) -> _Taken:
        """Take the recording of this request; PROMPT_CHANGED, REQUEST_CHANGED or SCRIPT_EXHAUSTED where there is none."""
        lane = self.lanes[call.lane]
        position = lane.find(call.plain)
        if position is None and not self.strict:
            position = lane.same_prompt(call.plain)
        if position is None:
            raise misses.miss(call, lane.all, [lane.all[n] for n in lane.left])
        return _Taken(lane.take(position))

    def leftover(self) -> list[Finding]:
        """Give SCRIPT_UNUSED for each lane with recordings that had to be used and were not."""
        return [
            _unused(name, lane, left)
            for name, lane in self.lanes.items()
            if (left := [lane.all[n] for n in lane.left if not lane.all[n].optional])
        ]


def _unused(name: str | None, lane: _Lane, left: list[Fixture]) -> Finding:
    on = "" if name is None else f' on lane "{name}"'
    which = ", ".join(map(str, left[:_SHOWN])) + (f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else "")
    total, used = len(lane.all), len(lane.all) - len(lane.left)
    return Finding(
        "SCRIPT_UNUSED",
        Verdict.BROKEN,
        f"{len(left)} of {total} recording{'s'[: total != 1]} {'was' if len(left) == 1 else 'were'} not used{on}: {which}",
        expected=f"{total} call{'s'[: total != 1]}{on}",
        got=f"{used} call{'s'[: used != 1]}",
        hint='remove the line, give it "optional": true, or choose by label with only:',
    )


class ReplayModel(Faced):
    """A double that answers with recordings from fixture files, see `invcheck.sources.fixtures` for their format.

    ``recordings`` are files (a path), the text of one (it holds a brace), fixtures, or lists of them. A request is answered
    by the first recording of it that is not used yet, so the order of different requests does not matter; where no recording
    names its request they answer in turn. ``ignore`` are dotted names of fields that say nothing of a request, beside what
    each line ignores itself. Without ``strict`` the recording of a prompt also answers where other fields of the request
    differ. ``only`` chooses lines by their labels; with ``optional`` any of them may stay unused. For what else there is see
    `invcheck.faces.faced.Options`.

    FixtureInvalid names the line of what is no recording. A request that none answers is refused, and stays a finding:
    PROMPT_CHANGED or REQUEST_CHANGED with the nearest recording and the first difference, SCRIPT_EXHAUSTED where all that
    could answer it are used. ``$.calls[*].provenance`` says where each reply comes from.

    >>> import invcheck
    >>> text = '{"invcheck": 1, "provenance": {"kind": "hand-written"}, "request": {"prompt": "hi"}, "reply": {"text": "hello"}}'
    >>> with invcheck.testing():
    ...     ReplayModel(text)("hi").text
    'hello'
    """

    _source: Replay

    def __init__(
        self,
        *recordings: Recordings,
        strict: bool = True,
        ignore: Sequence[str] = (),
        only: Sequence[str] | None = None,
        optional: bool = False,
        **options: Unpack[Options],
    ) -> None:
        found = gathered(recordings, ignore=ignore, only=only, optional=optional)
        super().__init__(Replay(found, strict=strict), name="ReplayModel", **options)


def gathered(
    recordings: Recordings, *, ignore: Sequence[str] = (), only: Sequence[str] | None = None, optional: bool = False
) -> tuple[Fixture, ...]:
    """Read and choose the recordings of a double, once for doubles that are built in every trial; see `ReplayModel`."""
    for name, given in (("ignore", ignore), ("only", only)):
        if isinstance(given, str):
            raise DoubleError(f"{name} is a list of names, got {given!r}")
    found = list(_read(recordings))
    if only is not None:
        labels = {each.label for each in found if each.label is not None}
        for label in only:
            if label not in labels:
                raise DoubleError(f"no recording has the label {label!r}", hint=meant(label, sorted(labels)))
        found = [each for each in found if each.label in only]
    if not found:
        raise DoubleError("a ReplayModel has recordings, got none", hint='such as ReplayModel("checks/fixtures/answers.jsonl")')
    if ignore:
        found = [_ignoring(each, ignore) for each in found]
    fixtures.unlike(found)
    _one_way(found)
    return tuple(replace(each, optional=True) for each in found) if optional else tuple(found)


def _read(recordings: Recordings) -> Iterable[Fixture]:
    if isinstance(recordings, Fixture):
        yield recordings
    elif isinstance(recordings, str) and "{" in recordings:
        yield from fixtures.parse(recordings)
    elif isinstance(recordings, str | os.PathLike):
        yield from fixtures.read(recordings)
    elif isinstance(recordings, Sequence):
        for each in recordings:
            yield from _read(each)
    else:
        raise DoubleError(f"recordings are files, their text or fixtures, got {type(recordings).__name__}")


def _ignoring(fixture: Fixture, ignore: Sequence[str]) -> Fixture:
    more = tuple(dict.fromkeys((*fixture.ignore, *ignore)))
    if not fixture.keyed or more == fixture.ignore:
        return fixture
    if fixture.request is None:
        reason = f"it holds the hash of a request and not the request, so {', '.join(ignore)} cannot be ignored"
        raise FixtureInvalid(reason, place=fixture.place, reason=reason)
    return replace(fixture, ignore=more, request_hash=None, prompt_hash=None)


def _one_way(found: Sequence[Fixture]) -> None:
    """Refuse a lane in which some recordings name their request and some answer whatever comes."""
    first: dict[str | None, Fixture] = {}
    for index, each in enumerate(found):
        other = first.setdefault(each.lane, each)
        if other.keyed is not each.keyed:
            reason = f"it names {'a' if each.keyed else 'no'} request, and {other} names {'one' if other.keyed else 'none'}"
            raise FixtureInvalid(reason, place=each.place, hint="put them on lanes of their own", index=index, reason=reason)
