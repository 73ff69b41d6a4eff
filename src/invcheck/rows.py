"""The one door to orjson: JSON Lines, streamed, one strict row at a time.

orjson is fast, but it lets duplicate keys pass and makes floats of integers from 2**64. So each row is written again
and compared without blanks: equal bytes prove that nothing was lost, and every other row is read by the strict decoder.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from invcheck import jsontext
from invcheck.errors import NotJson
from invcheck.vocabulary import Json


def read(file: BinaryIO) -> Iterator[tuple[int, Json, NotJson | None]]:
    """Give (line number from 1, row, None) of each line, or (line number, None, what is wrong with it), in order.

    A line that is blank, cut off, no UTF-8 or no strict JSON is wrong; the others are still read. Memory holds one row.

    >>> from io import BytesIO
    >>> [(line, row, error and error.fields["defect"]) for line, row, error in read(BytesIO(b'{"a":1}\\n{"a":1,"a":2}\\n'))]
    [(1, {'a': 1}, None), (2, None, 'DUPLICATE_KEY')]
    """
    from orjson import OPT_APPEND_NEWLINE, JSONEncodeError, dumps, loads  # noqa: PLC0415  # only recorded rows need it

    for number, line in enumerate(file, 1):
        try:
            row = loads(line)
            again = dumps(row, None, OPT_APPEND_NEWLINE)
        except (ValueError, JSONEncodeError):  # the latter where it is nested deeper than orjson writes
            yield (number, *_strictly(line))
        else:
            if again == line or again.replace(b" ", b"") == line.replace(b" ", b""):
                yield number, row, None
            else:
                yield (number, *_strictly(line))


def _strictly(line: bytes) -> tuple[Json, NotJson | None]:
    try:
        return jsontext.loads(line.decode()), None
    except UnicodeDecodeError:
        return None, NotJson("the line is no UTF-8", defect="ENCODING")
    except NotJson as error:
        if not line.endswith(b"\n") and error.fields.get("defect") == "SYNTAX":
            return None, NotJson("the file ends within this line", defect="TRUNCATED")
        return None, error
