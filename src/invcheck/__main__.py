"""``python -m invcheck`` is ``invcheck``."""

import sys

from invcheck.cli import main

if __name__ == "__main__":
    sys.exit(main())
