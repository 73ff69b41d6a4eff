"""``invcheck doctor``: how far the kernel of this machine helps, proved by trying to get out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from invcheck._proof import Proof

Form = Annotated[str | None, typer.Option("--format", help="What stdout gets: table or json.", metavar="FORMAT", show_default=False)]

_ADVICE = {
    "K1": "unprivileged user namespaces are what is missing: kernel.apparmor_restrict_unprivileged_userns, "
    "kernel.unprivileged_userns_clone or a container's seccomp profile forbid them"
}
"""What a person may do about a tier that is refused."""


def doctor(format: Form = None) -> Callable[[], int]:  # noqa: A002  # the flag's own name
    """Prove the gate: take every way out, first without walls, then from a worker, with listeners as judges.

    Nothing is sent but to listeners of its own. Exit status: 0 where the gate holds, 2 usage, 3 where a listener saw a
    worker or nothing could be proved, 4 where the settings require the kernel's gate and it is not granted.
    """
    said = {"format": format}
    return lambda: execute(said, os.environ, Path.cwd())


def execute(said: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> int:
    """Prove the gate, tell what came of it and give the exit status; errors of ours are raised."""
    from invcheck import _proof, settings  # noqa: PLC0415  # --help must not load the house
    from invcheck.cli import console, reading  # noqa: PLC0415  # as above
    from invcheck.errors import Refused  # noqa: PLC0415  # as above
    from invcheck.events import KEPT, UNEVALUATED  # noqa: PLC0415  # as above
    from invcheck.sandbox.environ import scrubbed  # noqa: PLC0415  # as above

    given = reading.Given(said, environ)
    given.no_strangers()
    form = given.one("format", lambda text: text if text in ("table", "json") else None, "table or json", "table")
    root = settings.project(here)
    own = settings.load(root)
    proof = _proof.prove(root)
    withheld = scrubbed(environ, "", keep=own.gate_keep_env)[1]
    console.data(_plain(proof, withheld) if form == "json" else "".join(f"{line}\n" for line in _lines(proof, withheld)))
    if own.gate_require == "kernel" and not proof.tier.kernel:
        told = "; ".join(f"{tier}: {why}" for tier, why in proof.refusals.items())
        raise Refused(f'gate.require = "kernel" is set, and the kernel refuses: {told}', code="GATE_REQUIRED")
    return KEPT if proof.held else UNEVALUATED


def _lines(proof: Proof, withheld: Sequence[str]) -> Iterator[str]:
    from invcheck.report.table import grid  # noqa: PLC0415  # as above

    yield f"gate {proof.tier}: {proof.tier.means}"
    for tier, why in proof.refusals.items():
        yield f"  {tier} is refused: {why}"
        if tier in _ADVICE:
            yield f"    {_ADVICE[tier]}"
    words = {True: "seen", False: "not seen"}
    rows = [[each.way, words[each.without], words[each.inside], "yes" if each.noted else "no"] for each in proof.ways]
    yield ""
    yield grid(["way out", "without walls", "from a worker", "told"], rows)
    yield ""
    yield _verdict(proof)
    if not proof.own:
        yield "Names were not looked up: without a namespace of its own a real server would be asked."
    if withheld:
        yield f"Kept from workers: {', '.join(withheld)}."


def _verdict(proof: Proof) -> str:
    void = [each.way for each in proof.ways if not each.without]
    leaks = [each.way for each in proof.ways if each.inside and each.promised]
    beyond = [each.way for each in proof.ways if each.inside and not each.promised]
    if leaks:
        return f"THE GATE LEAKS: a listener saw a worker by {', '.join(leaks)}."
    if void or not proof.ways:
        return f"Nothing is proved of {', '.join(void) or 'any way'}: no listener saw it without walls either."
    if beyond:
        return f"Python's own ways are cut. The kernel's help is missing: {', '.join(beyond)} got out."
    return f"{len(proof.ways)} ways out were seen without walls, and none from a worker."


def _plain(proof: Proof, withheld: Sequence[str]) -> str:
    ways = [
        {"way": each.way, "without": each.without, "inside": each.inside, "noted": each.noted, "promised": each.promised}
        for each in proof.ways
    ]
    refusals = {str(tier): why for tier, why in proof.refusals.items()}
    found = {"tier": str(proof.tier), "refusals": refusals, "own": proof.own, "held": proof.held, "ways": ways, "withheld": [*withheld]}
    return json.dumps(found, indent=2, sort_keys=True) + "\n"
