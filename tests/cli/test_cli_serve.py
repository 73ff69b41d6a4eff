"""``invcheck serve``: what it prints, what it answers, and how it ends."""

from __future__ import annotations

import http.client
import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from invcheck.cli import serve

Said = Callable[..., tuple[int, str, str]]
Serving = Callable[..., tuple[int, str, str]]

BANNER = re.compile(
    r"a double, not a model: every reply comes from s\.yaml, loopback only, until Ctrl-C\n"
    r"  OpenAI     http://127\.0\.0\.1:(\d+)/v1\n"
    r"  Anthropic  http://127\.0\.0\.1:\1\n"
)


ASKED = b'{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}'


def ask(url: str, body: bytes = ASKED) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=10) as answer:
            status: int = answer.status
            return status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def broken(url: str, body: bytes) -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        urllib.request.urlopen(urllib.request.Request(url, body), timeout=10)


@pytest.fixture
def serving(said: Said, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Serving:
    """Serve a script, ask some paths of it, and interrupt it; gives the status, stdout and stderr."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(script: str, *asks: tuple[str, bytes], words: tuple[str, ...] = ()) -> tuple[int, str, str]:
        (project / "s.yaml").write_text(script, encoding="utf-8")

        def wait() -> None:
            printed = capsys.readouterr()
            before.append((printed.out, printed.err))
            found = BANNER.search(printed.err)
            assert found
            for path, body in asks:
                ask(f"http://127.0.0.1:{found[1]}{path}", body)
            raise KeyboardInterrupt

        before: list[tuple[str, str]] = []
        monkeypatch.setattr(serve, "wait", wait)
        status, out, err = said("serve", "s.yaml", *words)
        return status, "".join([*(out for out, _ in before), out]), "".join([*(err for _, err in before), err])

    return run


CHAT, MESSAGES = ("/v1/chat/completions", ASKED), ("/anthropic/v1/messages", ASKED)


def test_a_script_is_served_and_its_calls_are_told(serving: Serving) -> None:
    """Both dialects are answered from one script; what nobody used is told, and no fault of anybody."""
    status, out, err = serving("script: [one, {fail: overloaded}, never]\n", CHAT, MESSAGES)
    assert (status, out) == (0, "")
    assert BANNER.sub("", err) == '2 calls: 1 served, 1 failed.\nnote: 1 of 3 steps was not used: step 3 ("never")\n'


def test_refused_calls_are_status_1(serving: Serving) -> None:
    """A script that is over, an endpoint that is not there and a body that is none are told once each, with their hints."""
    status, _, err = serving("script: [one]\n", CHAT, CHAT, CHAT, ("/v1/models", b"{}"), ("/v1/responses", b"{"))
    assert status == 1
    lines = BANNER.sub("", err).splitlines()
    assert lines[0] == "5 calls: 1 served, 4 refused."
    assert [line.split()[0] for line in lines[1:] if not line.startswith("  hint: ")] == [
        "SCRIPT_EXHAUSTED",
        "ENDPOINT_UNKNOWN",
        "REQUEST_PROTOCOL",
    ]


def test_a_script_that_fails_itself_is_status_3(serving: Serving, project: Path) -> None:
    """A function of the script that gives no reply is the script's own mistake."""
    (project / "fakes_of_serve.py").write_text("def none(request):\n    return 3\n", encoding="utf-8")
    status, _, err = serving("script: [{call: 'fakes_of_serve:none'}]\n", CHAT)
    assert status == 3
    assert "REPLY_INVALID  the answer to call 1 is none" in err


def test_nothing_asked_is_nothing_wrong(serving: Serving) -> None:
    """No call, no step, status 0."""
    status, out, err = serving("script: []\n")
    assert (status, out, BANNER.sub("", err)) == (0, "", "0 calls.\n")


def test_the_variables_are_printed_as_a_shell_reads_them(serving: Serving) -> None:
    """stdout has nothing else, so that a shell may evaluate it."""
    status, out, err = serving("script: [{then-always: hi}]\n", CHAT, words=("--print-env",))
    found = BANNER.search(err)
    assert found
    assert status == 0
    assert out == (
        f"export OPENAI_BASE_URL=http://127.0.0.1:{found[1]}/v1\n"
        "export OPENAI_API_KEY=invcheck\n"
        f"export ANTHROPIC_BASE_URL=http://127.0.0.1:{found[1]}\n"
        "export ANTHROPIC_API_KEY=invcheck\n"
    )


def test_variables_stand_for_the_options(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option has a twin in the environment."""
    monkeypatch.setenv("INVCHECK_PRINT_ENV", "1")
    monkeypatch.setenv("INVCHECK_PORT", "0")
    assert serving("script: []\n")[1].startswith("export OPENAI_BASE_URL=")


def test_time_is_real_and_bounded(serving: Serving) -> None:
    """A wait that is longer than --silence is cut, and told: the client has not seen what the script says."""
    status, _, err = serving("script: [{reply: {text: late, latency: 600}}]\n", CHAT, words=("--silence", "0.0"))
    assert status == 3
    assert BANNER.sub("", err) == (
        "1 call: 1 served.\n"
        "WAIT_CUT  a model takes 600 seconds for what comes next, and no wait is longer than 0 here\n"
        "  hint: say --silence with as many seconds\n"
    )


def test_a_time_out_is_cut_and_told(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable stands for the option."""
    monkeypatch.setenv("INVCHECK_SILENCE", "0.01")
    monkeypatch.setattr(f"{__name__}.ask", broken)
    status, _, err = serving("script: [{fail: timeout}]\n", CHAT)
    assert status == 3
    assert "SILENCE_CUT  a timeout was silent for 0.01 real seconds" in err


def test_a_misspelt_variable_is_refused(said: Said, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by every command: it would silently change what was meant."""
    monkeypatch.setenv("INVCHECK_PROT", "80")
    assert said("serve", "s.yaml") == (2, "", "error: INVCHECK_PROT is no variable of invcheck\n  hint: did you mean INVCHECK_PORT?\n")


@pytest.mark.parametrize(
    ("script", "words", "told"),
    [
        (
            "script:\n- hello\n- replly: hi\n",
            (),
            'error: s.yaml:3:3: $.script[1].replly: there is no "replly" here\n  hint: did you mean reply?\n',
        ),
        ("script: [a]\n", ("--port", "70000"), "error: --port takes a port from 0 to 65535, got '70000'\n"),
        ("script: [a]\n", ("--silence", "-1"), "error: --silence takes seconds from 0, such as 2.5, got '-1'\n"),
        ("script: [a]\n", ("--silence", "nan"), "error: --silence takes seconds from 0, such as 2.5, got 'nan'\n"),
        ("script: [a]\n", ("--port", "-1"), "error: --port takes a port from 0 to 65535, got '-1'\n"),
        (None, (), "error: s.yaml: it cannot be read: No such file or directory\n"),
    ],
)
def test_bad_input_is_status_2(said: Said, project: Path, script: str | None, words: tuple[str, ...], told: str) -> None:
    """A mistake in the file has its place and its reason, one in the options its option."""
    if script is not None:
        (project / "s.yaml").write_text(script, encoding="utf-8")
    assert said("serve", "s.yaml", *words) == (2, "", told)


def test_there_is_no_way_to_serve_others(said: Said, project: Path) -> None:
    """Loopback only: there is no --host."""
    status, _, err = said("serve", "s.yaml", "--host", "0.0.0.0")
    assert status == 2
    assert "No such option: --host" in err


def test_a_shell_that_started_it_in_the_background_can_interrupt_it(tmp_path: Path) -> None:
    """A script's shell has no job control and ignores SIGINT for what it puts behind; this process hears it all the same."""
    (tmp_path / "s.yaml").write_text("script: []\n", encoding="utf-8")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("INVCHECK_")}
    # the banner's last line comes when nothing but a signal ends it
    program = f"""
        mkfifo told
        {shlex.quote(sys.executable)} -m invcheck serve s.yaml 2>told &
        exec 3<told
        while read -r line <&3; do case $line in Anthropic*) break ;; esac; done
        kill -INT $!
        cat <&3
        wait $!
    """
    ran = subprocess.run(["/bin/sh", "-c", program], cwd=tmp_path, env=environ, text=True, capture_output=True, timeout=30, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "0 calls.\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(tmp_path: Path, number: signal.Signals) -> None:
    """The process itself: it serves until a signal comes, then tells what came of it."""
    (tmp_path / "s.json").write_text('{"script": ["hello"]}', encoding="utf-8")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("INVCHECK_")}
    words = [sys.executable, "-m", "invcheck", "serve", "s.json", "--print-env"]
    with subprocess.Popen(words, cwd=tmp_path, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("export OPENAI_BASE_URL=").strip()
            assert process.stderr is not None
            process.stderr.readline()  # the banner: from now on nothing but the signal ends it
            # in a process of its own, since this one reaches no listener but its own
            asking = f"import urllib.request; urllib.request.urlopen('{url}/chat/completions', {ASKED!r}).read()"
            subprocess.run([sys.executable, "-c", asking], check=True, timeout=20)
            process.send_signal(number)
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, err.splitlines()[-1]) == (0, "1 call: 1 served.")
