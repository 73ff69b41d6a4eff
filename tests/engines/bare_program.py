"""A worker that imports nothing of its own: what a worker loads before any user code."""

import sys

before = set(sys.modules)

from pathlib import Path  # noqa: E402  # what was there before us is not ours

from invcheck.engines import channel  # noqa: E402  # likewise
from invcheck.sandbox import box  # noqa: E402  # likewise

box.install(Path.cwd())
channel.serve({"modules": lambda _task, _emit: sorted(set(sys.modules) - before)})
