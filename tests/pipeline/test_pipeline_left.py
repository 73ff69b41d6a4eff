"""Programs that an app starts and does not wait for: what they reach for is the trial's, every time."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import Shop

APP = """
    import os
    import subprocess
    import sys

    DIAL = "import socket; socket.create_connection(('192.0.2.7', 443))"


    def dials(input=None):
        subprocess.Popen([sys.executable, "-c", DIAL], stderr=subprocess.DEVNULL)


    def shells(input=None):
        os.system(f"{sys.executable} -c \\"{DIAL}\\" 2> /dev/null &")


    def serves(input=None):
        subprocess.Popen(["sleep", "1000"])


    def works(input=None):
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
"""
CHECK = "{{check: {0}, app: 'shop:{0}', runs: 2, cases: [{{id: a, input: {{}}}}], expect: [{{{1}}}]}}\n"
NOTED = "subset: {of: ['program left'], in: '$.ambient[*].source'}"


@pytest.mark.parametrize(
    ("name", "claim", "verdict", "code"),
    [
        ("dials", "calls: 0", "broken", "NETWORK"),
        ("shells", "calls: 0", "broken", "NETWORK"),
        ("serves", NOTED, "kept", None),
        ("works", "calls: 0", "errored", "CHILDREN_LEFT"),
    ],
)
def test_a_program_that_nobody_waits_for_is_the_trials(name: str, claim: str, verdict: str, code: str | None, shop: Shop) -> None:
    """One that dials is a finding of both trials, one that works on is errored, one that rests is noted and ends with its case."""
    shop.write({"shop.py": APP, "checks/a.yaml": CHECK.format(name, claim)})
    told = shop.told()
    assert told.verdict(f"{name}[a]") == verdict
    if code is not None:
        found = told.one(f"{name}[a]")
        assert (found["code"], found["count"]) == (code, 2)
