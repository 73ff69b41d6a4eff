"""What every assertion is: one light frozen class with its fields, `each` or `across`, and perhaps a fused form.

A claim answers with None (kept) or a Break. A Break that is not ``decided`` (nothing was selected, or a value of
another type than the claim needs) is broken under ``not-`` too: negation turns only a claim that could be decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, dataclass_transform, get_type_hints

from invcheck import paths
from invcheck.assertions.fitting import fits, worded
from invcheck.errors import UsageError
from invcheck.freeze import show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.fuse import Fuser

Selector: TypeAlias = str
"""A JSONPath text; after construction the field holds the compiled `paths.Path`."""

Operand: TypeAlias = Json
"""A JSONPath text (it begins with ``$``) or a literal; ``{"literal": ...}`` spells a literal text that begins so."""

Amount: TypeAlias = int | dict[str, int]
"""A whole number from 0, or ``{min, max}`` of which one is enough."""

if TYPE_CHECKING:
    Claims: TypeAlias = "Sequence[Claim] | Claim"
else:
    Claims = Annotated[Any, "claims"]
"""Inner assertions, one or several; after construction the field holds a tuple of them."""


class Break:
    """Why a claim is not kept: where, what was expected, what was found, and whether the claim could be decided."""

    __slots__ = ("call", "code", "decided", "expected", "got", "hint", "path")

    def __init__(
        self,
        path: str | None,
        expected: str,
        got: str,
        *,
        decided: bool = True,
        code: str | None = None,
        call: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.path, self.expected, self.got = path, expected, got
        self.decided, self.code, self.call, self.hint = decided, code, call, hint


def nothing(path: paths.Path, needed: str = "at least one value") -> Break:
    """The break of a path that matches nothing: a claim about nothing is not kept."""
    return Break(
        path.text,
        needed,
        "nothing: the path matches no value",
        decided=False,
        code="EMPTY_SELECTION",
        hint="say allow-empty: true where nothing is fine",
    )


def wrong_type(path: str | None, needed: str, value: Json) -> Break:
    """The break of a value that has another type than the claim needs."""
    return Break(path, needed, f"{paths.kind(value)} {show(value)}", decided=False, code="WRONG_TYPE")


def every(path: paths.Path, document: Json, judge: Callable[[paths.Match], Break | None], *, allow_empty: bool) -> Break | None:
    """Judge each value that ``path`` selects and give the first break, one that could not be decided before the others.

    An undecided break wins, so that ``not-`` never turns a selection of which one value could not be judged.
    """
    matches = path.find(document)
    if not matches:
        return None if allow_empty else nothing(path)
    first: Break | None = None
    for match in matches:
        broken = judge(match)
        if broken is not None and not broken.decided:
            return broken
        first = first or broken
    return first


@dataclass_transform(frozen_default=True)
class Claim:
    """The base of all assertions: subclasses declare annotated fields, their order is the positional order.

    A field whose name ends in an underscore (``in_``) is spelled without it in a check file. ``shorthand`` names the
    field that a bare value fills. Every claim may carry ``allow_empty`` where it selects; it declares it itself.
    """

    key: ClassVar[str] = ""
    shorthand: ClassVar[str | None] = None
    arity: ClassVar[str] = "each"
    structural: ClassVar[bool] = False
    _fields: ClassVar[tuple[str, ...]] = ()
    _selectors: ClassVar[frozenset[str]] = frozenset()
    _operands: ClassVar[frozenset[str]] = frozenset()
    nested: ClassVar[frozenset[str]] = frozenset()
    _kinds: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        kinds = {name: str(text) for name, text in cls.__annotations__.items() if "ClassVar" not in str(text)}
        cls._fields = (*cls._fields, *(name for name in kinds if name not in cls._fields))
        cls._selectors |= {name for name, text in kinds.items() if text.startswith("Selector")}
        cls._operands |= {name for name, text in kinds.items() if text.startswith("Operand")}
        cls.nested |= {name for name, text in kinds.items() if text.startswith("Claims")}
        cls._kinds = {**cls._kinds, **kinds}

    def __init__(self, *args: object, **kwargs: object) -> None:
        for name, value in self._bind(args, kwargs).items():
            try:
                object.__setattr__(self, name, self._made(name, value))
            except UsageError as error:
                error.fields.setdefault("field", name)
                raise
        self.check()

    def _made(self, name: str, value: object) -> object:
        """Give what the field holds: a path, an operand, a tuple of inner claims, or the value as it is."""
        if value is None and getattr(type(self), name, ...) is None:
            return None
        if name in self._operands:
            return paths.operand(value)
        if name in self._selectors and not isinstance(value, paths.Path):
            return paths.compile_path(value)
        if name in self.nested:
            return inner(value)
        if not fits(self._kinds[name], value):
            wanted = worded(self._kinds[name])
            raise UsageError(f"{self.key}: {spelling(name)} must be {wanted}, got {_short(plain_value(value))}", code="WRONG_TYPE")
        return value

    @classmethod
    def required(cls) -> tuple[str, ...]:
        """The fields that have no default."""
        return tuple(name for name in cls._fields if not hasattr(cls, name))

    @classmethod
    def takes_whole(cls, value: Mapping[str, Json]) -> bool:
        """Whether a mapping is the shorthand field's own value: a range such as ``calls: {max: 3}``."""
        fields = set(cls._fields)
        return cls._kinds.get(cls.shorthand or "", "").startswith("Amount") and bool(value) and value.keys() <= {"min", "max"} - fields

    def _bind(self, args: tuple[object, ...], kwargs: dict[str, object]) -> dict[str, object]:
        cls = type(self)
        if len(args) > len(cls._fields):
            raise UsageError(f"{cls.__name__} takes at most {len(cls._fields)} values, got {len(args)}", code="UNKNOWN_KEY")
        values = dict(zip(cls._fields, args, strict=False))
        for name, value in kwargs.items():
            if name not in cls._fields or name in values:
                wrong = f": {name} is given twice" if name in cls._fields else f" has no field {name!r}"
                raise UsageError(cls.__name__ + wrong, code="UNKNOWN_KEY")
            values[name] = value
        for name in cls._fields:
            if name not in values:
                if not hasattr(cls, name):
                    raise UsageError(f"{cls.key or cls.__name__} needs {spelling(name)}", code="MISSING_KEY")
                values[name] = getattr(cls, name)
        return values

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in self._fields)})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.plain() == other.plain()

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    # what a subclass writes

    def check(self) -> None:
        """Refuse a claim that can never fit its own literals, with UsageError; called once, at construction."""

    def each(self, document: Json) -> Break | None:
        """Judge one observation: None when the claim is kept."""
        raise NotImplementedError

    def take(self, document: Json) -> Json:
        """For `across`: what to remember of one observation, small (a digest, a number)."""
        raise NotImplementedError

    def across(self, taken: Sequence[tuple[int, Json]]) -> Break | None:
        """Judge the runs of one case from (seed, what `take` gave) in order of seeds."""
        raise NotImplementedError

    def fuse(self, fuser: Fuser) -> bool:  # noqa: ARG002  # the subclasses' business
        """Write the fused form, which may only say "kept" when `each` would; False when there is none."""
        return False

    # what every claim can be asked

    def path(self, name: str = "of") -> paths.Path:
        """Give the compiled path of a selector field."""
        compiled: paths.Path = getattr(self, name)
        return compiled

    def reads(self) -> tuple[paths.Path, ...]:
        """The paths that this claim looks at; a parse failure above one of them makes the claim moot."""
        return tuple(value for name in self._fields if isinstance(value := getattr(self, name), paths.Path))

    def plain(self) -> dict[str, Json]:
        """The claim as a check file spells it, with every field that differs from its default."""
        cls, out = type(self), {}
        for name in cls._fields:
            value = getattr(self, name)
            value = plain_value(value)
            if not hasattr(cls, name) or plain_value(getattr(cls, name)) != value:
                out[spelling(name)] = value
        return out

    def describe(self) -> str:
        """The claim in one short line, as a check file spells it."""
        fields = self.plain()
        if set(fields) == {self.shorthand}:
            return f"{self.key}: {show(fields[str(self.shorthand)]).strip(chr(34))}"
        return f"{self.key}: {' '.join(f'{name}={_short(value)}' for name, value in fields.items())}"


def spelling(name: str) -> str:
    """Give a field's name as a check file spells it.

    >>> spelling("if_"), spelling("allow_empty")
    ('if', 'allow-empty')
    """
    return name.rstrip("_").replace("_", "-")


def invalid(message: str, field: str, *, hint: str | None = None) -> UsageError:
    """The error of a claim that can never be judged, or never be anything but kept or broken, as it is written."""
    return UsageError(message, code="ASSERTION_INVALID", hint=hint, field=field)


def inner(value: object) -> tuple[Claim, ...]:
    """Give inner assertions as a tuple; what is none of them, or a claim over all runs, raises UsageError."""
    claims = (value,) if isinstance(value, Claim) else tuple(value) if isinstance(value, list | tuple) else ()
    if not claims or not all(isinstance(claim, Claim) for claim in claims):
        raise UsageError(f"one or more assertions are needed, got {value!r}", code="WRONG_TYPE")
    across = next((claim for claim in claims if claim.arity != "each"), None)
    if across is not None:
        raise UsageError(f"{across.key} is a claim over all runs of a case: it cannot stand inside of another", code="ASSERTION_INVALID")
    return claims


def _short(value: Json) -> str:
    return value if isinstance(value, str) and value.startswith("$") else show(value)


def plain_value(value: object) -> Json:
    """Give a field's value as a check file spells it: paths as text, inner claims as one-key mappings."""
    if isinstance(value, paths.Path):
        return value.text
    if isinstance(value, paths.Literal):
        return {"literal": value.value} if _needs_spelling(value.value) else value.value
    if isinstance(value, Claim):
        return {value.key: value.plain()}
    if isinstance(value, tuple | list):
        return [plain_value(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    return value


def _needs_spelling(value: Json) -> bool:
    return value.startswith("$") if isinstance(value, str) else isinstance(value, dict) and value.keys() == {"literal"}


class Not(Claim):
    """The claim's opposite, spelled ``not-KEY`` in a check file; only a claim that could be decided is turned.

    >>> from invcheck.assertions import Contains
    >>> Not(Contains("$.output", any=["sorry"])).each({"output": "Yes."}) is None
    True
    """

    claim: Claim

    def check(self) -> None:
        """Only per-trial claims have an opposite."""
        if self.claim.arity != "each" or isinstance(self.claim, Not):
            raise invalid(f"not-{self.claim.key} does not exist: only a claim over one trial has an opposite", "claim")
        object.__setattr__(self, "key", f"not-{self.claim.key}")

    def each(self, document: Json) -> Break | None:
        """Kept where the inner claim is broken and could be decided."""
        inner = self.claim.each(document)
        if inner is None:
            where = next(iter(self.claim.reads()), None)
            return Break(where.text if where else None, f"not {self.claim.describe()}", "it holds")
        return None if inner.decided else inner

    def reads(self) -> tuple[paths.Path, ...]:
        """What the inner claim reads."""
        return self.claim.reads()

    def plain(self) -> dict[str, Json]:
        """As the inner claim."""
        return self.claim.plain()


def hints(kind: type[Claim]) -> Mapping[str, Any]:
    """Give the types of a claim's fields, resolved, for a validator to be built from."""
    return {name: hint for name, hint in get_type_hints(kind, include_extras=True).items() if name in kind._fields}
