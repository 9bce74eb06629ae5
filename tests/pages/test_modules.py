"""The modules of a page keep what their tests promise; and the numbers that they write are the report's."""

from __future__ import annotations

import json
import random
import re
import subprocess
from pathlib import Path

import pytest

from paceline.report import text
from paceline.report.quantiles import spread
from paceline.statistics.proportions import clustered, wilson
from tests.pages.node import NODE, SCRIPT, in_node, needs_node

UNIT = Path(__file__).parent / "unit"
IMPORTS = re.compile(r'^import \{([^}]*)\} from "[^"]+";\n', re.MULTILINE)
EXPORTS = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)
FILES = sorted(UNIT.glob("*.test.mjs"))


@needs_node
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_the_modules_keep_what_their_tests_promise(file: Path) -> None:
    assert NODE is not None
    ended = subprocess.run(
        [NODE, "--test", str(file)], capture_output=True, text=True, check=False, timeout=100
    )
    assert ended.returncode == 0, ended.stdout


def test_every_module_opens_by_saying_what_it_is_for() -> None:
    silent = [
        path.name for path in SCRIPT.rglob("*.mjs") if len(path.read_text().partition("\n\n")[0].split()) < 6
    ]
    assert not silent
    assert all(path.read_text().startswith("/**\n * ") for path in SCRIPT.rglob("*.mjs"))


def test_no_module_is_long_and_no_line_is_wide() -> None:
    lines = {path.name: path.read_text().splitlines() for path in SCRIPT.rglob("*.mjs")}
    assert {name for name, each in lines.items() if len(each) > 350} == set()
    assert {name for name, each in lines.items() if max(map(len, each)) > 120} == set()


def test_what_a_module_imports_it_uses_and_what_it_exports_is_used() -> None:
    texts = {path: path.read_text() for path in SCRIPT.rglob("*.mjs")}
    unused, imported = [], set()
    for path, whole in texts.items():
        rest = IMPORTS.sub("", whole)
        for names in IMPORTS.findall(whole):
            for name in filter(None, (each.strip() for each in names.split(","))):
                ours = name.rpartition(" as ")[2]
                imported.add(name.partition(" as ")[0])
                if not re.search(rf"(?<![\w$])(?:(?<!\.)|(?<=\.\.\.)){ours}\b", rest):
                    unused.append((path.name, ours))
    assert unused == []
    tested = "".join(path.read_text() for path in UNIT.glob("*.mjs"))
    exported = {name for whole in texts.values() for name in EXPORTS.findall(whole)}
    assert {name for name in exported - imported if name not in tested} == set()


def test_no_module_knows_a_way_from_text_to_markup() -> None:
    """The page's policy would stop it too; here it is seen before a browser is."""
    ways = (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "srcdoc",
    )
    found = [
        (path.name, way)
        for path in SCRIPT.rglob("*.mjs")
        for way in ways
        # What opens a module may say that there is no such way.
        if way in path.read_text().partition("*/")[2]
    ]
    assert not found


SMALL = "0 3e-5 0.0004 0.0099 0.12345 0.5 0.9994 0.9996 1 1.5 9.994 9.996 42.42 59.94 59.96 61"
LARGE = "3599.4 3600 7322 9949 9999.4 9999.6 12345 999949 1e6 1234567.8 9.99e8 1e9"
NUMBERS = [float(number) for number in f"{SMALL} {LARGE}".split()]
COUNTS = [round(number) for number in NUMBERS]
RATES = [0, 0.0005, 0.001, 0.0123, 0.1, 0.35, 0.5, 0.9, 0.999, 0.99901, 0.9995, 1]


@needs_node
def test_numbers_are_written_as_the_terminal_writes_them() -> None:
    said = in_node(
        "parts/numbers.mjs",
        "{percent: given.rates.map(module.percent), seconds: given.numbers.map(module.seconds),"
        " dollars: given.numbers.map(module.dollars), short: given.counts.map(module.short)}",
        {"rates": RATES, "numbers": NUMBERS, "counts": COUNTS},
    )
    assert said["percent"] == [text.percent(rate) for rate in RATES]
    assert said["seconds"] == [text.seconds(number) for number in NUMBERS]
    assert said["dollars"] == [text.dollars(number) for number in NUMBERS]
    assert said["short"] == [text.short(count) for count in COUNTS]


@needs_node
def test_what_is_unknown_is_said_to_be() -> None:
    names = ("percent", "seconds", "dollars", "count", "plain", "moment")
    said = in_node("parts/numbers.mjs", f"{json.dumps(names)}.map((name) => module[name](null))")
    assert said == ["unknown"] * len(names)


@needs_node
def test_intervals_and_quantiles_are_those_of_the_report() -> None:
    chance = random.Random(4)
    plain = [(chance.randint(0, n), n) for n in (0, 1, 2, 5, 10, 100, 12345) for _ in range(5)]
    groups = [
        [(chance.randint(0, size), size) for size in chance.choices(range(6), k=chance.randint(1, 30))]
        for _ in range(60)
    ] + [[(3, 3), (3, 3)], [(0, 2), (0, 2)], [(1, 1)], []]
    groups += [[(chance.randint(0, 3), 3) for _ in range(many)] for many in range(2, 90)]
    values = [[chance.lognormvariate(0, 2) for _ in range(n)] for n in (1, 2, 3, 20, 999)]
    found = in_node(
        "parts/statistics.mjs",
        "{wilson: given.plain.map(([k, n]) => module.wilson(k, n)),"
        " clustered: given.groups.map(module.clustered),"
        " quantiles: given.values.map((each) => module.quantiles(each, [0, 0.5, 0.9, 0.95, 0.99, 1]))}",
        {"plain": plain, "groups": groups, "values": values},
    )
    for (passed, n), said in zip(plain, found["wilson"], strict=True):
        ours = wilson(passed, n)
        assert said == (
            None if ours is None else pytest.approx({"low": ours.low, "high": ours.high, "n": ours.n})
        )
    for each, said in zip(groups, found["clustered"], strict=True):
        ours = clustered(each)
        assert said == (
            None if ours is None else pytest.approx({"low": ours.low, "high": ours.high, "n": ours.n})
        )
    for numbers, said in zip(values, found["quantiles"], strict=True):
        spread_ = spread(numbers)
        assert said == pytest.approx(
            [spread_.min, spread_.p50, spread_.p90, spread_.p95, spread_.p99, spread_.max]
        )
