"""The benchmark's rows do what they say; how fast is for `python -m tests.benchmarks` to tell."""

import subprocess
import sys
from pathlib import Path

import pytest

DRIFT = Path(__file__).parent / "drift.py"
WIRE = Path(__file__).parent / "sdks.py"


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("how", ["bare", "trial"])
def test_every_drift_row_keeps_every_seed(how: str, kind: str) -> None:
    """Both sides run the same fake and app under the same eight claims, and none of them is broken."""
    done = subprocess.run([sys.executable, str(DRIFT), how, kind, "10", "20"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("kind", ["whole", "stream"])
@pytest.mark.parametrize("how", ["mock", "double"])
def test_every_wire_row_says_what_it_should(how: str, kind: str) -> None:
    """Both sides answer the same client with the same text."""
    done = subprocess.run([sys.executable, str(WIRE), how, kind, "3"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
