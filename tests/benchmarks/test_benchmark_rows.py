"""The benchmark's rows do what they say; how fast is for `python -m tests.benchmarks` to tell."""

import subprocess
import sys
from pathlib import Path

import pytest

DRIFT = Path(__file__).parent / "drift.py"


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("how", ["bare", "trial"])
def test_every_drift_row_keeps_every_seed(how: str, kind: str) -> None:
    """Both sides run the same fake and app under the same eight claims, and none of them is broken."""
    done = subprocess.run([sys.executable, str(DRIFT), how, kind, "10", "20"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
