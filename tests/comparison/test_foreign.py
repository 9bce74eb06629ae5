"""What other harnesses have written: read by its documented form; refused where it is hostile or unclear."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from paceline import Report, compare
from paceline.comparison.foreign import inspect
from paceline.comparison.sides import Side, read_side
from paceline.errors import UsageError
from paceline.gates import write_baseline
from paceline.journal.records import Key
from tests.report.journals import begin, failed, finished, passing


def sample(name: str | int, value: Any = "C", *, epoch: int = 1, **fields: Any) -> dict[str, Any]:
    written = {
        "id": name,
        "epoch": epoch,
        "input": f"question {name}",
        "target": "42",
        "scores": {"match": {"value": value, "answer": "42", "explanation": None}},
        "model_usage": {"openai/gpt": {"input_tokens": 10, "total_cost": 0.25}},
        "total_time": 3.0,
        "working_time": 2.0,
    }
    return {**written, **fields}


def log(*samples: dict[str, Any], **fields: Any) -> dict[str, Any]:
    about = {
        "task": "arithmetic",
        "model": "openai/gpt",
        "dataset": {"samples": len(samples), "sample_ids": [each["id"] for each in samples]},
        "config": {"time_limit": 60},
        "scorers": [{"name": "match", "options": {}}],
    }
    return {"version": 2, "status": "success", "eval": about, "samples": list(samples), **fields}


def as_zip(place: Path, written: dict[str, Any]) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in written["samples"]:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        header = {name: part for name, part in written.items() if name != "samples"}
        archive.writestr("header.json", json.dumps(header))
    return place


def as_json(place: Path, written: Any) -> Path:
    place.write_text(json.dumps(written))
    return place


def lines(place: Path, *rows: dict[str, Any]) -> Path:
    place.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return place


# Inspect


def test_a_log_of_inspect_is_the_same_as_a_zip_and_as_json(tmp_path: Path) -> None:
    written = log(
        sample("a"),
        sample("b", "I"),
        sample("c", "P"),
        sample("d", 0.5),
        sample("e", {"exact": True, "f1": 0.7}),
        sample("f", error={"message": "boom", "traceback": ""}, scores=None),
        sample("g", scores={}, limit={"type": "time", "limit": 60}),
        sample("h", float("nan")),
    )
    one = read_side(as_zip(tmp_path / "log.eval", written))
    other = read_side(as_json(tmp_path / "log.json", written))
    assert one.seen == other.seen
    assert one.kind == "inspect"
    assert (one.suite, one.whole, one.settings) == ("arithmetic", True, {"timeout": 60})
    ended = {key.case: (seen.outcome, seen.passed) for key, seen in one.seen.items()}
    assert ended == {
        "a": ("scored", True),
        "b": ("scored", False),
        "c": ("scored", False),
        "d": ("scored", None),
        "e": ("scored", True),
        "f": ("task_error", False),
        "g": ("timeout", False),
        "h": ("evaluator_error", False),
    }
    assert one.seen[Key("d")].scores == {"match": 0.5}
    assert (one.seen[Key("e")].assertions, one.seen[Key("e")].scores) == (
        {"match.exact": True},
        {"match.f1": 0.7},
    )
    assert (one.seen[Key("a")].seconds, one.seen[Key("a")].cost) == (2.0, 0.25)


def test_epochs_are_repeats_and_a_log_without_all_of_them_is_not_whole(tmp_path: Path) -> None:
    written = log(sample(7), sample(7, epoch=2))
    written["eval"] |= {"dataset": {"samples": 1, "sample_ids": [7]}, "config": {"epochs": 3}}
    side = read_side(as_json(tmp_path / "log.json", written))
    assert (set(side.seen), side.whole) == ({Key("7", 0), Key("7", 1)}, False)
    started = read_side(as_json(tmp_path / "started.json", log(sample("a"), status="started")))
    assert not started.whole


def test_settings_of_the_model_are_read_from_where_a_log_has_them(tmp_path: Path) -> None:
    older = read_side(as_json(tmp_path / "older.json", log(sample("a"), plan={"config": {"temperature": 0}})))
    written = log(sample("a"))
    written["eval"]["model_generate_config"] = {"temperature": 1}
    newer = read_side(as_json(tmp_path / "newer.json", written))
    assert any('"temperature":0' in text and '"temperature":1' in text for text in texts(older, newer))


def test_a_log_that_was_cut_off_is_read_as_far_as_it_goes_and_is_not_whole(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "cut.eval", "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": log()["eval"]}))
        archive.writestr("samples/a_epoch_1.json", json.dumps(sample("a")))
    side = read_side(tmp_path / "cut.eval")
    assert (len(side.seen), side.whole) == (1, False)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    place = as_zip(tmp_path / "log.eval", log(sample("a"), sample("b", padding="0" * (32 << 20))))
    assert place.stat().st_size < 1 << 20
    with pytest.raises(UsageError, match="unpacks to more than"):
        read_side(place)


def test_so_is_one_that_lies_about_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = as_zip(tmp_path / "log.eval", log(sample("a")))
    monkeypatch.setattr(inspect, "MOST_IN_ALL", 10)
    with pytest.raises(UsageError, match="unpacks to more than"):
        read_side(place)


@pytest.mark.parametrize("cut", [5, 30, 60, 100, -30, -5])
def test_a_zip_that_was_cut_anywhere_is_refused(tmp_path: Path, cut: int) -> None:
    place = as_zip(tmp_path / "log.eval", log(sample("a"), sample("b")))
    place.write_bytes(place.read_bytes()[:cut])
    with pytest.raises(UsageError, match="cannot be read"):
        read_side(place)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"eval": {"task": "x"}}, "it has no samples"),
        (log() | {"samples": [{"epoch": 1}]}, "it has no id"),
        (log(sample("a"), sample("a")), "a stands twice"),
        (log(sample("a", epoch=0)), "its epoch is 0"),
        (log() | {"samples": ["a"]}, "it is no object"),
        (log(sample("a", scores=[1])), "its scores is no object"),
        ([1, 2], "neither a log of Inspect nor a report"),
    ],
)
def test_what_is_not_clear_is_refused_with_its_place(tmp_path: Path, written: Any, said: str) -> None:
    place = as_json(tmp_path / "log.json", written)
    with pytest.raises(UsageError, match=said) as refused:
        read_side(place)
    assert str(place) in str(refused.value)


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "\x00", '{"eval": ' + "9" * 5000 + "}", '"\\ud800'])
def test_hostile_json_is_refused(tmp_path: Path, text: str) -> None:
    place = tmp_path / "log.json"
    place.write_text(text)
    with pytest.raises(UsageError):
        read_side(place)


# Pydantic Evals


def case(name: str, right: bool = True, **fields: Any) -> dict[str, Any]:
    written: dict[str, Any] = {
        "name": name,
        "inputs": name,
        "metadata": None,
        "expected_output": "x",
        "output": "x",
        "metrics": {"cost": 0.5},
        "attributes": {},
        "scores": {"tone": {"name": "tone", "value": 0.5, "reason": None, "source": {"name": "Tone"}}},
        "labels": {},
        "assertions": {"Equals": {"name": "Equals", "value": right, "reason": None, "source": {"name": "E"}}},
        "task_duration": 1.5,
        "total_duration": 2.0,
        "evaluator_failures": [],
    }
    return {**written, **fields}


def report() -> dict[str, Any]:
    return {
        "name": "task",
        "cases": [
            case("a [1/2]", source_case_name="a"),
            case("a [2/2]", right=False, source_case_name="a"),
            case("b", evaluator_failures=[{"name": "Judge", "error_message": "quota"}]),
        ],
        "failures": [{"name": "c", "inputs": "c", "error_message": "boom", "error_stacktrace": ""}],
    }


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_report_of_pydantic_evals_is_read_with_its_failures(tmp_path: Path, suffix: str) -> None:
    side = read_side(as_json(tmp_path / f"report{suffix}", report()))  # JSON is YAML
    assert {key: (seen.outcome, seen.passed) for key, seen in side.seen.items()} == {
        Key("a", 0): ("scored", True),
        Key("a", 1): ("scored", False),
        Key("b"): ("evaluator_error", False),
        Key("c"): ("task_error", False),
    }
    first = side.seen[Key("a", 0)]
    assert (first.seconds, first.cost, first.scores) == (1.5, 0.5, {"tone": 0.5})


def test_a_yaml_bomb_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "report.yaml"
    doubled = "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    place.write_text(f"a0: &a0 [1]\n{doubled}cases: *a39\n")
    with pytest.raises(UsageError):
        read_side(place)


@pytest.mark.parametrize("suffix", [".pkl", ".json", ".jsonl"])
def test_a_pickle_is_refused_and_never_loaded(tmp_path: Path, suffix: str) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "was here",)

    place = tmp_path / f"report{suffix}"
    place.write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(UsageError, match="pickle"):
        read_side(place)
    assert not (tmp_path / "was here").exists()


# Rows


def test_rows_are_read_by_a_mapping_that_leads_into_objects(tmp_path: Path) -> None:
    place = lines(
        tmp_path / "rows.jsonl",
        {"id": "a", "r": {"ok": 1, "tone": 0.5}, "latency_s": 2, "a.b": True},
        {"id": 2, "r": {"ok": False}, "cost": 0.1},
        {"id": "c", "error": "boom"},
        {"id": "d"},
    )
    fields = {"passed": "r.ok", "scores.tone": "r.tone", "assertions.Fine": "a.b"}
    side = read_side(place, fields)
    assert {key.case: (seen.outcome, seen.passed) for key, seen in side.seen.items()} == {
        "a": ("scored", True),
        "2": ("scored", False),
        "c": ("task_error", False),
        "d": ("evaluator_error", False),
    }
    seen = side.seen[Key("a")]
    assert (seen.seconds, seen.scores, seen.assertions) == (2.0, {"tone": 0.5}, {"Fine": True})


@pytest.mark.parametrize(
    ("row", "fields", "said"),
    [
        ({"id": "a", "passed": "yes"}, {}, "passed is 'yes'"),
        ({"id": "a", "passed": 0.7}, {}, "passed is 0.7"),
        ({"passed": True}, {}, "no name of a case"),
        ({"id": "a", "passed": True}, {"passed": "ok"}, "no row has ok"),
        ({"id": "a", "passed": True, "t": "2"}, {"scores.tone": "t"}, "scores.tone is '2'"),
        ({"id": "a", "passed": True, "seconds": -1}, {}, "seconds is -1"),
        ({"id": "a", "passed": True, "repeat": -1}, {}, "repeat is -1"),
        ({"id": "a"}, {}, "no row says whether it passed"),
        ({"id": "a"}, {"pased": "ok"}, "no field 'pased'"),
    ],
)
def test_a_row_that_is_not_clear_is_refused(
    tmp_path: Path, row: dict[str, Any], fields: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        read_side(lines(tmp_path / "rows.jsonl", row), fields)


def test_a_row_that_stands_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    row = {"id": "a", "passed": True}
    with pytest.raises(UsageError, match=r"rows\.jsonl:2 cannot be read: a stands twice"):
        read_side(lines(tmp_path / "rows.jsonl", row, row))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        read_side(tmp_path / "nowhere")


# Baselines


def saved(place: Path, **fields: Any) -> Path:
    keys = [
        {"case": "a", "outcome": "scored", "passed": True},
        {"case": "b", "repeat": 1, "outcome": "timeout", "passed": True},
    ]
    head = {"format": "paceline-baseline", "version": 1, "suite": "s", "run_id": "r", "started": None}
    return as_json(place, {**head, "keys": keys, **fields})


def test_a_saved_baseline_is_compared_by_how_its_keys_ended(tmp_path: Path) -> None:
    side = read_side(saved(tmp_path / "baseline.json"))
    assert side.kind == "baseline"
    assert [seen.passed for seen in side.seen.values()] == [True, False]
    with pytest.raises(UsageError, match="version 2"):
        read_side(saved(tmp_path / "later.json", version=2))
    with pytest.raises(UsageError, match="is no baseline"):
        read_side(saved(tmp_path / "broken.json", keys=[{"case": "a", "outcome": "fine"}]))


def test_a_baseline_that_a_gate_has_saved_is_compared_with_a_run(tmp_path: Path) -> None:
    journal = finished(*passing("a", "b"), begin("c"), failed("c", "timeout"), keys=3)
    run = Report.read(journal)
    place = write_baseline(run, tmp_path / "baseline.json")
    pair = compare(place, run).pairs[0]
    assert pair.n_shared == 3
    assert not any(pair.changes.values())


# Together, and real data


def test_contents_of_two_harnesses_are_not_held_against_each_other(tmp_path: Path) -> None:
    inspected = read_side(as_json(tmp_path / "log.json", log(sample("a"))))
    rows = read_side(lines(tmp_path / "rows.jsonl", {"id": "a", "input": "question a", "passed": True}))
    assert "whether 1 key ask the same in both is not known" in texts(inspected, rows)
    other = read_side(as_json(tmp_path / "other.json", log(sample("a", input="another"))))
    assert any("do not ask the same" in text for text in texts(inspected, other))


def texts(first: Side, second: Side) -> list[str]:
    return [each.text for each in compare(first, second).pairs[0].differing]


SOLUTIONS = Path(__file__).resolve().parents[3] / "shared" / "data" / "gsm8k_model_solutions.jsonl"


@pytest.mark.skipif(not SOLUTIONS.exists(), reason="../shared/data/gsm8k_model_solutions.jsonl is not here")
def test_real_solutions_give_the_figures_that_are_known_of_them() -> None:
    models = {"A": "175b_finetuning", "B": "6b_verification", "C": "6b_finetuning", "D": "175b_verification"}
    fields = {f"{letter}.passed": f"{model}.is_correct" for letter, model in models.items()}
    found = compare(*[SOLUTIONS] * 4, fields={"case": "question", **fields})
    rates = {(pair.first, pair.second): pair.metric("pass_rate") for pair in found.pairs}
    rate = rates["A", "B"].found
    assert rate is not None
    assert (rate.n, round(rate.first, 4), round(rate.second, 4)) == (1319, 0.3472, 0.3904)
    assert (rate.only_second, rate.only_first, rate.test) == (209, 152, "mcnemar")
    assert round(rate.p, 5) == 0.00315
    other = rates["C", "D"].found
    assert other is not None
    assert (round(other.first, 4), round(other.second, 4)) == (0.2168, 0.5625)
    alone = compare(SOLUTIONS, SOLUTIONS, fields={"case": "question", **dict(list(fields.items())[:2])})
    assert alone.verdict == "better"
    assert "p = 0.00315" in str(alone)
    assert "0.021" not in str(alone)
