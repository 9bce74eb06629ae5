"""Settings: how values are written, which place wins, and what is said about a mistake."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import SettingsError
from paceline.setting_kinds import concurrency, count, duration, money, names, truth
from paceline.settings import (
    BY_NAME,
    SETTINGS,
    Effective,
    Written,
    as_written,
    effective,
    find_toml,
)


@dataclass
class BareSuite:
    """The least that settings ask of a suite."""

    name: str = "geography"
    settings: dict[str, object] = field(default_factory=dict)

    def written_settings(self) -> Mapping[str, Written]:
        return {name: Written(value, "suite.yaml", Path("/suites")) for name, value in self.settings.items()}


def settings_in(
    folder: Path,
    toml: str = "",
    *,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    suite: BareSuite | None = None,
) -> Effective:
    if toml:
        (folder / "paceline.toml").write_text(toml)
    return effective(flags, environ or {}, folder, suite)


# How values are written


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (30, 30.0),
        (1.5, 1.5),
        ("30", 30.0),
        ("30s", 30.0),
        (" 5m ", 300.0),
        ("1h", 3600.0),
        ("1h30m", 5400.0),
        ("1h 30m", 5400.0),
        ("500ms", 0.5),
        ("2d", 172_800.0),
        (timedelta(minutes=2), 120.0),
    ],
)
def test_a_duration_is_written_the_way_people_write_it(written: object, seconds: float) -> None:
    assert duration(written) == seconds


@pytest.mark.parametrize(
    "written", ["", "soon", "5 minutes", "-3s", 0, "0s", True, None, "1e999", [], float("nan")]
)
def test_what_is_no_duration_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match=r".*"):
        duration(written)


@pytest.mark.parametrize(
    ("written", "number"),
    [(20, 20), ("20", 20), ("1_000", 1000), ("1,000", 1000), ("500k", 500_000), ("2M", 2_000_000)],
)
def test_a_count_may_be_written_with_a_unit(written: object, number: int) -> None:
    assert count(written) == number


@pytest.mark.parametrize("written", [-1, 1.5, "1.5", "many", True, None, float("inf"), ""])
def test_what_is_no_count_is_refused(written: object) -> None:
    with pytest.raises((ValueError, OverflowError)):
        count(written)


def test_concurrency_is_auto_or_a_number_or_unlimited() -> None:
    assert [concurrency(written) for written in ("auto", "AUTO", 5, "5", None, "none")] == [
        "auto",
        "auto",
        5,
        5,
        None,
        None,
    ]
    with pytest.raises(ValueError, match="0"):
        concurrency(0)


def test_truth_money_and_names_are_read_from_text_and_from_values() -> None:
    assert [truth(written) for written in (True, "yes", "on", "1", "No", False)] == [True] * 4 + [False] * 2
    assert [money(written) for written in (5, "2.50", "$2.50")] == [5.0, 2.5, 2.5]
    assert names("a, b,,c ") == names(["a", "b", "c"]) == ("a", "b", "c")


@given(number=st.integers(1, 10_000), unit=st.sampled_from(["ms", "s", "m", "h", "d"]))
def test_a_duration_that_is_shown_reads_back_as_the_same(number: int, unit: str) -> None:
    seconds = duration(f"{number}{unit}")
    assert duration(as_written(BY_NAME["timeout"], seconds)) == pytest.approx(seconds, rel=1e-5)


def test_every_default_reads_back_from_how_it_is_shown() -> None:
    for setting in SETTINGS:
        if setting.default is None and setting.kind.metavar == "NAME,...":
            continue
        assert setting.read(as_written(setting, setting.default), "here") == setting.default, setting.name


@given(text=st.text(max_size=12))
def test_whatever_is_written_is_read_or_refused_with_its_place(text: str) -> None:
    for setting in SETTINGS:
        said = ""
        try:
            setting.read(text, "PACELINE_X")
        except SettingsError as error:
            said = str(error)
        refused = said.startswith(f"PACELINE_X: {setting.name} is ") and setting.kind.wants in said
        assert not said or refused


# Which place wins

PLACES = ("flag --timeout", "PACELINE_TIMEOUT", "paceline.toml:3", "suite.yaml", "paceline.toml:1", "default")


@pytest.mark.parametrize("missing", range(len(PLACES)))
def test_the_more_specific_place_wins(tmp_path: Path, missing: int) -> None:
    """Each place is taken away in turn, and the next one holds."""
    general = "timeout = '5s'" if missing < 5 else "# nothing"
    of_suite = "timeout = '3s'" if missing < 3 else "# nothing"
    chosen = settings_in(
        tmp_path,
        f"{general}\n[suite.geography]\n{of_suite}\n",
        flags={"timeout": "1s" if missing < 1 else None},
        environ={"PACELINE_TIMEOUT": "2s"} if missing < 2 else {},
        suite=BareSuite(settings={"timeout": "4s"} if missing < 4 else {}),
    )
    assert chosen.origin("timeout") == PLACES[missing]
    assert chosen["timeout"] == (missing + 1 if missing < 5 else 1800)
    assert chosen.is_default("timeout") == (missing == 5)


def test_a_table_of_another_suite_does_not_matter(tmp_path: Path) -> None:
    toml = '[suite.history]\nrepeat = 5\n[suite."two words"]\nrepeat = 7\n'
    assert settings_in(tmp_path, toml, suite=BareSuite())["repeat"] == 1
    spaced = settings_in(tmp_path, toml, suite=BareSuite(name="two words"))
    assert (spaced["repeat"], spaced.origin("repeat")) == (7, "paceline.toml:4")


def test_a_setting_that_is_given_as_none_is_given(tmp_path: Path) -> None:
    """Only a flag that is None was not given; a file that says none means it."""
    chosen = settings_in(tmp_path, "timeout = '5m'", suite=BareSuite(settings={"timeout": None}))
    assert (chosen["timeout"], chosen.origin("timeout")) == (None, "suite.yaml")


def test_all_settings_have_a_value_and_an_origin_where_nothing_is_written(tmp_path: Path) -> None:
    chosen = settings_in(tmp_path)
    assert list(chosen) == [setting.name for setting in SETTINGS]
    assert {chosen.origin(name) for name in chosen} == {"default"}


def test_the_file_is_found_above_but_not_outside_the_repository(tmp_path: Path) -> None:
    (tmp_path / "paceline.toml").write_text("repeat = 2")
    repository = tmp_path / "repository"
    deep = repository / "evals" / "deep"
    deep.mkdir(parents=True)
    assert find_toml(deep) == tmp_path / "paceline.toml"
    (repository / ".git").mkdir()
    assert find_toml(deep) is None
    (repository / "paceline.toml").write_text("repeat = 3")
    above = effective({}, {}, deep)
    assert (above["repeat"], above.origin("repeat")) == (3, "../../paceline.toml:1")


def test_a_relative_path_belongs_to_the_place_where_it_is_written(tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "paceline.toml").write_text("runs = 'kept'")
    assert effective({}, {}, below)["runs"] == str(tmp_path / "kept")
    assert effective({}, {"PACELINE_RUNS": "kept"}, below)["runs"] == "kept"
    assert effective({"runs": "/kept"}, {}, below)["runs"] == "/kept"
    assert effective({}, {}, below, BareSuite(settings={"runs": "kept"}))["runs"] == "/suites/kept"
    (tmp_path / "paceline.toml").unlink()
    assert effective({}, {}, below)["runs"] == "runs"


# What is said about a mistake


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (
            "repeat = 2\nmax_concurency = 5",
            "paceline.toml:2: there is no setting 'max_concurency'; did you mean max_concurrency?",
        ),
        (
            "max-concurrency = 5",
            "paceline.toml:1: there is no setting 'max-concurrency'; did you mean max_concurrency?",
        ),
        ("[suite.x]\n\nrepeats = 2", "paceline.toml:3: there is no setting 'repeats'; did you mean repeat?"),
        ("zzz = 1", "paceline.toml:1: there is no setting 'zzz'"),
        ("# first\ntimeout = 'soon'", "paceline.toml:2: timeout is 'soon', and wants a duration above 0"),
        ("fail_on = 'all'", "paceline.toml:1: fail_on is 'all', and wants one of any, errors, none"),
        ("timeout = 5m", "paceline.toml is not TOML"),
        ("suite = 3", "paceline.toml: `suite` holds one table for each suite"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_line(tmp_path: Path, toml: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_in(tmp_path, toml)
    assert str(caught.value).startswith(said)
    assert caught.value.hint


def test_a_mistake_in_a_table_of_another_suite_is_found_too(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no setting 'timeuot'"):
        settings_in(tmp_path, "[suite.history]\ntimeuot = 3", suite=BareSuite())


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "paceline.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"paceline\.toml cannot be read"):
        effective({}, {}, tmp_path)


def test_an_unknown_variable_is_a_warning_and_names_what_was_meant(tmp_path: Path) -> None:
    chosen = settings_in(tmp_path, environ={"PACELINE_TIMEUOT": "5", "PACELINE_REPEAT": "2", "HOME": "/"})
    assert chosen.warnings == ("PACELINE_TIMEUOT is set and means nothing; did you mean PACELINE_TIMEOUT?",)
    assert chosen["repeat"] == 2


def test_a_bad_value_of_a_variable_or_a_flag_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        settings_in(tmp_path, environ={"PACELINE_REPEAT": "x"})
    assert str(refused.value) == "PACELINE_REPEAT: repeat is 'x', and wants a whole number from 1 up"
    with pytest.raises(SettingsError, match=r"^flag --repeat: repeat is '0'"):
        settings_in(tmp_path, flags={"repeat": "0"})


def test_a_value_that_loses_is_not_even_looked_at(tmp_path: Path) -> None:
    """A flag is how one gets going when the environment is wrong."""
    chosen = settings_in(tmp_path, environ={"PACELINE_REPEAT": "x"}, flags={"repeat": "3"})
    assert chosen["repeat"] == 3


# The table


def test_every_setting_says_what_it_is_for_and_can_be_set_from_everywhere() -> None:
    for setting in SETTINGS:
        assert setting.help.endswith("."), setting.name
        assert setting.flag.startswith("--")
        assert set(setting.env) <= set(string.ascii_uppercase + "_")
    assert len(BY_NAME) == len(SETTINGS)
