"""What every assertion is: one light frozen class with its fields, `each` or `across`, and perhaps a fused form.

A claim answers with None (kept) or a Break. A Break that is not ``decided`` (nothing was selected, or a value of
another type than the claim needs) is broken under ``not-`` too: negation turns only a claim that could be decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, dataclass_transform, get_type_hints

from invcheck import paths
from invcheck.assertions.breaks import Break
from invcheck.assertions.fitting import fits, worded
from invcheck.assertions.spelling import plain_value, short, spelling
from invcheck.errors import UsageError
from invcheck.resolve import did_you_mean
from invcheck.show import show
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
            return paths.compile_path(value)  # type: ignore[arg-type]  # it refuses what is no text
        if name in self.nested:
            return inner(value)
        if not fits(self._kinds[name], value):
            wanted = worded(self._kinds[name])
            raise UsageError(f"{self.key}: {spelling(name)} must be {wanted}, got {short(plain_value(value))}", code="WRONG_TYPE")
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
            hint = f"its fields are {', '.join(cls._fields)}"
            raise UsageError(f"{cls.__name__} takes at most {len(cls._fields)} values, got {len(args)}", code="UNKNOWN_KEY", hint=hint)
        values = dict(zip(cls._fields, args, strict=False))
        for name, value in kwargs.items():
            if name not in cls._fields or name in values:
                wrong = f": {name} is given twice" if name in cls._fields else f" has no field {name!r}"
                near = did_you_mean(name, list(cls._fields)) if name not in cls._fields else None
                hint = (f"did you mean {near!r}? " if near else "") + f"its fields are {', '.join(cls._fields)}"
                raise UsageError(cls.__name__ + wrong, code="UNKNOWN_KEY", hint=hint)
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

    def least_runs(self) -> int:
        """Give how many runs of a case the claim needs, so that it can be kept at all."""
        return 1

    def opposite(self, document: Json) -> Break | None:
        """Judge the opposite of the claim, as a whole: kept where the claim is broken and could be decided."""
        broken = self.each(document)
        if broken is None:
            where = next(iter(self.reads()), None)
            return self.holds(where.text if where else None)
        return None if broken.decided else broken

    def take(self, document: Json) -> Json:
        """For `across`: what to remember of one observation, small (a digest, a number)."""
        raise NotImplementedError

    def across(self, taken: Sequence[tuple[int, Json]]) -> Break | None:
        """Judge the runs of one case from (seed, what `take` gave) in order of seeds."""
        raise NotImplementedError

    def fuse(self, fuser: Fuser) -> bool:  # noqa: ARG002  # the subclasses' business
        """Write the fused form, which may only say "kept" when `each` would; False when there is none."""
        return False

    def references(self) -> tuple[str, ...]:
        """The "module:attribute" texts that the claim, or one inside of it, will import when it is asked."""
        nested = [claim for name in self.nested for claim in getattr(self, name) or ()]
        return tuple(text for claim in nested for text in claim.references())

    # what every claim can be asked

    def holds(self, at: str | None) -> Break:
        """Give the break of the claim's opposite: the claim holds at this place."""
        return Break(at, f"not {self.describe()}", "it holds")

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
        return f"{self.key}: {' '.join(f'{name}={short(value)}' for name, value in fields.items())}"


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


def hints(kind: type[Claim]) -> Mapping[str, Any]:
    """Give the types of a claim's fields, resolved, for a validator to be built from."""
    return {name: hint for name, hint in get_type_hints(kind, include_extras=True).items() if name in kind._fields}
