"""A calibration in words: on 80 columns, whatever is in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paceline.calibration.findings import Calibration
from paceline.calibration.front import calibration_of, scored_by_column
from paceline.calibration.labels import Columns, read_labels
from paceline.calibration.words import in_words


@pytest.fixture
def found(tmp_path: Path) -> Callable[..., Calibration]:
    def calibrate(rows: list[str], *people: str, **more: str) -> Calibration:
        file = tmp_path / "labels.csv"
        file.write_text("\n".join(rows), encoding="utf-8")
        labels = read_labels(file, Columns(human=people or ("human",), judge="judge"))
        labels = replace(labels, path=Path("labels.csv"))
        return calibration_of(scored_by_column(labels), labels, {"column": "judge", **more})

    return calibrate


def rows(n: int, *, noise: float) -> list[str]:
    rng = np.random.default_rng(0)
    people = rng.integers(1, 6, size=(n, 1)) + rng.integers(-1, 2, size=(n, 2))
    judge = people.mean(axis=1) + noise * rng.normal(size=n)
    return ["anna,ben,human,judge"] + [
        f"{a},{b},{a},{said:.2f}" for (a, b), said in zip(people, judge, strict=True)
    ]


def test_the_verdict_comes_first_and_no_line_is_longer_than_a_terminal_is_wide(
    found: Callable[..., Calibration],
) -> None:
    for noise, kind in ((0.1, "PASS"), (1.0, "INCONCLUSIVE"), (3.0, "FAIL")):
        calibration = found(rows(60, noise=noise), "anna", "ben")
        text = in_words(calibration)
        assert text.startswith(f"{kind} ")
        assert max(map(len, text.splitlines())) <= 80
        for word in ("Spearman", "Kendall", "Krippendorff's alpha", "length", "position", "retest", "scale"):
            assert word in text
    assert all(len(line) <= 60 for line in in_words(calibration, width=60).splitlines())


def test_an_open_verdict_says_how_many_more_labels_would_settle_it(found: Callable[..., Calibration]) -> None:
    calibration = found(rows(60, noise=0.8), "anna", "ben")
    assert calibration.verdict.more_labels is not None
    text = " ".join(in_words(calibration).split())
    assert f"about {calibration.verdict.more_labels} more labels would settle it" in text


def test_foreign_text_does_nothing_to_a_terminal(found: Callable[..., Calibration]) -> None:
    calibration = found(rows(40, noise=0.5), column="\x1b[2Jscore\u202e")
    text = in_words(calibration)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_yes_and_no_are_told_as_a_table_in_words(found: Callable[..., Calibration]) -> None:
    lines = ["human,judge", *["yes,yes"] * 20, *["no,no"] * 17, *["no,yes"] * 3]
    text = " ".join(in_words(found(lines)).split())
    assert "sensitivity 100.0%" in text
    assert "specificity 85.0%" in text
    assert "only the judge says yes 3" in text


def test_people_who_do_not_agree_are_noted(found: Callable[..., Calibration]) -> None:
    rng = np.random.default_rng(1)
    lines = ["anna,ben,judge", *(f"{a},{b},{a}" for a, b in rng.integers(1, 6, size=(50, 2)))]
    calibration = found(lines, "anna", "ben")
    assert any("people do not agree among themselves" in note for note in calibration.notes)
    assert "too low to rest on" in " ".join(in_words(calibration).split())
