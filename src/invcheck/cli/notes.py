"""What a person is told before a run is under way: how far the gate stands, and what of this machine no trial sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from invcheck.cli import console
from invcheck.events import Started


def banner(started: Started) -> str:
    """Give the note of a run whose network is not cut by the kernel."""
    reason = f" ({started.layer_reason})" if started.layer_reason else ""
    return (
        f"note: the kernel's gate does not stand here{reason}: only Python's own ways out are cut\n"
        "  hint: --require-kernel refuses such a run"
    )


def withheld(environ: Mapping[str, str], keep: Sequence[str]) -> None:
    """Tell which variables of this environment no trial sees."""
    from invcheck.sandbox.environ import scrubbed  # noqa: PLC0415  # only who asks for more words needs it

    _, names = scrubbed(environ, "", keep=keep)
    if names:
        hint = "gate.keep-env in the settings lets trials have one that is no provider's key"
        console.say(f"note: no trial sees what this environment says of {', '.join(names)}\n  hint: {hint}")
