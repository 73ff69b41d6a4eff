"""Stage: run each case once more with everything flipped that surrounds it, and name what shows in the result.

A case is run twice as it is, in fresh workers, and eight times with every axis another way. Where something differs, each
axis is flipped by itself, and the runs that differ are traced, so that a finding names axis, place and line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from invcheck.audits.accepting import accepted, masked, without
from invcheck.audits.culprits import Line, culprits
from invcheck.audits.documents import Difference, differences
from invcheck.audits.mirror import mirrored
from invcheck.audits.written import Written
from invcheck.sandbox import flips
from invcheck.sandbox.flips import MOST, WAYS, Axis
from invcheck.vocabulary import Finding, Json, Place, Verdict

if TYPE_CHECKING:
    from invcheck.paths import Path as JsonPath

CODE = "AUDIT"
_BASE: Mapping[Axis, int] = {}
_TWINS = 2  # runs of one case with nothing changed, each in a worker of its own
_REMEDIES = {
    Axis.HASH: "sort what comes from a set, or keep a list",
    Axis.CLOCK: "hand the moment in as an input of the case",
    Axis.ZONE: "name the zone, as in datetime.now(UTC)",
    Axis.RANDOM: "use a Random of the app's own with a seed that it is given",
    Axis.ENTROPY: "hand the identifier in, or keep it out of what is returned",
    Axis.LISTING: "sort what is listed",
    Axis.LOCALE: "name the locale",
    Axis.FOLDER: "keep the folder out of what is returned",
    Axis.PROCESS: "keep the number of the process out of what is returned",
    Axis.SCHEDULE: "put results in the order of what was asked for",
}
_NOTHING = "keep addresses, state between runs, and what C code reads by itself out of what is returned"

Ask: TypeAlias = Callable[[list[Json]], Iterator[tuple[int, Json]]]
"""Has tasks done in workers, and gives the last message of each with its number, in any order."""

Ways: TypeAlias = Mapping[Axis, int]


@dataclass(frozen=True, slots=True)
class Subject:
    """One case: the ``task`` that runs it, without ``flips``, the paths that it accepts to differ, and where those stand."""

    task: Json
    accepts: tuple[str, ...] = ()
    place: Place | None = None


@dataclass(slots=True)
class _Case:
    subject: Subject
    accepts: list[JsonPath]
    base: Json = None
    lost: str | None = None
    loose: list[Difference] = field(default_factory=list)
    suspect: bool = False
    found: dict[tuple[Axis, ...], tuple[Ways, list[Difference]]] = field(default_factory=dict)
    stray: list[JsonPath] = field(default_factory=list)

    def compare(self, document: Json) -> list[Difference]:
        """Where a run differs from the one as it is, but for what is accepted and what nothing holds still."""
        return differences(self.base, self.held(document))

    def held(self, document: Json) -> Json:
        """A document without what is accepted to differ, and without what nothing holds still."""
        return masked(without(document, self.accepts)[0], [each.path for each in self.loose])

    def loosen(self, more: list[Difference]) -> None:
        """Take what ``more`` says for held still by nothing: whatever an axis seems to change there is none of its doing."""
        self.loose = _joined([self.loose, more])
        firm = {axes: (ways, [each for each in found if not _covered(each.path, self.loose)]) for axes, (ways, found) in self.found.items()}
        self.found = {axes: each for axes, each in firm.items() if each[1]}


def audit(subjects: Sequence[Subject], ask: Ask, root: Path) -> list[tuple[Finding, ...]]:
    """Give each case's findings, in the order of the subjects; the project stands at ``root``."""
    with mirrored(root) as folder:
        return _Audit(subjects, ask, root, folder).findings()


class _Audit:
    def __init__(self, subjects: Sequence[Subject], ask: Ask, root: Path, folder: Path) -> None:
        self._cases = [_Case(subject, [accepted(text) for text in subject.accepts]) for subject in subjects]
        self._ask, self._root, self._folder = ask, root, folder
        self._languages, self._written = flips.languages(), Written(root)

    def findings(self) -> list[tuple[Finding, ...]]:
        self._hold_still()
        self._flip_everything()
        self._flip_one_by_one()
        self._flip_together()
        traced = self._traced()
        return [tuple(self._told(n, case, traced)) for n, case in enumerate(self._cases)]

    def _run(self, wanted: Iterable[tuple[int, Ways, int, bool]]) -> Iterator[tuple[int, Json]]:
        """Run cases with axes flipped, in the copy and traced as said; gives what is compared, or how the run was lost."""
        asked = list(wanted)
        tasks = [
            self._cases[n].subject.task
            | {"do": "observe", "root": str(self._root)}
            | {"flips": flips.task(ways, folder=str(self._folder), languages=self._languages, copy=copy, traced=traced)}
            for n, ways, copy, traced in asked
        ]
        yield from self._ask(tasks)

    def _hold_still(self) -> None:
        """Run every case as it is, twice: what differs already is held still by nothing."""
        cases = range(len(self._cases))
        documents: dict[tuple[int, int], Json] = {}
        asked = [(n, _BASE, copy, False) for copy in range(1, _TWINS + 1) for n in cases]
        for index, message in self._run(asked):
            documents[asked[index][0], asked[index][2]] = message
        for n, case in enumerate(self._cases):
            twins = [documents[n, copy] for copy in range(1, _TWINS + 1)]
            case.lost = next((_lost(message) for message in twins if "done" not in message), None)
            if case.lost is None:
                held = [without(message["done"]["document"], case.accepts) for message in twins]
                case.base, case.stray = held[0]
                case.loose = _joined(differences(case.base, other) for other, _ in held[1:])
                case.base = masked(case.base, [each.path for each in case.loose])

    def _flip_everything(self) -> None:
        """Run every case with all axes flipped at once, eight ways."""
        sound = [n for n, case in enumerate(self._cases) if case.lost is None]
        asked = [(n, _everything(way), 0, False) for way in range(MOST) for n in sound]
        for index, message in self._run(asked):
            case = self._cases[asked[index][0]]
            case.suspect = case.suspect or bool(_differences(case, message))

    def _flip_one_by_one(self) -> None:
        """Flip each axis of the cases in which something differed, by itself and each of its ways."""
        suspects = [n for n, case in enumerate(self._cases) if case.suspect]
        asked = [(n, {axis: way}, 0, False) for axis in Axis for way in range(WAYS[axis]) for n in suspects]
        differ: dict[int, list[Difference]] = {}
        for index, message in self._run(asked):
            differ[index] = _differences(self._cases[asked[index][0]], message)
        for index, found in sorted(differ.items()):
            n, ways, _, _ = asked[index]
            if found:
                self._cases[n].found.setdefault(tuple(ways), (ways, found))

    def _flip_together(self) -> None:
        """Find the axes that only together make a difference, by leaving out what is not needed."""
        for n, case in enumerate(self._cases):
            if case.suspect and not case.found:
                way, found = next(((_everything(way), each) for way in range(MOST) if (each := self._one(n, _everything(way)))), ({}, []))
                for axis in [*way]:
                    fewer = {each: number for each, number in way.items() if each is not axis}
                    if fewer and (still := self._one(n, fewer)):
                        way, found = fewer, still
                if found:
                    case.found[tuple(way)] = (way, found)
                else:
                    case.loose = case.loose or [Difference("$", None, None)]

    def _one(self, n: int, ways: Ways) -> list[Difference]:
        return [each for _, message in self._run([(n, ways, 0, False)]) for each in _differences(self._cases[n], message)]

    def _traced(self) -> dict[tuple[int, tuple[Axis, ...]], list[Line]]:
        """Trace the runs that differ, beside one that was as it is: the lines that let in what differs."""
        asked: list[tuple[int, Ways, int, bool]] = []
        for n, case in enumerate(self._cases):
            if case.loose or case.found:
                asked.append((n, _BASE, 1, True))
            if case.loose:
                asked += [(n, _BASE, copy, True) for copy in range(2, _TWINS + 1)]
            asked += [(n, ways, _TWINS + 1, True) for ways, _ in case.found.values()]
        asked.sort(key=lambda each: str(each[1:]))  # those that a worker can do one after another, side by side
        ran: dict[tuple[int, tuple[Axis, ...], int], Json] = {}
        for index, message in self._run(asked):
            n, ways, copy, _ = asked[index]
            ran[n, tuple(ways), copy] = message.get("done")
        lines: dict[tuple[int, tuple[Axis, ...]], list[Line]] = {}
        shaken: dict[int, list[Difference]] = {}
        for (n, axes, copy), run in sorted(ran.items(), key=lambda each: each[0]):
            plain = ran[n, (), 1]
            if (axes, copy) != ((), 1) and plain is not None and run is not None:
                lines[n, axes] = lines.get((n, axes)) or culprits(plain["steps"], run["steps"], self._written.names)
                shaken.setdefault(n, []).extend(self._unsteady(self._cases[n], axes, plain["document"], run["document"]))
        for n, more in shaken.items():  # only now, so that each run was laid beside what was found before any of them
            self._cases[n].loosen(more)
        return lines

    @staticmethod
    def _unsteady(case: _Case, axes: tuple[Axis, ...], plain: Json, document: Json) -> list[Difference]:
        """Give what two runs of the same way show differently, which no axis explains."""
        again = differences(case.held(plain), case.held(document)) if axes else []
        return [*case.found[axes][1], *again] if axes and again != case.found[axes][1] else []

    def _told(self, n: int, case: _Case, lines: Mapping[tuple[int, tuple[Axis, ...]], list[Line]]) -> Iterator[Finding]:
        if case.lost is not None:
            yield Finding("AUDIT_LOST", Verdict.ERRORED, f"this case could not be audited: {case.lost}")
            return
        for path in case.stray:
            hint = "name a path of what is compared: `$.ambient`, `$.breaches` and `$.journal` are not"
            yield Finding(
                "AUDIT_IGNORE",
                Verdict.ERRORED,
                f"{path} is to differ, and is not there",
                path=str(path),
                place=case.subject.place,
                hint=hint,
            )
        if case.loose:
            known = lines.get((n, ())) or next(
                (found for (other, axes), found in lines.items() if other == n and axes not in case.found), []
            )
            yield self._finding(case, (), case.loose, known)
        for axes, (_, found) in case.found.items():
            yield self._finding(case, axes, found, lines.get((n, axes)) or [])

    def _finding(self, case: _Case, axes: tuple[Axis, ...], found: list[Difference], lines: list[Line]) -> Finding:
        what = " and the ".join(axes)
        one = axes[0] if len(axes) == 1 else None
        path, line = found[0].path, lines[0] if lines else None
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        changes = f"when the {what} {'changes' if one else 'change'}" if axes else "from run to run, with nothing changed"
        said = [f"differs {changes}", f"`{path}`{more}"]
        if line is not None:
            words = self._written.words(one, *line)
            said.append(f"{words or 'it comes in'} at {line[0]}:{line[1]}")
        return Finding(
            CODE,
            Verdict.BROKEN,
            "; ".join(said),
            path=path,
            expected=f"the same whatever the {what} is" if one else f"the same whatever the {what} are" if axes else "the same each time",
            got=self._spelt(str(found[0])) if axes else "another each time",
            place=Place(*line) if line else None,
            hint=f"{_REMEDIES[one] if one else _NOTHING}; or accept it: audit: {{ignore: ['{path}']}}",
            seed=case.subject.task["seed"],
        )

    def _spelt(self, text: str) -> str:
        return text.replace(str(self._folder), "<elsewhere>").replace(str(self._root), "<project>")


def _everything(way: int) -> Ways:
    return {axis: way % ways for axis, ways in WAYS.items()}


def _joined(found: Iterable[list[Difference]]) -> list[Difference]:
    """Each place once, where one holds another the wider one."""
    places = {each.path: each for several in found for each in several}
    return [each for path, each in places.items() if not _covered(path, [other for other in places.values() if other.path != path])]


def _covered(path: str, places: list[Difference]) -> bool:
    """Whether a place is one of ``places``, or inside of one."""
    return any(path == each.path or path.startswith((f"{each.path}.", f"{each.path}[")) for each in places)


def _differences(case: _Case, message: Json) -> list[Difference]:
    if "done" in message:
        return case.compare(message["done"]["document"])
    return [Difference("$", "it comes to its end", _lost(message))]


def _lost(message: Json) -> str | None:
    """How a run was lost, in words."""
    if "failed" in message:
        return str(message["failed"]["message"])
    if "died" in message:
        return f"the worker died: {message['died']}"
    return str(message["words"]) if "used" in message else f"nothing was heard for {message['capped']:g} seconds"
