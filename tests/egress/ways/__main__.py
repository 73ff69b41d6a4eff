"""Take one way without any gate: `python -m ways WAY TARGETS`; status 3 and the reason where the machine has not what it needs."""

import json
import sys
from contextlib import suppress

import ways


def main(name: str, text: str) -> int:
    try:
        with suppress(OSError, RuntimeError):
            sys.stdout.write(str(ways.WAYS[name].take(json.loads(text))))
    except ways.Missing as reason:
        sys.stdout.write(str(reason))
        return 3
    except Exception as error:  # noqa: BLE001  # whoever is hung up on raises, each library in its way; a listener judges
        sys.stdout.write(type(error).__name__)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
