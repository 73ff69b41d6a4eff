"""A `random.Random` for users' own fakes, every draw of which is a logged choice."""

from __future__ import annotations

from random import Random
from typing import Any, NoReturn

from invcheck.choices import WIDEST, Source


class ChosenRandom(Random):
    """A random generator whose draws go through `Source.choose`, so that they replay and shrink.

    ``randint``, ``choice``, ``sample`` and ``shuffle`` are small choices; 0 is their first option.

    >>> from invcheck.choices import ReplaySource
    >>> ChosenRandom(ReplaySource([2])).choice(["a", "b", "c"])
    'c'
    """

    def __new__(cls, source: Source) -> ChosenRandom:  # noqa: ARG004, PYI034, D102  # a fixed seed spares a read of the system's entropy
        return super().__new__(cls, 0)  # type: ignore[call-arg]  # the stub knows no seed here

    def __init__(self, source: Source) -> None:
        self._begun = False
        super().__init__(0)
        self._begun = True
        self._chosen = source.choose
        self.random = source.fraction  # type: ignore[method-assign]  # spares a call in what a fake draws most

    def getrandbits(self, k: int, /) -> int:
        """Choose ``k`` bits, at most 32 a choice."""
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        bits = 0
        while k > 0:
            part = min(k, 32)
            bits = bits << part | self._chosen(1 << part)
            k -= part
        return bits

    def _randbelow(self, n: int) -> int:
        if n <= WIDEST:
            return self._chosen(n)
        drawn = n
        while drawn >= n:
            drawn = self.getrandbits(n.bit_length())
        return drawn

    def seed(self, *_args: Any, **_kwargs: Any) -> None:
        """Refuse: this generator is the double's; a fake that wants its own builds its own Random."""
        if self._begun:
            self._refuse()

    def _refuse(self, *_args: Any) -> NoReturn:
        raise TypeError("this rng belongs to the double and is seeded by the trial; for one of your own build random.Random(seed)")

    getstate = setstate = _refuse  # type: ignore[assignment]  # it has no state of its own
