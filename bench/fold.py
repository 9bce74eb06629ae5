"""The report of a large run: how long it takes to read a journal back, and how much memory.

Journals are written beforehand, line by line, as runs leave them: content with metadata, two results, some
failures. One has three model calls for each case, one has repeats. Timed is all that a report tells: the
fold, the figures, a document with slices by a field, the terminal.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.contest import Contestant, Timed, carry_out, compiled, scratch
from bench.results import Result, at_most, program

if TYPE_CHECKING:
    from paceline.journal.records import Line

KEYS = 100_000
ROUNDS = 3
FOLD_S = 8
PEAK_MB = 300
TOPICS = ("algebra", "geometry", "logic", "probability", "number theory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a run looks like."""

    name: str
    repeats: int = 1
    calls: int = 0


SHAPES = (
    Shape(name="cases"),
    Shape(name="three calls a case", calls=3),
    Shape(name="five repeats a case", repeats=5),
)


def write_journal(path: Path, shape: Shape, keys: int) -> None:
    """A run of this shape that has come to its end."""
    from paceline.journal.encoding import encode_line, seal_all

    with path.open("wb") as file:
        for lines in _journal(shape, keys):
            file.write(seal_all([encode_line(line) for line in lines]))


def _journal(shape: Shape, keys: int) -> Iterator[Sequence[Line]]:
    from paceline.journal.records import EndedLine, EvaluatorFacts, ManifestLine, RunLine

    evaluators = [EvaluatorFacts(label=name, spec=name) for name in ("EqualsExpected", "Similarity")]
    yield [
        RunLine(
            format=1,
            run_id="r1",
            suite="bench",
            started=0.0,
            fingerprint={},
            repeat=shape.repeats,
            evaluators=evaluators,
        )
    ]
    dice = random.Random(0)
    for number in range(keys):
        repeat, case = divmod(number, keys // shape.repeats)
        yield list(_lines(case, repeat, number / 10, shape.calls, dice))
    yield [ManifestLine(keys=keys, digest=""), EndedLine(at=keys / 10, how="complete", wall=keys / 10)]


def _lines(number: int, repeat: int, at: float, calls: int, dice: random.Random) -> Iterator[Line]:
    """What one key leaves."""
    import msgspec

    from paceline.journal.records import BeginLine, CallLine, ErrorFacts, OutcomeLine, Score
    from paceline.values import encode

    case, metadata = f"case-{number:06}", {"topic": TOPICS[number % 5], "level": number % 7}
    yield BeginLine(
        case=case,
        repeat=repeat,
        at=at,
        hash=f"{number:032x}",
        inputs=msgspec.Raw(encode("What is one more than this? " + "word " * 40)),
        metadata=msgspec.Raw(encode(metadata)),
    )
    for ordinal in range(1, calls + 1):
        yield CallLine(
            case=case,
            repeat=repeat,
            ordinal=ordinal,
            at=at + ordinal,
            pool="openai:model",
            model="model",
            input_tokens=dice.randrange(200, 4_000),
            output_tokens=dice.randrange(20, 400),
            price=0.001,
            seconds=1.0,
        )
    took = dice.lognormvariate(1, 0.5)
    if dice.random() < 0.02:
        error = ErrorFacts(type="ValueError", message=f"no answer to {number}")
        yield OutcomeLine(
            case=case, repeat=repeat, at=at + took, outcome="task_error", seconds=took, error=error
        )
        return
    passed = dice.random() < 0.8
    scores = [
        Score(name="EqualsExpected", value=passed, by="EqualsExpected"),
        Score(name="Similarity", value=dice.random(), by="Similarity"),
    ]
    output = msgspec.Raw(encode("An answer. " * 20))
    yield OutcomeLine(
        case=case,
        repeat=repeat,
        at=at + took,
        outcome="scored",
        seconds=took,
        total=took,
        waited=took / 10,
        output=output,
        scores=scores,
    )


def report(*, journal: str) -> Timed:
    """Read a journal, and tell all that there is to tell."""
    yield
    from paceline.report import Report

    found = Report.read(journal)
    told = found.to_dict(by=["topic"])
    text = found.render()
    yield
    assert text
    return {"done": told["n"], "slices": len(told["slices"]["topic"]["slices"])}


def measure(quick: bool) -> Result:
    """Each shape, several times, a process each time."""
    keys, rounds = (1_000, 1) if quick else (KEYS, ROUNDS)
    compiled()
    rows, bars = [], []
    for shape in SHAPES:
        with scratch("fold") as folder:
            journal = folder / "journal.jsonl"
            write_journal(journal, shape, keys)
            contestant = Contestant(
                name=shape.name, does="bench.fold:report", settings={"journal": str(journal)}
            )
            costs = [carry_out(contestant) for _ in range(rounds)]
            size = journal.stat().st_size / 1e6
        for cost in costs:
            assert cost.facts == {"done": keys, "slices": len(TOPICS)}, cost.facts
        wall, peak = statistics.median(cost.wall_s for cost in costs), max(cost.peak_mb for cost in costs)
        cpu = statistics.median(cost.cpu_s for cost in costs)
        row = {
            "what": shape.name,
            "keys": keys,
            "journal_mb": size,
            "wall_s": wall,
            "cpu_s": cpu,
            "peak_mb": peak,
        }
        rows.append(row)
        bars += [
            at_most(f"{shape.name}: time", FOLD_S, wall, "s"),
            at_most(f"{shape.name}: peak memory", PEAK_MB, peak, "MB"),
        ]
    return Result(
        title=f"Reports of {keys:,} keys",
        settings={"keys": keys, "rounds": rounds},
        rows=rows,
        bars=bars,
        notes=["Reading the journal, all figures, slices by a field, the JSON document, the terminal."],
    )


if __name__ == "__main__":
    program("fold", measure)
