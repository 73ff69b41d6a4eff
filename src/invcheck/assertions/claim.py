"""What every assertion is: one light frozen class with its fields, `each` or `across`, and perhaps a fused form.

A claim answers with None (kept) or a Break. A Break that is not ``decided`` (nothing was selected, or a value of
another type than the claim needs) is broken under ``not-`` too: negation turns only a claim that could be decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, dataclass_transform, get_type_hints

from invcheck import paths
from invcheck.errors import UsageError
from invcheck.freeze import show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from invcheck.assertions.fuse import Fuser

Selector: TypeAlias = str
"""A JSONPath text; after construction the field holds the compiled `paths.Path`."""

Operand: TypeAlias = Json
"""A JSONPath text (it begins with ``$``) or a literal; ``{"literal": ...}`` spells a literal text that begins so."""


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
        hint="say allow_empty: true where nothing is fine",
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

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        own = [name for name, text in cls.__annotations__.items() if "ClassVar" not in str(text)]
        cls._fields = (*cls._fields, *(name for name in own if name not in cls._fields))
        kinds = {name: str(text) for name, text in cls.__annotations__.items()}
        cls._selectors |= {name for name in own if kinds[name].startswith("Selector")}
        cls._operands |= {name for name in own if kinds[name].startswith("Operand")}

    def __init__(self, *args: object, **kwargs: object) -> None:
        values = self._bind(args, kwargs)
        for name, value in values.items():
            if name in self._selectors and isinstance(value, str):
                value = paths.compile_path(value)
            elif name in self._operands:
                value = paths.operand(value)
            object.__setattr__(self, name, value)
        self.check()

    def _bind(self, args: tuple[object, ...], kwargs: dict[str, object]) -> dict[str, object]:
        cls = type(self)
        if len(args) > len(cls._fields):
            raise UsageError(f"{cls.__name__} takes at most {len(cls._fields)} values, got {len(args)}")
        values = dict(zip(cls._fields, args, strict=False))
        for name, value in kwargs.items():
            if name not in cls._fields or name in values:
                wrong = f": {name} is given twice" if name in cls._fields else f" has no field {name!r}"
                raise UsageError(cls.__name__ + wrong)
            values[name] = value
        for name in cls._fields:
            if name not in values:
                if not hasattr(cls, name):
                    raise UsageError(f"{cls.__name__} needs {name}")
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
                out[name.rstrip("_").replace("_", "-")] = value
        return out

    def describe(self) -> str:
        """The claim in one short line, as a check file spells it."""
        fields = self.plain()
        if set(fields) == {self.shorthand}:
            return f"{self.key}: {show(fields[str(self.shorthand)]).strip(chr(34))}"
        return f"{self.key}: {' '.join(f'{name}={_short(value)}' for name, value in fields.items())}"


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

    >>> Not(Contains("$.output", any=["sorry"]))                                   # doctest: +SKIP
    """

    claim: Claim

    def check(self) -> None:
        """Only per-trial claims have an opposite."""
        if self.claim.arity != "each" or isinstance(self.claim, Not):
            raise UsageError(f"not-{self.claim.key} does not exist: only per-trial claims have an opposite")
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


Make: TypeAlias = Callable[..., Claim]
