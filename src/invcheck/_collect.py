"""Stage: find the check files, and turn each into checks; what is wrong with one never hides another."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from stat import S_ISREG
from types import ModuleType

from invcheck.errors import CheckFileError, InvcheckError, NetworkBlocked, UsageError
from invcheck.resolve import did_you_mean, raised
from invcheck.suite import Check
from invcheck.suite.declare import CLAIMLESS, forget, registered
from invcheck.suite.entries import FIRST
from invcheck.suite.written import Written
from invcheck.vocabulary import Place

DEFAULT = "checks"
"""The folder that is looked into when no path is given."""

_NOT_CHECKS = frozenset({("checks", "snapshots"), ("checks", "repros"), ("checks", "fixtures")})
_YAML, _PYTHON = (".yaml", ".yml"), ".py"
_DECLARES = re.compile(rb"^@(?:\w+\.)*check\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Found:
    """The check files of a project, relative to it, in the order of their names; ``problems`` are paths that are none."""

    yaml: tuple[Path, ...] = ()
    python: tuple[Path, ...] = ()
    problems: tuple[UsageError, ...] = ()


def discover(paths: Sequence[str | Path], root: Path) -> Found:
    """Find ``*.yaml``, ``*.yml`` and ``check_*.py`` in the folders among ``paths``, and take the files among them as they are.

    The project itself stands for its folder ``checks``, which is also searched without paths, if it is there. Links are
    followed. Left out are what is hidden, ``__pycache__``, ``checks/snapshots``, ``checks/repros`` and ``checks/fixtures``.
    Problems are: a path that is not there, MISSING_FILE; a folder or file that cannot be read, UNREADABLE_FOLDER and
    UNREADABLE_FILE; a Python file of another name that declares checks, which would never run, MISNAMED_FILE.
    """
    files: set[Path] = set()
    problems: list[UsageError] = []
    for path in [Path(path) for path in paths] or [Path(DEFAULT)]:
        try:
            files.update(_below(_inside(path, root), root, problems, optional=not paths))
        except UsageError as problem:
            problems.append(problem)
    ordered = sorted(files, key=Path.as_posix)
    python = tuple(file for file in ordered if _ending(file) == _PYTHON)
    told = {(each.code, str(each.place)): each for each in problems if each.code != "MISNAMED_FILE" or Path(str(each.place)) not in files}
    return Found(tuple(file for file in ordered if _ending(file) != _PYTHON), python, tuple(told.values()))


def _inside(path: Path, root: Path) -> Path:
    """The path relative to the project, without dots; other tools' YAML stands all over a project, so `checks` stands for it."""
    full = Path(os.path.normpath(root / path))
    if not full.is_relative_to(root):
        raise _wrong(path, "this lies outside of the project", "OUTSIDE_PROJECT", "run invcheck in the project's folder")
    return Path(DEFAULT) if full == root else full.relative_to(root)


def _below(path: Path, root: Path, problems: list[UsageError], *, optional: bool) -> list[Path]:
    full = root / path
    if full.is_file():
        if _ending(path) not in (*_YAML, _PYTHON):
            raise _wrong(path, "this is no check file", "WRONG_FILE", "check files are *.yaml, *.yml and check_*.py")
        return [path] if _read(path, root, problems) is not None else []
    if not full.is_dir():
        if optional:
            return []
        near = did_you_mean(path.name, sorted(each.name for each in full.parent.iterdir())) if full.parent.is_dir() else None
        hint = f"did you mean {(path.parent / near).as_posix()}?" if near else FIRST if path == Path(DEFAULT) else None
        raise _wrong(path, "there is no such file or folder", "MISSING_FILE", hint)
    return list(_search(path, root, (), problems))


def _search(folder: Path, root: Path, above: tuple[str, ...], problems: list[UsageError]) -> Iterator[Path]:
    """The check files below a folder; ``above`` are the folders that led to it, so that a circle of links ends."""
    real = os.path.realpath(root / folder)
    if real in above or folder.name == "__pycache__" or folder.parts in _NOT_CHECKS:
        return
    try:
        names = sorted(name for name in os.listdir(root / folder) if not name.startswith("."))  # noqa: PTH208  # names, not paths
    except OSError as error:
        problems.append(_wrong(folder, f"this folder cannot be read: {error.strerror}", "UNREADABLE_FOLDER", None))
        return
    for path in (folder / name for name in names):
        if os.path.isdir(root / path):  # noqa: PTH112  # a link to itself is no folder, and no error
            yield from _search(path, root, (*above, real), problems)
        elif _ending(path) in (*_YAML, _PYTHON):
            text = _read(path, root, problems)
            if text is None or (_ending(path) == _PYTHON and not path.name.startswith("check_")):
                _named_otherwise(path, text or b"", problems)
            else:
                yield path


def _read(path: Path, root: Path, problems: list[UsageError]) -> bytes | None:
    try:
        if not S_ISREG((root / path).stat().st_mode):
            problems.append(_wrong(path, "this is no regular file", "UNREADABLE_FILE", "pipes and devices are never read"))
            return None
        return (root / path).read_bytes()
    except OSError as error:
        problems.append(_wrong(path, f"this file cannot be read: {error.strerror}", "UNREADABLE_FILE", None))
        return None


def _named_otherwise(path: Path, text: bytes, problems: list[UsageError]) -> None:
    if b"invcheck" in text and _DECLARES.search(text):
        hint = f"call it {(path.parent / f'check_{path.name}').as_posix()}"
        problems.append(_wrong(path, "this file declares checks, and only files check_*.py are searched for them", "MISNAMED_FILE", hint))


def _wrong(path: Path, message: str, code: str, hint: str | None) -> UsageError:
    """The path is the place, so that whoever asks for a check of it is not told a second time."""
    return UsageError(message, code=code, place=Place(path.as_posix()), hint=hint)


def _ending(path: Path) -> str:
    return path.suffix.casefold()


def yaml_checks(path: Path, root: Path) -> tuple[list[Check], list[CheckFileError]]:
    """Read one YAML check file: its sound checks, and everything that is wrong with it, each with its place."""
    from invcheck.suite.checkfile import read_file  # noqa: PLC0415  # only YAML files need it

    return read_file(root, path.as_posix())


def python_checks(path: Path, root: Path) -> tuple[list[Check], list[InvcheckError]]:
    """Import one Python check file: its sound checks in the order of the file, and everything that is wrong with it.

    This runs the user's code, so only a worker calls it. A file that cannot be imported, or that declares no check, is a
    mistake; so are two checks of one name, of which Python itself would silently drop the first.
    """
    file, full = path.as_posix(), root / path
    if not full.is_file():
        return [], [CheckFileError(f"there is no file {file}", code="MISSING_FILE", place=Place(file))]
    try:
        _import(path, root)
    except (Exception, NetworkBlocked, SystemExit) as error:  # noqa: BLE001  # whatever the user's file raises is told with its place
        forget(full)
        return [], [_placed(error, file, full)]
    checks: list[Check] = []
    written = Written(full.read_text("utf-8-sig"), file)
    problems: list[InvcheckError] = [*written.faults()]
    seen: dict[str, int | None] = {}
    for made, wrong in registered(full):
        check, mistakes = _moved(made, wrong, file)
        if not mistakes and not made.claims and not written.asserts(check.place.line or 0):
            mistakes = [
                CheckFileError("the check has no assertion that is ever run", code="NO_ASSERTION", place=check.place, hint=CLAIMLESS)
            ]
        if check.name in seen:
            message = f"the check {check.name!r} stands twice: first in line {seen[check.name]}"
            mistakes = [*mistakes, CheckFileError(message, code="DUPLICATE_NAME", place=check.place, hint="give one of them another name")]
        seen.setdefault(check.name, check.place.line)
        problems += mistakes
        checks += [] if mistakes else [check]
    if not seen:
        hint = "declare one: @check(...) above a function of the trial"
        problems.append(CheckFileError("the file declares no check", code="NO_CHECK", place=Place(file, 1, 1), hint=hint))
    return checks, problems


def _import(path: Path, root: Path) -> ModuleType:
    """Import under the dotted name that the rest of the project uses, so that the file is not run twice under two names."""
    name = ".".join(path.with_suffix("").parts)
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) == str(root / path):
        return sys.modules[name]
    if all(part.isidentifier() for part in path.with_suffix("").parts):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None and Path(spec.origin) == root / path:
            return importlib.import_module(name)
    loader = SourceFileLoader(name, str(root / path))
    module = ModuleType(name)
    module.__file__ = loader.path
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _placed(error: BaseException, file: str, full: Path) -> InvcheckError:
    """What importing raised; an error of ours keeps its code, and gets the line of the file that led to it."""
    line = None
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(full):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    place = Place(file, line)
    if isinstance(error, InvcheckError):
        return CheckFileError(error.message, code=error.code, place=error.place or place, hint=error.hint)
    if isinstance(error, SyntaxError) and error.filename == str(full):
        place = Place(file, error.lineno, error.offset)
    told = raised(error, file)
    return CheckFileError(told.message, code=told.code, place=place, hint=told.hint, blocked=isinstance(error, NetworkBlocked))


def _moved(check: Check, mistakes: Sequence[CheckFileError], file: str) -> tuple[Check, list[CheckFileError]]:
    """The check with places relative to the project: at its declaration only the machine's own path is known."""
    place = replace(check.place, file=file)
    cases = tuple(replace(case, place=case.place or place) for case in check.cases)
    moved = replace(check, file=file, place=place, cases=cases, claim_places=(place,) * len(check.claims))
    return moved, [CheckFileError(error.message, code=error.code, place=place, hint=error.hint) for error in mistakes]
