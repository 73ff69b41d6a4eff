"""The environment: what a worker is given of it, who reads it, and that no trial leaves a change behind."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, KeysView, Mapping
from fnmatch import translate
from functools import cache
from sys import _getframe as frame_at
from typing import Any

from invcheck.sandbox import ambient

KEYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "COHERE_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "HUGGINGFACEHUB_API_TOKEN",
    "LANGCHAIN_API_KEY",
    "LANGSMITH_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "PERPLEXITY_API_KEY",
    "REPLICATE_API_TOKEN",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
)
"""Set to the empty text even where they are missing: a key that is only missing comes back from an ``.env`` file."""

DISCOVERED = (
    *("ANTHROPIC_CONFIG_DIR", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE", "ANTHROPIC_PROFILE"),
    *("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "GOOGLE_APPLICATION_CREDENTIALS"),
)
"""Where SDKs look for a file of credentials, set to the empty text for the same reason: to these SDKs it is no file."""

OFF = {"AWS_EC2_METADATA_DISABLED": "true", "NO_GCE_CHECK": "true", "OPENAI_API_TYPE": "openai"}
"""Set, so that no SDK asks the machine it runs on for credentials, since a client for a store would be an attempt to get out,
and that openai's own module does not take the empty key of another of its clients for that client's."""

SECRETS = (
    *("*_KEY", "*_KEY_ID", "*APIKEY", "*AIKEY", "*ACCESSKEY", "*TOKEN", "*SECRET", "*SECRETS", "*SECRET_*", "*_PAT", "PAT"),
    *("*PASSWORD", "*PASSWD", "*PASSPHRASE", "*_PASS", "PASS", "*_PWD", "*CREDENTIAL", "*CREDENTIALS", "*_CREDS", "CREDS"),
    *("*_AUTH", "*AUTH_CONFIG", "*_JWT", "*_COOKIE", "*_BEARER", "NETRC", "KUBECONFIG", "PGPASSFILE", "PGSERVICEFILE"),
    *("*KEY_FILE", "*KEY_PATH", "*TOKEN_FILE", "*TOKEN_PATH", "*PASSWORD_FILE", "*CREDENTIAL_FILE", "*CREDENTIALS_FILE"),
    *("*WEBHOOK", "*WEBHOOK_URL", "*_DSN", "DSN", "DATABASE_URL", "*_DATABASE_URL", "DB_URL", "*_DB_URL", "*CONNECTION_STRING"),
    *("REDIS_URL", "MONGO_URL", "MONGODB_UR[IL]", "MONGO_URI", "AMQP_URL", "RABBITMQ_URL", "BROKER_URL", "POSTGRES_URL", "MYSQL_URL"),
)
"""Patterns of names that are set to the empty text; a value that holds a password, as in ``scheme://user:word@host``, is too."""

FAMILIES = (
    *("ANTHROPIC_*", "AWS_*", "AZURE_*", "BOTO_CONFIG", "CLOUDSDK_*", "CLOUD_ML_*", "COHERE_*", "DEEPSEEK_*", "FIREWORKS_*", "GCE_*"),
    *("GCLOUD_*", "GEMINI_*", "GOOGLE_*", "GROQ_*", "LANGCHAIN_*", "LANGFUSE_*", "LANGSMITH_*", "LITELLM_*", "MISTRAL_*", "OLLAMA_*"),
    *("OPENAI_*", "OPENROUTER_*", "OTEL_EXPORTER_*", "PERPLEXITY_*", "REPLICATE_*", "TOGETHER_*", "XAI_*"),
)
"""Patterns of what else the providers' clients and tracers are told by: dropped, since to most of them the empty text is a
mistake (``AWS_PROFILE``, ``OPENAI_BASE_URL``), and a run must not depend on what this machine says."""

_USER_AND_WORD = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@", re.IGNORECASE)

DROPPED = (
    *("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "ws_proxy", "wss_proxy"),
    *("ssh_auth_sock", "ssh_agent_pid", "gpg_agent_info", "dbus_session_bus_address", "docker_host"),
    *("pythonoptimize", "pythoninspect", "pythonstartup"),
)
"""Names that are dropped, in any case: ways out through somebody else, and what makes Python pass over asserts or ask a terminal."""

HASH_SEED, FIXED = "PYTHONHASHSEED", "0"
"""Fixed, so that an app that iterates a set does so in the same order wherever a seed is run again."""

_XDG = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
_THROUGH = frozenset({__name__, "os", "collections.abc"})


def scrubbed(env: Mapping[str, str], home: str, temp: str | None = None, *, keep: Collection[str] = ()) -> tuple[dict[str, str], list[str]]:
    """Give the environment of a worker, and the names of what was taken away, sorted.

    ``home`` is an empty folder that HOME and the XDG folders lead to, ``temp`` the worker's own temp folder. The time
    zone becomes UTC, so that local times are the same on every machine, and the hash seed 0 where none is given.
    Everything else is kept, and so is a name in ``keep``, unless it may not be (see `keepable`).

    >>> env, dropped = scrubbed({"OPENAI_API_KEY": "sk-1", "LANG": "C.UTF-8", "https_proxy": "http://proxy:3128"}, "/empty")
    >>> env["OPENAI_API_KEY"], env["LANG"], dropped
    ('', 'C.UTF-8', ['OPENAI_API_KEY', 'https_proxy'])
    """
    given: dict[str, str] = dict.fromkeys((*KEYS, *DISCOVERED), "") | OFF
    dropped = []
    for name, value in env.items():
        if name in keep and keepable(name):
            given[name] = value
        elif name.lower() in DROPPED:
            dropped.append(name)
        elif name in given or _matches(name, SECRETS) or _USER_AND_WORD.search(value):
            given.setdefault(name, "")
            dropped += [name] if value and value != given[name] else []
        elif _matches(name, FAMILIES):
            dropped.append(name)
        else:
            given[name] = value
    if "HOME" in env:  # packages that were installed for the user only stay importable
        given.setdefault("PYTHONUSERBASE", f"{env['HOME']}/.local")
    given |= {"HOME": home, "TZ": "UTC", **{name: f"{home}/{name[4:-5].lower()}" for name in _XDG}}
    given.pop("XDG_RUNTIME_DIR", None)
    if given.get(HASH_SEED, "random") == "random":
        given[HASH_SEED] = FIXED
    if temp is not None:
        given |= {"TMPDIR": temp, "TEMP": temp, "TMP": temp}
    return given, sorted(dropped)


def keepable(name: str) -> bool:
    """Say whether a user may keep a variable: no key or file of a provider's, nothing that leads out or changes Python.

    >>> keepable("SHOP_SIGNING_KEY"), keepable("OPENAI_MODEL"), keepable("OPENAI_API_KEY"), keepable("https_proxy")
    (True, True, False, False)
    """
    return name.upper() not in {*KEYS, *DISCOVERED} and name.lower() not in DROPPED


@cache
def _pattern(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return _pattern(patterns).match(name.upper()) is not None


_open = False
_before: dict[bytes, bytes | None] = {}
_sweep: tuple[object, int] | None = None


class _Recorder(type(os.environ)):  # type: ignore[misc]  # the class has no public name
    """`os.environ` that notes who reads it in a trial, and remembers what a trial changes."""

    def __getitem__(self, key: str) -> str:
        if _open:
            frame = frame_at(1)
            if _sweep != (frame.f_code, frame.f_lasti):  # copying all of it is one read, however many variables there are
                ambient.read(f"environ:{key}", frame, _THROUGH)
        value: str = super().__getitem__(key)
        return value

    def keys(self) -> KeysView[str]:
        """Give the names; who asks for all of them reads everything."""
        global _sweep  # noqa: PLW0603  # one environment per process
        if _open:
            frame = frame_at(1)
            _sweep = (frame.f_code, frame.f_lasti)
            ambient.read("environ:*", frame, _THROUGH)
        names: KeysView[str] = super().keys()
        return names

    def __setitem__(self, key: str, value: str) -> None:
        self._remember(key)
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self._remember(key)
        super().__delitem__(key)

    def _remember(self, key: str) -> None:
        if _open:
            encoded = self.encodekey(key)
            _before.setdefault(encoded, self._data.get(encoded))


def install() -> None:
    """Make `os.environ` note its readers; it stays the same object, for whoever holds it already."""
    os.environ.__class__ = _Recorder


def begin() -> None:
    """Note reads from now on, and remember what is changed."""
    global _open  # noqa: PLW0603  # one environment per process
    _open = True


def end() -> None:
    """Note no more, and undo what was changed."""
    global _open, _sweep  # as above
    _open, _sweep = False, None
    for key, value in _before.items():
        _put(key, value)
    _before.clear()


def _put(key: bytes, value: bytes | None) -> None:
    environ: Any = os.environ
    name = os.fsdecode(key)
    if value is not None:
        environ[name] = os.fsdecode(value)
    elif name in environ:
        del environ[name]
