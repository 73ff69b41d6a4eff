"""How far the kernel helps: four tiers, the best first."""

from __future__ import annotations

from enum import StrEnum


class Tier(StrEnum):
    """What stands around a process that runs user code; the audit hook stands in all of them.

    >>> Tier.K1.kernel, Tier.SOFT.kernel, max(Tier.K2, Tier.SOFT, key=list(Tier).index)
    (True, False, <Tier.SOFT: 'soft'>)
    """

    K1 = "K1"
    K2 = "K2"
    K3 = "K3"
    SOFT = "soft"

    @property
    def kernel(self) -> bool:
        """Whether the kernel itself keeps the process off the network."""
        return self is not Tier.SOFT

    @property
    def means(self) -> str:
        """What does it, in words."""
        return _MEANS[self]


_MEANS = {
    Tier.K1: "user, network and mount namespaces, a seccomp listener, an audit hook",
    Tier.K2: "a seccomp listener and an audit hook, in the machine's own network namespace",
    Tier.K3: "a static seccomp filter and an audit hook: what native code attempts is refused and not named",
    Tier.SOFT: "an audit hook alone: native code is not seen, and no program can be started",
}
