"""The API as its users write it, for the type checker only: nothing here is executed.

What compiles here has to go on compiling; `assert_type` says what users may rely on being inferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_type

import anthropic
import httpx
import httpx2
import openai

import paceline
from paceline import (
    Abandoned,
    AttemptFailed,
    Case,
    CaseFinished,
    CaseLifecycle,
    CaseStarted,
    CommandTask,
    Comparison,
    Dataset,
    Draining,
    EvalResult,
    EvaluationReason,
    EvaluationReport,
    Evaluator,
    EvaluatorContext,
    HttpTask,
    LoopBlocked,
    PacelineError,
    RampInterrupted,
    RampReport,
    Report,
    RunEnded,
    RunInterrupted,
    RunStarted,
    Suite,
    Warned,
    aevaluate,
    check,
    compare,
    evaluate,
    evaluate_sync,
    increment_eval_metric,
    paced_client,
    rescore,
    score_requirements,
    set_eval_attribute,
    slot,
    tells_tool_calls,
    templates,
    tool_call,
    verify,
    workspace_of,
)
from paceline.engine.events import AnyEvent, Gauge
from paceline.evaluators import (
    Cascade,
    Contains,
    EqualsExpected,
    EvaluationResult,
    EvaluatorFailure,
    LLMJudge,
    OutputConfig,
    Pairwise,
    RequirementResult,
    Requirements,
    instant,
    set_default_judge_model,
)


@dataclass(frozen=True)
class Question:
    text: str


# Generic classes take up to three parameters; what is left out is anything.
case: Case[Question, str, dict[str, int]] = Case(
    name="france", inputs=Question("capital of France?"), expected_output="Paris", metadata={"difficulty": 1}
)
assert_type(case.inputs, Question)
assert_type(case.expected_output, str | None)
plain: Case = Case(inputs=1)


@dataclass
class Close(Evaluator[Question, str, dict[str, int]]):
    """An evaluator of a user's own, with an argument."""

    most: int = 3

    def evaluate(self, ctx: EvaluatorContext[Question, str, dict[str, int]]) -> EvaluationReason:
        assert_type(ctx.output, str)
        assert_type(ctx.expected_output, str | None)
        assert_type(ctx.metadata, dict[str, int] | None)
        return EvaluationReason(len(ctx.output) <= self.most, reason="counted")


@dataclass
class Graded(Evaluator):
    """One that waits, and says several things."""

    async def evaluate(self, ctx: EvaluatorContext) -> Mapping[str, bool | float | str]:
        return {"good": True, "score": 0.5, "grade": "B"}


@instant
def is_short(output: str) -> bool:
    return len(output) < 10


def judged(ctx: EvaluatorContext) -> float:
    return ctx.duration


class Prepared(CaseLifecycle[Question, str, dict[str, int]]):
    async def setup(self) -> None:
        assert_type(self.case.inputs, Question)

    async def teardown(self, result: Any) -> None: ...


dataset: Dataset[Question, str, dict[str, int]] = Dataset(
    name="capitals",
    cases=[case],
    evaluators=[Close(most=5), Graded(), EqualsExpected(), Contains("Paris"), is_short, judged],
)
dataset.add_case(name="japan", inputs=Question("capital of Japan?"), expected_output="Tokyo")
dataset.add_evaluator(Close(), specific_case="japan")


async def ask(question: Question) -> str:
    set_eval_attribute("model", "small")
    tells_tool_calls()
    tool_call("search", {"q": "x"}, result="found")
    increment_eval_metric("tokens", 12)
    return question.text


def ask_blocking(question: Question) -> str:
    return question.text


def count_words(text: str) -> str:
    return str(len(text.split()))


async def count_letters(question: Question) -> int:
    return len(question.text)


class Bar:
    """A progress view of a user's own."""

    def start(self, gauge: Gauge) -> None: ...

    def __call__(self, event: AnyEvent) -> None: ...

    def stop(self) -> None: ...


def from_a_script() -> None:
    report = dataset.evaluate_sync(ask_blocking, max_concurrency=50, repeat=3, retry_task=2, timeout=30)
    assert_type(report, Report[Question, str, dict[str, int]])
    assert_type(report.cases[0].inputs, Question)
    assert_type(report.cases[0].output, str)
    assert_type(report.failures[0].metadata, dict[str, int] | None)
    report.print()
    report.print(80, include_averages=False, include_removed_cases=True, include_analyses=True)
    names = [row.name for row in report.cases] + [row.name for row in report.failures]
    assert_type(names, list[str])
    as_text: str = report.to_json()
    print(names, as_text)
    dataset.evaluate_sync(ask, max_concurrency=None, journal=False, lifecycle=Prepared, progress=False)
    dataset.evaluate_sync(ask, max_concurrency="auto", journal="runs/capitals", metadata={"model": "small"})
    assert_type(evaluate_sync(dataset, ask), Report[Question, str, dict[str, int]])
    dataset.evaluate_sync(variants={"small": ask, "large": ask_blocking}, retry_evaluators={"attempts": 2})
    dataset.evaluate_sync(ask, isolation="process", durability="os", redact=["ssn"], progress=Bar())

    # What a checker has to refuse: an ignore that is not needed is an error too.
    dataset.evaluate_sync(count_words)  # type: ignore[arg-type]  # takes something else
    dataset.evaluate_sync(count_letters)  # type: ignore[arg-type]  # answers something else
    dataset.evaluate_sync(ask, isolation="fork")  # type: ignore[arg-type]
    dataset.evaluate_sync(ask, durability="memory")  # type: ignore[arg-type]
    dataset.evaluate_sync(ask, progress=object())  # type: ignore[arg-type]
    dataset.evaluate_sync(ask, lifecycle=3)  # type: ignore[arg-type]
    dataset.evaluate_sync(ask, budget=5)  # type: ignore[arg-type]
    dataset.evaluate_sync(ask, retry_task="3")  # type: ignore[arg-type]


async def from_a_running_loop() -> EvaluationReport:
    assert_type(await evaluate(dataset, ask, max_concurrency=1), Report[Question, str, dict[str, int]])
    return await dataset.evaluate(ask, evaluator_concurrency=4, budget={"failures": 3}, order="given")


def what_was_said(report: Report[Question, str, dict[str, int]]) -> None:
    row = report.cases[0]
    assert_type(row.assertions["EqualsExpected"], EvaluationResult)
    assert_type(row.evaluator_failures, list[EvaluatorFailure])


def afterwards() -> None:
    try:
        assert_type(Report.read("runs/capitals"), Report)
        rescore("runs/capitals", evaluators=[EqualsExpected()])
        verify("runs/capitals")
    except PacelineError as error:
        print(error, error.hint)


async def as_they_land() -> None:
    running = dataset.stream(ask, max_concurrency=5)
    async for done in running:
        assert_type(done, CaseFinished)
    assert_type(running.report, Report[Question, str, dict[str, int]] | None)


Told = (
    Abandoned
    | AttemptFailed
    | CaseFinished
    | CaseStarted
    | Draining
    | LoopBlocked
    | RunEnded
    | RunStarted
    | Warned
)


def on_event(event: Told) -> None:
    match event:
        case CaseFinished(key=key, passed=passed):
            print(key.case, passed)
        case LoopBlocked(where=where):
            print(where)
        case _:
            print(event.at)


def with_a_listener() -> None:
    try:
        dataset.evaluate_sync(ask, on_event=on_event)
    except RunInterrupted as interrupted:
        assert_type(interrupted.report, Report)


async def with_shared_resources() -> None:
    async with slot("docs-mcp", 3):
        print("one of three")
    with slot("docs-mcp", 3):
        print("on a thread")
    assert_type(paced_client(), httpx2.Client)
    assert_type(paced_client(httpx2.AsyncClient, limits={"rpm": 600}), httpx2.AsyncClient)
    assert_type(paced_client(httpx.Client, headers={"x-team": "evals"}), httpx.Client)
    openai.AsyncOpenAI(http_client=paced_client(openai.DefaultAsyncHttpxClient))
    anthropic.Anthropic(http_client=paced_client())

    async with slot("docs-mcp"):  # type: ignore[call-arg]  # how many?
        pass
    paced_client(limits=600)  # type: ignore[call-overload]  # of what?


suite = Suite(dataset=dataset, task=ask, name="capitals")
endpoint = HttpTask("https://example.test/ask", body={"q": "{{ inputs }}"}, answer="text")
agent = CommandTask(
    ["agent", "--task", "{{ inputs.task }}"],
    workspace={"repository": "https://github.com/me/app", "commit": "{{ inputs.commit }}"},
    env={"MODEL": "gpt-5.4-mini"},
    timeout="20m",
    output="diff",
    limits={"memory": "2GiB"},
)
agents = Suite(dataset=dataset, task=agent, name="agents")


class HasTests(Evaluator[object, object, object]):
    def evaluate(self, ctx: EvaluatorContext[object, object, object]) -> bool:
        with workspace_of(ctx) as folder:
            return (folder / "tests").is_dir()


version: str = paceline.__version__


async def one_thing_at_a_time() -> None:
    verdict = evaluate("groundedness", output="Paris", context="Paris is in France.", model="sim")
    assert_type(verdict, EvalResult)
    assert_type(verdict.passed, bool | None)
    assert_type(verdict.score, float | None)
    assert_type(evaluate("contains", text="Paris", keyword="P", config={"case_sensitive": False}), EvalResult)
    assert_type(await aevaluate("rmse", output=[1], expected=[2], threshold=0.9), EvalResult)
    assert_type([each.name for each in templates()], list[str])

    evaluate("groundedness", "Paris")  # type: ignore[call-overload]  # inputs have names
    evaluate("groundedness", threshold="high")  # type: ignore[call-overload]
    await evaluate("groundedness", output="Paris")  # type: ignore[misc]  # it blocks: `aevaluate` is awaited
    await aevaluate(dataset)  # type: ignore[arg-type]


async def finds_the_ceiling() -> None:
    found = await dataset.ramp(ask, levels=[1, 10, 50], per_level=20, budget={"usd": 2}, journal="runs/ramp")
    assert_type(found, RampReport)
    try:
        found = dataset.ramp_sync(ask_blocking, variant="small", rehearse=True)
    except RampInterrupted as interrupted:
        found = interrupted.report
    assert_type(found.ceiling, float | None)
    assert_type(found.verdict.window, int | None)
    assert_type([row.level for row in found.rows], list[int])
    assert_type(found.to_svg(), str)
    found.print()
    dataset.ramp_sync(ask, levels="1,2")  # type: ignore[arg-type]
    dataset.ramp_sync(ask, max_concurrency=5)  # refused when it is called: levels take its place


async def says_it(answer: str, requirement: str) -> tuple[bool, str]:
    return requirement in answer, "looked for it"


async def checks_requirements() -> None:
    found = await score_requirements("an answer", ["short", {"id": "x", "text": "true"}], scorer=says_it)
    assert_type(found.passed, bool)
    assert_type(found.share, float)
    assert_type(found.feedback, str)
    assert_type(found.results, tuple[RequirementResult, ...])
    Dataset(cases=[case], evaluators=[Requirements(["short"], scorer=says_it, max_concurrency=3)])
    Dataset(cases=[case], evaluators=[Requirements("task.wanted", "openai:gpt-5.4-mini")])
    await score_requirements("an answer", 3, scorer=says_it)  # type: ignore[arg-type]


def gates(report: Report[str, str, None]) -> None:
    verdict = check(report, min={"pass_rate": 0.9}, max={"p95": "30s"}, no_regression="baseline.json")
    assert_type(verdict.green, bool)
    assert_type(verdict.exit_code, int)
    assert_type([each.why for each in verdict.findings], list[str])
    assert check("runs/capitals", min={"pass_rate": "90%"}, confidence=0.95)


def judge_with_a_model(case: Case[str, str, str]) -> None:
    """By name, with options, or a function; alone, behind cheap checks, in both orders."""
    set_default_judge_model("openai:gpt-5.4-mini")
    with_reason: OutputConfig = {"include_reason": True}
    scored = LLMJudge("It is right.", score=with_reason, assertion=False, votes=3, scale=(1, 5))
    named = LLMJudge("It is right.", {"name": "sim", "temperature": 0}, include_input=True, cache=True)
    called = LLMJudge("It is right.", lambda text: "{}", allow_self_grading=True)
    cascade = Cascade(EqualsExpected(), named, evaluation_name="right")
    Dataset(cases=[case], evaluators=[scored, called, cascade, Pairwise("It is better.", passes="tie")])
    LLMJudge("It is right.", votes="3")  # type: ignore[arg-type]


def compare_two(before: Report[Any, Any, Any]) -> None:
    compared = compare(before, "runs/after", lower=["distance"])
    assert_type(compared, Comparison)
    compared.print()
    assert_type(compared.to_dict(), dict[str, Any])
    assert_type(compared.pairs[0].metric("pass_rate").verdict, Literal["better", "worse", "cannot tell"])
