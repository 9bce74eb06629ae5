"""`paceline compare` by the command line: what it prints, where, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from paceline.cli.group import paceline
from paceline.comparison.document import KEYS
from tests.comparison.test_foreign import lines

HOSTILE = "\x1b[31m<script>alert(1)</script>|`x` [a](http://b)\u202e\n# head"


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    first = lines(tmp_path / "a.jsonl", *({"id": f"case {n}", "passed": True} for n in range(12)))
    second = lines(tmp_path / "b.jsonl", *({"id": f"case {n}", "passed": n < 4} for n in range(12)))
    return [str(first), str(second)]


def compare(*arguments: str) -> Result:
    return CliRunner().invoke(paceline, ["compare", *arguments])


def test_it_fits_80_columns_and_has_no_colour(two: list[str]) -> None:
    told = compare(*two)
    assert told.exit_code == 0
    assert "B is worse" in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80
    assert "\x1b" not in told.stdout


def test_json_has_the_documented_keys_and_no_others(two: list[str]) -> None:
    told = json.loads(compare(*two, "--json").stdout)
    pair = told["pairs"][0]
    found = {
        *told,
        *(f"pairs.{key}" for key in pair),
        *(f"pairs.metrics.{key}" for key in pair["metrics"][0]),
    }
    assert found == set(KEYS)
    assert pair["n_changes"]["worse"] == len(pair["changes"]["worse"]) == 8
    assert pair["metrics"][0]["p"] == 2 / 2**8


def test_it_is_written_to_a_file(two: list[str], tmp_path: Path) -> None:
    told = compare(*two, "--markdown", "-o", str(tmp_path / "summary.md"))
    assert (told.exit_code, told.stdout) == (0, "")
    written = (tmp_path / "summary.md").read_text()
    assert "| pass rate | 100.0% | 33.3% | -66.7 points |" in written
    assert compare(*two, "-o", str(tmp_path / "nowhere" / "x")).exit_code == 2


def test_it_is_written_as_one_html_file(
    two: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.chdir(tmp_path)
    told = compare(*two, "--html")
    assert (told.exit_code, told.stdout.strip()) == (0, (tmp_path / "comparison.html").as_uri())
    assert "B is worse" in (tmp_path / "comparison.html").read_text()
    assert not opened
    assert compare(*two, "--html", "-o", "other.html", "--open").exit_code == 0
    assert opened == [(tmp_path / "other.html").as_uri()]
    assert compare(*two, "--open").exit_code == 2


def test_what_is_foreign_does_no_harm(tmp_path: Path) -> None:
    row = {"id": HOSTILE, "s": 1.0}
    files = [str(lines(tmp_path / f"{n}.jsonl", {**row, "passed": n == 0})) for n in range(2)]
    told = compare(*files, "--map", f"scores.{HOSTILE}=s", "--markdown").stdout
    assert "<script" not in told
    assert "](http" not in told
    assert "\n# head" not in told
    assert all(len(line.replace("\\|", "").split("|")) in (1, 6, 11) for line in told.splitlines())
    for shown in (told, compare(*files, "--map", f"scores.{HOSTILE}=s").stdout):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "0 runs cannot be compared"),
        (["--json", "--markdown"], "one of --json, --markdown and --html"),
        (["--map", "passed"], "maps nothing"),
        (["--map", "passed=a", "--map", "passed=b"], "mapped twice"),
        (["--confidence", "95"], "confidence is 95"),
        (["--variants"], "the variants of one run"),
        (["--map", "C.passed=x"], "there is no run C"),
        (["--lower", "tone"], "no score 'tone'"),
    ],
)
def test_wrong_usage_is_refused_in_words(two: list[str], arguments: list[str], said: str) -> None:
    told = compare(*(two if arguments else []), *arguments)
    assert told.exit_code == 2
    assert said in told.stderr


def test_an_id_that_is_no_run_is_refused(two: list[str]) -> None:
    told = compare(two[0], "no-such-run")
    assert told.exit_code == 2
    assert "there is no run 'no-such-run'" in told.stderr
