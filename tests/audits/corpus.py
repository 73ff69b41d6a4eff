"""The planted answers: what each leans on, and the line where it comes in, written down before anything was run.

`CLEAN` lean on nothing: ``unused`` reads every source without an effect. A line is given by a text that stands in it alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "planted"


class Planted(NamedTuple):
    """One answer, its axis as a report names it, and a text of its line."""

    function: str
    axis: str
    line: str

    @property
    def place(self) -> tuple[str, int]:
        """File and line, found by the text."""
        module, _, name = self.function.partition(":")
        file = f"{module}.py"
        lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
        begin = next(n for n, line in enumerate(lines) if line.removeprefix("async ").startswith(f"def {name}("))
        found = [n + 1 for n, line in enumerate(lines) if self.line in line]
        return file, next((n for n in found if n > begin), found[0])


PLANTED = (
    Planted("clocks:greeting", "clock", "datetime.now(UTC).hour"),
    Planted("clocks:receipt", "clock", "int(time.time())"),
    Planted("clocks:dated_prompt", "clock", "datetime.now(UTC).strftime"),
    Planted("clocks:stamped", "clock", 'row["at"] = now()'),
    Planted("clocks:ticket", "clock", "time.monotonic_ns()"),
    Planted("clocks:deadline", "clock", "time.gmtime()"),
    Planted("clocks:old_or_new", "clock", "if time.time()"),
    Planted("zones:delivered", "time zone", "datetime.fromtimestamp"),
    Planted("zones:opening", "time zone", "time.localtime"),
    Planted("zones:zoned_prompt", "time zone", "time.tzname"),
    Planted("zones:meeting", "time zone", "moment.astimezone()"),
    Planted("hashes:tags", "hash seed", "for tag in"),
    Planted("hashes:tools_prompt", "hash seed", '", ".join(tools)'),
    Planted("hashes:bucket", "hash seed", "hash(name)"),
    Planted("hashes:first_source", "hash seed", "next(iter(sources))"),
    Planted("hashes:popped", "hash seed", "left.pop()"),
    Planted("hashes:missing_fields", "hash seed", "list(wanted"),
    Planted("hashes:by_letter", "hash seed", "for word in set("),
    Planted("randoms:variant", "random seed", "random.choice"),
    Planted("randoms:shuffled", "random seed", "random.shuffle"),
    Planted("randoms:jitter", "random seed", "random.uniform"),
    Planted("randoms:lottery", "random seed", "randint(1, 1"),
    Planted("entropies:request_id", "entropy", "uuid.uuid4()"),
    Planted("entropies:token", "entropy", "secrets.token_hex"),
    Planted("entropies:own_generator", "entropy", "random.Random()"),
    Planted("entropies:salted", "entropy", "os.urandom"),
    Planted("entropies:scratch", "entropy", "NamedTemporaryFile"),
    Planted("listings:listed", "listing order", "os.listdir"),
    Planted("listings:globbed", "listing order", "glob.glob"),
    Planted("listings:first_note", "listing order", "NOTES.iterdir()"),
    Planted("listings:scanned", "listing order", "for entry in entries"),
    Planted("listings:walked", "listing order", "os.walk"),
    Planted("locales:language", "locale", 'os.environ.get("LANG"'),
    Planted("locales:localised_prompt", "locale", 'os.getenv("LC_ALL")'),
    Planted("locales:collation", "locale", "locale.setlocale"),
    Planted("folders:working", "working folder", "os.getcwd()"),
    Planted("folders:cited_prompt", "working folder", "HERE ="),
    Planted("folders:cache_key", "working folder", "os.path.abspath"),
    Planted("processes:worker", "process number", "os.getpid()"),
    Planted("processes:run_row", "process number", "run-{getpid()}"),
    Planted("processes:sampled", "process number", "if os.getpid()"),
    Planted("processes:parent", "process number", "os.getppid()"),
    Planted("schedules:collected", "schedule", ""),
    Planted("schedules:fetched", "schedule", ""),
    Planted("schedules:shared_queue", "schedule", ""),
    Planted("schedules:gathered", "schedule", ""),
    Planted("uncontrolled:described", "uncontrolled", "{session!r}"),
    Planted("uncontrolled:stored", "uncontrolled", "randomblob"),
    Planted("uncontrolled:counted", "uncontrolled", "file.read_text()"),
    Planted("uncontrolled:uptime", "uncontrolled", "STARTED ="),
)

CLEAN = ("clean:sorted_tags", "clean:seeded", "clean:measured", "clean:unused", "clean:all_notes", "clean:joined")
