"""What all specs of a check file share; pydantic is loaded only where YAML is read or the JSON Schema is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, LiteralString

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from invcheck.resolve import is_reference

MAX_TOKENS = 2**53 - 1


class Spec(BaseModel):
    """A mapping without unknown keys, whose values are taken as they are."""

    # building is deferred, so that a model inside another is built once
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)
    home: ClassVar[str] = ""
    """Where the keys of this spec stand, for who writes one elsewhere."""


def _reference(text: str) -> str:
    if not is_reference(text):
        raise PydanticCustomError("REFERENCE_INVALID", 'a reference "module:attribute", such as shop.qa:answer')
    return text


Reference = Annotated[str, AfterValidator(_reference), WithJsonSchema({"type": "string", "pattern": r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$"})]
Name = Annotated[str, Field(min_length=1, pattern=r"^[^\r\n]+$")]
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]


def one_of(code: LiteralString, kinds: Sequence[str]) -> AfterValidator:
    """Take one of some words; ``code`` is that of the mistake where another stands."""

    def known(text: str) -> str:
        if text not in kinds:
            raise PydanticCustomError(code, "one of {kinds}", {"kinds": ", ".join(kinds)})
        return text

    return AfterValidator(known)


def by_key(kinds: tuple[str, ...]) -> Any:
    """Choose a spec by the one key that names it, so that a mistake is told of that spec alone.

    A tag begins with a colon: it stands in the path of an error, and must not be taken for a key of the file.
    """

    def chosen(value: object) -> str | None:
        if isinstance(value, str):
            return ":text"
        found = [key for key in kinds if isinstance(value, Mapping) and key in value]
        return f":{found[0]}" if found else None

    words = ", ".join(kinds)
    return Discriminator(chosen, custom_error_type="UNKNOWN_KIND", custom_error_message=f"one of {words}")


def _text_or_mapping(value: object) -> str | None:
    return ":text" if isinstance(value, str) else ":mapping" if isinstance(value, Mapping) else None


def _one_or_more(value: object) -> str | None:
    return ":list" if isinstance(value, list) else ":mapping" if isinstance(value, Mapping) else None


ONE_OR_MORE = Discriminator(_one_or_more, custom_error_type="UNKNOWN_KIND", custom_error_message="a mapping or a list")
EITHER = Discriminator(_text_or_mapping, custom_error_type="UNKNOWN_KIND", custom_error_message="a text or a mapping")


def spellings() -> list[tuple[str, tuple[str, ...]]]:
    """Give where each spec that was loaded stands, and its keys as a file spells them."""
    found: list[type[Spec]] = [Spec]
    for kind in found:
        found += kind.__subclasses__()
    return [(kind.home, tuple(field.alias or name for name, field in kind.model_fields.items())) for kind in found]
