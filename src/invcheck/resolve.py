"""From "module:attribute", as a check file spells it, to the object: only workers do this, since it runs user code."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from invcheck.errors import CheckFileError, InvcheckError
from invcheck.vocabulary import Place

_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_reference(text: str) -> bool:
    """Whether a text has the form "module:attribute"; dots may stand on both sides.

    >>> is_reference("shop.qa:answer"), is_reference("shop.qa.answer")
    (True, False)
    """
    return _REFERENCE.fullmatch(text) is not None


def resolve(reference: str) -> object:
    """Import the module and give the attribute that ``reference`` names.

    Raises CheckFileError: REFERENCE_INVALID (not of the form "module:attribute"), REFERENCE_MISSING (no such module or
    attribute) or IMPORT_RAISED (the module's own code raised; the message says what and where).

    >>> resolve("json:loads")("[1]")
    [1]
    """
    if not is_reference(reference):
        raise CheckFileError(
            f"{reference!r} is no reference", code="REFERENCE_INVALID", hint='write "module:attribute", such as shop.qa:answer'
        )
    module, _, attribute = reference.partition(":")
    return _attribute(_module(module, reference), attribute, reference)


def _module(name: str, reference: str) -> object:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name != missing and not name.startswith(f"{missing}."):  # the module is there, and something that it imports is not
            raise raised(error, name) from error
        raise CheckFileError(
            f"there is no module {missing!r} (for {reference!r})", code="REFERENCE_MISSING", hint=_module_hint(name, missing)
        ) from None
    except InvcheckError:
        raise
    except Exception as error:
        raise raised(error, name) from error


def _module_hint(name: str, missing: str) -> str:
    parent, _, last = missing.rpartition(".")
    if parent:
        import pkgutil  # noqa: PLC0415  # only a mistake pays for it

        inside = [found.name for found in pkgutil.iter_modules(getattr(sys.modules.get(parent), "__path__", []))]
        near = did_you_mean(last, inside)
        return f"did you mean {parent}.{near}?" if near else f"{parent} holds no module {last!r}"
    return f"references start at the project's folder, or at an installed package: is {name.replace('.', '/')}.py there?"


def _attribute(module: object, attribute: str, reference: str) -> object:
    found = module
    for name in attribute.split("."):
        if not hasattr(found, name):
            near = did_you_mean(name, [known for known in vars(found) if not known.startswith("__")] if hasattr(found, "__dict__") else [])
            hint = f"did you mean {near!r}?" if near else None
            holder = getattr(found, "__name__", type(found).__name__)
            raise CheckFileError(f"{holder} has no {name!r} (for {reference!r})", code="REFERENCE_MISSING", hint=hint)
        found = getattr(found, name)
    return found


def raised(error: BaseException, what: str) -> CheckFileError:
    """Say that importing ``what`` raised: the type, the text, and the innermost line of the project's own code."""
    place = _where(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        place = Place(_relative(error.filename) or Path(error.filename).name, error.lineno, error.offset)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    at = f" at {place}" if place else ""
    return CheckFileError(
        f"importing {what} raised {type(error).__name__}: {text or '(no message)'}{at}", code="IMPORT_RAISED", raised_at=place
    )


def _where(traceback: TracebackType | None) -> Place | None:
    place = None
    while traceback is not None:
        file = _relative(traceback.tb_frame.f_code.co_filename)
        if file is not None:
            place = Place(file, traceback.tb_lineno)
        traceback = traceback.tb_next
    return place


def _relative(file: str) -> str | None:
    """The file's path in the project, which a worker's working directory is; None for installed and built-in code."""
    path, root = Path(file), Path.cwd()
    if not path.is_relative_to(root) or "site-packages" in path.parts:
        return None
    return path.relative_to(root).as_posix()


def did_you_mean(word: str, known: list[str], *, cutoff: float = 0.6) -> str | None:
    """Give the known word that is nearest to ``word``, or None where none is nearer than ``cutoff``, from 0 to 1.

    >>> did_you_mean("expct", ["check", "expect"])
    'expect'
    """
    from difflib import get_close_matches  # noqa: PLC0415  # only a mistake pays for it

    return next(iter(get_close_matches(word, known, n=1, cutoff=cutoff)), None)


def meant(word: object, known: Iterable[str]) -> str | None:
    """Give the hint for a word that is not known: the nearest that is, else all of them, None where there are none.

    >>> meant("jsonl", ["json", "sql"]), meant("x", ["json", "sql"]), meant("x", [])
    ('did you mean json?', 'there are: json, sql', None)
    """
    names = list(known)
    near = did_you_mean(str(word), names)
    return f"did you mean {near}?" if near else f"there are: {', '.join(names)}" if names else None
