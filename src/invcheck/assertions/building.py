"""From what a check file spells, as plain JSON, to an assertion; errors say which key of the mapping is wrong."""

from __future__ import annotations

from collections.abc import Mapping

from invcheck.assertions.claim import Claim
from invcheck.assertions.negation import Not
from invcheck.assertions.registry import KEYS, claim_class, nearest
from invcheck.assertions.spelling import spelling
from invcheck.errors import UsageError
from invcheck.vocabulary import Json


def build(plain: Mapping[str, Json] | str) -> Claim:
    """Give the assertion that a check file spells as a mapping of one key, or as the bare key where it needs no value.

    ``not-KEY`` is its opposite; a value that is no mapping fills the shorthand field; ``-`` in a field stands for
    ``_``. What does not fit raises UsageError (or PathError): UNKNOWN_ASSERTION, UNKNOWN_KEY, MISSING_KEY, WRONG_TYPE,
    ASSERTION_INVALID; its ``fields["at"]`` is the way of keys to the place, such as ``("each", "expect", 0, "subset", "of")``.

    >>> build({"calls": 1}).attempted
    1
    >>> build({"not-contains": {"in": "$.output", "any": ["sorry"]}}).key
    'not-contains'
    """
    key, value = _entry(plain)
    bare = key.removeprefix("not-")
    kind = claim_class(bare if bare in KEYS else key)
    try:
        claim = kind(**_fields(kind, key, value))
        return Not(claim) if bare != key else claim
    except UsageError as error:
        raise _placed(error, key, value) from None


def _entry(plain: Mapping[str, Json] | str) -> tuple[str, Json]:
    if isinstance(plain, str):
        return plain, {}
    if not isinstance(plain, Mapping) or len(plain) != 1 or not isinstance(next(iter(plain)), str):
        got = f"keys {', '.join(map(str, plain))}" if isinstance(plain, Mapping) and plain else repr(plain)
        raise UsageError(f"an assertion is a mapping of one key, such as calls: 1; got {got}", code="WRONG_TYPE", at=())
    key, value = next(iter(plain.items()))
    return key, value


def _fields(kind: type[Claim], key: str, value: Json) -> dict[str, Json]:
    spelled = {spelling(name): name for name in kind._fields}
    if not isinstance(value, Mapping) or kind.takes_whole(value):
        if value is None and not kind.required():
            return {}
        if kind.shorthand is None:
            raise UsageError(f"{key} needs a mapping of {', '.join(spelled) or 'nothing'}, got {value!r}", code="WRONG_TYPE", at=(key,))
        value = {spelling(kind.shorthand): value}
    out: dict[str, Json] = {}
    for word, item in value.items():
        if word not in spelled:
            raise UsageError(f"{key} has no field {word!r}", code="UNKNOWN_KEY", hint=nearest(str(word), spelled), at=(key, word))
        name = spelled[word]
        out[name] = _claims(item, (key, word)) if name in kind.nested else item
    return out


def _claims(value: Json, at: tuple[str, ...]) -> list[Claim]:
    """Build inner claims: a list of them, or one alone."""
    many = isinstance(value, list)
    built = []
    for index, item in enumerate(value if many else [value]):
        try:
            built.append(build(item))
        except UsageError as error:
            inner = error.fields.get("at", ())
            error.fields["at"] = (*at, index, *inner) if many else (*at, *inner)
            raise
    return built


def _placed(error: UsageError, key: str, value: Json) -> UsageError:
    """Say where in the mapping the error stands, unless what raised it knew, and how the assertion is spelled."""
    if error.hint is None and error.code in ("WRONG_TYPE", "MISSING_KEY", "ASSERTION_INVALID"):
        from invcheck.assertions.examples import hint  # noqa: PLC0415  # only a mistake pays for it

        error.hint = hint(key)
    if "at" not in error.fields:
        field = error.fields.get("field")
        word = spelling(field) if field else None
        error.fields["at"] = (key, word) if word and isinstance(value, Mapping) and word in value else (key,)
    return error
