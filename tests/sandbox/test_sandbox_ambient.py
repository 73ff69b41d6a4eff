"""Call sites: the project's frames and no others; and modules that are prepared once they are imported."""

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from invcheck.record import Record, opened
from invcheck.sandbox import ambient, imports

ROOT = Path(__file__).parents[2]
HERE = "tests/sandbox/test_sandbox_ambient.py"


@pytest.fixture
def _root() -> Iterator[None]:
    """Put the project's folder back after a test that moves it."""
    yield
    ambient.install(str(ROOT))


def test_only_files_of_the_project_have_a_place() -> None:
    """Below the root, but neither installed packages nor this package itself."""
    assert ambient.relative(str(ROOT / "shop" / "qa.py")) == "shop/qa.py"
    assert ambient.relative(str(ROOT / ".venv" / "lib" / "site-packages" / "x.py")) is None
    assert ambient.relative(json.__file__) is None
    assert ambient.relative(ambient.__file__) is None
    assert ambient.relative("<string>") is None


@pytest.mark.usefixtures("_root")
def test_an_interpreter_inside_the_project_is_none_of_it() -> None:
    """A Python that lives below the root brings its library along, which nobody of the project wrote."""
    ambient.install(str(Path(sys.base_prefix).parent) + "/")
    assert ambient.relative(ast.__file__) is None
    ambient.install("")
    assert ambient.relative("/x.py") == "x.py"


def test_the_nearest_frame_is_found_through_libraries() -> None:
    """From a frame in a library up to the first of the project, with its line."""
    frame = sys._getframe()
    assert ambient.nearest(frame) == (f"{HERE}:test_the_nearest_frame_is_found_through_libraries", frame.f_lineno)
    seen: list[object] = []

    class Odd(json.JSONEncoder):
        def default(self, o: object) -> object:
            frame = sys._getframe(1)
            seen.append((ambient.site(frame.f_code), ambient.nearest(frame)))
            return None

    json.dumps(object(), cls=Odd)
    assert seen[0][0] is None  # type: ignore[index]  # a pair
    assert seen[0][1][0] == f"{HERE}:test_the_nearest_frame_is_found_through_libraries"  # type: ignore[index]  # a pair
    assert ambient.nearest(None) is None


def test_the_innermost_frame_of_a_traceback() -> None:
    """Where the project stood when a library raised."""
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")
    found = ambient.innermost(caught.tb)
    assert found is not None
    assert found[0] == f"{HERE}:test_the_innermost_frame_of_a_traceback"


def test_reads_are_noted_for_the_projects_own_frames_only() -> None:
    """A frame of a library notes nothing unless it is named as standing for its caller; an import notes nothing."""
    record = Record()
    frame = sys._getframe()
    ambient.read("x", frame)
    module = compile("read(frame(0))", str(ROOT / "shop.py"), "exec")

    def reading(frame: object) -> None:
        ambient.read("x", frame)  # type: ignore[arg-type]  # a frame

    with opened(record):
        ambient.read("x", frame)
        ambient.read("x", frame, {__name__})
        ambient.read("x", None)
        exec(module, {"read": reading, "frame": sys._getframe})  # our own text: a module's top level
    assert record.ambient == {("x", f"{HERE}:test_reads_are_noted_for_the_projects_own_frames_only"): 1}


def test_an_import_under_way_is_seen() -> None:
    """In a module's top level while it is imported, and nowhere else."""
    assert not ambient.importing(sys._getframe())


def test_a_module_is_prepared_once_after_its_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Preparation comes after the module's own code, once, also for one that was imported already."""
    (tmp_path / "late.py").write_text("value = 1\n")
    (tmp_path / "other.py").write_text("value = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    seen: list[tuple[str, int]] = []

    def prepare(module: ModuleType) -> None:
        seen.append((module.__name__, module.value))

    imports.after("late", prepare)
    imports.after("missing_altogether", prepare)
    with pytest.raises(ModuleNotFoundError):
        __import__("missing_altogether")
    __import__("other")
    assert seen == []
    late = __import__("late")
    assert seen == [("late", 1)]
    late.__spec__.loader.exec_module(late)
    imports.after("late", prepare)
    assert seen == [("late", 1), ("late", 1)]
