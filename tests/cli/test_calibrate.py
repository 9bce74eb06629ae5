"""`paceline calibrate`: a judge held against people, from the shell."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from paceline.journal.ledger import Ledger
from tests.cli.conftest import Shell

JUDGES = """
    import os, time
    from dataclasses import dataclass
    from paceline import Case, Dataset
    from paceline.evaluators import EvaluationReason, Evaluator, instant

    def note(word):
        with open("asked.log", "a") as log:
            log.write(f"{word}\\n")

    def counts(output):
        note("counts")
        time.sleep(float(os.environ.get("SLOW", 0)))
        if output.endswith(os.environ.get("RAISES", "nobody")):
            raise ValueError("no idea")
        return output.count("good")

    def boring(output):
        return 3

    @dataclass
    class Several(Evaluator):
        evaluator_version: str = "1"
        def evaluate(self, ctx):
            return {"Several_score": ctx.output.count("good"), "short": len(ctx.output) < 20}

    @dataclass
    class Versioned(Evaluator):
        evaluator_version: str = "1"
        def evaluate(self, ctx):
            note(f"{self.evaluator_version} {ctx.inputs} {ctx.metadata}")
            return EvaluationReason(ctx.output.count("good"), "counted")

    versioned, several = Versioned(), Several()
    dataset = Dataset(name="answers", cases=[Case(inputs="x")], evaluators=[Versioned()])
    def task(x): ...
"""


def labels_of(n: int, **more: Any) -> str:
    dice = random.Random(5)
    lines = []
    for number in range(n):
        quality = dice.randint(1, 5)
        row = {"question": f"what is {number}?", "output": "good " * quality + str(number), "human": quality}
        lines.append(json.dumps({**row, **more}))
    return "\n".join(lines)


@pytest.fixture
def labels(shell: Shell) -> Path:
    shell.write("judges.py", JUDGES)
    return shell.write("labels.jsonl", labels_of(60))


def asked(shell: Shell) -> list[str]:
    log = shell.folder / "asked.log"
    return log.read_text().splitlines() if log.exists() else []


def calibrate(shell: Shell, judge: str, *more: str, **environ: str) -> Any:
    arguments = ("calibrate", "labels.jsonl", "--judge", f"judges.py:{judge}", "--human-column", "human")
    return shell.types(*arguments, *more, **environ)


def test_a_judge_that_agrees_with_people_passes_with_exit_0(shell: Shell, labels: Path) -> None:
    told = calibrate(shell, "counts")
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("PASS")
    assert len(asked(shell)) == 60
    assert max(map(len, told.stdout.splitlines())) <= 80


def test_a_judge_that_tells_nothing_apart_fails_with_exit_1(shell: Shell, labels: Path) -> None:
    told = calibrate(shell, "boring", "--json")
    assert told.exit_code == 1
    assert json.loads(told.stdout)["verdict"]["kind"] == "FAIL"


def test_too_few_labels_are_inconclusive_with_exit_1(shell: Shell, labels: Path) -> None:
    labels.write_text(labels_of(20))
    told = calibrate(shell, "counts", "--json")
    assert told.exit_code == 1
    verdict = json.loads(told.stdout)["verdict"]
    assert verdict["kind"] == "INCONCLUSIVE"
    assert verdict["more_labels"] >= 10


def test_the_same_command_asks_nothing_twice_and_labels_that_are_added_are_judged_in_addition(
    shell: Shell, labels: Path
) -> None:
    calibrate(shell, "versioned")
    assert calibrate(shell, "versioned").exit_code == 0
    assert len(asked(shell)) == 60
    labels.write_text(labels_of(75, human_2=4))  # and a column that is nobody's business
    told = calibrate(shell, "versioned", "--json")
    assert len(asked(shell)) == 75
    assert json.loads(told.stdout)["figures"]["n_scored"] == 75


def test_another_version_of_the_judge_is_another_judge(shell: Shell, labels: Path) -> None:
    first = json.loads(calibrate(shell, "versioned", "--json").stdout)
    shell.write("judges.py", JUDGES.replace('evaluator_version: str = "1"', 'evaluator_version: str = "2"'))
    # In a process of its own: this one has loaded the file.
    arguments = ("calibrate", "labels.jsonl", "--judge", "judges.py:versioned", "--human-column", "human")
    second = json.loads(shell.runs(*arguments, "--json").stdout)
    assert len(asked(shell)) == 120
    assert first["judge"]["fingerprint"] != second["judge"]["fingerprint"]
    assert first["run"] != second["run"]


def test_a_judge_never_sees_what_people_said(shell: Shell, labels: Path) -> None:
    calibrate(shell, "versioned")
    assert set(asked(shell)) == {f"1 what is {number}? None" for number in range(60)}
    (shell.folder / "asked.log").unlink()
    calibrate(shell, "versioned", "--map", "metadata=human", "--map", "inputs=question", "--run", "other")
    assert set(asked(shell)) == {f"1 what is {number}? None" for number in range(60)}


def test_what_could_not_be_scored_is_told_and_asked_again(shell: Shell, labels: Path) -> None:
    told = calibrate(shell, "counts", "--retries", "0", RAISES="7")
    assert told.exit_code == 1
    assert "has not scored 6 of 60 items" in " ".join(told.stdout.split())
    assert "labels.jsonl:8 (ValueError: no idea)" in " ".join(told.stdout.split())
    again = calibrate(shell, "counts")
    assert again.exit_code == 0
    assert len(asked(shell)) == 66


def test_a_judge_that_was_killed_goes_on_where_it_was(shell: Shell, labels: Path) -> None:
    arguments = ("calibrate", "labels.jsonl", "--judge", "judges.py:counts", "--human-column", "human")
    process = shell.starts(*arguments, "-j", "2", environ={"SLOW": "0.05"})
    deadline = time.monotonic() + 30
    while len(asked(shell)) < 20 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = len(asked(shell))
    (journal,) = shell.folder.glob("runs/*/*/journal.jsonl")
    on_record = Ledger.read(journal.parent).tally().done
    assert 0 < on_record < 60
    done = shell.runs(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["figures"]["n_scored"] == 60
    assert len(asked(shell)) == before + 60 - on_record, "what is on record is not asked for again"


def test_an_interrupted_calibration_has_no_verdict_and_says_how_to_go_on(shell: Shell, labels: Path) -> None:
    told = calibrate(shell, "counts", "--budget-failures", "1", "--retries", "0", RAISES="1")
    assert told.exit_code == 4, told.output
    assert "the same command goes on" in told.stderr
    assert told.stdout == ""


def test_an_evaluator_of_a_suite_is_named_by_its_label(shell: Shell, labels: Path) -> None:
    told = calibrate(shell, "Versioned", "--json")
    # `Versioned` is a class in the file too; the evaluator of its dataset is meant.
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["judge"]["name"] == "Versioned"
    refused = calibrate(shell, "Helpful")
    assert refused.exit_code == 2
    assert "its evaluators: Versioned" in refused.stderr


def test_which_of_several_results_is_meant_can_be_said(shell: Shell, labels: Path) -> None:
    told = calibrate(shell, "several", "--json")
    assert json.loads(told.stdout)["judge"]["result"] == "Several_score"
    told = calibrate(shell, "several", "--result", "short", "--json")
    assert json.loads(told.stdout)["judge"]["result"] == "short"
    refused = calibrate(shell, "several", "--result", "long")
    assert refused.exit_code == 2
    assert "--result: " in refused.stderr


def test_asking_again_probes_whether_the_judge_is_steady(shell: Shell, labels: Path) -> None:
    told = calibrate(shell, "counts", "--retest", "2", "--json")
    retest = next(probe for probe in json.loads(told.stdout)["probes"] if probe["name"] == "retest")
    assert (retest["state"], retest["figures"]["items"], retest["figures"]["same"]) == ("ok", 30, 30)
    assert len(asked(shell)) == 60 + 2 * 30


def test_scores_in_a_column_need_no_judge_and_no_run(shell: Shell) -> None:
    rows = ["id,anna,ben,model,text"]
    rows += [f"q{n},{1 + n % 5},{1 + (n + n % 2) % 5},{1 + n % 5},{'word ' * (n % 7)}x" for n in range(80)]
    shell.write("labels.csv", "\n".join(rows))
    told = shell.types(
        *("calibrate", "labels.csv", "--human-column", "anna", "--human-column", "ben"),
        *("--judge-column", "model", "--map", "output=text", "--json"),
    )
    document = json.loads(told.stdout)
    assert document["figures"]["people"]["raters"] == 2
    assert document["probes"][0]["figures"]["per_doubling"] is not None
    assert not (shell.folder / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "no column of people's labels is named"),
        (("--human-column", "human"), "a judge is either asked, or its scores stand in a column"),
        (
            ("--human-column", "human", "--judge", "judges.py:counts", "--judge-column", "x"),
            "a judge is either asked, or its scores stand in a column",
        ),
        (("--human-column", "human", "--judge-column", "x", "--retest", "2"), "--retest is for --judge"),
        (
            ("--human-column", "human", "--judge", "judges.py:counts", "--retest-column", "x"),
            "--retest-column is for --judge-column",
        ),
        (("--human-column", "people", "--judge-column", "x"), "no row has the column 'people'"),
        (("--human-column", "human", "--judge", "judges.py"), "does not name a judge"),
        (("--human-column", "human", "--judge", "judges.py:nobody"), "has no evaluator 'nobody'"),
        (
            ("--human-column", "human", "--judge", "judges.py:counts", "--map", "output=answer"),
            "there is nothing to judge in 'answer'",
        ),
        (("--human-column", "human", "--judge-column", "human"), "is named twice"),
        (("--human-column", "human", "--judge-column", "output"), "not a number"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_do(
    shell: Shell, labels: Path, arguments: tuple[str, ...], told: str
) -> None:
    refused = shell.types("calibrate", "labels.jsonl", *arguments)
    assert refused.exit_code == 2, refused.output
    assert told in refused.stderr
    assert "hint: " in refused.stderr
    assert asked(shell) == []


def test_a_judge_that_a_file_does_not_define_is_refused_and_the_nearest_is_named(
    shell: Shell, labels: Path
) -> None:
    shell.write("alone.py", "def counts(output):\n    return output.count('good')\n")
    refused = shell.types("calibrate", "labels.jsonl", "--human-column", "human", "--judge", "alone.py:count")
    assert refused.exit_code == 2, refused.output
    assert "alone.py defines no judge 'count'; did you mean counts?" in refused.stderr
    assert "it defines: counts" in refused.stderr


def test_scores_that_are_what_people_said_to_the_last_item_are_told(shell: Shell) -> None:
    rows = [f"q{n},{1 + n % 5},{1 + n % 5},{1 + (n // 8 + n) % 5}" for n in range(40)]
    shell.write("labels.csv", "\n".join(["id,human,copied,model", *rows]))

    def notes(column: str) -> str:
        told = shell.types(
            "calibrate", "labels.csv", "--human-column", "human", "--judge-column", column, "--json"
        )
        return " ".join(json.loads(told.stdout)["notes"])

    assert "says of each of 40 items exactly what people say" in notes("copied")
    assert "exactly what people say" not in notes("model")


# Certificates -------------------------------------------------------------------------------------


def test_a_certificate_needs_labels_that_are_declared_to_be_peoples(shell: Shell, labels: Path) -> None:
    refused = calibrate(shell, "versioned", "-o", "v.calibration.json")
    assert refused.exit_code == 2
    assert "--labels-are-human" in refused.stderr
    assert asked(shell) == [], "nothing is paid for before"
    assert not (shell.folder / "v.calibration.json").exists()
    told = calibrate(shell, "versioned", "-o", "v.calibration.json", "--labels-are-human")
    assert told.exit_code == 0
    certificate = json.loads((shell.folder / "v.calibration.json").read_text())
    assert certificate["verdict"]["kind"] == "PASS"
    assert certificate["labels"]["human"] is True
    assert certificate["judge"]["fingerprint"]


def test_a_field_of_the_labels_declares_them_too(shell: Shell, labels: Path) -> None:
    labels.write_text(labels_of(60, labelled_by="human: anna"))
    told = calibrate(shell, "versioned", "-o", "v.calibration.json")
    assert told.exit_code == 0, told.output
    labels.write_text(labels_of(60, labelled_by="gpt-5.4"))
    refused = calibrate(shell, "versioned", "-o", "v.calibration.json")
    assert refused.exit_code == 2
    assert "was labelled by 'gpt-5.4'" in refused.stderr


def test_a_certificate_that_has_no_place_is_refused_before_anything_is_asked(
    shell: Shell, labels: Path
) -> None:
    for place in ("nowhere/v.calibration.json", ".", "v.txt"):
        refused = calibrate(shell, "versioned", "-o", place, "--labels-are-human")
        assert refused.exit_code == 2
    assert asked(shell) == []


def test_a_judge_that_does_not_say_what_it_is_gets_no_certificate(shell: Shell, labels: Path) -> None:
    refused = calibrate(shell, "counts", "-o", "c.calibration.json", "--labels-are-human")
    assert refused.exit_code == 2
    assert "evaluator_version" in refused.stderr


LLM = """
    import json, re
    from paceline import Case, Dataset
    from paceline.evaluators import LLMJudge

    def strict(text):
        with open("asked.log", "a") as log:
            log.write("strict\\n")
        shown = re.search(r"output [^\\n]*:\\n(.*?)\\n[^\\n]*end of output", text, re.DOTALL)[1]
        return json.dumps({"reason": "counted", "score": min(5, max(1, shown.count("good")))})

    helpful = LLMJudge(
        "The answer is helpful.", strict, score={}, assertion=False, scale=(1, 5),
        evaluation_name="helpful", calibration="helpful.calibration.json",
    )
    cases = [Case(name=f"c{n}", inputs="good " * n) for n in range(1, 4)]
    dataset = Dataset(name="answers", cases=cases, evaluators=[helpful])
    def task(inputs):
        return inputs
"""


def judge_in_report(shell: Shell, run: str) -> dict[str, Any]:
    judges = json.loads(shell.types("report", run, "--json").stdout)["judges"]
    found: dict[str, Any] = judges["helpful"]
    return found


def test_a_report_shows_a_judge_as_uncalibrated_then_calibrated_then_expired(shell: Shell) -> None:
    suite = shell.write("suite.py", LLM)
    shell.write("labels.jsonl", labels_of(60))
    assert shell.runs("run", "suite.py", "-o", "r").returncode == 0
    before = judge_in_report(shell, "r")
    assert (before["state"], before["spearman"]) == ("uncalibrated", None)
    assert "there is no certificate helpful.calibration.json" in before["why"]

    arguments = ("calibrate", "labels.jsonl", "--judge", "suite.py:helpful", "--human-column", "human")
    told = shell.runs(*arguments, "--labels-are-human", "-o", "helpful.calibration.json", "--json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert found["judge"]["fingerprint"] == before["fingerprint"]
    assert found["judge"]["model"] == "strict"

    calls = len(asked(shell))
    assert shell.runs("run", "suite.py", "-o", "r").returncode == 0, "it is the same suite"
    assert len(asked(shell)) == calls, "and nothing of it is asked again"
    after = judge_in_report(shell, "r")
    assert (after["state"], after["n"]) == ("calibrated", 60)
    assert after["low"] >= 0.8
    assert "helpful: calibrated 20" in shell.types("report", "r").stdout

    suite.write_text(suite.read_text().replace("is helpful.", "is truly helpful."))
    assert shell.runs("run", "suite.py", "-o", "changed").returncode == 0
    assert judge_in_report(shell, "changed")["state"] == "expired"
    assert "EXPIRED" in shell.types("report", "changed").stdout


def test_asking_again_asks_whatever_a_cache_knows(shell: Shell) -> None:
    shell.write("labels.jsonl", labels_of(40))
    shell.write("suite.py", LLM.replace("score={}", 'cache="verdicts", score={}'))
    arguments = ("calibrate", "labels.jsonl", "--judge", "suite.py:helpful", "--human-column", "human")
    told = shell.runs(*arguments, "--retest", "2", "--json")
    assert told.returncode == 0, told.stderr
    assert len(asked(shell)) == 40 + 2 * 30


def test_simulated_answers_never_make_a_calibrated_judge(shell: Shell) -> None:
    shell.write("labels.jsonl", labels_of(60))
    shell.write("suite.py", LLM.replace("strict, score", '"sim:gentle", score'))
    arguments = ("calibrate", "labels.jsonl", "--judge", "suite.py:helpful", "--human-column", "human")
    told = shell.runs(*arguments, "--labels-are-human", "-o", "helpful.calibration.json", "--json")
    assert told.returncode == 1, told.stderr
    found = json.loads(told.stdout)
    assert found["verdict"]["kind"] != "PASS"
    assert found["simulated"] is True


PAIRS = """
    import json, re
    from paceline.evaluators import Pairwise

    def longer(text, first_wins=False):
        shown = [
            re.search(rf"{name} [^\\n]*:\\n(.*?)\\n[^\\n]*end of {name}", text, re.DOTALL)[1]
            for name in ("first", "second")
        ]
        one, two = (each.count("good") for each in shown)
        wins = first_wins and abs(one - two) < 2
        choice = "first" if wins or one > two else "neither" if one == two else "second"
        return json.dumps({"reason": "counted", "choice": choice})

    def hasty(text):
        return longer(text, first_wins=True)

    fair, unfair = Pairwise("More of it.", longer), Pairwise("More of it.", hasty)
"""


def test_a_judge_of_pairs_is_probed_for_where_an_answer_stands(shell: Shell) -> None:
    shell.write("judges.py", PAIRS)
    dice = random.Random(7)
    rows = []
    for number in range(60):
        one, two = dice.sample(range(1, 5), 2)
        label = "win" if one > two else "loss"
        answers = {"output": "good " * one + str(number), "expected": "good " * two}
        rows.append(json.dumps({**answers, "preferred": label}))
    shell.write("pairs.jsonl", "\n".join(rows))
    found = {}
    for judge in ("fair", "unfair"):
        told = shell.types(
            *("calibrate", "pairs.jsonl", "--judge", f"judges.py:{judge}", "--human-column", "preferred"),
            *("--levels", "loss,tie,win", "--json"),
        )
        document = json.loads(told.stdout)
        assert document["judge"]["result"] == "Pairwise"
        assert document["judge"]["model"] in ("longer", "hasty")
        found[judge] = next(probe for probe in document["probes"] if probe["name"] == "position")
    assert (found["fair"]["state"], found["fair"]["figures"]["consistency"]) == ("ok", 1.0)
    assert found["unfair"]["state"] == "alarm"
    assert found["unfair"]["figures"]["first_share"] == 1.0
    assert found["unfair"]["figures"]["consistency"] < 0.8
