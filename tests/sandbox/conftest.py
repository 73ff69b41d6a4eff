"""The sandbox, installed once in the test process, with the network cut in trials only."""

from pathlib import Path

import pytest

from invcheck.sandbox import box

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    """Install the sandbox the way an in-process user does."""
    box.install(ROOT, armed=False)
