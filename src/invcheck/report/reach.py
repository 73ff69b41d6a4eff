"""What a run could reach although the network was cut: told wherever the run is summed up, since it is no longer all inside.

A warning is a guess by a port's number or a socket's name, so it changes no verdict: a database may stand there. That a
model or a proxy really was asked is a breach, which `gate.relay` notes. Whatever a service does with what it is told is
outside of every wall, and a check that is green because a model behind a port answered it is the worst that a gate can do:
so both the sentence and the warning stand in the summary line, which no option silences, on stderr beside formats that have
none, and as data in every other report. They come from the results alone, in an order of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from invcheck.allowance import risk
from invcheck.vocabulary import Result


def reached(results: Sequence[Result]) -> list[str]:
    """Say what cases could reach, in one sentence; none where nothing was allowed.

    >>> from invcheck.vocabulary import Place, Verdict
    >>> reached([Result("a.yaml::x", "1", Place("a.yaml"), 0, 2, {}, Verdict.KEPT, allowed=("tcp:127.0.0.1:5432",))])
    ['1 case could reach tcp:127.0.0.1:5432.']
    """
    count = sum(bool(result.allowed) for result in results)
    return [f"{count} case{'' if count == 1 else 's'} could reach {', '.join(_texts(results))}."] if count else []


def warnings(results: Sequence[Result]) -> list[str]:
    """Name what was allowed and is known for reaching further than this machine.

    >>> from invcheck.vocabulary import Place, Verdict
    >>> warnings([Result("a.yaml::x", "1", Place("a.yaml"), 0, 2, {}, Verdict.KEPT, allowed=("tcp:127.0.0.1:11434",))])
    ['tcp:127.0.0.1:11434 is allowed and known for Ollama, which answers as a model']
    """
    return [f"{text} is allowed and known for {known}" for text in _texts(results) if (known := risk(text))]


def _texts(results: Sequence[Result]) -> list[str]:
    return sorted({text for result in results for text in result.allowed})
