"""A run held against an earlier one: red where it is significantly worse, key by key."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import check
from paceline.errors import UsageError
from paceline.gates.baseline import Baseline, baseline_of, read_baseline, write_baseline
from paceline.gates.regression import held_against
from paceline.journal.records import Key
from paceline.report import Report
from tests.report.journals import Lines, begin, ended, failed, manifest, no, run, scored, yes

NUMBERS = itertools.count()


def ends(**cases: str) -> Report[Any, Any, Any]:
    """A run whose cases end so: `yes`, `no`, `crash`, `mute` (nothing asserted), or are `open`."""
    lines: list[Any] = []
    for name, how in cases.items():
        lines.append(begin(name))
        if how == "crash":
            lines.append(failed(name))
        elif how != "open":
            said = {"yes": [yes()], "no": [no()], "mute": []}[how]
            lines.append(scored(name, *said))
    opening = run("Equals", run_id=f"r{next(NUMBERS)}")
    return Report.read(Lines(opening, *lines, manifest(len(cases)), ended()))


def many(**counts: int) -> dict[str, str]:
    names = [how for how, count in counts.items() for _ in range(count)]
    return {f"c{number}": how for number, how in enumerate(names)}


def regression(now: Report[Any, Any, Any], before: Report[Any, Any, Any]) -> Any:
    return check(now, no_regression=before).findings[-1]


def test_crashes_are_worse_than_passes() -> None:
    found = regression(ends(**many(yes=4, crash=6)), ends(**many(yes=10)))
    assert (found.verdict, found.value) == ("red", -0.6)
    assert "significantly worse on the 10 keys" in found.why
    assert "p = 0.0312" in found.why


def test_what_may_be_chance_is_green_and_says_what_so_many_keys_show() -> None:
    found = regression(ends(**many(yes=8, no=2)), ends(**many(yes=10)))
    assert found.verdict == "green"
    assert "cannot tell from chance" in found.why
    assert "points and more" in found.why


def test_a_run_that_is_the_same_or_better_is_green() -> None:
    assert regression(ends(**many(yes=10)), ends(**many(yes=10))).verdict == "green"
    assert regression(ends(**many(yes=30)), ends(**many(no=30))).verdict == "green"


def test_the_confidence_is_that_of_the_test() -> None:
    now, before = ends(**many(no=5, yes=10)), ends(**many(yes=15))  # p = 0.0625
    assert check(now, no_regression=before).green
    assert check(now, no_regression=before, confidence=0.9).state == "red"


def test_taking_the_evaluators_away_makes_no_run_better() -> None:
    found = regression(ends(**many(mute=10), z="yes"), ends(**many(yes=10), z="yes"))
    assert (found.verdict, found.value) == ("red", pytest.approx(-10 / 11))


def test_what_nothing_is_asserted_of_on_both_sides_is_left_out() -> None:
    found = regression(ends(a="mute", b="yes"), ends(a="mute", b="yes"))
    assert "1 key of both" in found.why


def test_keys_that_only_one_side_has_are_told() -> None:
    found = regression(ends(a="yes", c="no"), ends(a="yes", b="yes"))
    assert "1 key gone and 1 key new" in found.why
    assert "1 key of both" in found.why


def test_without_a_key_in_common_nothing_is_known_and_that_is_red() -> None:
    assert regression(ends(a="yes"), ends(b="yes")).verdict == "red"
    assert regression(ends(a="mute"), ends(a="mute")).verdict == "red"


def test_a_run_that_is_held_against_itself_proves_nothing() -> None:
    found = ends(a="yes")
    assert regression(found, found).verdict == "red"


def test_a_baseline_that_is_not_whole_is_none() -> None:
    assert regression(ends(a="yes"), ends(a="yes", b="open")).verdict == "red"


def test_repeats_of_one_case_count_as_one_case() -> None:
    def ended_so(run_id: str, *, passed: bool) -> Baseline:
        keys = {Key("a", repeat): passed for repeat in range(20)}
        return Baseline(suite="s", run_id=run_id, passed={**keys, Key("b"): True})

    found = held_against(ended_so("r1", passed=True), ended_so("r2", passed=False), 0.95)
    assert found.verdict == "green", "one case that got worse proves nothing, however often it is repeated"
    assert found.value == pytest.approx(-20 / 21)


@given(
    st.lists(
        st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None])), max_size=40
    )
)
def test_the_verdict_is_red_only_where_fewer_pass(pairs: list[tuple[bool | None, bool | None]]) -> None:
    sides = [
        Baseline(suite="s", run_id=f"r{side}", passed={Key(str(n)): p[side] for n, p in enumerate(pairs)})
        for side in (0, 1)
    ]
    found = held_against(sides[0], sides[1], 0.95)
    if found.value is not None and found.verdict == "red":
        assert found.value < 0


# Saved baselines -------------------------------------------------------------------------------------


def test_a_saved_baseline_says_the_same_as_its_run(tmp_path: Path) -> None:
    before = ends(a="yes", b="no", c="crash", d="mute")
    saved = write_baseline(before, tmp_path / "baseline.json")
    assert read_baseline(saved).passed == baseline_of(before).passed
    now = ends(a="crash", b="no", c="yes", d="mute")
    assert check(now, no_regression=saved).findings == check(now, no_regression=before).findings


def test_a_saved_baseline_is_json_with_a_line_for_each_key(tmp_path: Path) -> None:
    saved = write_baseline(ends(b="no", a="yes"), tmp_path / "baseline.json").read_text()
    document = json.loads(saved)
    assert (document["format"], document["version"]) == ("paceline-baseline", 1)
    assert document["keys"] == [
        {"case": "a", "outcome": "scored", "passed": True},
        {"case": "b", "outcome": "scored", "passed": False},
    ]
    assert sum(line.startswith('{"case"') for line in saved.splitlines()) == 2


def test_what_was_not_scored_has_not_passed_whatever_the_file_says(tmp_path: Path) -> None:
    saved = write_baseline(ends(a="crash"), tmp_path / "baseline.json")
    saved.write_text(saved.read_text().replace('"passed":false', '"passed":true'))
    assert read_baseline(saved).passed == {Key("a"): False}


def test_a_run_that_is_not_whole_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be a baseline"):
        write_baseline(ends(a="yes", b="open"), tmp_path / "baseline.json")
    assert not (tmp_path / "baseline.json").exists()


NEWER = (
    '{"format": "paceline-baseline", "version": 2, "suite": "s", "run_id": "r", "started": null, "keys": []}'
)


@pytest.mark.parametrize("text", ["", "[]", "{}", "not json", NEWER])
def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="baseline"):
        check(ends(a="yes"), no_regression=file)


def test_a_baseline_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no baseline"):
        check(ends(a="yes"), no_regression=tmp_path / "nowhere.json")


def test_cases_of_any_name_are_kept(tmp_path: Path) -> None:
    names = ["a,b", 'quo"te', "new\nline", "\u202e", "=1+1", "x" * 1000]
    before = ends(**dict.fromkeys(names, "yes"))
    saved = write_baseline(before, tmp_path / "b.json")
    assert set(read_baseline(saved).passed) == {Key(name) for name in names}
