"""What a double answers: a script, recordings, or drift within what a function or a schema allows."""

from invcheck.sources.drifting import DriftingModel
from invcheck.sources.scripted import ScriptedModel
from invcheck.sources.spec import build, read
from invcheck.sources.steps import fail, reply, step, tool_call

__all__ = ["DriftingModel", "ScriptedModel", "build", "fail", "read", "reply", "step", "tool_call"]
