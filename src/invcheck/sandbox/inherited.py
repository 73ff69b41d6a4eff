"""What a worker inherits from its supervisor: descriptors, how it is confined, and a temp folder of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass

VARIABLE = "INVCHECK_WORKER"
"""The environment variable that tells a worker; it is gone before user code runs."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """Five descriptors, and what the sandbox must know of the walls around it.

    ``life`` ends the worker with its supervisor, ``tasks`` and ``messages`` are the channel, ``notes`` is where breaches
    are noted, ``frames`` where a stuck worker says where it stands. ``alone`` says that the worker has a network
    namespace of its own.

    >>> Inherited.read(Inherited(3, 4, 5, 6, 7, True, "/run/x").text()).temp
    '/run/x'
    """

    life: int
    tasks: int
    messages: int
    notes: int
    frames: int
    alone: bool
    temp: str

    def text(self) -> str:
        """Put it into one line for the environment."""
        return f"{self.life},{self.tasks},{self.messages},{self.notes},{self.frames},{int(self.alone)},{self.temp}"

    @classmethod
    def read(cls, text: str) -> Inherited:
        """Take it from that line."""
        life, tasks, messages, notes, frames, alone, temp = text.split(",", 6)
        return cls(int(life), int(tasks), int(messages), int(notes), int(frames), alone == "1", temp)

    def descriptors(self) -> tuple[int, ...]:
        """Give all the descriptors."""
        return self.life, self.tasks, self.messages, self.notes, self.frames


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
