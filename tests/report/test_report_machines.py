"""The reports that machines read: canonical bytes, JSON Lines, JUnit, GitHub, Markdown."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.errors import CheckFileError, InvcheckError, UsageError
from invcheck.events import CaseDone, Ended, Event, Problem, Started, summarise
from invcheck.report import Report, canonical, github, jsonlines, junit, markdown
from invcheck.vocabulary import Finding, Place, Result, Verdict

CANONICAL = """\
{"cases":[
{"case":"1e5","check":"checks/qa.yaml::answers","distinct":134,"findings":[],"runs":200,"seed":0,"tags":[],"trials":{"kept":200},"verdict":"kept"},
{"case":"a|b","check":"checks/check_日本.py::作る","findings":[\
{"code":"APP_RAISED","count":1,"seed":4,"verdict":"errored"},\
{"claim":"fields: of=$.output","code":"UNJUDGED","count":1,"seed":4,"verdict":"unjudged"}],\
"runs":1,"seed":0,"tags":[],"trials":{"errored":1},"verdict":"errored"},
{"case":"refund","check":"checks/qa.yaml::answers","distinct":1,"findings":[\
{"assertion":2,"call":"call 1 of 1","claim":"subset: of=$.output.cites[*] in=$.input.doc_ids[*]","code":"SUBSET","count":3,\
"expected":"one of [\\"d1\\", \\"d2\\"]","got":"\\"d9\\"","path":"$.output.cites[1]","seed":137,"verdict":"broken"},\
{"assertion":5,"claim":"distinct: of=$.output_text at-least=100","code":"DISTINCT","count":1,"expected":"at least 100 distinct values",\
"got":"1","path":"$.output_text","verdict":"broken"}],"runs":200,"seed":0,"tags":["qa","slow"],"trials":{"broken":3,"kept":197},"verdict":"broken"}
],
"invcheck":1,
"kind":"report",
"problems":[
{"code":"CHECK_FILE","file":"checks/bad.yaml","message":"unknown key 'expct'","status":2}
],
"seed":0,
"status":1}
"""


def _canonical_lines() -> list[str]:
    lines = CANONICAL.splitlines(keepends=True)
    by_name = sorted(
        lines[1:4], key=lambda line: (json.loads(line.strip().rstrip(","))["check"], json.loads(line.strip().rstrip(","))["case"])
    )
    return [lines[0], *(line.strip().rstrip(",") + ("\n" if n == 2 else ",\n") for n, line in enumerate(by_name)), *lines[4:]]


def test_the_canonical_report_is_one_document_with_sorted_keys(report: Report) -> None:
    """Every byte is known by hand: no clock, host, line number, layer or message, a line for each case, a newline at the end."""
    data = canonical.encode(report)
    assert data.decode() == "".join(_canonical_lines())
    assert json.loads(data)["status"] == 1


@given(st.permutations(range(3)), st.sampled_from(["K1", "soft"]), st.tuples(st.integers(1, 3), st.just(3)))
def test_the_canonical_report_forgets_order_layer_and_shards(order: list[int], layer: str, shard: tuple[int, int]) -> None:
    """Order of arrival, the gate's layer, its reason and shards leave no trace."""
    results = [Result(f"{n}.yaml::x", "c", Place(f"{n}.yaml", n), 0, 1, {"kept": 1}, Verdict.KEPT, extra={"n": n}) for n in range(3)]
    done = [CaseDone(n, replace(results[n], place=Place(f"{n}.yaml", n * len(layer)))) for n in order]
    problem = CheckFileError("x", place=Place("a.yaml", len(layer)))
    report = Report(Started(3, 3, 0, shard, 3, "", layer, layer), tuple(done), (problem, problem), summarise(results, [problem]))
    plain = Report(
        Started(3, 3, 0, None, 3, "", "K1"),
        tuple(CaseDone(n, each) for n, each in enumerate(results)),
        (CheckFileError("x", place=Place("a.yaml")),),
        summarise(results),
    )
    assert canonical.encode(report) == canonical.encode(plain)


def test_the_canonical_report_of_nothing_is_whole() -> None:
    """No case and no problem are empty arrays."""
    assert canonical.encode(Report(Started(0, 0, 5, None, 0, "", ""), (), (), summarise([]))) == (
        b'{"cases":[],\n"invcheck":1,\n"kind":"report",\n"problems":[],\n"seed":5,\n"status":0}\n'
    )


def test_json_lines_read_back_as_they_were_told(events: list[Event]) -> None:
    """parse . print is the identity, but for progress, which is not for the record; every line ends with a newline."""
    lines = [line for event in events if (line := jsonlines.line(event)) is not None]
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    back = list(jsonlines.read(lines, "run.jsonl"))
    kept = [event for event in events if type(event).__name__ != "Progress"]
    assert back[1:] == kept[1:]
    assert str(back[0].error) == str(kept[0].error)
    assert type(back[0].error) is CheckFileError
    assert [json.loads(line)["kind"] for line in lines] == ["problem", "run", "case", "case", "case", "end"]
    assert json.loads(lines[1])["invcheck"] == 1


def test_a_whole_report_and_its_stream_say_the_same(report: Report) -> None:
    """Writing a report at once gives the lines of its events."""
    lines = jsonlines.encode(report).decode().splitlines(keepends=True)
    again = Report.of(jsonlines.read(lines, "x"))
    assert (again.started, again.cases, again.summary) == (report.started, report.cases, report.summary)


def test_a_shards_header_reads_back() -> None:
    """A shard stays a pair."""
    started = Started(1, 2, 3, (1, 2), 3, "p", "soft", "no unshare")
    assert list(jsonlines.read([jsonlines.line(started) or ""], "x")) == [started]


@given(st.text(), st.text())
def test_any_text_of_a_finding_reads_back_from_json_lines(got: str, hint: str) -> None:
    """Whatever a model said stands in its line and comes back, halves of surrogate pairs too."""
    finding = Finding("X", Verdict.BROKEN, "", got=got, hint=hint + "\ud800")
    event = CaseDone(0, Result("a::b", "c", Place("a"), 0, 1, {"broken": 1}, Verdict.BROKEN, (finding,)))
    assert list(jsonlines.read([jsonlines.line(event) or ""], "x")) == [event]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind": "end"', "the line is cut off"),
        ('{"kind": "end"\n', "this is no line of a run's report"),
        ("[]\n", "this is no line of a run's report"),
        ('{"kind": "case"}\n', "this is no line of a run's report"),
        ('{"kind": "other"}\n', "a line of kind 'other' is none of ours"),
        ('{"kind": "run", "invcheck": 2}\n', "this report has another version than 1"),
    ],
)
def test_a_line_that_is_none_of_ours_is_refused_with_its_number(text: str, message: str) -> None:
    """The file and the line's number are told."""
    with pytest.raises(UsageError) as caught:
        list(jsonlines.read([jsonlines.line(Started(0, 0, 0, None, 0, "", "")) or "", text], "run.jsonl"))
    assert (caught.value.message, str(caught.value.place), caught.value.code) == (message, "run.jsonl:2", "REPORT_FILE")


def test_every_prefix_of_lines_is_valid(events: list[Event]) -> None:
    """A run that is killed after any line leaves what can be read."""
    lines = [line for event in events if (line := jsonlines.line(event)) is not None]
    for count in range(len(lines)):
        assert Report.of(jsonlines.read(lines[:count], "x")).summary.interrupted
    assert not Report.of(jsonlines.read(lines, "x")).summary.interrupted


def test_junit_has_a_suite_for_each_file_and_tells_failure_from_error(report: Report) -> None:
    """xunit2 plus file and line: failures, errors and their counts; the body holds expected, got, path and replay."""
    root = ET.fromstring(junit.encode(report))
    assert root.tag == "testsuites"
    assert {key: root.get(key) for key in ("name", "tests", "failures", "errors", "skipped", "time")} == {
        "name": "invcheck",
        "tests": "4",
        "failures": "1",
        "errors": "2",
        "skipped": "0",
        "time": None,
    }
    shape = [
        (
            suite.get("name"),
            [(case.get("name"), case.get("file"), case.get("line"), [child.tag for child in case]) for case in suite.iter("testcase")],
        )
        for suite in root
    ]
    assert shape == [
        ("checks/bad.yaml", [("(cannot be used, 1)", "checks/bad.yaml", "2", ["error"])]),
        ("checks/check_日本.py", [("作る[a|b]", "checks/check_日本.py", "3", ["error"])]),
        ("checks/qa.yaml", [("answers[refund]", "checks/qa.yaml", "1", ["failure"]), ("answers[1e5]", "checks/qa.yaml", "1", [])]),
    ]
    (failure,) = root.iter("failure")
    assert (failure.get("type"), failure.get("message")) == ("SUBSET", "SUBSET  subset: of=$.output.cites[*] in=$.input.doc_ids[*]")
    text = failure.text or ""
    for line in (
        '  expected  one of ["d1", "d2"]\n',
        '  got       "d9"\n',
        "  path      $.output.cites[1]\n",
        "[refund]' --seed 137 --runs 1\n",
    ):
        assert line in text
    assert {prop.get("value") for prop in root.iter("property")} == {"0"}
    (classname,) = {case.get("classname") for case in root.iter("testcase") if case.get("file") == "checks/qa.yaml"}
    assert classname == "checks/qa.yaml"


def test_junit_puts_a_case_under_its_checks_file() -> None:
    """A case that stands in a file of cases belongs to the check's file, where its line would be none."""
    result = Result("a.yaml::x", "c", Place("cases.jsonl", 7), 0, 1, {"kept": 1}, Verdict.KEPT)
    (suite,) = ET.fromstring(junit.encode(Report(Started(1, 1, 0, None, 1, "", ""), (CaseDone(0, result),), (), summarise([result]))))
    (case,) = suite.iter("testcase")
    assert (suite.get("name"), case.get("file"), case.get("line")) == ("a.yaml", "a.yaml", None)


def test_junit_skips_what_stays_unjudged() -> None:
    """A case of which nothing could be said is skipped; a problem without a place stands under the tool's name."""
    result = Result("a.yaml::x", "c", Place("a.yaml"), 0, 1, {"unjudged": 1}, Verdict.UNJUDGED)
    report = Report(Started(1, 1, 0, None, 1, "", ""), (CaseDone(0, result),), (UsageError("no"),), summarise([result]))
    root = ET.fromstring(junit.encode(report))
    assert [child.tag for child in root.iter() if child.tag in ("skipped", "error", "failure")] == ["skipped", "error"]
    assert [suite.get("name") for suite in root] == ["a.yaml", "invcheck"]


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_junit_is_well_formed_whatever_was_said(name: str, got: str) -> None:
    """Any character anywhere gives XML that a strict parser reads, in UTF-8."""
    finding = Finding("X", Verdict.BROKEN, got, claim=name or None, got=got, hint="\x00\x1b]]>&<")
    result = Result(f"a{name}.yaml::{name}", got, Place(f"a{name}.yaml"), 0, 1, {"broken": 1}, Verdict.BROKEN, (finding,))
    report = Report(Started(1, 1, 0, None, 1, "", ""), (CaseDone(0, result),), (UsageError(got, hint=name),), summarise([result]))
    root = ET.fromstring(junit.encode(report).decode())
    (failure,) = root.iter("failure")
    assert "#x00#x1B]]>&<" in (failure.text or "")


def test_junit_bodies_are_capped() -> None:
    """A case's text has at most about 20,000 code points."""
    findings = tuple(Finding("X", Verdict.BROKEN, "", claim=str(n), got="y" * 1_900, seed=0) for n in range(40))
    result = Result("a.yaml::x", "c", Place("a.yaml"), 0, 1, {"broken": 1}, Verdict.BROKEN, findings)
    (failure,) = ET.fromstring(
        junit.encode(Report(Started(1, 1, 0, None, 1, "", ""), (CaseDone(0, result),), (), summarise([result])))
    ).iter("failure")
    assert 19_000 < len(failure.text or "") < 20_100
    assert "characters)" in (failure.text or "")


def test_annotations_stand_at_the_claim_and_cannot_be_injected(report: Report) -> None:
    """One line each, broken before errored before problems; newlines, commas and colons are escaped as the runner reads them."""
    lines = github.encode(report, prefix="sub/dir").splitlines()
    assert [line.split("::", 2)[1] for line in lines] == [
        "error file=sub/dir/checks/qa.yaml,line=14,col=5,title=checks/qa.yaml%3A%3Aanswers[refund]",
        "error file=sub/dir/checks/qa.yaml,line=1,col=1,title=checks/qa.yaml%3A%3Aanswers[refund]",
        "error file=sub/dir/checks/check_日本.py,line=3,title=checks/check_日本.py%3A%3A作る[a|b]",
        "error file=sub/dir/checks/bad.yaml,line=2,col=1,title=CHECK_FILE",
    ]
    assert lines[0].startswith("::error ")
    assert '%0Agot       "d9"%0A' in lines[0]
    assert lines[3].endswith("::unknown key 'expct'%0Ahint: did you mean 'expect'?")


@given(st.text(), st.text())
def test_no_text_makes_a_second_workflow_command(name: str, got: str) -> None:
    """Whatever a model says, one finding is one line, and that line is our error command."""
    finding = Finding("X", Verdict.BROKEN, got, got=got + "\n::set-output name=x::y\r\n##[error]z")
    result = Result(f"a.yaml::{name}", "c", Place(f"{name}.yaml"), 0, 1, {"broken": 1}, Verdict.BROKEN, (finding,))
    text = github.encode(Report(Started(1, 1, 0, None, 1, "", ""), (CaseDone(0, result),), (), summarise([result])))
    assert len(text.splitlines()) == 1
    assert text.startswith("::error file=")
    head = text.removeprefix("::error ").split("::", 1)[0]
    assert [part.split("=")[0] for part in head.split(",")] == ["file", "title"]


def test_annotations_are_nine_and_a_count() -> None:
    """A step shows ten: the nine worst, and one that says how many more there are."""
    results = [
        Result(f"{n}.yaml::x", "c", Place(f"{n}.yaml"), 0, 1, {"broken": 1}, Verdict.BROKEN, (Finding("X", Verdict.BROKEN, "m", seed=0),))
        for n in range(12)
    ]
    report = Report(
        Started(12, 12, 0, None, 12, "", ""), tuple(CaseDone(n, each) for n, each in enumerate(results)), (), summarise(results)
    )
    lines = github.encode(report).splitlines()
    assert len(lines) == 10
    assert lines[9] == "::error title=invcheck::3 more: see the log or the step summary"
    nine = Report(report.started, report.cases[:9], (), report.summary)
    assert len(github.encode(nine).splitlines()) == 9


def test_a_fence_switches_workflow_commands_off_and_cannot_be_opened_from_inside() -> None:
    """The mark is the sha256 of the text (of 'x', newline, by sha256sum), which no text can hold of itself."""
    mark = "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac"
    assert github.fenced("x\n") == f"::stop-commands::{mark}\nx\n::{mark}::\n"


def test_markdown_shows_what_is_not_kept(report: Report) -> None:
    """A heading, the summary, a table of what is not kept, and the findings as text that nothing renders."""
    text = markdown.encode(report).decode()
    assert text.startswith(
        "## invcheck: not kept\n\n"
        "3 cases: 1 kept, 1 broken, 1 errored. 3 of 401 trials broken, 1 errored. "
        "1 problem with what was asked for. Seed 0, gate K1.\n\n"
        "<pre>CHECK_FILE  checks/bad.yaml:2:1: unknown key &#x27;expct&#x27;\n  hint: did you mean &#x27;expect&#x27;?</pre>\n\n"
        "| verdict | broken | case |\n|---|---|---|\n"
        "| broken | 3 of 200 | checks/qa.yaml::answers\\[refund\\] |\n"
        "| errored | 0 of 1 | checks/check\\_日本.py::作る\\[a\\|b\\] |\n\n<pre>BROKEN  "
    )
    assert "<script" not in text
    assert text.count("<pre>") == text.count("</pre>") == 3


def test_markdown_of_a_green_run_is_its_summary() -> None:
    """Nothing but the one line."""
    report = Report(Started(0, 0, 0, None, 0, "", "K1"), (), (), summarise([]))
    assert markdown.encode(report) == b"## invcheck: kept\n\n0 cases. Seed 0, gate K1.\n"


@given(st.integers(0, 9_000))
def test_markdown_never_passes_its_limit_and_says_what_it_left_out(limit: int) -> None:
    """At most so many bytes, each block whole; a limit that holds nothing gives nothing."""
    results = [
        Result(
            f"{n}.yaml::x", "c", Place(f"{n}.yaml"), 0, 1, {"broken": 1}, Verdict.BROKEN, (Finding("X", Verdict.BROKEN, "m" * 200, seed=0),)
        )
        for n in range(12)
    ]
    report = Report(
        Started(12, 12, 0, None, 12, "", "K1"), tuple(CaseDone(n, each) for n, each in enumerate(results)), (), summarise(results)
    )
    whole, data = markdown.encode(report), markdown.encode(report, limit=limit)
    assert len(data) <= limit
    assert data in (whole, b"") or data.endswith(f"did not fit into {limit} bytes.\n".encode())
    assert data.count(b"<pre>") == data.count(b"</pre>")
    assert markdown.encode(report, limit=len(whole)) == whole


@given(st.text())
def test_hostile_text_stays_inside_its_block(text: str) -> None:
    """A model's text closes no block and opens no tag."""
    finding = Finding("X", Verdict.BROKEN, "", claim="c", got=text + "</pre><script>|`")
    result = Result("a.yaml::x", text, Place("a.yaml"), 0, 1, {"broken": 1}, Verdict.BROKEN, (finding,))
    said = markdown.encode(Report(Started(1, 1, 0, None, 1, "", ""), (CaseDone(0, result),), (), summarise([result]))).decode()
    assert said.count("<") == 2
    assert said.count("<pre>") == said.count("</pre>") == 1
    (row,) = [line for line in said.split("\n") if line.startswith("| broken")]
    assert row.replace("\\\\", "").replace("\\|", "").count("|") == 4


def test_problems_of_any_kind_read_back() -> None:
    """A problem keeps its type, code, hint and place; one whose type is unknown is still an error of ours."""
    line = jsonlines.line(Problem(UsageError("m", code="C"))) or ""
    (back,) = jsonlines.read([line], "x")
    assert isinstance(back, Problem)
    assert type(back.error) is UsageError
    assert (back.error.code, back.error.place, back.error.hint) == ("C", None, None)
    (odd,) = jsonlines.read([line.replace("UsageError", "NoSuchThing")], "x")
    assert isinstance(odd, Problem)
    assert type(odd.error) is InvcheckError


def test_a_report_keeps_the_summary_it_was_given() -> None:
    """The pipeline's own end is what the report says."""
    total = summarise([], stopped=True)
    assert Report.of([Ended(total)]).summary is total
