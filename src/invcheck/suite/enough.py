"""Whether a check has runs enough for what it claims across them."""

from __future__ import annotations

from invcheck.assertions.claim import Claim


def too_few(claim: Claim, runs: int) -> tuple[str, str] | None:
    """Give what is wrong with a claim that so many runs can never keep, and a hint; None where they can.

    >>> from invcheck.assertions import Distinct
    >>> too_few(Distinct("$.output", at_least=3), 2)
    ('distinct needs at least 3 runs to be kept, and the check has 2', 'give the check runs: 3 or more')
    """
    least = claim.least_runs()
    if runs >= least:
        return None
    return f"{claim.key} needs at least {least} runs to be kept, and the check has {runs}", f"give the check runs: {least} or more"
