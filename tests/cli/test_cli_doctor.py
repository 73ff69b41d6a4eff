"""`invcheck doctor`: the gate is proved by listeners, and a gate that leaks is called one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from invcheck import _probe, _proof
from invcheck.cli import main
from invcheck.engines import confined
from invcheck.errors import Unevaluated
from invcheck.gate import cell
from invcheck.gate.tiers import Tier

ROOT = Path(__file__).parents[2]
Doctor = Callable[..., tuple[int, str, str]]


@pytest.fixture
def doctor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Ask in the project's own folder, of whose settings none asks for the kernel."""
    monkeypatch.chdir(ROOT)

    def ask(*words: str) -> tuple[int, str, str]:
        status = main(["doctor", *words])
        return status, *capsys.readouterr()

    return ask


def granted() -> Tier:
    """What this machine grants."""
    return _proof.prove(ROOT).tier


def test_every_way_out_is_seen_without_walls_and_from_no_worker(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the kernel here grants holds, by the judgement of the listeners; what is kept from workers is named, not shown."""
    monkeypatch.setenv("SHOP_SECRET", "s3cr3t")
    status, out, err = doctor("--format", "json")
    found = json.loads(out)
    assert (status, err, found["held"]) == (0, "", True)
    assert [each["way"] for each in found["ways"] if found["own"] or each["way"] in _probe.WAYS] == [
        way for way, (_, target) in _probe.WAYS.items() if found["own"] or target != "name"
    ]
    assert all(each["without"] for each in found["ways"])
    assert not [each["way"] for each in found["ways"] if each["inside"] and each["promised"]]
    assert "SHOP_SECRET" in found["withheld"]
    assert "s3cr3t" not in out


@pytest.mark.skipif(granted() is Tier.SOFT, reason="this kernel grants no walls")
def test_a_person_reads_a_table(doctor: Doctor) -> None:
    """The tier with what it means, a row for each way, and one sentence that says it all."""
    status, out, _ = doctor()
    lines = out.splitlines()
    assert status == 0
    assert lines[0].startswith("gate K")
    rows = [line for line in lines if line.startswith(tuple(_probe.WAYS))]
    assert all("not seen" in row and row.split("  ")[0].strip() in _probe.WAYS for row in rows)
    assert f"{len(rows)} ways out were seen without walls, and none from a worker." in lines


def test_a_gate_that_leaks_is_called_one(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Walls that are none while the tier claims to be the kernel's: native code gets out, the listener sees it, 3."""
    soft = cell.walls(Tier.SOFT)
    monkeypatch.setattr(cell, "walls", lambda *_args, **_options: soft)
    status, out, _ = doctor()
    assert status == 3
    assert "gate K1" in out
    assert "THE GATE LEAKS: a listener saw a worker by native code, a name, by native code." in out


def test_what_no_listener_sees_without_walls_proves_nothing(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A control that fails makes the proof void: 3, and the way is named."""
    monkeypatch.setattr(_proof, "_program", lambda way, targets: _real(way if way != "UDP" else "nothing", targets))
    status, out, _ = doctor()
    assert status == 3
    assert "Nothing is proved of UDP: no listener saw it without walls either." in out


_real: Any = _proof._program


def soft(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that grants no wall at all."""

    def refuse(tier: Tier, **_options: object) -> cell.Walls:
        if tier is Tier.SOFT:
            return cell.Walls(tier, alone=False)
        raise cell.NotWalled("Operation not permitted (EPERM)")

    monkeypatch.setattr(cell, "walls", refuse)


def test_the_soft_gate_says_what_gets_out(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's ways are cut, which is all that it promises; why the kernel does not help is told with what to do."""
    soft(monkeypatch)
    status, out, _ = doctor()
    assert status == 0
    assert out.startswith("gate soft: an audit hook alone")
    assert "  K1 is refused: Operation not permitted (EPERM)\n    unprivileged user namespaces are what is missing" in out
    assert "The kernel's help is missing: native code" in out


def test_who_requires_the_kernel_is_refused_without_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    """4, with the reasons, after the table."""
    soft(monkeypatch)
    (tmp_path / "invcheck.toml").write_text('[gate]\nrequire = "kernel"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["doctor"]) == 4
    out, err = capsys.readouterr()
    assert out.startswith("gate soft")
    assert err.startswith('error: gate.require = "kernel" is set, and the kernel refuses: K1: Operation not permitted (EPERM)')


def test_without_a_namespace_no_name_is_looked_up(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real server would be asked; the listeners stand on loopback then."""
    monkeypatch.setattr(_proof, "_own_network", lambda _folder: False)
    status, out, _ = doctor()
    assert status == 0
    assert "a name" not in out.split("\n\n")[1]
    assert "Names were not looked up" in out


@pytest.mark.parametrize("broken", ["raises", "dies"])
def test_what_cannot_be_proved_is_no_proof(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the process that proves, or its death, is told as such."""

    def fail(*_args: object, **_options: object) -> None:
        if broken == "dies":
            os._exit(9)
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(_proof, "_proved", fail)
    with pytest.raises(Unevaluated, match=r"could not be proved: .*(open files|died)"):
        _proof.prove(ROOT)


def test_the_workers_of_a_proof_are_those_of_a_run() -> None:
    """They come from the one pool, so that nothing else is proved than what runs."""
    assert _proof.confined is confined


@pytest.mark.parametrize("words", [["--format", "xml"], ["--seed", "1"]])
def test_wrong_words_are_usage(words: list[str], doctor: Doctor) -> None:
    """2, and nothing is tried."""
    assert doctor(*words)[0] == 2
