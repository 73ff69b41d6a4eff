"""What both dialects of OpenAI say alike: usage, errors, and a tool call's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from invcheck.vocabulary import Fault, Json, Usage

_INVALID = "invalid_request_error"
_ERRORS: Mapping[int, tuple[str, str | None]] = {
    401: (_INVALID, "invalid_api_key"),
    403: ("request_forbidden", None),
    404: (_INVALID, "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
"""The type and code of an error by its status, where they are no ``invalid_request_error`` below 500 and no ``server_error`` above."""


def error_of(fault: Fault) -> dict[str, Json]:
    """Give what stands under ``error`` in the body of an error, and in the event of one in the middle of a stream.

    >>> error_of(Fault("rate-limit", "slow down", 429))
    {'message': 'slow down', 'type': 'requests', 'param': None, 'code': 'rate_limit_exceeded'}
    """
    status = 500 if fault.status is None else fault.status
    kind, code = _ERRORS.get(status, (_INVALID, None) if status < 500 else ("server_error", None))  # noqa: PLR2004  # RFC 9110 §15.6
    return {"message": fault.message, "type": kind, "param": None, "code": code}


def usage_of(usage: Usage | None, ins: str, outs: str) -> dict[str, Json] | None:
    """Give usage under the dialect's names for input and output; the details are always there, since the provider always sends them.

    >>> usage_of(Usage(10, 5), "prompt", "completion")["total_tokens"]
    15
    """
    if usage is None:
        return None
    said: dict[str, Json] = {}
    if usage.input_tokens is not None:
        said[f"{ins}_tokens"] = usage.input_tokens
    if usage.output_tokens is not None:
        said[f"{outs}_tokens"] = usage.output_tokens
    if len(said) == 2:  # noqa: PLR2004  # a sum of what is not known is not known either
        said["total_tokens"] = sum(said.values())
    said[f"{ins}_tokens_details"] = {
        "cached_tokens": usage.cache_read_input_tokens or 0,
        "cache_write_tokens": usage.cache_creation_input_tokens or 0,
    }
    said[f"{outs}_tokens_details"] = {"reasoning_tokens": usage.reasoning_output_tokens or 0}
    return said


def usage_read(said: Json, ins: str, outs: str) -> Usage | None:
    """Give the usage that a body says under the dialect's names."""
    if not isinstance(said, Mapping):
        return None
    before: Mapping[str, Any] = said.get(f"{ins}_tokens_details") or {}
    after: Mapping[str, Any] = said.get(f"{outs}_tokens_details") or {}
    return Usage(
        said.get(f"{ins}_tokens"),
        said.get(f"{outs}_tokens"),
        before.get("cached_tokens"),
        before.get("cache_write_tokens"),
        after.get("reasoning_tokens"),
    )


def model_of(body: Mapping[str, Json]) -> str:
    """Give the model that a reply names: the one that was asked."""
    model = body.get("model")
    return model if isinstance(model, str) else "invcheck"
