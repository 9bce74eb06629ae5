"""A cache of verdicts: by all that has decided one, shared where that is asked for, and of no wrong ones."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset
from paceline.evaluators import LLMJudge, Pairwise
from paceline.evaluators.judges.asking import JudgeUnreadable
from paceline.evaluators.judges.cache import VerdictCache
from paceline.evaluators.judges.judgements import Judgement
from tests.evaluators.judges.stage import Said, judged, no, score, yes

R = "It is polite."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PACELINE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


def test_without_it_nothing_is_kept(folder: Path) -> None:
    said = Said(yes())
    for _ in range(2):
        judged(LLMJudge(R, said))
    assert (len(said.asked), files(folder)) == (2, [])


def test_the_same_judge_that_sees_the_same_is_asked_once_in_all_runs(folder: Path) -> None:
    said = Said(yes("kind"), no())
    for _ in range(2):
        assert judged(LLMJudge(R, said, cache=True), "a")["LLMJudge"] == (True, "kind")
    assert judged(LLMJudge(R, said, cache=True), "b")["LLMJudge"][0] is False
    assert len(said.asked) == 2
    assert len(files(folder / "cache" / "verdicts")) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"rubric": "It is rude."},
        {"include_input": True},
        {"score": {}},
        {"model": Said(yes(score=0.5), name="test:another")},
    ],
)
def test_another_judge_is_asked_anew(other: dict[str, Any]) -> None:
    said = Said(yes(score=0.5))
    arguments: dict[str, Any] = {"rubric": R, "model": said, "cache": True}
    judged(LLMJudge(**arguments))
    changed = LLMJudge(**{**arguments, **other})
    judged(changed)
    assert len(changed.model.asked) == (1 if "model" in other else 2)


def test_each_vote_is_kept_by_itself_or_they_would_all_be_the_same() -> None:
    said = Said(score(0.0), score(1.0), score(0.5))
    judge = LLMJudge(R, said, score={}, assertion=False, votes=3, cache=True)
    first = judged(judge)
    assert first["LLMJudge_spread"] > 0
    assert judged(judge) == first
    assert len(said.asked) == 3


def test_both_orders_of_a_pair_are_kept() -> None:
    said = Said({"reason": "", "choice": "first"}, {"reason": "", "choice": "second"})
    judge = Pairwise(R, said, cache=True)
    assert judged(judge, "a", "b") == judged(judge, "a", "b")
    assert len(said.asked) == 2


def test_an_error_is_not_kept(folder: Path) -> None:
    said = Said("gibberish", yes())
    judge = LLMJudge(R, said, cache=True)
    with pytest.raises(JudgeUnreadable):
        judged(judge)
    assert judged(judge)["LLMJudge"][0] is True


def test_cases_that_ask_the_same_at_the_same_time_ask_once(folder: Path) -> None:
    said = Said(yes())
    dataset = Dataset(
        name="same",
        cases=[Case(name=f"c{n}", inputs=n) for n in range(20)],
        evaluators=[LLMJudge(R, said, cache=str(folder / "mine"))],
    )
    report = dataset.evaluate_sync(lambda n: n % 2, journal=False, progress=False)
    assert report.pass_rate == 1.0
    assert len(said.asked) == 2
    (spared,) = report.figures.evaluators.spared
    assert (spared.by, spared.calls) == ("LLMJudge", 18)
    assert len(files(folder / "mine")) == 2


def test_one_that_waits_for_an_answer_that_fails_asks_by_itself() -> None:
    said = Said(ConnectionError("gone"), yes())
    judge = LLMJudge(R, said, cache=True)

    async def both() -> Any:
        from tests.evaluators.cases import finished

        return await asyncio.gather(
            judge.evaluate(finished("a")), judge.evaluate(finished("a")), return_exceptions=True
        )

    failed, answered = asyncio.run(both())
    assert isinstance(failed, ConnectionError)
    assert answered["LLMJudge"].value is True


@pytest.mark.parametrize("name", ["gpt-5.4-mini", "sim"])
def test_what_was_simulated_is_not_kept_and_never_taken_for_a_result(folder: Path, name: str) -> None:
    async def simulated() -> Judgement:
        return Judgement(passed=True, model=name, simulated=True)

    asyncio.run(VerdictCache(folder / "mine").judgement("a" * 32, "vote 1", simulated))
    assert files(folder / "mine") == []


@pytest.mark.parametrize("damage", [b"", b"{", b'{"passed": "maybe"}', b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_passed_over(folder: Path, damage: bytes) -> None:
    said = Said(yes())
    judge = LLMJudge(R, said, cache=True)
    judged(judge)
    (kept,) = files(folder)
    kept.write_bytes(damage)
    assert judged(judge)["LLMJudge"][0] is True
    assert len(said.asked) == 2


def test_a_folder_that_cannot_be_written_loses_no_verdict(folder: Path) -> None:
    (folder / "file").write_text("")
    judge = LLMJudge(R, Said(yes()), cache=str(folder / "file"))
    assert judged(judge)["LLMJudge"][0] is True


def test_secrets_stay_out_of_it(folder: Path) -> None:
    secret = "sk-" + "a1B2" * 10
    judged(LLMJudge(R, Said(yes(f"it says {secret}")), cache=True))
    (kept,) = files(folder)
    assert secret.encode() not in kept.read_bytes()
