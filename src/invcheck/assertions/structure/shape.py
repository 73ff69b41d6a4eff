"""What a value must look like: its schema, its fields, strict JSON, its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from invcheck.assertions import lowered, models, schemas, validators
from invcheck.assertions.breaks import Break, wrong_type
from invcheck.assertions.claim import Selector, invalid
from invcheck.assertions.idle import refuse_idle_schema
from invcheck.assertions.schemas import plainly
from invcheck.assertions.values import Judged, Values, over
from invcheck.errors import NotJson
from invcheck.freeze import frozen
from invcheck.jsontext import loads
from invcheck.paths import Match, kind
from invcheck.resolve import did_you_mean, is_reference, resolve
from invcheck.show import show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.fuse import Fuser

    ModelOrSchema: TypeAlias = str | Mapping[str, Json] | type
else:  # a check file cannot hold a class
    ModelOrSchema: TypeAlias = str | Mapping[str, Json]


class Schema(Values):
    """Each selected value fits a schema: a pydantic model, a JSON Schema file, or a JSON Schema written here.

    ``is`` is ``module:Model`` (judged in pydantic's strict JSON mode), the name of a ``.json`` file, or a mapping in
    JSON Schema 2020-12. A ``format`` is judged (see `formats`), one that is not is refused; nothing is ever fetched. The finding names the
    deepest fault. An error that a validator raises beside validation errors makes the claim errored.

    >>> ids = {"type": "array", "items": {"type": "string"}}
    >>> Schema("$.cites", ids).each({"cites": ["d1"]}) is None
    True
    >>> broken = Schema("$.cites", ids).each({"cites": ["d1", 2]})
    >>> broken.path, broken.expected, broken.got
    ('$.cites[1]', 'string', 'integer 2')
    """

    key = "schema"
    structural = True
    of: Selector
    is_: ModelOrSchema
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse what is no schema; a file is read now, a model is imported where it is first needed."""
        given = self.is_
        if isinstance(given, type):
            object.__setattr__(self, "is_", f"{given.__module__}:{given.__qualname__}")
            object.__setattr__(self, "_model", given)
        elif isinstance(given, Mapping):
            object.__setattr__(self, "is_", frozen(plainly(given, "schema: is", "is_")))
            validators.refuse_schema(self.is_, "is_")
        elif isinstance(given, str) and given.endswith(".json"):
            object.__setattr__(self, "_file", schemas.read_file(given))
            validators.refuse_schema(self._inline, "is_")
        elif not isinstance(given, str) or not is_reference(given):
            hint = "such as shop.models:Answer, schemas/answer.json or {type: object, required: [answer]}"
            raise invalid(f"schema: is must be module:Model, a .json file or a mapping, got {show(given)}", "is_", hint=hint)
        if self._inline is not None:
            refuse_idle_schema(self._inline)

    def references(self) -> tuple[str, ...]:
        """The model, where it is named."""
        return (str(self.is_),) if self._inline is None and getattr(self, "_model", None) is None else ()

    def judged(self, document: Json) -> Judged | Break:
        """Judge every selected value."""
        return over(self.path(), document, self._judge, allow_empty=self.allow_empty)

    def fuse(self, fuser: Fuser) -> bool:
        """Lower the plain part of JSON Schema to generated code."""
        if self._inline is None:
            return False
        try:
            lowered.lower(self._inline, fuser, self.path(), allow_empty=self.allow_empty)
        except lowered.Unlowerable:
            return False
        return True

    @property
    def _inline(self) -> Json | None:
        return self.is_ if isinstance(self.is_, Mapping) else getattr(self, "_file", None)

    @cached_property
    def _find(self) -> validators.Find:
        if self._inline is not None:
            return validators.compiled(self._inline)
        return models.model(getattr(self, "_model", None) or resolve(str(self.is_)))

    def _judge(self, match: Match) -> Break | None:
        fault = self._find(match.value)
        return None if fault is None else Break(validators.located(match.path, fault.steps), fault.expected, fault.got)


class Fields(Values):
    """Each selected object has exactly these fields: none is missing, none is extra; ``optional`` ones may be there.

    A value that is no object breaks the claim, also under ``not-``.

    >>> Fields("$", exactly=["answer", "cites"]).each({"answer": "yes", "cites": []}) is None
    True
    >>> Fields("$", exactly=["answer", "cites"]).each({"answer": "yes", "note": 1}).got
    'missing "cites"; extra "note"'
    """

    key = "fields"
    structural = True
    of: Selector
    exactly: Sequence[str]
    optional: Sequence[str] = ()
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse a name that stands twice."""
        for name in self._known:
            if self._known.count(name) > 1:
                raise invalid(f"fields: {show(name)} is named twice", "optional" if name in self.optional else "exactly")

    def judged(self, document: Json) -> Judged | Break:
        """Judge every selected value."""
        return over(self.path(), document, self._judge, allow_empty=self.allow_empty)

    def fuse(self, fuser: Fuser) -> bool:
        """Compare the keys as a set."""
        names = fuser.const(frozenset(self._known))
        test = f"type({{0}}) is dict and {{0}}.keys() == {names}"
        if self.optional:
            test = f"type({{0}}) is dict and {fuser.const(frozenset(self.exactly))} <= {{0}}.keys() <= {names}"
        return lowered.require_each(fuser, self.path(), test, allow_empty=self.allow_empty)

    @property
    def _known(self) -> tuple[str, ...]:
        return (*self.exactly, *self.optional)

    def _judge(self, match: Match) -> Break | None:
        if not isinstance(match.value, dict):
            return wrong_type(match.path, "an object", match.value)
        missing = [show(name) for name in self.exactly if name not in match.value]
        extra = [show(name) for name in match.value if name not in self._known]
        if not missing and not extra:
            return None
        parts = [f"{word} {', '.join(names)}" for word, names in (("missing", missing), ("extra", extra)) if names]
        wanted = "exactly the fields " + ", ".join(map(show, self.exactly)) if self.exactly else "an object without fields"
        perhaps = f", perhaps {', '.join(map(show, self.optional))}" if self.optional else ""
        return Break(match.path, wanted + perhaps, "; ".join(parts))


class IsJson(Values):
    """Each selected text is one strict JSON value, an object or an array at its top unless ``scalar``.

    Defects that other parsers let through have their own codes: DUPLICATE_KEY, NOT_A_NUMBER, NUMBER_OVERFLOW,
    TRAILING_TEXT, LONE_SURROGATE, TOO_DEEP, EMPTY, SYNTAX (RFC 8259), and SCALAR_TOP_LEVEL. A value that is no text
    breaks the claim, also under ``not-``. The default path is the raw text of a check with ``parse: json``.

    >>> IsJson("$.output").each({"output": '{"a": 1}'}) is None
    True
    >>> IsJson("$.output").each({"output": '{"a": 1, "a": 2}'}).code
    'DUPLICATE_KEY'
    """

    key = "is-json"
    shorthand = "of"
    structural = True
    of: Selector = "$.output_text"
    scalar: bool = False
    allow_empty: bool = False

    def judged(self, document: Json) -> Judged | Break:
        """Judge every selected value."""
        return over(self.path(), document, self._judge, allow_empty=self.allow_empty)

    def _judge(self, match: Match) -> Break | None:
        if not isinstance(match.value, str):
            return wrong_type(match.path, "a text", match.value)
        try:
            value = loads(match.value)
        except NotJson as error:
            at = f" at line {error.fields['line']}, column {error.fields['column']}" if error.fields.get("line") else ""
            return Break(match.path, "strict JSON", f"{error.message}{at}: {show(match.value)}", code=str(error.fields["defect"]))
        if self.scalar or isinstance(value, dict | list):
            return None
        return Break(match.path, "a JSON object or array", f"the text of {validators.described(value)}", code="SCALAR_TOP_LEVEL")


class Type(Values):
    """Each selected value has this JSON type, or one of these.

    The types are null, boolean, integer, number, string, array and object. A boolean is no number; an integer is a
    number too; 1.0 is a number and no integer.

    >>> Type("$.n", "integer").each({"n": 1}) is None
    True
    >>> Type("$.n", "integer").each({"n": True}).got
    'boolean true'
    """

    key = "type"
    structural = True
    of: Selector
    is_: str | Sequence[str]
    allow_empty: bool = False

    def check(self) -> None:
        """Refuse names that are no types, and a list that every value fits."""
        for name in self._names:
            if name not in lowered.TYPE_TESTS:
                usual = _USUAL.get(name.lower()) or did_you_mean(name, list(lowered.TYPE_TESTS))
                hint = f"did you mean {usual}?" if usual else f"one of {', '.join(lowered.TYPE_TESTS)}"
                raise invalid(f"type: there is no JSON type {show(name)}", "is_", hint=hint)
        if not self._names or {*self._names, "integer"} >= lowered.TYPE_TESTS.keys():
            raise invalid(f"type: {'every' if self._names else 'no'} value fits {show(list(self._names))}", "is_")

    def judged(self, document: Json) -> Judged | Break:
        """Judge every selected value."""
        return over(self.path(), document, self._judge, allow_empty=self.allow_empty)

    def fuse(self, fuser: Fuser) -> bool:
        """Compare the types themselves."""
        test = " or ".join(lowered.TYPE_TESTS[name] for name in self._names)
        return lowered.require_each(fuser, self.path(), test, allow_empty=self.allow_empty)

    def _judge(self, match: Match) -> Break | None:
        found = kind(match.value)
        if found in self._names or (found == "integer" and "number" in self._names):
            return None
        return Break(match.path, " or ".join(self._names), validators.described(match.value))

    @property
    def _names(self) -> tuple[str, ...]:
        return (self.is_,) if isinstance(self.is_, str) else tuple(self.is_)


_USUAL = {"bool": "boolean", "int": "integer", "float": "number", "str": "string", "list": "array", "dict": "object", "none": "null"}
