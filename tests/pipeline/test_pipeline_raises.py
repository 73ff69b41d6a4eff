"""What escapes from an app is told with its class's module, and a claim that names a module means that one."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import Shop

APP = """
    import json

    class RateLimitError(Exception):
        class Inner(Exception):
            pass

    def limited(text):
        raise RateLimitError(text)

    def inner(text):
        raise RateLimitError.Inner(text)

    def mistaken(text):
        raise ValueError(text)

    def unread(text):
        return json.loads(text)
"""


@pytest.mark.parametrize(
    ("app", "kept", "broken"),
    [
        ("limited", ["RateLimitError", "shop.RateLimitError"], ["openai.RateLimitError", "shop.api.RateLimitError"]),
        ("inner", ["Inner", "shop.RateLimitError.Inner"], ["shop.Inner"]),
        ("mistaken", ["ValueError", "builtins.ValueError"], ["shop.ValueError"]),
        ("unread", ["JSONDecodeError", "json.decoder.JSONDecodeError"], ["shop.JSONDecodeError"]),
    ],
)
def test_a_module_that_is_named_is_compared(app: str, kept: list[str], broken: list[str], shop: Shop) -> None:
    """The app's own error of the same name is not the one of another module."""
    checks = [
        f"      - {{check: {name}, app: shop:{app}, cases: [{{id: a, input: x}}], expect: [{{raises: {{type: {name}, calls: 0}}}}]}}\n"
        for name in (*kept, *broken)
    ]
    shop.write({"shop.py": APP, "checks/a.yaml": "    checks:\n" + "".join(checks)})
    told = shop.told()
    assert [told.verdict(f"{name}[a]") for name in (*kept, *broken)] == ["kept"] * len(kept) + ["broken"] * len(broken)
    assert {told.one(f"{name}[a]")["path"] for name in broken} == {"$.error.module"}


def test_a_setup_of_another_library_has_no_place_of_the_projects(shop: Shop) -> None:
    """Where no frame of the project is known the message names none."""
    line = "      - {check: set up, app: shop:limited, setup: 'json:loads', cases: [{id: a, input: x}], expect: [{calls: 0}]}\n"
    shop.write({"shop.py": APP, "checks/a.yaml": "    checks:\n" + line})
    assert shop.told().one("set up[a]")["message"] == "the setup raised TypeError: (no message)"
