"""The table, the findings under it, and the line that sums up."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.errors import CheckFileError
from invcheck.events import CaseDone, Ended, Event, Started, summarise
from invcheck.report import Report, explain, table
from invcheck.report.visible import cut, quoted, visible, visible_xml
from invcheck.report.width import clusters
from invcheck.vocabulary import Finding, Place, Result, Verdict

FINDINGS = """\
BROKEN  checks/qa.yaml::answers[refund]
  SUBSET  subset: of=$.output.cites[*] in=$.input.doc_ids[*]
    expected  one of ["d1", "d2"]
    got       "d9"
    path      $.output.cites[1]
    call      call 1 of 1
    trials    3 of 200, first with seed 137
    place     checks/qa.yaml:14:5
    hint      retrieve it first
    replay    invcheck run 'checks/qa.yaml::answers[refund]' --seed 137 --runs 1
  DISTINCT  distinct: of=$.output_text at-least=100
    expected  at least 100 distinct values
    got       1
    path      $.output_text
    trials    across all 200, seeds from 0
    replay    invcheck run 'checks/qa.yaml::answers[refund]' --seed 0 --runs 200

ERRORED  checks/check_日本.py::作る[a|b]
  APP_RAISED  the app raised ValueError: no
    in shop/qa.py, answer
    trials    1 of 1, first with seed 4
    replay    invcheck run 'checks/check_日本.py::作る[a|b]' --seed 4 --runs 1
"""
PROBLEM = """
CHECK_FILE  checks/bad.yaml:2:1: unknown key 'expct'
  hint: did you mean 'expect'?
"""
SUMMARY = "\n3 cases: 1 kept, 1 broken, 1 errored. 3 of 401 trials broken, 1 errored. 1 problem with what was asked for. Seed 0, gate K1.\n"


def columns(text: str) -> int:
    """The columns that a text takes."""
    return sum(width for _, width in clusters(text))


def test_the_table_has_a_row_for_each_check(report: Report) -> None:
    """By default: one row a check with the worst verdict, then findings with their replay command, problems, the summary."""
    assert (
        table.render(report)
        == (
            "verdict      cases    broken    errored  check\n"
            "---------  -------  --------  ---------  --------------------------\n"
            "broken           2  3 of 400             checks/qa.yaml::answers\n"
            "errored          1    0 of 1     1 of 1  checks/check_日本.py::作る\n\n"
        )
        + FINDINGS
        + PROBLEM
        + SUMMARY
    )


def test_verbose_has_a_row_for_each_case_and_what_stays_unjudged(report: Report) -> None:
    """With -v: one row a case, distinct outputs, and the unjudged claims."""
    text = table.render(report, verbosity=1)
    assert text.startswith(
        "verdict      broken    errored    distinct  case\n"
        "---------  --------  ---------  ----------  -------------------------------\n"
        "broken     3 of 200                      1  checks/qa.yaml::answers[refund]\n"
        "kept       0 of 200                    134  checks/qa.yaml::answers[1e5]\n"
        "errored      0 of 1     1 of 1              checks/check_日本.py::作る[a|b]\n\nBROKEN"
    )
    assert "  UNJUDGED  fields: of=$.output (unjudged)\n    message   the output could not be parsed\n" in text


def test_quiet_levels(report: Report) -> None:
    """With -q no table, with -qq the summary alone, and what could not be used unless it is told elsewhere."""
    assert table.render(report, verbosity=-1) == FINDINGS + PROBLEM + SUMMARY
    assert table.render(report, verbosity=-2) == PROBLEM.lstrip("\n") + SUMMARY
    assert table.render(report, verbosity=-2, problems=False) == SUMMARY.lstrip("\n")


def test_a_green_run_is_a_table_and_one_honest_line() -> None:
    """Nothing broken is told as how many of how many trials were."""
    result = Result("checks/a.yaml::x", "1", Place("checks/a.yaml"), 7, 200, {"kept": 200}, Verdict.KEPT)
    events: list[Event] = [Started(1, 200, 7, None, 1, "", "soft"), CaseDone(0, result), Ended(summarise([result]))]
    assert table.render(Report.of(events)) == (
        "verdict      cases    broken  check\n"
        "---------  -------  --------  ----------------\n"
        "kept             1  0 of 200  checks/a.yaml::x\n\n"
        "1 case: 1 kept. 0 of 200 trials broken. Seed 7, gate soft.\n"
    )


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"shard": (1, 2)}, "1 case: 1 kept. 0 of 1 trial broken. Seed 0, shard 1/2, gate K1."),
        ({"stopped": True}, "1 case: 1 kept. 0 of 1 trial broken. Stopped early, 2 more were planned. Seed 0, gate K1."),
        ({"interrupted": True}, "1 case: 1 kept. 0 of 1 trial broken. Interrupted. Seed 0, gate K1."),
    ],
)
def test_the_summary_says_what_is_missing(change: dict[str, object], line: str) -> None:
    """A shard, an early stop and an interrupt are told."""
    result = Result("a.yaml::x", "1", Place("a.yaml"), 0, 1, {"kept": 1}, Verdict.KEPT)
    started = Started(3, 3, 0, change.pop("shard", None), 3, "", "K1")  # type: ignore[arg-type]  # one field each
    total = summarise([result], **change)  # type: ignore[arg-type]  # one field each
    assert explain.summary(Report(started, (CaseDone(0, result),), (), total)) == line


def test_an_empty_shard_is_told_in_words() -> None:
    """A shard without a case says so, and how many the plan holds."""
    report = Report(Started(0, 0, 7, (2, 3), 4, "", "K1"), (), (), summarise([]))
    assert table.render(report) == "0 cases: the shard 2/3 holds none of 4. Seed 7, gate K1.\n"


def test_a_run_without_any_event_is_an_interrupted_one() -> None:
    """What has no end was cut off; what has no start never came to a plan."""
    assert explain.summary(Report.of([])) == "0 cases. Interrupted."


def test_colours_mark_verdicts_only_where_they_are_wanted(report: Report) -> None:
    """ANSI stands around the words of verdicts, and the text without it is the plain one."""
    inked = table.render(report, colour=True)
    assert "\x1b[31mbroken\x1b[0m           2" in inked
    assert "\x1b[35mERRORED\x1b[0m  checks" in inked
    assert "\x1b" not in table.render(report)
    for code in ("\x1b[31m", "\x1b[35m", "\x1b[0m"):
        inked = inked.replace(code, "")
    assert inked == table.render(report)


def test_control_characters_of_the_model_are_spelled_out() -> None:
    """Nothing that a model says can move the cursor, reorder the text or begin a line of its own."""
    finding = replace(_finding(), got="a\x1b[2J\u202eb\r::error::x\nsecond\x85")
    lines = explain.explain(_result(finding)).split("\n")
    assert "    got       a\\x1b[2J\\u202eb\\r::error::x" in lines
    assert "              second\\u0085" in lines


def test_a_very_long_value_keeps_both_ends() -> None:
    """What is longer than 2,000 code points is cut in its middle, and its length is told."""
    lines = explain.explain(_result(replace(_finding(), got="x" * 2_000 + "y"))).split("\n")
    assert lines[3] == f"    got       {'x' * 1000} ... {'x' * 999}y (2001 characters)"


def test_a_claim_that_could_not_be_judged_tells_its_message() -> None:
    """Where there is neither expected nor got, the message says what happened."""
    finding = Finding("ASSERTION_RAISED", Verdict.ERRORED, "KeyError: 'x'", claim="predicate: shop:holds", seed=1)
    assert next(iter(explain.rows(_result(finding), finding))) == ("message", "KeyError: 'x'")


def test_the_replay_command_is_one_word_for_a_shell_whatever_the_name() -> None:
    """Quotes, dollars and control characters of a name reach the command as they are."""
    result = replace(_result(_finding()), case="it's $HOME\n")
    assert explain.replay(result, _finding()) == "invcheck run $'a.yaml::c[it\\'s $HOME\\n]' --seed 1 --runs 1"


def test_a_problem_without_place_or_hint_is_one_line() -> None:
    """A problem is told by code and message, every further line indented by its own text."""
    assert explain.problem(CheckFileError("no\nx\x07")) == "CHECK_FILE  no\nx\\x07"


def _finding() -> Finding:
    return Finding("EQUALS", Verdict.BROKEN, "", claim="equals", expected="1", got="2", seed=1)


def _result(finding: Finding) -> Result:
    return Result("a.yaml::c", "x", Place("a.yaml"), 0, 1, {"broken": 1}, finding.verdict, (finding,))


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("abc", 3),
        ("日本", 4),
        ("ｱ", 1),
        ("\uff21", 2),
        ("e\u0301", 1),
        ("👩\u200d🚀", 2),
        ("❤\ufe0f", 2),
        ("👍\U0001f3fd", 2),
        ("\u0301", 1),
    ],
)
def test_the_width_of_a_text_on_a_terminal(text: str, width: int) -> None:
    """Wide East Asian signs and emoji take two columns, marks and joiners none (UAX #11)."""
    assert columns(text) == width


CELLS = st.text(st.sampled_from("ab1 日本👩🚀\u200d\u0301\ufe0f.e-"), max_size=12)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6))
def test_columns_of_a_grid_are_aligned_on_the_screen(rows: list[tuple[str, str]]) -> None:
    """The last column begins at the same place in every row, by columns of the screen and not by letters."""
    lines = table.grid(["left", "mark"], [[first, "|" + second] for first, second in rows]).split("\n")
    assert len(lines) == len(rows) + 2
    assert len({columns(line[: line.index("|")]) for line in lines[2:]}) == 1
    assert lines[1].index(" ") + 2 == columns(lines[2][: lines[2].index("|")])


@pytest.mark.parametrize("text", ["1e5", "007", "0x1F", "1_000", "nan", "-3.50", "1,5"])
def test_text_that_looks_like_a_number_stays_as_it_is(text: str) -> None:
    """Ids such as 1e5 and 007 are text."""
    assert table.grid(["id", "x"], [[text, "y"]]).split("\n")[2].split()[0] == text


def test_long_ids_are_never_wrapped() -> None:
    """A row is a line, however long its id is."""
    assert len(table.grid(["id"], [["x" * 500], ["a\nb"]]).split("\n")) == 4


@given(st.text())
def test_visible_text_has_no_control_character_and_one_line(text: str) -> None:
    """No C0 or C1 control, line separator, bidirectional control or half surrogate survives, and the rest does."""
    shown = visible(text)
    assert not any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 or sign in "\u2028\u2029\u202e\u2066" for sign in shown)
    shown.encode()
    assert len(shown.splitlines()) <= 1


@given(st.text(st.sampled_from("ab '\"$`\\\n\t\x1b\u0085!")))
def test_a_quoted_word_is_read_back_by_a_shell(text: str) -> None:
    """One word in, the same word out; only text with control characters needs more than POSIX quotes."""
    word = quoted(text)
    assert "\n" not in word
    if not word.startswith("$'"):
        assert shlex.split(word) == [text]


def test_a_quoted_word_with_control_characters_is_read_back_by_bash() -> None:
    """bash reads the $'' form."""
    text = "it's \\n a\n\ttab \x1b \u0085 $HOME `x`"
    said = subprocess.run(
        ["bash", "-c", f"printf %s {quoted(text)}"], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8", "PATH": "/bin:/usr/bin"}
    )
    assert said.stdout.decode() == text


def test_xml_text_spells_what_xml_refuses() -> None:
    """Characters outside of XML 1.0 §2.2, and the carriage return that a reader would change, stand as #xNN."""
    assert visible_xml("a\x00\x1b\r\n\t\ufffe\ud800é") == "a#x00#x1B#x0D\n\t#xFFFE#xD800é"


def test_cut_leaves_what_fits() -> None:
    """A text of just the limit is whole."""
    assert (cut("abcd", 4), cut("abcde", 4)) == ("abcd", "ab ... de (5 characters)")
