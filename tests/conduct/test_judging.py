"""Judges in a run: looked at before it, recorded in it, and never a model that grades itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, Report, rescore
from paceline.errors import FingerprintChanged, UsageError
from paceline.evaluators import LLMJudge
from paceline.evaluators.judges.choosing import set_default_judge_model
from paceline.evaluators.judges.self_grading import SelfGrading
from paceline.sim.scenario import Scenario
from paceline.sim.server import start_in_thread
from paceline.tasks import increment_eval_metric, set_eval_attribute
from paceline.tasks.model import ModelTask
from tests.evaluators.judges.stage import Said, no, yes
from tests.pace.test_runs import calls_in


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("PACELINE_JUDGE_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)


def capitals(*evaluators: Any, count: int = 1) -> Dataset[Any, Any, Any]:
    return Dataset(
        name="capitals",
        cases=[Case(name=f"c{n}", inputs=f"{n}", expected_output="Paris") for n in range(count)],
        evaluators=evaluators,
    )


def evaluate(dataset: Dataset[Any, Any, Any], task: Any = str, **options: Any) -> Report[Any, Any, Any]:
    options.setdefault("journal", False)
    options.setdefault("task_name", "task")
    return dataset.evaluate_sync(task, progress=False, **options)


def test_a_judge_decides_whether_a_case_passes() -> None:
    report = evaluate(capitals(LLMJudge("r", Said(yes(), no("wrong"))), count=2), max_concurrency=1)
    assert report.pass_rate == 0.5
    assert report.cases[1].assertions["LLMJudge"].reason == "wrong"


@pytest.mark.parametrize("said", ["gibberish", ConnectionError("gone")])
def test_a_judge_that_cannot_say_anything_is_an_evaluator_error_after_its_retries(said: Any) -> None:
    judge = Said(said)
    report = evaluate(
        capitals(LLMJudge("r", judge, score={})), retry_evaluators={"attempts": 3, "base": 0.001}
    )
    assert report.figures.outcomes["evaluator_error"] == 1
    assert report.pass_rate == 0.0
    assert report.figures.evaluators.scores == []
    assert len(judge.asked) == 3


def test_a_judge_that_can_be_read_the_second_time_is_no_error() -> None:
    judge = Said("gibberish", yes())
    report = evaluate(capitals(LLMJudge("r", judge)), retry_evaluators={"attempts": 3, "base": 0.001})
    assert report.pass_rate == 1.0


def test_a_judge_without_model_or_key_is_refused_before_anything_runs() -> None:
    ran: list[str] = []
    with pytest.raises(UsageError, match="no model is set"):
        evaluate(capitals(LLMJudge("r")), ran.append)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        evaluate(capitals(LLMJudge("r", "openai:small")), ran.append)
    assert ran == []


def test_the_model_of_the_run_judges_where_no_other_is_named(tmp_path: Path) -> None:
    dataset = capitals(LLMJudge("r", include_expected_output=True))
    report = evaluate(dataset, judge_model="sim", journal=tmp_path / "run")
    assert report.n_expected == 1
    with pytest.raises(FingerprintChanged, match="sim"):
        evaluate(dataset, judge_model="openai:small", journal=tmp_path / "run")


def test_a_default_judge_goes_before_that_of_the_run() -> None:
    said = Said(yes())
    set_default_judge_model(said)
    try:
        assert evaluate(capitals(LLMJudge("r")), judge_model="sim").pass_rate == 1.0
    finally:
        set_default_judge_model(None)
    assert len(said.asked) == 1


def test_a_model_that_would_judge_itself_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    task = ModelTask("openai:small", prompt="{{ inputs }}")
    for judge in ("openai:small", "openai-responses:small"):
        with pytest.raises(SelfGrading, match="its own answers"):
            evaluate(capitals(LLMJudge("r", judge)), task)


def test_code_that_has_asked_the_judges_model_is_found_out_case_by_case() -> None:
    def task(number: str) -> str:
        set_eval_attribute("model", "small" if number == "0" else "large")
        return number

    said = Said(yes(), called="small")
    report = evaluate(capitals(LLMJudge("r", said), count=2), task)
    assert report.figures.outcomes["evaluator_error"] == 1
    assert report.pass_rate == 0.5
    (failed,) = [case for case in report.cases if case.evaluator_failures]
    assert "allow_self_grading=True" in failed.evaluator_failures[0].error_message


def test_a_rehearsal_needs_no_key_for_its_judge(tmp_path: Path) -> None:
    task = ModelTask("openai:large", prompt="{{ inputs }}")
    report = evaluate(capitals(LLMJudge("r", "openai:small")), task, rehearse=True)
    assert report.figures.simulated is not None
    assert report.figures.simulated.spending.calls == 2


def test_a_judge_that_could_not_be_read_is_asked_anew_by_a_resume(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What was answered is on record, and played again only where scoring was cut off: here it has failed."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    dataset = capitals(LLMJudge("r", "openai:judge", include_expected_output=True))

    def judged(**said: Any) -> Report[Any, Any, Any]:
        with start_in_thread(Scenario.of({"latency": 0, "answers": said})) as sim:
            monkeypatch.setenv("OPENAI_BASE_URL", f"{sim.url}/v1")
            return evaluate(dataset, lambda _: "Paris", journal=tmp_path / "run", retry_evaluators=1)

    assert judged(script=['{"reason": "?"}']).figures.outcomes["evaluator_error"] == 1
    report = judged()
    assert report.pass_rate == 1.0
    assert report.figures.simulated is not None
    assert report.figures.simulated.spending.replayed == 0


def test_a_rescoring_asks_the_model_that_judged_by_a_setting_and_only_what_is_new(tmp_path: Path) -> None:
    text = "cases: [{name: a, inputs: x}]\nevaluators: [{LLMJudge: {rubric: r, votes: 2}}]"
    dataset = Dataset.from_text(text)
    evaluate(dataset, judge_model="sim", journal=tmp_path / "run")
    assert len(calls_in(tmp_path / "run")) == 2
    again = rescore(tmp_path / "run", journal=tmp_path / "again", progress=False)
    assert again.n_expected == 1
    assert calls_in(tmp_path / "again") == []
    other = LLMJudge("another rubric", "sim", votes=2)
    rescore(tmp_path / "run", evaluators=[other], journal=tmp_path / "third", progress=False)
    assert len(calls_in(tmp_path / "third")) == 2


SDKS = ("openai:j", "openai-responses:j", "anthropic:j", "openai-compatible:j@THERE/v1")


@pytest.mark.parametrize("which", SDKS)
def test_a_judge_is_asked_through_every_sdk(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "k")
    with start_in_thread(Scenario.of({"latency": 0})) as sim:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{sim.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", sim.url)
        judge = LLMJudge(
            "It names the capital.",
            which.replace("THERE", sim.url),
            include_expected_output=True,
            score={"include_reason": True},
            scale=(1, 5),
        )
        report = evaluate(
            capitals(judge, count=2), lambda n: "Paris" if n == "0" else "Lyon", journal=tmp_path / "run"
        )
        assert sim.stats().invalid == 0
    told = {case.name: (case.assertions, case.scores) for case in report.cases}
    assert [told[name][0]["LLMJudge_pass"].value for name in ("c0", "c1")] == [True, False]
    assert [told[name][1]["LLMJudge_score"].value for name in ("c0", "c1")] == [5.0, 1.0]
    assert {call.by for call in calls_in(tmp_path / "run")} == {"LLMJudge"}


def test_a_budget_remembers_what_judges_have_cost_in_earlier_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    prices = {"judge": {"input": 1000.0, "output": 1000.0}}
    dataset = capitals(LLMJudge("r", "openai:judge", include_input=True), count=20)
    options: dict[str, Any] = {"prices": prices, "journal": tmp_path / "run", "max_concurrency": 1}

    def task(number: str) -> str:
        increment_eval_metric("cost", 0.0)
        return number

    with start_in_thread(Scenario.of({"latency": 0})) as sim:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{sim.url}/v1")
        first = evaluate(dataset, task, budget={"usd": 2.0}, **options)
        answered = sim.stats().answered
        assert 0 < answered < 20
        assert first.figures.outcomes["skipped_budget"] == 20 - first.figures.n_scored
        evaluate(dataset, task, budget={"usd": 2.0}, **options)
        assert sim.stats().answered <= answered + 1, "the same budget again does nothing"
        last = evaluate(dataset, task, budget={"usd": 100.0}, **options)
    assert last.figures.n_scored == 20
