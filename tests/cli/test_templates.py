"""`paceline templates`: the list, one of them, and names that are none."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def paceline(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "paceline", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_all_templates_are_listed_with_who_judges_and_what_they_need() -> None:
    done = paceline("templates")
    assert done.returncode == 0
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in done.stdout.splitlines()}
    assert lines["TEMPLATE"] == "JUDGED BY OUTPUT NEEDS"
    assert lines["groundedness"] == "a judge Pass/Fail output, context"
    assert lines["word_error_rate"] == "code Numeric reference, hypothesis"
    assert lines["psnr"] == "not supported output, expected"
    assert len(lines) == 157


def test_the_list_is_one_json_document() -> None:
    told = json.loads(paceline("templates", "--json").stdout)["templates"]
    assert len(told) == 156
    assert told[0].keys() == {
        *(
            "name",
            "about",
            "judged_by",
            "output",
            "required",
            "optional",
            "kinds",
            "choices",
            "rubric",
            "instead",
        ),
    }


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "groundedness",
            ["judged by: a judge", "needs:     output  (text or JSON)", "what the judge is asked:"],
        ),
        ("contains", ["judged by: code", "takes:     case_sensitive  (true or false)"]),
        ("tone", ["choices:   neutral, joy"]),
        ("clip_score", ["Not supported: it judges images", "instead:"]),
    ],
)
def test_one_template_is_told_in_full(name: str, told: list[str]) -> None:
    done = paceline("templates", name)
    assert done.returncode == 0
    for line in told:
        assert line in done.stdout
    assert json.loads(paceline("templates", name, "--json").stdout)["name"] == name


def test_a_name_that_is_none_is_an_error_with_the_one_that_was_meant() -> None:
    done = paceline("templates", "groundednes")
    assert done.returncode == 2
    assert "did you mean groundedness?" in done.stderr
