"""The tables of docs/benchmarks.md, written anew from bench/results/: `python -m bench.report`.

Each stands between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`; all else on the page is left as it is.
A quick result is refused: its sizes only show that the program works. What has no result keeps its table.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.contest import ROOT
from bench.results import RESULTS, body

PAGE = ROOT / "docs" / "benchmarks.md"
PLACE = re.compile(r"<!-- bench:(?P<name>\w+) -->\n.*?<!-- /bench:(?P=name) -->", re.DOTALL)


def page_with(page: str, results: Iterable[Mapping[str, Any]]) -> str:
    """The page with the tables of these results."""
    texts = {result["name"]: f"{_taken(result)}\n\n{body(result)}" for result in results}
    if lost := sorted(set(texts) - {place["name"] for place in PLACE.finditer(page)}):
        raise SystemExit(
            f"the page has no place for {', '.join(lost)}: <!-- bench:NAME --> ... <!-- /bench:NAME -->"
        )

    def written(place: re.Match[str]) -> str:
        name = place["name"]
        return f"<!-- bench:{name} -->\n{texts[name]}\n<!-- /bench:{name} -->" if name in texts else place[0]

    return PLACE.sub(written, page)


def _taken(result: Mapping[str, Any]) -> str:
    """When and on what, in a sentence."""
    on = result["machine"]
    return (
        f"Taken on {result['taken']} by `{result['command']}`: {on['cores']} cores ({on['processor']}), "
        f"{on['memory_gb']} GB, {on['kernel']}, {on['python']}, uvloop {on['uvloop'] or 'absent'}; a synced "
        f"append takes {on['synced_append_ms']:.2g} ms."
    )


def main() -> int:
    """Read the results, write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.report", description="Write the tables of a page.")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where the JSON is")
    parser.add_argument(
        "--page", type=Path, default=PAGE, metavar="FILE", help="docs/benchmarks.md by default"
    )
    given = parser.parse_args()
    results = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(given.results.glob("*.json"))]
    if not results:
        parser.error(f"there are no results in {given.results}: run `python -m bench` first")
    if quick := [result["name"] for result in results if result["quick"]]:
        parser.error(f"these were quick, and say nothing: {', '.join(quick)}")
    page = given.page.read_text(encoding="utf-8")
    given.page.write_text(page_with(page, results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
