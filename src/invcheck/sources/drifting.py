"""A double that answers anew each time, within what a function or a schema allows, repeatably from a seed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from invcheck import record
from invcheck.choices import Choices, SeededChoices, Source
from invcheck.errors import DoubleError
from invcheck.faces.faced import Faced, Options
from invcheck.request import Call, Request
from invcheck.sources.outcomes import settle
from invcheck.sources.rng import ChosenRandom
from invcheck.sources.steps import BOTH, arity
from invcheck.vocabulary import Finding, Outcome

Fake = Callable[[Source, Request], Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A function or schema that was read once, for doubles that are built from it in every trial."""

    fake: Fake


class _Drawn:
    """One call's own sub-stream and what answers from it."""

    __slots__ = ("_fake", "_source")

    def __init__(self, fake: Fake, source: Source) -> None:
        self._fake, self._source = fake, source

    async def give(self, call: Call) -> Outcome | str:
        """Give what the fake answers; its own exception goes into the app as it is."""
        given = self._fake(self._source, call.request)
        return given if type(given) is str else await settle(given, call)


class Drift:
    """The source of a `DriftingModel`: it never ends, and keys each call by what it asks."""

    pending = 0

    def __init__(self, fake: Fake, choices: Choices, lanes: Collection[str] | None) -> None:
        self.choices = choices
        self.lanes: frozenset[str | None] = frozenset([None] if lanes is None else lanes)
        self._fake = fake
        self._seen: dict[tuple[str | None, str], int] = {}

    def draw(self, call: Call) -> _Drawn:
        """Open the call's sub-stream, keyed by lane, request and how often it was asked before."""
        digest = call.request.digest
        occurrence = self._seen.get((call.lane, digest), 0)
        self._seen[call.lane, digest] = occurrence + 1
        return _Drawn(self._fake, self.choices.open(call.lane, digest, occurrence))

    def ordered(self, lane: str | None) -> bool:  # noqa: ARG002  # what every source is asked
        """The same replies come in any order, as each is keyed by its request."""
        return False

    def twice(self, lane: str | None) -> bool:  # noqa: ARG002  # what every source is asked
        """A fake is no script."""
        return False

    def leftover(self) -> list[Finding]:
        """Nothing can be left over."""
        return []


class DriftingModel(Faced):
    """A double that answers anew each time: from a function ``(rng, request) -> reply``, or from a schema.

    A function of one parameter is given the request alone, and one of none nothing: they draw nothing, so they answer the
    same in every trial.

    The function's ``rng`` is a random.Random whose draws are keyed by seed, lane, request and occurrence, so the same seed
    gives the same replies in any interleaving; it may answer with text, a Reply, JSON (dict or list), a dataclass or
    pydantic instance, a Fault, or raise. A schema is a pydantic model class or a mapping of JSON Schema. ``seed`` is the
    trial's own where it is not given. DoubleError where a schema has a keyword that is not supported.

    >>> import invcheck
    >>> def fake(rng, request):
    ...     return {"answer": rng.choice(["yes", "no", "perhaps"])}
    >>> with invcheck.testing(seed=7):
    ...     first = DriftingModel(fake)("is it?").text
    >>> with invcheck.testing(seed=7):
    ...     first == DriftingModel(fake)("is it?").text
    True
    """

    _source: Drift

    def __init__(
        self,
        what: Any,
        *,
        seed: int | None = None,
        lanes: Collection[str] | None = None,
        choices: Choices | None = None,
        **options: Unpack[Options],
    ) -> None:
        trial = record.required("DriftingModel")
        chosen = choices if choices is not None else SeededChoices(trial.seed if seed is None else seed)
        super().__init__(Drift(fake_of(what), chosen, lanes), name="DriftingModel", **options)

    @property
    def choices(self) -> list[list[int]]:
        """The choice log: what was chosen so far, one list of integers per call."""
        return self._source.choices.log


_RNG = ("rng", "random", "rand")
"""What people call a random generator."""


def _first(function: Callable[..., Any]) -> str | None:
    try:
        return next(iter(inspect.signature(function).parameters), None)
    except (ValueError, TypeError):  # a callable of C code shows no signature
        return None


def fake_of(what: Any) -> Fake:
    """Give what answers: a user's function, or values of a schema; DoubleError where it is neither."""
    if isinstance(what, Prepared):
        return what.fake
    if isinstance(what, Mapping) or hasattr(what, "model_json_schema"):
        from invcheck.sources.values import Values  # noqa: PLC0415  # only a double that drifts by a schema needs it

        return Values(what).fake
    if isinstance(what, type) or not callable(what):
        shown = f"the class {what.__name__}" if isinstance(what, type) else type(what).__name__
        raise DoubleError(
            f"a DriftingModel answers from a function or a schema, got {shown}", hint="pass an instance or one of its methods"
        )
    takes = arity(what)
    if takes == 1 and _first(what) in _RNG:
        raise DoubleError(
            f"{getattr(what, '__name__', 'the function')} takes {_first(what)} alone, and a function of one parameter is given the request",
            hint="write (rng, request)",
        )
    if takes is None:
        raise DoubleError(f"{getattr(what, '__name__', 'the function')} takes other arguments than (rng, request) or (request)")
    if takes == BOTH:
        return lambda source, request: what(ChosenRandom(source), request)
    return (lambda _, request: what(request)) if takes else (lambda _, __: what())
