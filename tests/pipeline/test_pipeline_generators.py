"""An app that streams works while it is read: a trial reads it to its end."""

from __future__ import annotations

import pytest

from tests.pipeline.conftest import Shop, Told

APP = """
    def pieces(model):
        for chunk in model.stream("hi"):
            yield chunk.text


    async def apieces(model):
        async for chunk in model.stream("hi"):
            yield chunk.text


    async def handed_on(model):
        return apieces(model)


    def cut_short(model):
        yield model("hi").text
        raise KeyError("gone")
"""

CHECKS = """
    checks:
      - check: pieces
        app: shop:pieces
        model: {script: [one two]}
        cases: [{id: a, input: {}}]
        expect: [{equals: {of: $.output, to: [one two]}}]
      - check: apieces
        app: shop:apieces
        model: {script: [{reply: {text: one two, chunks: words}}]}
        cases: [{id: a, input: {}}]
        expect: [{equals: {of: $.output, to: ["one ", two]}}]
      - check: handed on
        app: shop:handed_on
        model: {script: [one]}
        cases: [{id: a, input: {}}]
        expect: [{equals: {of: $.output, to: [one]}}]
      - check: cut short
        app: shop:cut_short
        model: {script: [one]}
        cases: [{id: a, input: {}}]
        expect: [{raises: {type: KeyError, calls: 1}}]
"""


@pytest.fixture(scope="module")
def told(shared: Shop) -> Told:
    """One run of all of them."""
    shared.write({"shop.py": APP, "checks/a.yaml": CHECKS})
    return shared.told()


@pytest.mark.parametrize("name", ["pieces", "apieces", "handed on", "cut short"])
def test_the_output_of_a_generator_is_what_it_yields(name: str, told: Told) -> None:
    """Sync and async, also where a coroutine gives one; what it raises after a while is the app's error."""
    assert (told.verdict(f"{name}[a]"), told.codes(f"{name}[a]")) == ("kept", [])
