"""What a user may write in a check file, in YAML or Python, and the `Check` that both become.

Nothing that this package imports at its top loads pydantic: workers rebuild checks from plain JSON with `build`.
"""

from invcheck.suite.declare import asserts, check, declared
from invcheck.suite.entries import Case, Check, build
from invcheck.vocabulary import Json

__all__ = ["Case", "Check", "asserts", "build", "check", "declared", "schema"]


def schema() -> dict[str, Json]:
    """Give the JSON Schema (2020-12) of a YAML check file, for editors."""
    from invcheck.suite.editor import json_schema  # noqa: PLC0415  # it loads every assertion and pydantic

    return json_schema()
