"""The page on concurrency that users of Pydantic Evals know: each example runs here, and does what it says.

The stored page has lost some whitespace. What is repaired is whitespace, and what is changed is the name of
the package in imports; that it is nothing else is tested too. The same in our own words stands below, and
runs where the page is absent.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import paceline
from paceline import Case, Dataset, Report
from paceline.evaluators import EqualsExpected, EvaluatorContext

PAGE = Path(__file__).resolve().parents[2] / "shared" / "reference" / "4-concurrency-and-performance.txt"
absent = pytest.mark.skipif(not PAGE.exists(), reason=f"the page is not there: {PAGE.name}")

MISSING_SPACE = (
    (re.compile(r"^from(pydantic_evals[\w.]*?)import\b", re.MULTILINE), r"from \1 import"),
    (re.compile(r"^import(?=\w)", re.MULTILINE), "import "),
    (re.compile(r"^( *(?:async )?)def(?=\w)", re.MULTILINE), r"\1def "),
    # The first line of a function's body has lost its indentation where it is a docstring.
    (re.compile(r'^( *)((?:async )?def .*:\n)\1(?="""|#)', re.MULTILINE), r"\1\2\1 "),
)


class Block(NamedTuple):
    """One example of the page."""

    section: str
    text: str

    @property
    def repaired(self) -> str:
        """With the whitespace that Python needs."""
        text = self.text
        for pattern, whole in MISSING_SPACE:
            text = pattern.sub(whole, text)
        return text

    @property
    def ours(self) -> str:
        """With its imports changed."""
        return re.sub(r"^from pydantic_evals\b", "from paceline", self.repaired, flags=re.MULTILINE)


def blocks() -> Iterator[Block]:
    """The examples of the page, in order, each with the section that it stands in."""
    section, inside = "", list[str]()
    is_inside = False
    for line in PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else ():
        if line.endswith("```"):  # a name may stand before it
            if is_inside:
                yield Block(section, "\n".join(inside) + "\n")
            is_inside, inside = not is_inside, []
        elif is_inside:
            inside.append(line)
        elif line.startswith("#"):
            section = line.strip("# ").strip()


BLOCKS = list(blocks())


@dataclass
class Call:
    """A call of `evaluate` or `evaluate_sync` in an example."""

    max_concurrency: object
    seconds: float
    report: Report[Any, Any, Any]


@dataclass
class Calls:
    """All of them, in order."""

    made: list[Call] = field(default_factory=list)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Calls:
    """Listens to what an example calls, in an empty folder."""
    calls = Calls()
    evaluate_sync, evaluate = Dataset.evaluate_sync, Dataset.evaluate

    def heard_sync(self: Any, task: Any, **options: Any) -> Any:
        begun = time.monotonic()
        report = evaluate_sync(self, task, **options)
        calls.made.append(Call(options.get("max_concurrency"), time.monotonic() - begun, report))
        return report

    async def heard(self: Any, task: Any, **options: Any) -> Any:
        begun = time.monotonic()
        report = await evaluate(self, task, **options)
        calls.made.append(Call(options.get("max_concurrency"), time.monotonic() - begun, report))
        return report

    monkeypatch.setattr(Dataset, "evaluate_sync", heard_sync)
    monkeypatch.setattr(Dataset, "evaluate", heard)
    monkeypatch.chdir(tmp_path)
    return calls


def run(block: Block) -> dict[str, Any]:
    """Carry an example out; its names afterwards."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(block.ours, f"<{block.section}>", "exec"), names)
    return names


def found(section: str, number: int = 1) -> Block:
    """The example with this number in a section."""
    inside = [block for block in BLOCKS if block.section == section]
    return inside[number - 1]


@absent
def test_nothing_but_whitespace_is_repaired_and_nothing_but_imports_is_changed() -> None:
    assert len(BLOCKS) == 10
    for block in BLOCKS:
        assert "".join(block.repaired.split()) == "".join(block.text.split())
        before, after = block.repaired.splitlines(), block.ours.splitlines()
        changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        assert changed
        for old, new in changed:
            assert old.startswith("from pydantic_evals")
            assert new == old.replace("pydantic_evals", "paceline", 1)


@absent
@pytest.mark.parametrize("number", range(len(BLOCKS)), ids=lambda number: BLOCKS[number].section)
def test_every_example_of_the_page_runs_and_all_of_its_cases_are_scored(
    number: int, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = BLOCKS[number]
    if "LLMJudge" in block.text:
        # The page leaves the model to a default of Pydantic Evals; here, nobody is asked unnamed.
        monkeypatch.setenv("PACELINE_JUDGE_MODEL", "sim")
    names = run(block)
    if "run_evaluation" in names:
        asyncio.run(names["run_evaluation"]())
    assert calls.made
    for call in calls.made:
        assert call.report.verdict == "complete"
        assert not call.report.failures
        assert len(call.report.cases) == len(names["dataset"].cases if "dataset" in names else "1")


@absent
def test_the_basic_usage_of_the_page_answers_what_its_task_answers(calls: Calls) -> None:
    run(found("Basic Usage"))
    assert [call.max_concurrency for call in calls.made] == [None, 5, 1]
    for call in calls.made:
        assert [case.output for case in call.report.cases] == ["Result: test1", "Result: test2"]


@absent
def test_the_timings_of_the_page_hold(calls: Calls) -> None:
    """About 0.1 s all at once, 0.5 s two at a time, 1 s one by one."""
    run(found("Performance Comparison"))
    hold_the_timings(*(call.seconds for call in calls.made))
    for call in calls.made:
        assert sorted(case.output for case in call.report.cases) == [2 * n for n in range(10)]


@absent
def test_the_monitoring_of_the_page_prints_what_it_shows(
    calls: Calls, capsys: pytest.CaptureFixture[str]
) -> None:
    block = found("Monitoring Concurrency")
    run(block)
    printed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("Run ")]
    shown = [line.removeprefix("#> ") for line in block.text.splitlines() if line.startswith("#> ")]
    assert [gist(line) for line in printed] == [gist(line) for line in shown]
    assert printed[1] == shown[1] == "Cases: 10"
    assert printed[3] == shown[3], "it is 1.0 by its arithmetic, whatever the time"


def hold_the_timings(at_once: float, by_two: float, one_by_one: float) -> None:
    """Never less than the page says; how much more depends on the machine, the same for all three."""
    assert at_once >= 0.1
    assert by_two >= 0.5
    assert one_by_one >= 1.0
    assert by_two < 0.8 * one_by_one
    assert at_once < 0.5 * by_two


def gist(line: str) -> str:
    return re.sub(r"\d+\.\d+", "0", line)


@absent
def test_the_async_example_of_the_page_returns_its_report(calls: Calls) -> None:
    report = asyncio.run(run(found("Async API"))["run_evaluation"]())
    assert [case.output for case in report.cases] == ["Result: test1"]


# In our own words -----------------------------------------------------------------------------------------


class Gauge:
    """How many are inside at once."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.entered = 0

    def __enter__(self) -> None:
        self.inside += 1
        self.entered += 1
        self.most = max(self.most, self.inside)

    def __exit__(self, *_: object) -> None:
        self.inside -= 1


def greet(name: str) -> str:
    return f"Hello, {name}"


async def greet_later(name: str) -> str:
    await asyncio.sleep(0)
    return f"Hello, {name}"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("task", [greet, greet_later], ids=["sync task", "async task"])
@pytest.mark.parametrize(
    "options", [{}, {"max_concurrency": 5}, {"max_concurrency": 1}, {"max_concurrency": None}]
)
def test_a_dataset_is_evaluated_at_whatever_concurrency(
    here: Path, task: Any, options: dict[str, Any]
) -> None:
    dataset = Dataset(cases=[Case(inputs="Ann"), Case(inputs="Bob")])
    report = dataset.evaluate_sync(task, **options)
    assert [case.output for case in report.cases] == ["Hello, Ann", "Hello, Bob"]
    assert not report.failures
    assert report.path is not None
    assert report.path.is_relative_to("runs"), "it is recorded, whether or not anybody said where"


@pytest.mark.parametrize(("limit", "most"), [(None, 12), (10, 10), (2, 2), (1, 1)])
def test_no_more_cases_are_in_progress_than_the_limit_and_as_many_as_it_allows(
    here: Path, limit: int | None, most: int
) -> None:
    """For an account's rate limit, a machine's memory, a database's connections."""
    gauge = Gauge()

    async def ask(n: int) -> int:
        with gauge:
            await asyncio.sleep(0.01)
            return n

    Dataset(cases=[Case(inputs=n) for n in range(12)]).evaluate_sync(ask, max_concurrency=limit)
    assert gauge.entered == 12
    assert gauge.most == most


def test_one_by_one_a_traceback_is_shown_where_it_happens(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(n: int) -> int:
        return 1 // n

    report = Dataset(cases=[Case(name="zero", inputs=0), Case(inputs=1)]).evaluate_sync(
        fails, max_concurrency=1
    )
    said = capsys.readouterr().err
    assert "zero" in said
    assert "Traceback" in said
    assert "return 1 // n" in said
    assert [failure.name for failure in report.failures] == ["zero"]
    assert [case.output for case in report.cases] == [1], "and the run goes on"


def test_ten_cases_of_a_tenth_of_a_second_take_what_their_concurrency_makes_of_it(here: Path) -> None:
    async def slow(n: int) -> int:
        await asyncio.sleep(0.1)
        return 2 * n

    dataset = Dataset(
        cases=[Case(name=f"n-{n}", inputs=n, expected_output=2 * n) for n in range(10)],
        evaluators=[EqualsExpected()],
    )
    taken = []
    for options in ({}, {"max_concurrency": 2}, {"max_concurrency": 1}):
        begun = time.monotonic()
        report = dataset.evaluate_sync(slow, **options)  # type: ignore[arg-type]  # each is one of its options
        taken.append(time.monotonic() - begun)
        assert report.passed
    hold_the_timings(*taken)


def test_tasks_and_evaluators_each_keep_to_the_limit(here: Path) -> None:
    """A hundred cases, ten at a time; the evaluator waits too, as one that asks a model does."""
    tasks, judges = Gauge(), Gauge()

    async def answer(text: str) -> str:
        with tasks:
            await asyncio.sleep(0.005)
            return f"{text}!"

    async def judge(ctx: EvaluatorContext[str, str, None]) -> bool:
        with judges:
            await asyncio.sleep(0.005)
            return ctx.output.endswith("!")

    dataset = Dataset(cases=[Case(inputs=f"text {n}") for n in range(100)], evaluators=[judge])
    report = dataset.evaluate_sync(answer, max_concurrency=10)
    assert report.passed
    assert (tasks.entered, judges.entered) == (100, 100)
    assert (tasks.most, judges.most) == (10, 10)


def test_the_async_call_does_the_same_and_works_in_a_loop_that_is_running(here: Path) -> None:
    async def program() -> tuple[Report[Any, Any, Any], Report[Any, Any, Any]]:
        dataset = Dataset(cases=[Case(inputs="Ann")])
        awaited = await dataset.evaluate(greet_later, max_concurrency=10)
        return awaited, dataset.evaluate_sync(greet, max_concurrency=10)

    for report in asyncio.run(program()):
        assert [case.output for case in report.cases] == ["Hello, Ann"]


def test_cases_and_failures_together_are_what_has_run(here: Path) -> None:
    def every_third_fails(n: int) -> int:
        if n % 3 == 0:
            raise ValueError(n)
        return n

    dataset = Dataset(cases=[Case(inputs=n) for n in range(10)])
    begun = time.monotonic()
    report = dataset.evaluate_sync(every_third_fails, max_concurrency=10)
    seconds = time.monotonic() - begun
    assert len(report.cases) + len(report.failures) == 10
    assert len(report.failures) == 4
    assert seconds < 1


def test_a_rate_limit_is_met_with_another_try_and_not_with_a_failure(here: Path) -> None:
    class RateLimitError(Exception):
        status_code = 429

    turned_away: set[int] = set()

    async def crowded(n: int) -> int:
        if n not in turned_away:
            turned_away.add(n)
            raise RateLimitError
        return n

    dataset = Dataset(cases=[Case(inputs=n) for n in range(5)])
    report = dataset.evaluate_sync(
        crowded, max_concurrency=5, retry_task={"attempts": 3, "base": 0.01, "on": "rate_limited"}
    )
    assert sorted(case.output for case in report.cases) == [0, 1, 2, 3, 4]
    assert {case.attempts for case in report.cases} == {2}


def test_what_the_page_imports_is_there_under_our_name() -> None:
    assert {"Case", "Dataset"} <= set(paceline.__all__)
    assert "paceline.evaluators" in sys.modules
