"""All dialects of the wire, by name: one table for who answers in them and who reads them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from invcheck.wire.anthropic_messages import anthropic_messages
from invcheck.wire.dialect import Dialect
from invcheck.wire.openai_chat import openai_chat
from invcheck.wire.openai_responses import openai_responses

DIALECTS: Mapping[str, Dialect] = MappingProxyType({each.name: each for each in (openai_chat, openai_responses, anthropic_messages)})
"""The dialects, the first of which answers where none is asked for."""
