"""Classic BPF, as seccomp takes it: a program of eight-byte instructions, with names for the places to jump to."""

from __future__ import annotations

from dataclasses import dataclass
from struct import pack
from typing import TypeAlias

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
"""Load a word of the call's data; compare it; end with a verdict (linux/bpf_common.h)."""

ALLOW, LISTENER, ERRNO = 0x7FFF_0000, 0x7FC0_0000, 0x0005_0000
"""Verdicts: let it pass, ask the listener, fail with the number that is added (linux/seccomp.h)."""

NUMBER, ARCH = 0, 4


def argument(index: int) -> int:
    """Give where the lower half of a call's argument stands; its upper half is four bytes on (both processors are little-endian).

    >>> argument(0), argument(4)
    (16, 48)
    """
    return 16 + 8 * index


@dataclass(frozen=True, slots=True)
class Label:
    """A place to jump to."""

    name: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; a jump names where it goes, None being the next."""

    code: int
    k: int
    then: str | None = None
    otherwise: str | None = None


Line: TypeAlias = Label | Instruction


def assemble(lines: list[Line]) -> bytes:
    """Give the program of these lines; ValueError for a jump backwards, too far, or to nowhere.

    >>> assemble([Instruction(RETURN, ALLOW)]).hex()
    '060000000000ff7f'
    """
    places, at = dict[str, int](), 0
    for line in lines:
        if isinstance(line, Label):
            places[line.name] = at
        else:
            at += 1
    code, at = b"", 0
    for line in lines:
        if isinstance(line, Instruction):
            at += 1
            code += pack("=HBBI", line.code, _jump(places, line.then, at), _jump(places, line.otherwise, at), line.k)
    return code


def _jump(places: dict[str, int], name: str | None, after: int) -> int:
    if name is None:
        return 0
    distance = places.get(name, -1) - after
    if not 0 <= distance <= 255:  # noqa: PLR2004  # one byte
        raise ValueError(f"no jump from {after - 1} to {name!r}")
    return distance
