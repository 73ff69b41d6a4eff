"""Take every way without walls, then behind those of each tier through `invcheck run`, and have listeners judge.

`python -m tests.egress.harness USER WAYS TIERS FOLDER` does it for one user and prints what was seen as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.egress.judges import Judges
from tests.egress.world import enter, show_network

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NOBODY = 65534
_QUIET = 0.15  # seconds without anybody, after which nobody comes any more
_AT_ONCE = 3
NO_WORLD = 4
APP = '''
from contextlib import suppress

import ways


def take(way, to):
    """Take one way, whatever comes of it."""
    with suppress(BaseException):
        return ways.WAYS[way].take(to)
'''
SETTINGS = "[tool.invcheck]\ntrial-seconds = 60\n"


class Harness:
    """One user's rounds in a folder of its own, once the process is in a world of its own."""

    def __init__(self, folder: Path, user: int, names: Sequence[str], *, version6: bool) -> None:
        self.folder, self.user, self.names = folder, user, names
        self.judges = Judges(folder / "judge", version6=version6)
        show_network(folder / "judge" / "network")
        self._fixed = {"network": str(folder / "judge" / "network"), "helper": _compiled(folder / "judge")}
        self._keepers = list[subprocess.Popen[bytes]]()

    def targets(self, *, control: bool) -> tuple[dict[str, dict[str, Any]], list[int]]:
        """Give what each way of a round leads to, and the open connections that are handed down to it."""
        found, handed = dict[str, dict[str, Any]](), list[int]()
        for name in self.names:
            to = self.judges.targets()
            found[name] = {**self._fixed, **to, "control": control}
            if name in CONNECTED:
                found[name] |= self._connected(to["key"])
                handed.append(found[name]["kept"])
        return found, handed

    def _connected(self, key: str) -> dict[str, int]:
        """Give an open connection of before, and a process of the same user that holds it too."""
        connection = self.judges.connection(key).detach()
        self._keepers.append(self._start(["-c", "import sys; sys.stdin.read()"], [connection], stdin=subprocess.PIPE))
        return {"kept": connection, "keeper": self._keepers[-1].pid}

    def close(self) -> None:
        for keeper in self._keepers:
            keeper.communicate()

    def free(self) -> dict[str, Any]:
        """Take each way without walls: for each how it was seen, or why it cannot be taken here."""
        targets, _ = self.targets(control=True)
        running, told = dict[str, subprocess.Popen[bytes]](), dict[str, str]()
        for name, to in targets.items():
            while len(running) >= _AT_ONCE:
                self._reap(running, told)
            running[name] = self._start(["-m", "ways", name, json.dumps(to)], [to["kept"]] if "kept" in to else [])
        while running:
            self._reap(running, told)
        self._settle()
        return {name: {"seen": sorted(self.judges.seen[to["key"]]), "told": told[name]} for name, to in targets.items()}

    def _reap(self, running: dict[str, subprocess.Popen[bytes]], told: dict[str, str]) -> None:
        self.judges.look(0.02)
        for name, process in list(running.items()):
            if process.poll() is not None:
                said = process.communicate()[0].decode().strip()
                told[name] = f"missing: {said}" if process.returncode == 3 else said
                del running[name]

    def walled(self, tier: str) -> dict[str, Any]:
        """Take each way in a trial behind the walls of a tier: how it was seen, what the report says of it."""
        targets, handed = self.targets(control=False)
        project = self.folder / f"project-{tier}"
        shutil.copytree(HERE / "ways", project / "ways", ignore=shutil.ignore_patterns("__pycache__"))
        (project / "app.py").write_text(APP)
        (project / "pyproject.toml").write_text(SETTINGS)
        (project / "checks").mkdir()
        first = next(iter(targets.values()))
        allow = {"allow": [f"tcp:127.0.0.1:{first['allowed']}", f"unix:{first['served']}"]}
        for name, more, chosen in (("out", {}, self._some(works=False)), ("within", allow, self._some(works=True))):
            cases = [{"id": each, "input": {"way": each, "to": targets[each]}} for each in chosen]
            claim = {"equals": {"of": "$.output", "to": "worked"}} if more else {"not-equals": {"of": "$.output", "to": "worked"}}
            check = {"check": name, "app": "app:take", "clock": "real", "cases": cases, "expect": [claim], **more}
            if cases:
                (project / "checks" / f"{name}.yaml").write_text(json.dumps(check))
        for each in (project, *project.rglob("*")):
            os.chown(each, self.user, -1)
        process = self._start(["-m", "tests.egress.door", tier, "run", "--format", "jsonl"], handed, project)
        said = bytearray()
        while process.poll() is None:
            self.judges.look(0.05)
        said, errors = process.communicate()
        self._settle()
        rows = [json.loads(line) for line in said.splitlines()]
        if not rows or rows[0].get("layer") != tier:
            raise SystemExit(f"{tier} as user {self.user}: {said.decode()[:2000]}\n{errors.decode()[-4000:]}")
        cases = {row["case"]: row for row in rows if row["kind"] == "case"}
        return {name: self._came(to, cases[name]) for name, to in targets.items()}

    def _some(self, *, works: bool) -> list[str]:
        return [name for name in self.names if WAYS[name].works is works]

    def _came(self, to: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
        found = [finding for finding in row["findings"] if finding["code"] == "NETWORK"]
        others = [finding["message"] for finding in row["findings"] if finding["code"] != "NETWORK"]
        noted = [finding["message"] for finding in found]
        return {"seen": sorted(self.judges.seen[to["key"]]), "noted": noted, "others": others, "verdict": row["verdict"]}

    def _start(
        self, words: list[str], handed: Sequence[int], project: Path | None = None, stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        other = {"user": self.user, "group": self.user, "extra_groups": []} if self.user != os.getuid() else {}
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"}
        return subprocess.Popen(
            [sys.executable, "-B", *words],
            cwd=project or self.folder,
            env=environ,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=handed,
            **other,
        )

    def _settle(self) -> None:
        while self.judges.look(_QUIET):
            pass


def _compiled(folder: Path) -> str | None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    made = folder / "helper.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, HERE / "ways" / "helper.c"], check=True)
    return str(made)


sys.path.insert(0, str(HERE))
from ways import WAYS  # noqa: E402  # an app of its own, which stands beside us

CONNECTED = ("a connection of before", "another's connection (pidfd_getfd)")


def visible() -> Iterator[str]:
    """What must be readable for an ordinary user: the interpreter, its packages, and us."""
    yield from (sys.base_prefix, sys.prefix, str(ROOT), sysconfig.get_paths()["purelib"])


def main(user: str, names: str, tiers: str, folder: str) -> None:
    chosen = names.split("|") if names else list(WAYS)
    unknown = [name for name in chosen if name not in WAYS]
    if unknown:
        raise SystemExit(f"no such way: {', '.join(unknown)}")
    place = Path(folder)
    (place / "judge").mkdir(parents=True)
    place.chmod(0o755)
    try:
        version6 = enter(place, visible())
    except OSError as error:
        sys.stderr.write(f"the kernel grants no network of our own: {error}")
        sys.exit(NO_WORLD)
    who = 0 if user == "root" else os.getuid() or NOBODY
    harness = Harness(place, who, chosen, version6=version6)
    found = {"free": harness.free()} | {tier: harness.walled(tier) for tier in tiers.split(",")}
    harness.close()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
