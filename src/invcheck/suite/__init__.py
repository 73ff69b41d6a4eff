"""What a user may write in a check file, in YAML or Python, and the `Check` that both become.

Nothing that this package imports at its top loads pydantic: workers rebuild checks from plain JSON with `build`.
"""

from invcheck.suite.declare import check, declared
from invcheck.suite.entries import Case, Check, build

__all__ = ["Case", "Check", "build", "check", "declared"]
