"""Ask claims as a check does: all that have a fused form at once, the others by themselves."""

from __future__ import annotations

from collections.abc import Sequence

from invcheck.assertions.claim import Claim
from invcheck.assertions.fuse import Kept, fuse
from invcheck.vocabulary import Json


def kept_by(claims: Sequence[Claim]) -> Kept:
    """Give a function that tells whether a document keeps all claims; one that raises does not keep them."""
    surely, others = fuse(claims)

    def kept(document: Json) -> bool:
        return surely(document) and all(_keeps(claim, document) for claim in others)

    return kept


def _keeps(claim: Claim, document: Json) -> bool:
    try:
        return claim.each(document) is None
    except Exception:  # noqa: BLE001  # told by the judge
        return False
