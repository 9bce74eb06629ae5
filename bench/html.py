"""The report as one HTML file: what it weighs, how soon it is there, and how soon it answers.

The record is made here, without a run: cases of 600 bytes of text in made-up words that deflate as well as
worked solutions of school mathematics do (3.2 times). Fold and page are timed in processes of their own. Then
Chromium opens the file from disk, in a new profile each round: the first paint is the whole overview, a
keystroke lasts from its event until the table is drawn, with the texts of all cases searched.
"""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from bench.contest import Contestant, Cost, Timed, carry_out, scratch
from bench.results import Bar, Result, at_most, program

CASES, FOLDED = 50_000, 100_000
TEXT = 600
"""Bytes of a case: inputs, expected output and output together."""
ROUNDS = 5
WORDS = ("the", "rsory", "number", "case-0123", "is:failed", 'topic:"number theory" th', "similarity<0.5 a")
"""What is typed, letter by letter."""
STARTED = 1_795_040_919.0

NO_BROWSER = "Chromium is not installed here: what needs it was not measured."

KEYSTROKES = """(async (text) => {
    const field = document.querySelector(".question");
    const took = [];
    for (let length = 1; length <= text.length; length++) {
        const began = performance.now();
        field.value = text.slice(0, length);
        field.dispatchEvent(new Event("input"));
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        took.push(performance.now() - began);
    }
    return took;
})"""
ALL_READ = "!document.querySelector('.told').innerText.includes('reading')"


# The record ---------------------------------------------------------------------------------------


def write_record(place: Path, cases: int) -> None:
    """The journal of a run that is over."""
    from paceline.journal.encoding import encode_line, seal
    from paceline.journal.records import EndedLine, EvaluatorFacts, ManifestLine, RunLine

    place.mkdir()
    evaluators = [EvaluatorFacts(label=label) for label in ("EqualsExpected", "Similarity")]
    facts: Any = {"suite": "bench", "started": STARTED, "evaluators": evaluators, "expected": cases}
    with (place / "journal.jsonl").open("wb") as file:
        file.write(seal(encode_line(RunLine(format=1, run_id="bench", fingerprint={}, **facts))))
        for line in _lines(cases):
            file.write(seal(encode_line(line)))
        file.write(seal(encode_line(ManifestLine(keys=cases, digest=""))))
        file.write(seal(encode_line(EndedLine(at=STARTED + cases, how="complete", wall=cases / 10))))


def _lines(cases: int) -> Iterator[Any]:
    from paceline.journal.records import NOTHING, BeginLine, ErrorFacts, OutcomeLine, Score
    from paceline.values import encode

    chance = random.Random(1)
    made = ["".join(chance.choices("etaoinshrdlucmfwyp", k=chance.randint(2, 9))) for _ in range(2000)]
    vocabulary, weights = ["the", "number", *made], list(accumulate((n + 2) ** -1.1 for n in range(2002)))

    def text(size: int) -> str:
        return " ".join(chance.choices(vocabulary, cum_weights=weights, k=size // 3))[:size]

    for number in range(cases):
        name, at = f"case-{number:06}", STARTED + number / 10
        question, answer = text(TEXT // 2), text(TEXT // 2 - 60)
        topic = chance.choice(("algebra", "geometry", "logic", "number theory"))
        metadata = {"topic": topic, "level": chance.randint(1, 5)}
        values: Any = {"inputs": question, "expected_output": answer[:60], "metadata": metadata}
        raws = {key: _raw(encode(value)) for key, value in values.items()}
        yield BeginLine(case=name, at=at, hash=f"{number:016x}", **raws)
        took = chance.lognormvariate(0, 0.6)
        end: Any = {"case": name, "at": at + took, "seconds": took, "total": took}
        if chance.random() < 0.05:
            error = ErrorFacts(
                type="ValueError", message=f"no answer to question {number}", trace="Traceback"
            )
            yield OutcomeLine(outcome="task_error", error=error, output=NOTHING, **end)
        else:
            equal = Score(name="EqualsExpected", value=chance.random() < 0.8, by="EqualsExpected")
            similar = Score(name="Similarity", value=round(chance.random(), 3), by="Similarity")
            yield OutcomeLine(outcome="scored", scores=[equal, similar], output=_raw(encode(answer)), **end)


def _raw(encoded: bytes) -> Any:
    import msgspec

    return msgspec.Raw(encoded)


# What is timed ------------------------------------------------------------------------------------


def fold(*, run: str) -> Timed:
    """Read a report and reckon its figures."""
    from paceline import Report

    yield
    figures = Report.read(run).figures
    yield
    return {"cases": figures.n_expected}


def page(*, run: str) -> Timed:
    """Read a report and write its page."""
    from paceline import Report

    yield
    place = Report.read(run).to_html(Path("report.html"))
    yield
    return {"mb": place.stat().st_size / 1e6}


def in_the_browser(place: Path, rounds: int) -> Iterator[Mapping[str, float]]:
    """What Chromium takes for the file; nothing where it is not there."""
    from tests.browser import CHROMIUM, Browser

    if CHROMIUM is None:
        return
    for _ in range(rounds):
        with Browser() as browser, browser.page() as shown:
            shown.open(place.as_uri())
            paint = shown.until("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
            shown.ask("location.hash = '#/cases'")
            shown.until("document.querySelector('.grid-body .grid-row')")
            began = shown.ask("performance.now()")
            shown.ask(f"{KEYSTROKES}('q')")
            shown.until(ALL_READ)
            read = shown.ask("performance.now()") - began
            strokes = [took for word in WORDS for took in shown.ask(f"{KEYSTROKES}({json.dumps(word)})")]
            assert shown.complaints == [], shown.complaints
        yield {"paint": paint, "read": read, **{f"stroke {n}": took for n, took in enumerate(strokes)}}


def measure(quick: bool) -> Result:
    """The fold, the page, and what a browser makes of it."""
    cases, folded = (500, 1000) if quick else (CASES, FOLDED)
    with scratch("html") as folder:
        write_record(folder / "many", folded)
        write_record(folder / "run", cases)
        given = {"run": str(folder / "many")}, {"run": str(folder / "run")}
        of_fold = carry_out(Contestant(name="fold", does="bench.html:fold", settings=given[0]))
        of_page = carry_out(Contestant(name="page", does="bench.html:page", settings=given[1]), folder=folder)
        rounds = list(in_the_browser(folder / "report.html", 1 if quick else ROUNDS))
    took = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]} if rounds else {}
    strokes = sorted(value for name, value in took.items() if name.startswith("stroke"))
    slowest = strokes[-1] if strokes else None
    rows = [
        _row("fold and figures", folded, of_fold),
        _row("fold, figures and page", cases, of_page),
        *(
            {"what": what, "cases": cases, "wall_s": value / 1e3, "cpu_s": None, "peak_mb": None}
            for what, value in (
                ("first paint of the page", took.get("paint")),
                ("reading all texts for the first search", took.get("read")),
                ("a keystroke, typically", statistics.median(strokes) if strokes else None),
                ("the slowest keystroke", slowest),
            )
            if value is not None
        ),
    ]
    return Result(
        title=f"A page of {cases:,} cases of {TEXT} bytes",
        settings={"cases": cases, "folded": folded, "rounds": ROUNDS, "keystrokes": len(strokes)},
        rows=rows,
        bars=_bars(of_fold, of_page, took.get("paint"), slowest),
        notes=[
            f"The file has {of_page.facts['mb']:.1f} MB. Of what is typed, each keystroke is the median over "
            f"{ROUNDS} rounds; the slowest is that of {len(strokes)} different ones."
            if rounds
            else NO_BROWSER
        ],
    )


def _row(what: str, cases: int, cost: Cost) -> dict[str, Any]:
    return {"what": what, "cases": cases, "wall_s": cost.wall_s, "cpu_s": cost.cpu_s, "peak_mb": cost.peak_mb}


def _bars(fold: Cost, page: Cost, paint: float | None, stroke: float | None) -> list[Bar]:
    return [
        at_most("fold of 100,000 cases", 8, fold.wall_s, "s"),
        at_most("peak memory of the fold", 300, fold.peak_mb, "MB"),
        at_most("size of the page", 15, page.facts["mb"], "MB"),
        at_most("peak memory of writing the page", 300, page.peak_mb, "MB"),
        at_most("first paint", 2.5, None if paint is None else paint / 1e3, "s"),
        at_most("the slowest keystroke", 100, stroke, "ms"),
    ]


if __name__ == "__main__":
    program("html", measure)
