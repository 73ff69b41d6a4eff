"""What a worker inherits from its supervisor: descriptors, how it is confined, and a temp folder of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass

VARIABLE = "INVCHECK_WORKER"
"""The environment variable that tells a worker; it is gone before user code runs."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """Six descriptors, and what the sandbox must know of the walls around it.

    ``life`` ends the worker with its supervisor, ``tasks`` and ``messages`` are the channel, ``notes`` is where breaches
    are noted, ``sites`` where native code that attempted one stood, ``frames`` where a stuck worker says where it stands.
    ``tier`` is how far the kernel helps ("K1", "K2", "K3", "soft"), ``alone`` says that the worker has a network namespace
    of its own; ``allow`` holds what may be reached all the same.

    >>> Inherited.read(Inherited(3, 4, 5, 6, 7, 8, "K1", True, ("tcp:127.0.0.1:5432",), "/run/x").text()).allow
    ('tcp:127.0.0.1:5432',)
    """

    life: int
    tasks: int
    messages: int
    notes: int
    sites: int
    frames: int
    tier: str
    alone: bool
    allow: tuple[str, ...]
    temp: str

    def text(self) -> str:
        """Put it into one line for the environment: no allowed path holds a zero byte or a line break."""
        numbers = ",".join(map(str, self.descriptors()))
        return "\n".join((numbers, self.tier, str(int(self.alone)), self.temp, *self.allow))

    @classmethod
    def read(cls, text: str) -> Inherited:
        """Take it from that line."""
        numbers, tier, alone, temp, *allow = text.split("\n")
        life, tasks, messages, notes, sites, frames = map(int, numbers.split(","))
        return cls(life, tasks, messages, notes, sites, frames, tier, alone == "1", tuple(allow), temp)

    def descriptors(self) -> tuple[int, ...]:
        """Give all the descriptors."""
        return self.life, self.tasks, self.messages, self.notes, self.sites, self.frames


_inherited: Inherited | None = None


def inherited() -> Inherited | None:
    """Give what this worker inherits, None in a process that is no worker.

    From the first call on the descriptors are kept from programs that the app starts.
    """
    global _inherited  # noqa: PLW0603  # a process is one worker or none
    text = os.environ.pop(VARIABLE, None)
    if text is not None:
        _inherited = Inherited.read(text)
        for descriptor in _inherited.descriptors():
            os.set_inheritable(descriptor, False)
    return _inherited
