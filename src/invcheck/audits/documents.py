"""What of two observations is laid side by side, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from invcheck.canonical import canonical
from invcheck.paths import below, equal
from invcheck.show import show
from invcheck.vocabulary import Json

_FIRST = ("output", "error", "calls", "effects", "ledger", "waits")
_ABSENT = {"$absent": True}
_AROUND = 24  # code points beside what differs in a text
_LONG = 2 * _AROUND + 32


def compared(observation: Json) -> dict[str, Json]:
    """Give what must be the same: the observation without what was read on the way, and without attempts to leave.

    Reading a clock is nothing, as long as it does not show. Every attempt to leave the sandbox is a finding already, and how
    often a library tries again is its own chance. Of the journal the order stays: what its entries hold stands elsewhere.
    """
    left = {key: value for key, value in observation.items() if key not in ("ambient", "breaches", "journal")}
    entries = [entry for entry in observation["journal"] if entry["kind"] != "breach"]
    return {**left, "order": [[entry["kind"], entry.get("n") if entry["kind"] in ("call", "chunk") else None] for entry in entries]}


@dataclass(frozen=True, slots=True)
class Difference:
    """One place at which two documents differ, and what stands there in each; `absent` says that nothing does."""

    path: str
    one: Json
    other: Json

    def __str__(self) -> str:
        """Both values in short; of two texts the part that differs."""
        if isinstance(self.one, str) and isinstance(self.other, str) and max(len(self.one), len(self.other)) > _LONG:
            return ", then ".join(map(show, _spans(self.one, self.other)))
        return ", then ".join("nothing" if absent(value) else show(value) for value in (self.one, self.other))


def absent(value: Json) -> bool:
    """Say whether a difference has nothing here."""
    return bool(value == _ABSENT)


def differences(one: Json, other: Json) -> list[Difference]:
    """Give where two documents differ, as few places as say it: what the app returned first, the order of things last.

    A list in which the order alone, or more than one item, is another is one place.

    >>> [each.path for each in differences({"output": {"tags": ["a", "b"], "n": 1}}, {"output": {"tags": ["b", "a"], "n": 2}})]
    ['$.output.n', '$.output.tags']
    """
    found = list(_found("$", one, other))
    return sorted(found, key=lambda each: (_rank(each.path), each.path))


def _rank(path: str) -> int:
    """What is asked of a model comes before what it answered, of which the count of tokens may be a consequence."""
    head = path[2:].split(".", 1)[0].split("[", 1)[0]
    place = _FIRST.index(head) if head in _FIRST else len(_FIRST) + (head == "order")
    return 2 * place + (head == "calls" and ".outcome" in path)


def _found(at: str, one: Json, other: Json) -> Iterator[Difference]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from _found(below(at, key), one.get(key, _ABSENT), other.get(key, _ABSENT))
    elif isinstance(one, list) and isinstance(other, list):
        places = [place for place, (mine, its) in enumerate(zip(one, other, strict=False)) if not _same(mine, its)]
        if len(one) != len(other) or (len(places) > 1 and not _alike(one, other)):
            yield Difference(at, one, other)
        else:
            for place in places:
                yield from _found(below(at, place), one[place], other[place])
    elif not _same(one, other):
        yield Difference(at, one, other)


def _alike(one: list[Json], other: list[Json]) -> bool:
    """Whether items are objects whose fields differ, rather than other items."""
    return all(isinstance(item, dict) for item in (*one, *other)) and sorted(map(canonical, one)) != sorted(map(canonical, other))


def _same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and equal(one, other)


def _spans(one: str, other: str) -> tuple[str, str]:
    """The parts of two texts that differ, with what stands right beside them."""
    least = min(len(one), len(other))
    begin = next((n for n in range(least) if one[n] != other[n]), least)
    end = next((n for n in range(least - begin) if one[-1 - n] != other[-1 - n]), least - begin)
    return _cut(one, begin, end), _cut(other, begin, end)


def _cut(text: str, begin: int, end: int) -> str:
    first, last = max(0, begin - _AROUND), min(len(text), len(text) - end + _AROUND)
    return f"{'...' if first else ''}{text[first:last]}{'...' if last < len(text) else ''}"
