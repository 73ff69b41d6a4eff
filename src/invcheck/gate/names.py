"""Just enough of DNS (RFC 1035, section 4) to say which name is looked up, and that there is none of it."""

from __future__ import annotations

_HEADER, _FLAGS_NO_SUCH_NAME = 12, b"\x81\x83"


def asked(query: bytes) -> tuple[str, int] | None:
    r"""Give the name that a query asks for, and where its question ends; None for what is no query.

    >>> asked(b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03api\x07example\x00\x00\x01\x00\x01")
    ('api.example', 29)
    """
    if len(query) < _HEADER or query[2] & 0x80 or query[4:6] == b"\0\0":
        return None
    labels, at = [], _HEADER
    while at < len(query) and query[at]:
        size = query[at]
        if size & 0xC0 or at + 1 + size > len(query):
            return None
        labels.append(query[at + 1 : at + 1 + size].decode("ascii", "backslashreplace"))
        at += 1 + size
    return (".".join(labels), at + 5) if at + 5 <= len(query) else None


def nothing(query: bytes, end: int) -> bytes:
    """Give the answer that no such name exists, to the question that ends there."""
    return query[:2] + _FLAGS_NO_SUCH_NAME + b"\0\x01" + bytes(6) + query[_HEADER:end]
