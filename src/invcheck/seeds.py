"""Seeds that are derived, never drawn: stable for ever, on any Python, in any order."""

from __future__ import annotations

STREAM = 1
"""The stream's version. A new number moves every seed, so it changes only with a major release."""


def derive(root: int | str, *labels: int | str) -> int:
    """Give the child seed of ``root`` under ``labels``: 64 bits of sha256 over their text, joined by slashes.

    >>> derive(7, "chance") == derive(7, "chance")
    True
    >>> derive(7, "chance") == derive(8, "chance")
    False
    """
    from hashlib import sha256  # noqa: PLC0415  # it loads OpenSSL, which a trial without a draw does not need

    text = f"invcheck/{STREAM}/{root}/{'/'.join(map(str, labels))}"
    return int.from_bytes(sha256(text.encode("utf-8", "backslashreplace")).digest()[:8], "big")
