"""Nothing gets out: every way of the report's table, judged by listeners in a network that the test makes itself.

K1 is held to all of them here; `python -m tests.egress` does it for every tier.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from tests.egress.__main__ import NoWorld, judged
from tests.egress.harness import WAYS
from tests.egress.verdicts import faults, missing, table

FEW = (
    "create_connection to an address",
    "ctypes connect",
    "UDP sendto",
    "getaddrinfo",
    "an abstract Unix socket",
    "own server on loopback",
)


def _judged(user: str, *asked: Any) -> Any:
    if user == "root" and os.getuid():
        pytest.skip("the test does not run as root")
    try:
        return judged(user, *asked)
    except NoWorld as refusal:
        pytest.skip(str(refusal))


@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_nothing_gets_out_of_k1(user: str) -> None:
    """Every way is seen without walls, none behind those of K1, and all that must work does, as root and as nobody special."""
    found = _judged(user, ["K1"])
    sys.stdout.write("\n".join([table(found), *missing(found)]))  # pytest shows it where this fails
    assert set(found["K1"]) == set(WAYS)
    assert list(faults(found)) == []


def test_the_listeners_see_who_does_get_out() -> None:
    """The judges are no dummies: through the same door, native code is seen to leave the soft tier, and Python is not."""
    found = _judged("ordinary", ["soft"], FEW)
    assert {name for name, row in found["soft"].items() if row["seen"]} == {"ctypes connect"}
    assert list(faults(found)) == []  # it is not promised there


@pytest.mark.parametrize("tier", ["K2", "K3"])
def test_the_tiers_between_hold_too(tier: str) -> None:
    """Where a better tier is refused, a filter alone stops the same."""
    found = _judged("ordinary", [tier], FEW)
    assert {name: row["seen"] for name, row in found[tier].items()} == {name: [] for name in FEW}
    assert list(faults(found)) == []


def _found(way: str, tier: str, free: dict[str, Any], row: dict[str, Any]) -> Any:
    return {"free": {way: {"seen": [], "told": "None", **free}}, tier: {way: {"seen": [], "noted": [], "verdict": "broken", **row}}}


SEEN, TOLD = {"seen": ["TCP"]}, {"noted": ["192.0.2.1:80 was wanted"]}


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (_found("connect_ex", "K1", SEEN, TOLD), []),
        (_found("connect_ex", "K1", SEEN, SEEN | TOLD), ["connect_ex: it leaks in K1, as TCP"]),
        (_found("connect_ex", "K1", SEEN, {}), ["connect_ex: it is stopped in K1 and told by nobody"]),
        (_found("connect_ex", "K1", {}, TOLD), ["connect_ex: without walls no listener saw it, so it proves nothing (None)"]),
        (_found("connect_ex", "K1", {"told": "missing: no network"}, {}), []),
        (_found("connect_ex", "soft", SEEN, SEEN), ["connect_ex: it leaks in soft, as TCP"]),
        (_found("ctypes connect", "soft", SEEN, SEEN), []),
        (_found("ctypes connect", "K3", SEEN, SEEN), ["ctypes connect: it leaks in K3, as TCP"]),
        (_found("pycurl at a Unix socket", "K3", SEEN, SEEN), []),
        (_found("pycurl at a Unix socket", "K2", SEEN, SEEN | TOLD), ["pycurl at a Unix socket: it leaks in K2, as TCP"]),
        (_found("io_uring", "K1", SEEN, {}), []),
        (_found("own server on loopback", "K1", {"told": "worked"}, {"verdict": "kept"}), []),
        (
            _found("own server on loopback", "K1", {"told": "worked"}, {"others": ["got nothing"]}),
            ["own server on loopback: it does not work in K1 (got nothing)"],
        ),
    ],
)
def test_what_is_not_as_promised_is_called(found: Any, told: list[str]) -> None:
    """A leak, a control that nobody saw, a way that is not told and one that does not work are called each by its name."""
    assert list(faults(found)) == told


def test_the_table_says_what_was_not_taken() -> None:
    """A way that this machine cannot take stands in the table with its reason, and in no tier as held."""
    text = table(_found("uvloop", "K1", {"told": "missing: uvloop is not installed"}, {}))
    assert text.splitlines()[2].split("  ")[:2] == ["uvloop", "uvloop is not installed"]
    assert text.splitlines()[2].split()[-1] == "-"
