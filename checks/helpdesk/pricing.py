"""What tokens cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType

from checks.helpdesk.llm import Usage

MILLION = Decimal(1_000_000)
MICRO = Decimal("0.000001")

PRICES: Mapping[str, tuple[Decimal, Decimal]] = MappingProxyType(
    {
        "standard": (Decimal("3.00"), Decimal("15.00")),
        "small": (Decimal("0.25"), Decimal("1.25")),
    }
)
"""Dollars for a million tokens that go in, and that come out."""


def cost(usage: Usage, tier: str = "standard") -> Decimal:
    """Give dollars, to a millionth; a tier without a price is a KeyError."""
    price_in, price_out = PRICES[tier]
    return ((usage.input_tokens * price_in + usage.output_tokens * price_out) / MILLION).quantize(MICRO)
