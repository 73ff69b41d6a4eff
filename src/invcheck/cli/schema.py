"""``invcheck schema``: the JSON Schema of check files, for editors."""

from __future__ import annotations

import json
from collections.abc import Callable


def schema() -> Callable[[], int]:
    """Print the JSON Schema of check files, for editors that complete and mark them."""
    return execute


def execute() -> int:
    """Print the schema with sorted keys, so that a committed copy changes only when the schema does."""
    from invcheck import suite  # noqa: PLC0415  # --help must not load the house
    from invcheck.cli import console  # noqa: PLC0415  # as above

    console.data(json.dumps(suite.schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    return 0
