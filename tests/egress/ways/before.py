"""What stands open before the gate does: a connection that whoever starts the run hands down."""

import os
import stat
from pathlib import Path

from ways.way import Targets, way


@way("a connection of before", hidden=True, quiet=True)
def inherited(to: Targets) -> object:
    for each in list(Path("/proc/self/fd").iterdir()):
        number = int(each.name)
        try:
            if number > 2 and stat.S_ISSOCK(os.fstat(number).st_mode):
                os.write(number, b"late")
        except OSError:
            continue
