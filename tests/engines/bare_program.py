"""A worker that imports nothing of its own: what a worker costs before any user code."""

import os
import sys

from invcheck.engines import channel
from invcheck.sandbox import box

box.install(os.getcwd())
channel.serve({"modules": lambda _task, _emit: sorted(sys.modules)})
