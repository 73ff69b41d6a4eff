"""The command line, held to one tier: `python -m tests.egress.door TIER WORD...`."""

from __future__ import annotations

import sys
from functools import partial

from invcheck.cli import main
from invcheck.engines import confined
from invcheck.gate.tiers import Tier

if __name__ == "__main__":
    confined.Pool = partial(confined.Pool, tiers=[Tier(sys.argv[1])])  # type: ignore[misc, assignment]  # the run asks for no tier
    sys.exit(main(sys.argv[2:]))
