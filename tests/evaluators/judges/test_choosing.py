"""Which model judges: the one named, else the default one, else that of the settings, else nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.errors import SettingsError, UsageError
from paceline.evaluators.judges.choosing import judge_model, judging_with, set_default_judge_model
from paceline.models import model


@pytest.fixture(autouse=True)
def nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PACELINE_JUDGE_MODEL", raising=False)
    yield
    set_default_judge_model(None)


def test_with_none_set_the_error_says_how_to_set_one() -> None:
    with pytest.raises(UsageError, match="no model is set") as refused:
        judge_model(None)
    for way in (
        "model='openai:",
        "set_default_judge_model(",
        "--judge-model",
        "PACELINE_JUDGE_MODEL",
        "paceline.toml",
    ):
        assert way in refused.value.hint


def test_the_nearer_place_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "paceline.toml").write_text('judge_model = "openai:of-the-file"\n')
    assert judge_model().name == "openai:of-the-file"
    monkeypatch.setenv("PACELINE_JUDGE_MODEL", "openai:of-the-shell")
    assert judge_model().name == "openai:of-the-shell"
    with judging_with("openai:of-the-run"):
        assert judge_model().name == "openai:of-the-run"
        set_default_judge_model("openai:of-the-process")
        assert judge_model().name == "openai:of-the-process"
        assert judge_model("openai:named").name == "openai:named"
    set_default_judge_model(None)
    assert judge_model().name == "openai:of-the-shell"


def test_a_model_is_taken_in_all_forms_that_models_have() -> None:
    ready = model("sim")
    assert judge_model(ready) is ready
    assert judge_model({"name": "openai:small", "temperature": 0}).version == "openai:small, temperature=0.0"
    assert judge_model(str.upper).name == "str.upper"


@pytest.mark.parametrize("none", ["opnai:small", "none such"])
def test_a_default_that_is_no_model_is_refused_when_it_is_set(none: str) -> None:
    with pytest.raises(UsageError, match="no model"):
        set_default_judge_model(none)


def test_a_setting_that_is_no_name_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "paceline.toml").write_text("judge_model = 5\n")
    with pytest.raises(SettingsError, match=r"paceline\.toml:1"):
        judge_model()


# Aliases ------------------------------------------------------------------------------------------


def test_an_alias_is_the_model_that_the_nearest_settings_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paceline.toml").write_text(
        'judge_model = "turing_small"\n[judge_aliases]\nturing_small = "sim"\nfast = "sim:gentle"\n'
    )
    assert judge_model("turing_small").name == "sim"
    assert judge_model("fast").name == "sim:gentle"
    assert judge_model(None).name == "sim", "the setting may be an alias"
    with judging_with(None, {"fast": "sim:storm"}):
        assert judge_model("fast").name == "sim:storm"
    monkeypatch.setenv("PACELINE_JUDGE_ALIASES", '{"fast": "sim:outage"}')
    assert judge_model("fast").name == "sim:outage"


@pytest.mark.parametrize("alias", ["turing_flash", "turing_small", "turing_large"])
def test_an_alias_that_stands_for_nothing_says_how_to_say_what_it_stands_for(alias: str) -> None:
    with pytest.raises(UsageError, match=f"{alias} is an alias") as refused:
        judge_model(alias)
    for way in ("[judge_aliases]", "PACELINE_JUDGE_ALIASES", "model="):
        assert way in refused.value.hint


def test_a_default_may_be_an_alias() -> None:
    with judging_with(None, {"fast": "sim"}):
        set_default_judge_model("fast")
    assert judge_model(None).name == "sim"


@pytest.mark.parametrize("wrong", ["fast", '{"fast": 5}', '{"openai:gpt-5": "sim"}', '{"": "sim"}', "[]"])
def test_aliases_that_cannot_be_meant_are_refused_with_their_place(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PACELINE_JUDGE_ALIASES", wrong)
    with pytest.raises(SettingsError, match="PACELINE_JUDGE_ALIASES"):
        judge_model("fast")
