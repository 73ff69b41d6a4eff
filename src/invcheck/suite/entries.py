"""A check and its cases as frozen data, and their plain JSON form, in which they travel to a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from invcheck import assertions
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json, Place, placed, spot

if TYPE_CHECKING:
    from invcheck.assertions.claim import Claim


@dataclass(frozen=True, slots=True)
class Case:
    """One input of a check; ``id`` is unique in its check, ``place`` says where the case stands."""

    id: str
    input: Json = None
    place: Place | None = None

    @property
    def fault(self) -> str | None:
        """What is wrong with the id, by which the case is selected and reported; None for a good one."""
        good = isinstance(self.id, str) and bool(self.id.strip()) and not {"\n", "\r"} & set(self.id)
        return None if good else f"a case's id must be a text of one line that is not empty, got {self.id!r}"


ROW = "a case is {id, input}; without `input` it is the input itself"
"""What a case may look like, for who has written it otherwise."""

FIRST = 'begin with checks/first.yaml: {check: answers, app: "shop.qa:answer", cases: [{input: hello}], expect: [{calls: 0}]}'
"""How a project begins, for who has no check yet."""


def stranger(row: Mapping[str, Json]) -> str | None:
    """Give the key that does not belong beside the ``id`` and ``input`` of a case, None where there is none.

    >>> stranger({"id": "a", "input": 1, "note": "x"}), stranger({"input": 1, "note": "x"})
    ('note', None)
    """
    if not {"id", "input"} <= row.keys():
        return None
    return next((str(key) for key in row if key not in ("id", "input")), None)


@dataclass(frozen=True, slots=True)
class Check:
    """One entry of a check file: what to run, on which cases, how often, and what must hold.

    A YAML check names its ``app`` ("module:function"); a Python check is a ``function`` of the trial. ``file`` is
    relative to the project, with slashes. ``claim_places`` runs beside ``claims``; ``places`` says where the other
    keys stand, and by their paths (``model.lane-by``) the fields of ``model``, ``ledger`` and ``probes`` with what they
    name. ``model``, ``ledger``, ``probes`` and ``clock`` are specs in plain JSON; in a Python file ``ledger``, ``probes``
    and ``setup`` may hold functions as well. ``allow`` holds canonical texts of `allowance`, ``accepts`` the
    paths that an audit leaves aside.
    """

    name: str
    file: str
    place: Place
    cases: tuple[Case, ...]
    app: str | None = None
    function: Callable[..., Any] | None = None
    runs: int = 1
    tags: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    claim_places: tuple[Place, ...] = ()
    parse: str | None = None
    model: Json = None
    ledger: Json = None
    probes: Mapping[str, Json] = field(default_factory=dict)
    setup: Any = None
    clock: Json = None
    allow: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The check's name in the whole project, as the command line spells it: ``FILE::NAME``."""
        return f"{self.file}::{self.name}"

    @property
    def python(self) -> bool:
        """Whether the check is a Python function; only the process that imported its file can run it."""
        return self.app is None

    def plain(self) -> dict[str, Json]:
        """The check as plain JSON, for `build`; functions and classes of a Python check become typed placeholders."""
        out: dict[str, Json] = {
            "name": self.name,
            "file": self.file,
            "place": spot(self.place),
            "cases": [{"id": case.id, "input": case.input, "place": spot(case.place)} for case in self.cases],
            "app": self.app,
            "runs": self.runs,
            "tags": list(self.tags),
            "claims": [{claim.key: claim.plain()} for claim in self.claims],
            "claim_places": [spot(place) for place in self.claim_places],
            "parse": self.parse,
            "model": self.model,
            "ledger": self.ledger,
            "probes": dict(self.probes),
            "setup": self.setup,
            "clock": self.clock,
            "allow": list(self.allow),
            "accepts": list(self.accepts),
            "places": {key: spot(place) for key, place in self.places.items()},
        }
        return snapshot(out) if self.python else out


def build(plain: Mapping[str, Json]) -> Check:
    """Give the check that `Check.plain` described; a claim that does not fit raises UsageError.

    A Python check comes back without its function and its claims: both live in the process that imported its file.
    """
    python = plain["app"] is None
    return Check(
        name=plain["name"],
        file=plain["file"],
        place=placed(plain["place"]) or Place(plain["file"]),
        cases=tuple(Case(case["id"], case["input"], placed(case["place"])) for case in plain["cases"]),
        app=plain["app"],
        runs=plain["runs"],
        tags=tuple(plain["tags"]),
        claims=() if python else tuple(assertions.build(claim) for claim in plain["claims"]),
        claim_places=tuple(placed(each) or Place(plain["file"]) for each in plain["claim_places"]),
        parse=plain["parse"],
        model=plain["model"],
        ledger=plain["ledger"],
        probes=plain["probes"],
        setup=plain["setup"],
        clock=plain["clock"],
        allow=tuple(plain["allow"]),
        accepts=tuple(plain["accepts"]),
        places={key: place for key, each in plain["places"].items() if (place := placed(each))},
    )
