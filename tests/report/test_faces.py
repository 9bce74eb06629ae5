"""One report, many faces: Markdown, JUnit XML, CSV. No case is lost in any, and hostile text does nothing."""

from __future__ import annotations

import csv
import io
import random
import unicodedata
from collections.abc import Iterable
from typing import Any

import pytest
from markdown_it import MarkdownIt

from paceline import check
from paceline.journal.records import ErrorFacts
from paceline.report import Report
from paceline.report.spreadsheet import HEAD, LONGEST_CELL
from tests.report.journals import (
    Lines,
    begin,
    ended,
    failed,
    finished,
    manifest,
    mute,
    no,
    passing,
    run,
    says,
    scored,
    yes,
)
from tests.report.schema import validated


def of(*lines: Any, keys: int) -> Report[Any, Any, Any]:
    return Report.read(finished(*lines, keys=keys))


def rows_of(report: Report[Any, Any, Any]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(report.to_csv())))


EVERY_KIND = (
    *passing("good"),
    *(begin("wrong"), scored("wrong", no(reason="it says Lyon"))),
    *(begin("crash"), failed("crash")),
    *(begin("late"), failed("late", "timeout")),
    *(begin("unjudged"), scored("unjudged", outcome="evaluator_error", failures=[mute()])),
    *(begin("mute"), scored("mute", says(0.5))),
    begin("open"),
)


def every_kind() -> Report[Any, Any, Any]:
    return Report.read(Lines(run("Equals"), *EVERY_KIND, manifest(9)))


# JUnit -----------------------------------------------------------------------------------------------


def test_every_key_is_a_test_case_and_what_was_not_scored_is_an_error() -> None:
    suite = validated(every_kind().to_junit())
    found = {case.attrib["name"]: [said.tag for said in case] for case in suite.findall("testcase")}
    assert found == {
        "good": [],
        "wrong": ["failure"],
        "crash": ["error"],
        "late": ["error"],
        "unjudged": ["error"],
        "mute": ["skipped"],
        "open": ["error"],
        "(never begun)": ["error"],
    }


def test_a_failure_says_what_was_against_the_case() -> None:
    suite = validated(every_kind().to_junit())
    failure = suite.find("testcase[@name='wrong']/failure")
    assert failure is not None
    assert failure.attrib == {"message": "Equals: it says Lyon", "type": "Equals"}
    error = suite.find("testcase[@name='late']/error")
    assert error is not None
    assert error.attrib["type"] == "timeout"


@pytest.mark.parametrize("lines", [(run("Equals"),), (run("Equals"), manifest(0), ended())])
def test_a_run_without_cases_has_a_test_case_that_is_an_error(lines: tuple[Any, ...]) -> None:
    suite = validated(Report.read(Lines(*lines)).to_junit())
    assert suite.attrib["errors"] == "1"


def test_repeats_and_variants_are_test_cases_of_their_own() -> None:
    lines = [
        line
        for variant in "xy"
        for repeat in range(2)
        for line in (
            begin("a", repeat=repeat, variant=variant),
            scored("a", yes(), repeat=repeat, variant=variant),
        )
    ]
    suite = validated(Report.read(Lines(run("Equals", repeat=2), *lines, manifest(4), ended())).to_junit())
    names = [case.attrib["name"] for case in suite.findall("testcase")]
    assert names == ["x: a [1/2]", "x: a [2/2]", "y: a [1/2]", "y: a [2/2]"]


# CSV -------------------------------------------------------------------------------------------------


def test_every_key_has_a_line_with_its_results() -> None:
    head, *lines = rows_of(every_kind())
    assert head == [*HEAD, "assertion: Equals", "score: Similarity"]
    found = {line[0]: line for line in lines}
    assert list(found) == ["good", "wrong", "crash", "late", "unjudged", "mute", "open"]
    assert [found[name][3:5] for name in ("good", "crash", "mute", "open")] == [
        ["scored", "true"],
        ["task_error", "false"],
        ["scored", ""],
        ["open"],
    ]
    assert found["good"][-2:] == ["true", ""]
    assert found["mute"][-2:] == ["", "0.5"]
    assert found["crash"][8:10] == ["ValueError", "no such city"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "  =1", "＝1+1", "|calc"])
def test_text_that_a_spreadsheet_would_calculate_is_text(text: str) -> None:
    rows = rows_of(of(begin(text, inputs=text), scored(text, yes(), answer=text), keys=1))
    assert all(value.startswith("'") for value in (rows[1][0], rows[1][10], rows[1][12]))


def test_numbers_stay_numbers() -> None:
    assert rows_of(of(begin("a"), scored("a", says(-0.5)), keys=1))[1][-1] == "-0.5"


# Markdown --------------------------------------------------------------------------------------------


def test_the_summary_says_what_the_terminal_says() -> None:
    text = of(*passing("a"), begin("b"), failed("b"), keys=2).to_markdown()
    assert text.startswith("## capitals: errors\n")
    assert "| Pass rate | 50.0% (95% interval 9.5% to 90.5%), 1 of 2, failures included |" in text
    assert "| 1 | task_error | ValueError: no such city | b |" in text
    assert "| b | task_error | ValueError: no such city |" in text


def test_a_summary_of_many_failures_is_less_than_a_megabyte_and_says_what_it_leaves_out() -> None:
    names = [f"{number} {'|' * 200}" for number in range(3000)]
    error = ErrorFacts(type="E" * 200, message="|<" * 500)
    lines = [line for name in names for line in (begin(name), failed(name, error=error))]
    found = of(*lines, keys=3000)
    text = found.to_markdown() + check(found, min={"pass_rate": 0.9}).to_markdown()
    assert len(text.encode()) < 1_000_000
    assert "of 3,000 cases that have not passed; `paceline report` has them all." in text


def test_a_summary_of_many_evaluators_and_causes_is_less_than_a_megabyte() -> None:
    results = [says(0.5, f"{n} {'<&|' * 60}") for n in range(900)]
    lines = [
        line
        for number in range(400)
        for line in (
            begin(str(number)),
            failed(str(number), error=ErrorFacts(type=f"E{'`' * number}", message="\u202e" * 1000)),
        )
    ]
    text = of(begin("a"), scored("a", *results), *lines, keys=401).to_markdown()
    assert len(text.encode()) < 1_000_000
    assert "of 901 results; `paceline report` has them all." in text


# A thousand hostile strings --------------------------------------------------------------------------

TEMPLATES = (
    "<script>alert({})</script>",
    "<img src=x onerror=alert({})>",
    "</td></tr></table><script>{}</script>",
    "]]><error>{}</error><![CDATA[",
    "&lt;script&gt;{}&amp;&#60;b&#62;",
    "<!-- {} -->",
    "\x1b[2J\x1b]0;title {}\x07",
    "\x1b]8;;https://evil.example/{}\x1b\\link\x1b]8;;\x1b\\",
    "\x9b31m{}\x9b0m",
    "line {}\r\x1b[A\x1b[Koverwritten",
    "=cmd|' /C calc'!A{}",
    '+HYPERLINK("https://evil.example/?{}")',
    "-2+3+cmd|' /C calc'!A{}",
    "@SUM(1+{})",
    "\t=1+{}",
    "\u202etxt.exe{}\u202c",
    "\u2066{}\u2069\u200f\u200e\ufeff",
    "\ufffe\uffff{}",
    "\x00\x01\x08\x0b\x0c\x0e\x1f\x7f{}",
    "\ud800{}\udfff",
    "| a | {} | b |\n| --- | --- | --- |",
    "\n\n# heading {}\n\n- item\n\n```\ncode\n```\n",
    "[click {}](javascript:alert(1))",
    "![x{}](https://evil.example/p.png)",
    "**bold {}** _em_ ~~gone~~ `code` $x^2$",
    "https://evil.example/{} www.evil.example someone@evil.example @team #1 :smile:",
    "\\|{}\\\\|",
    "'\"; DROP TABLE cases; -- {}",
    "{}\u2028\u2029\x85next",
    'a,b;c\t"{}"\r\nd',
)
BIG = "A<b>|=\x1b[2J" * 1_100_000
"""Ten megabytes on one line."""


def hostile_strings() -> list[str]:
    rng = random.Random(7)
    ugly = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x200B, 0x202E, 0x2066, 0xFFFE, 0xFEFF)))
    ugly += "<>&\"'|`*_[](){}#!~$\\@=+-:/\ud800\udfff"
    made = [template.replace("{}", str(number)) for number in range(20) for template in TEMPLATES]
    made += ["".join(rng.choices(ugly, k=rng.randint(1, 60))) for _ in range(1000 - len(made))]
    return made


HOSTILE = hostile_strings()


def hostile_report() -> Report[Any, Any, Any]:
    """Each string is a case's name, its input, output, reason and label, or the message of its error."""
    lines: list[Any] = []
    for number, text in enumerate([*HOSTILE, BIG]):
        # A surrogate is in no journal: values and names are encoded before.
        safe = text.encode("utf-8", "backslashreplace").decode()
        name = f"{safe[:200]} {number}" if number % 2 else f"{number} {safe[:200]}"
        lines.append(begin(name, inputs=safe))
        if number % 3 == 0:
            lines.append(failed(name, error=ErrorFacts(type=safe[:80], message=safe, trace=safe)))
        else:
            said = (no("Judge", reason=safe), says(safe[:300], "Label"), says(0.5, safe[:60] or "x"))
            lines.append(scored(name, *said, answer=safe))
    return Report.read(finished(*lines, keys=len(HOSTILE) + 1))


@pytest.fixture(scope="module")
def hostile() -> Report[Any, Any, Any]:
    return hostile_report()


def disturbing(text: str, but: str = "\n") -> set[str]:
    """The characters of a text that a terminal would act on, or a reader would not see."""
    return {each for each in set(text) if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Cn")} - {
        *but,
        *"\u200c\u200d",
    }


def test_there_are_a_thousand_hostile_strings() -> None:
    assert len(HOSTILE) == 1000
    assert len(BIG) >= 10_000_000


def test_no_terminal_is_disturbed(hostile: Report[Any, Any, Any]) -> None:
    verdict = check(hostile, min={"pass_rate": 0.5})
    for text in (hostile.render(), str(verdict), hostile.to_markdown(), verdict.to_markdown()):
        assert disturbing(text) == set()
        assert len(text) < 1_000_000
    for face in (hostile.to_junit(), hostile.to_csv()):
        assert disturbing(face, "\n\t\r") == set()


def test_hostile_text_is_no_markdown(hostile: Report[Any, Any, Any]) -> None:
    text = hostile.to_markdown() + "\n" + check(hostile, min={"pass_rate": 0.5}).to_markdown()
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    kinds = {token.type for token in flat(parser.parse(text))}
    assert kinds == {
        *("heading_open", "heading_close", "inline", "text", "code_inline", "text_special"),
        *("paragraph_open", "paragraph_close", "table_open", "table_close"),
        *("thead_open", "thead_close", "tbody_open", "tbody_close"),
        *("tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close"),
    } - ({"text_special"} if "text_special" not in kinds else set())
    assert len(text.encode()) < 1_000_000
    for address in ("://", "www.", "@"):
        assert address not in text


def flat(tokens: Iterable[Any]) -> Iterable[Any]:
    for token in tokens:
        yield token
        yield from flat(token.children or ())


def test_hostile_text_makes_valid_junit(hostile: Report[Any, Any, Any]) -> None:
    suite = validated(hostile.to_junit())
    assert int(suite.attrib["tests"]) == len(HOSTILE) + 1
    assert int(suite.attrib["errors"]) + int(suite.attrib["failures"]) == len(HOSTILE) + 1


def test_hostile_text_makes_a_csv_of_as_many_lines_and_nothing_to_calculate(
    hostile: Report[Any, Any, Any],
) -> None:
    head, *rows = rows_of(hostile)
    assert len(rows) == len(HOSTILE) + 1
    assert {len(row) for row in rows} <= {len(head), len(HEAD)}
    for row in (head, *rows):
        for value in row:
            assert len(value) <= LONGEST_CELL + 1
            assert not value.lstrip().startswith(("=", "+", "-", "@", "|"))
