"""One primitive for drift, search, shrinking and replay: `Source.choose`.

A double's behaviour is a pure function of its choice log: one list of integers per call. Option 0 of every choice is the
benign one, an option of weight 0 is impossible, and a choice with one possible option is forced: it is not logged.
"""

from __future__ import annotations

from _random import Random  # the generator itself: what random.Random adds to it seeds it once more
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol, TypeVar

from invcheck.seeds import derive

T = TypeVar("T")

WIDEST = 2**53
"""One draw holds 53 random bits, so one choice has at most that many options."""


class Source:
    """The choices of one call, in order; ``log`` holds what was chosen and ``widths`` among how many.

    >>> source = ReplaySource([2])
    >>> source.choose(5), source.choose(5), source.choose(1), source.log
    (2, 0, 0, [2, 0])
    """

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: list[tuple[int, int] | float] = []  # a choice and its width, or a fraction as it was drawn

    @property
    def log(self) -> list[int]:
        """What was chosen, in order."""
        return [int(made * WIDEST) if isinstance(made, float) else made[0] for made in self._made]

    @property
    def widths(self) -> list[int]:
        """Among how many options each was chosen."""
        return [WIDEST if isinstance(made, float) else made[1] for made in self._made]

    def choose(self, n: int, weights: Sequence[float] | None = None) -> int:
        """Choose one of ``n`` options, 0 to n - 1; with ``weights``, in their proportion.

        ValueError where there is no possible option, or more than 2**53.
        """
        if weights is not None:
            return self._weighted(n, weights)
        if n == 1:
            return 0
        if not 1 < n <= WIDEST:
            raise ValueError(f"a choice has 1 to 2**53 options, got {n}")
        return self._logged(n, None)

    def _weighted(self, n: int, weights: Sequence[float]) -> int:
        if len(weights) != n or min(weights, default=0) < 0:
            raise ValueError(f"{n} options need {n} weights from 0 up, got {list(weights)}")
        possible = [option for option, weight in enumerate(weights) if weight]
        if not possible:
            raise ValueError("every option has weight 0, so none is possible")
        if len(possible) == 1:
            return possible[0]
        return possible[self._logged(len(possible), [weights[option] for option in possible])]

    def _logged(self, n: int, weights: Sequence[float] | None) -> int:
        value = self._draw(n, weights)
        self._made.append((value, n))
        return value

    def _draw(self, n: int, weights: Sequence[float] | None) -> int:
        raise NotImplementedError

    def fraction(self) -> float:
        """Choose one of the 2**53 floats of [0, 1) that ``Random.random()`` gives; 0.0 is the benign one."""
        return self._logged(WIDEST, None) / WIDEST

    def integer(self, low: int, high: int) -> int:
        """Choose an integer from ``low``, which is the benign one, to ``high``."""
        return low + self.choose(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        """Choose one of ``options``, of which the first is the benign one."""
        return options[self.choose(len(options))]

    def flag(self, probability: float) -> bool:
        """Choose True with ``probability``; False is the benign one."""
        return self.choose(2, (1 - probability, probability)) == 1


class SeededSource(Source):
    """Choices drawn from a seed; only ``Random.random()`` is used, whose sequence Python promises to keep."""

    __slots__ = ("_random",)

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = Random(seed).random

    def choose(self, n: int, weights: Sequence[float] | None = None) -> int:
        """Choose as every source does; the usual draw goes the short way, as a fake makes dozens a reply."""
        if weights is not None or not 1 < n <= WIDEST:
            return super().choose(n, weights)
        value = int(self._random() * n)
        self._made.append((value, n))
        return value

    def fraction(self) -> float:
        """Choose a float of [0, 1); it holds exactly the 53 bits that are logged."""
        drawn = self._random()
        self._made.append(drawn)
        return drawn

    def _draw(self, n: int, weights: Sequence[float] | None) -> int:
        sums = list(accumulate([1] * n if weights is None else weights))
        return min(bisect_right(sums, self._random() * sums[-1]), n - 1)


class ReplaySource(Source):
    """Choices taken from a log; what is missing is 0, the benign option, and what is out of range the last option."""

    __slots__ = ("_given",)

    def __init__(self, log: Sequence[int]) -> None:
        super().__init__()
        self._given = iter(tuple(log))

    def _draw(self, n: int, weights: Sequence[float] | None) -> int:  # noqa: ARG002  # a log knows what was chosen
        return min(next(self._given, 0), n - 1)


class Choices(Protocol):
    """Where a double gets one source per call from."""

    @property
    def log(self) -> list[list[int]]:
        """What was chosen so far, one list per call in the order of their draws."""

    def open(self, lane: str | None, digest: str, occurrence: int) -> Source:
        """Give the source of one call, keyed by what was asked and how often it had been asked before."""


class SeededChoices:
    """A sub-stream per call, keyed by lane, request digest and occurrence: no interleaving moves another call's draws.

    >>> SeededChoices(7).open(None, "abc", 0).choose(100) == SeededChoices(7).open(None, "abc", 0).choose(100)
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._opened: list[Source] = []

    @property
    def log(self) -> list[list[int]]:
        """What was chosen so far, one list per call."""
        return [source.log for source in self._opened]

    def open(self, lane: str | None, digest: str, occurrence: int) -> Source:
        """Give the call's own sub-stream."""
        source = SeededSource(derive(self.seed, lane or "", digest, occurrence))
        self._opened.append(source)
        return source


class ReplayChoices:
    """The choices of an earlier log, call by call; a call beyond the log gets the benign option everywhere."""

    def __init__(self, log: Sequence[Sequence[int]]) -> None:
        self._given = log
        self._opened: list[Source] = []

    @property
    def log(self) -> list[list[int]]:
        """What was chosen so far, one list per call."""
        return [source.log for source in self._opened]

    def open(self, lane: str | None, digest: str, occurrence: int) -> Source:  # noqa: ARG002  # a log is replayed in order
        """Give the next call of the log."""
        source = ReplaySource(self._given[len(self._opened)] if len(self._opened) < len(self._given) else ())
        self._opened.append(source)
        return source
