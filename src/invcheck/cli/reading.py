"""Read what flags and ``INVCHECK_`` variables say; what cannot be read names the one that said it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from invcheck import settings
from invcheck.errors import ConfigError
from invcheck.resolve import did_you_mean
from invcheck.session import ISOLATED

_FLAGS = {
    "paths": "PATH", "keyword": "-k", "tag": "--tag", "runs": "--runs", "seed": "--seed", "jobs": "-j", "shard": "--shard",
    "fail_fast": "-x", "max_failures": "--max-failures", "last_failed": "--last-failed", "allow_empty": "--allow-empty",
    "audit": "--audit", "require_kernel": "--require-kernel", "output": "-o", "format": "--format", "quiet": "-q", "verbose": "-v",
    "port": "--port", "silence": "--silence", "print_env": "--print-env",
}  # fmt: skip
"""Every option by the name of its variable, in small letters, and how a person knows it."""

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Given:
    """What flags and variables say, before it is read; a flag wins over its variable."""

    flags: Mapping[str, Any]
    environ: Mapping[str, str]

    def one(self, name: str, read: Callable[[str], _Value | None], needed: str, default: _Value) -> _Value:
        """Give one value, or ``default`` where nobody says anything; ConfigError names the flag or the variable."""
        flag = self.flags.get(name)
        text, source = (flag, _FLAGS[name]) if flag is not None else (self.environ.get(variable(name), ""), variable(name))
        if flag is None and text == "":
            return default
        value = read(text)
        if value is None:
            raise ConfigError(f"{source} takes {needed}, got {text!r}", code="OPTION")
        return value

    def several(self, name: str) -> tuple[str, ...] | None:
        """Give a repeatable option's values; a variable holds words as a shell would read them."""
        if self.flags.get(name):
            return tuple(self.flags[name])
        text = self.environ.get(variable(name), "")
        try:
            return tuple(shlex.split(text)) or None
        except ValueError:
            raise ConfigError(
                f"{variable(name)} holds a quote that is not closed: {text!r}",
                code="OPTION",
                hint="its words are read as a shell reads them",
            ) from None

    def switch(self, name: str, default: bool = False) -> bool:
        """Give a switch: on by its flag, else what its variable says, else ``default``."""
        return bool(self.flags.get(name)) or self.one_variable(name, truth, "1 or 0", default=default)

    def times(self, name: str) -> int | None:
        """Give how often a counted switch was given, None where neither its flag nor its variable says anything."""
        return int(self.flags.get(name) or 0) or self.one_variable(name, whole(0), "a whole number from 0", default=None)

    def no_strangers(self) -> None:
        """Refuse variables that look like ours and are none: a misspelt one would silently change what a run means."""
        known = {variable(name) for name in _FLAGS} | {"INVCHECK_DEBUG", ISOLATED}
        for name in sorted(self.environ):
            if name.startswith("INVCHECK_") and name not in known:
                near = did_you_mean(name, sorted(known))
                hint = f"did you mean {near}?" if near else "every option's twin is INVCHECK_ and its long name"
                raise ConfigError(f"{name} is no variable of invcheck", code="OPTION", hint=hint)

    def one_variable(self, name: str, read: Callable[[str], _Value | None], needed: str, *, default: _Value) -> _Value:
        """Give what the variable alone says."""
        return Given({}, self.environ).one(name, read, needed, default)


def variable(name: str) -> str:
    """Give the environment's twin of an option.

    >>> variable("max_failures")
    'INVCHECK_MAX_FAILURES'
    """
    return f"INVCHECK_{name.upper()}"


def whole(least: int) -> Callable[[str], int | None]:
    """Give a reader of whole numbers from ``least``, in plain digits."""
    return lambda text: int(text) if re.fullmatch("[0-9]{1,18}", text) and int(text) >= least else None


def port(text: str) -> int | None:
    """Read the number of a port, at most 65535; 0 is one that is free."""
    return number if (number := whole(0)(text)) is not None and number < 1 << 16 else None


def jobs(text: str) -> int | None:
    """Read a number of workers; ``auto`` is one for each processor."""
    return settings.processors() if text == "auto" else whole(1)(text)


def truth(text: str) -> bool | None:
    """Read what people write for on and off."""
    return {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}.get(text.lower())


def shard(text: str) -> tuple[int, int] | None:
    """Read ``i/n`` with i from 1 to n.

    >>> shard("2/3"), shard("0/3"), shard("4/3")
    ((2, 3), None, None)
    """
    match = re.fullmatch("([0-9]{1,6})/([0-9]{1,6})", text)
    part = (int(match[1]), int(match[2])) if match else (0, 0)
    return part if 1 <= part[0] <= part[1] else None
