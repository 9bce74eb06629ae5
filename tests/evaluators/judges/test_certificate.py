"""Certificates: what one says of a judge, and when it no longer does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.evaluators import Contains, Evaluator, LLMJudge
from paceline.evaluators.judges.certificate import read_certificate, sealed, standing_of
from paceline.evaluators.judges.standing import (
    deciding,
    fingerprint_of_judge,
    standings_of,
    without_certificate,
)
from paceline.evaluators.prepare import prepare

RUBRIC = "It is polite."


def polite(text: str) -> str:
    """A model that finds everything polite."""
    return '{"reason": "kind", "pass": true}'


def document(fingerprint: str | None = "f", **more: Any) -> dict[str, Any]:
    return {
        "made": "2026-11-20T09:30:00+00:00",
        "verdict": {"kind": "PASS", "why": "all of the interval lies at 0.80 or above"},
        "judge": {"fingerprint": fingerprint, "name": "LLMJudge"},
        "labels": {"human": True},
        "figures": {"n_scored": 120, "spearman": {"value": 0.91, "low": 0.86, "high": 0.95}},
        **more,
    }


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "polite.calibration.json"


def write(place: Path, what: dict[str, Any]) -> None:
    place.write_text(json.dumps(sealed(what), indent=4))


def test_a_judge_is_calibrated_by_a_certificate_about_itself_that_says_pass(place: Path) -> None:
    write(place, document())
    found = standing_of("f", read_certificate(place))
    assert (found.state, found.spearman, found.low, found.n) == ("calibrated", 0.91, 0.86, 120)
    assert found.made == "2026-11-20"


def test_a_judge_that_was_changed_since_has_an_expired_one(place: Path) -> None:
    write(place, document())
    assert standing_of("other", read_certificate(place)).state == "expired"


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ({"verdict": {"kind": "FAIL", "why": "all below"}}, "says FAIL: all below"),
        ({"verdict": {"kind": "INCONCLUSIVE", "why": "few"}}, "says INCONCLUSIVE"),
        ({"labels": {"human": False}}, "nobody has declared to be people's"),
        ({"simulated": True}, "simulated answers"),
        ({"judge": {"fingerprint": None}}, "names no judge"),
    ],
)
def test_whatever_says_something_else_than_pass_leaves_it_uncalibrated(
    place: Path, what: dict[str, Any], why: str
) -> None:
    write(place, document(**what))
    found = standing_of("f", read_certificate(place))
    assert found.state == "uncalibrated"
    assert why in found.why


def test_without_a_certificate_a_judge_is_uncalibrated() -> None:
    assert standing_of("f", None).state == "uncalibrated"


def test_a_certificate_that_was_edited_is_refused_however_it_is_laid_out(place: Path) -> None:
    write(place, document(verdict={"kind": "FAIL", "why": "no"}))
    place.write_text(json.dumps(json.loads(place.read_text())))
    assert read_certificate(place).verdict.kind == "FAIL"
    place.write_text(place.read_text().replace("FAIL", "PASS"))
    with pytest.raises(UsageError, match="not as it was written"):
        read_certificate(place)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "other"}', '{"kind": "paceline calibration"}'])
def test_what_is_no_certificate_is_refused_with_a_remedy(place: Path, text: str) -> None:
    place.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_certificate(place)
    assert "paceline calibrate" in refused.value.hint


def test_a_certificate_of_a_later_format_is_refused(place: Path) -> None:
    place.write_text(json.dumps({"kind": "paceline calibration", "format": 2}))
    with pytest.raises(UsageError, match="of format 2"):
        read_certificate(place)


GPT = "openai:gpt-5.4-mini"


def test_the_prompt_the_model_and_the_settings_of_a_judge_expire_its_certificate(place: Path) -> None:
    named = str(place)
    judge = LLMJudge(RUBRIC, GPT, model_settings={"temperature": 0}, calibration=named)
    write(place, document(judge.fingerprint))
    assert standings_of([judge])["LLMJudge"].state == "calibrated"
    for changed in (
        LLMJudge("It is kind.", GPT, model_settings={"temperature": 0}, calibration=named),
        LLMJudge(RUBRIC, "openai:gpt-5.4", model_settings={"temperature": 0}, calibration=named),
        LLMJudge(RUBRIC, GPT, model_settings={"temperature": 0.5}, calibration=named),
        LLMJudge(RUBRIC, GPT, include_input=True, model_settings={"temperature": 0}, calibration=named),
        LLMJudge(RUBRIC, GPT, votes=3, model_settings={"temperature": 0}, calibration=named),
        LLMJudge(RUBRIC, GPT, score={}, model_settings={"temperature": 0}, calibration=named),
        LLMJudge(RUBRIC, polite, calibration=named),
    ):
        assert standings_of([changed])["LLMJudge"].state == "expired"


def test_evaluators_that_ask_nobody_need_to_be_shown_nothing() -> None:
    assert standings_of([Contains("x"), lambda output: output == 1]) == {}


def test_a_certificate_that_is_not_there_is_none_and_no_error(place: Path) -> None:
    found = standings_of([LLMJudge(RUBRIC, polite, calibration=str(place))])["LLMJudge"]
    assert found.state == "uncalibrated"
    assert f"there is no certificate {place}" in found.why


@dataclass
class Own(Evaluator[object, object, object]):
    """A judge of the user's own."""

    strictness: int = 1
    calibration: str | None = None
    evaluator_version: str | None = "1"

    def evaluate(self, ctx: object) -> bool:
        return True


def test_a_judge_of_the_users_own_is_known_by_its_arguments_and_its_version(place: Path) -> None:
    judge = Own(calibration=str(place))
    write(place, document(fingerprint_of_judge(judge)))
    assert standings_of([judge])["Own"].state == "calibrated"
    assert standings_of([Own(calibration=str(place), strictness=2)])["Own"].state == "expired"
    assert standings_of([Own(calibration=str(place), evaluator_version="2")])["Own"].state == "expired"
    assert fingerprint_of_judge(Own(evaluator_version=None)) is None


def test_naming_a_certificate_makes_no_other_judge_and_no_other_suite(place: Path) -> None:
    with_one, without_one = LLMJudge(RUBRIC, polite, calibration=str(place)), LLMJudge(RUBRIC, polite)
    assert with_one.fingerprint == without_one.fingerprint
    assert without_certificate(with_one) == without_one
    (decides,) = deciding([with_one], prepare([with_one]))
    (plain,) = prepare([without_one])
    assert (decides.written, decides.version) == (plain.written, plain.version)
