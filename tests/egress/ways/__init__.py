"""Every way out that the gate is held to, each taken once by one small function: an app of its own, with no word of invcheck.

Where a way leads is told by whoever asks: listeners of the harness and nothing else.
"""

from ways import before, clients, inside, kernel, loops, names, native, processes, programs, sockets, unix
from ways.way import WAYS, Missing, Way

__all__ = [
    "WAYS",
    "Missing",
    "Way",
    "before",
    "clients",
    "inside",
    "kernel",
    "loops",
    "names",
    "native",
    "processes",
    "programs",
    "sockets",
    "unix",
]
