"""Slices that a page reckons are those that the report reckons: the same rates, the same intervals."""

from __future__ import annotations

import random
import re
import zlib
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from paceline.journal.records import Line
from paceline.report import Report
from tests.pages.node import SCRIPT, in_node, needs_node
from tests.report.html.runs import put
from tests.report.html.written import BLOCK
from tests.report.journals import begin, ended, failed, manifest, no, raw, run, scored, yes

TOLD = """(async () => {
    const at = (name) => import(new URL(`parts/${name}.mjs`, given.script));
    const { unpacked, bytesOf } = await at("packing");
    const { Sheet } = await at("sheet");
    const sheet = new Sheet();
    sheet.take(unpacked(bytesOf(given.pack)));
    const group = given.field === "variant" ? "" : "metadata";
    const column = sheet.column(group, given.field);
    return module.slices(sheet, column);
})()"""


def told(report: Report[Any, Any, Any], field: str, folder: Path) -> dict[str | None, dict[str, Any]]:
    """What the page of a report says of each value of a field."""
    page = report.to_html(folder / "report.html").read_bytes()
    sheet = next(text for name, text in BLOCK.findall(page) if name == b"sheet")
    pack = zlib.decompress(b64decode(sheet), -zlib.MAX_WBITS)
    given = {"script": f"{SCRIPT.as_uri()}/", "pack": b64encode(pack).decode(), "field": field}
    return {each["word"] or None: each for each in in_node("parts/slices.mjs", TOLD, given)}


def a_run(folder: Path, *, repeat: int = 1, variants: tuple[str, ...] = ("",), whole: bool = True) -> Path:
    chance = random.Random(repeat)
    lines: list[Line] = []
    for n in range(90):
        metadata = raw({"topic": f"t{n % 4}", "page": n // 5} if n % 10 else {"page": n // 5})
        for variant in variants:
            for again in range(repeat):
                key: dict[str, Any] = {"repeat": again, "variant": variant}
                lines.append(begin(f"case {n}", metadata=metadata, **key))
                if (drawn := chance.random()) < 0.1:
                    lines.append(failed(f"case {n}", **key))
                elif drawn < 0.15:
                    lines.append(scored(f"case {n}", **key))
                elif drawn < 0.2 and not whole:
                    lines.append(failed(f"case {n}", "cancelled", **key))
                else:
                    lines.append(scored(f"case {n}", yes() if drawn < 0.7 else no(), **key))
    keys = 90 * repeat * len(variants)
    first = run("Equals", repeat=repeat, variants=variants, expected=keys)
    return put(folder / "run", first, *lines, manifest(keys), ended())


@needs_node
@pytest.mark.parametrize("repeat", [1, 4])
@pytest.mark.parametrize("cluster", [None, "page"])
def test_each_slice_has_the_rate_and_the_interval_of_the_report(
    tmp_path: Path, repeat: int, cluster: str | None
) -> None:
    report = Report.read(a_run(tmp_path, repeat=repeat))
    report = report if cluster is None else report.clustered(cluster)
    found = told(report, "topic", tmp_path)
    ours = {each.value: each for each in report.by("topic").slices}
    assert found.keys() == ours.keys() == {None, "t0", "t1", "t2", "t3"}
    for value, each in ours.items():
        theirs, interval = found[value], each.passed.interval
        assert (theirs["passed"], theirs["of"]) == (each.passed.count, each.passed.of)
        assert theirs["cases"] == each.n_cases
        assert theirs["rate"] == pytest.approx(each.passed.rate)
        assert interval is not None
        assert theirs["bounds"] == pytest.approx(
            {"low": interval.low, "high": interval.high, "n": interval.n}
        )


@needs_node
def test_each_variant_has_the_rate_and_the_interval_of_the_report(tmp_path: Path) -> None:
    report = Report.read(a_run(tmp_path, variants=("", "big")))
    found = told(report, "variant", tmp_path)
    for each in report.figures.variants:
        interval = each.passed.interval
        assert interval is not None
        assert found[each.name or None]["bounds"] == pytest.approx(
            {"low": interval.low, "high": interval.high, "n": interval.n}
        )


@needs_node
def test_what_was_not_run_is_in_no_rate_and_is_counted(tmp_path: Path) -> None:
    report = Report.read(a_run(tmp_path, whole=False))
    found = told(report, "topic", tmp_path)
    assert sum(each["notrun"] for each in found.values()) == report.figures.n_not_run > 0
    assert sum(each["passed"] for each in found.values()) == report.figures.n_passed
    assert sum(each["of"] for each in found.values()) == report.figures.passed_of_run.of
    assert sum(each["unasserted"] for each in found.values()) == report.figures.n_unasserted


def test_the_page_marks_small_slices_as_the_report_does() -> None:
    from paceline.report.slices import FEW

    marked = re.search(r"export const FEW = (\d+);", (SCRIPT / "parts" / "slices.mjs").read_text())
    assert marked is not None
    assert int(marked[1]) == FEW
