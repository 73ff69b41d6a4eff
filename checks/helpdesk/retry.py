"""The one place that decides whether and when a model is asked again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from checks.helpdesk.errors import RateLimited

T = TypeVar("T")

RETRIABLE = (RateLimited, TimeoutError, ConnectionError)


class Jitter(Protocol):
    """What `random` and `random.Random` offer of it."""

    def uniform(self, a: float, b: float, /) -> float:
        """Draw a number from a to b."""
        ...


@dataclass(frozen=True, slots=True)
class Policy:
    """At most ``tries`` calls; before try n + 2 a wait of up to ``min(cap, base * 2 ** n)`` seconds ("full jitter")."""

    tries: int = 4
    base: float = 0.5
    cap: float = 8.0

    def bound(self, n: int) -> float:
        """Give the longest wait after the failed try n, from 0."""
        return float(min(self.cap, self.base * 2**n))


STANDARD = Policy()


def with_retry(ask: Callable[[], T], *, sleep: Callable[[float], object], rng: Jitter, policy: Policy = STANDARD) -> T:
    """Call ``ask`` until it answers; what is not retriable, and the last failure, leaves as it is."""
    for n in range(policy.tries - 1):
        try:
            return ask()
        except RETRIABLE:
            sleep(rng.uniform(0, policy.bound(n)))
    return ask()
