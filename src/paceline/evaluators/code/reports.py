"""What a test suite says about its tests: results by name, read from JUnit XML or from what pytest prints.

    read_junit(files)    the files that nearly every test runner can write
    read_pytest(text)    the lines of `pytest -v`, and of the summary that `-rA` ends with

A test that is named twice has the worse of its results. Names are looked up as people write them: a node of
pytest's (`tests/test_a.py::TestB::test_c[1]`), as JUnit has it (`tests.test_a.TestB::test_c[1]`), or as
unittest prints it (`test_c (tests.test_a.TestB)`).

Reads what somebody else's code has written: entities are not expanded, and what cannot be read is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple
from xml.etree import ElementTree as ET

Result = Literal["passed", "failed", "error", "skipped"]
_WORSE: Final[tuple[Result, ...]] = ("passed", "skipped", "failed", "error")

BIGGEST: Final = 64 * 1024 * 1024
"""Bytes of a results file."""


class Unreadable(Exception):
    """There are no results to be had from this."""


class Named(NamedTuple):
    """A test: where it is defined, with dots, and what it is called there."""

    place: str
    name: str

    def __str__(self) -> str:
        return f"{self.place}::{self.name}" if self.place else self.name


class Results:
    """What became of each test."""

    def __init__(self, found: Iterable[tuple[Named, Result]] = ()) -> None:
        self._found: dict[Named, Result] = {}
        for test, result in found:
            before = self._found.get(test, result)
            self._found[test] = max(before, result, key=_WORSE.index)
        self._by_name: dict[str, list[Named]] = {}
        for test in self._found:
            self._by_name.setdefault(test.name, []).append(test)

    def __len__(self) -> int:
        return len(self._found)

    def of(self, written: str) -> Result | None:
        """What became of the test that is named like this; None where there is none, or not just one."""
        test = named(written)
        found = self._found.get(test)
        if found is not None:
            return found
        # Runners leave out the folders that lead to a test, or write them where others do not.
        like = [other for other in self._by_name.get(test.name, ()) if _ends_alike(other.place, test.place)]
        return self._found[like[0]] if len(like) == 1 else None

    def that(self, *results: Result) -> list[str]:
        """The tests that came to one of these."""
        return [str(test) for test, result in self._found.items() if result in results]


def _ends_alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return not short or long == short or long.endswith(f".{short}")


_UNITTEST: Final = re.compile(r"(?P<name>[^\s()]+) \((?P<place>[^()]+)\)")


def named(written: str) -> Named:
    """A test as somebody has written it."""
    unittest = _UNITTEST.fullmatch(written)
    if unittest is not None:
        place = unittest["place"]
        # Since Python 3.11 its name stands in the brackets, too.
        return Named(place.removesuffix(f".{unittest['name']}"), unittest["name"])
    head, bracket, parameters = written.partition("[")
    file, *inside = head.split("::")
    if not inside:
        return Named("", written)
    place = ".".join([_dotted(file), *inside[:-1]])
    return Named(place, f"{inside[-1]}{bracket}{parameters}")


def _dotted(file: str) -> str:
    return file.removesuffix(".py").removeprefix("./").replace("\\", "/").strip("/").replace("/", ".")


# ---- JUnit XML ----


def read_junit(files: Sequence[bytes]) -> Results:
    """The results in JUnit XML files; Unreadable where there are none, or one of them is none."""
    if not files:
        raise Unreadable("there are no results: the tests did not come to their end")
    return Results(each for xml in files for each in _in_junit(xml))


def _in_junit(xml: bytes) -> Iterator[tuple[Named, Result]]:
    if len(xml) > BIGGEST:
        raise Unreadable(f"the results have {len(xml):,} bytes")
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        # No runner writes any, and expanding them can take all memory there is.
        raise Unreadable("the results declare a document type")
    try:
        root = ET.fromstring(xml)
    except ET.ParseError as error:
        raise Unreadable(f"the results are no XML: {error}") from error
    if root.tag not in ("testsuites", "testsuite"):
        raise Unreadable(f"the results are a <{root.tag}>, not <testsuites>")
    for case in root.iter("testcase"):
        yield _named_in(case), _result_of(case)


def _named_in(case: ET.Element) -> Named:
    return Named(case.get("classname") or "", case.get("name") or "")


def _result_of(case: ET.Element) -> Result:
    inside = {child.tag for child in case}
    for tag, result in (("error", "error"), ("failure", "failed"), ("skipped", "skipped")):
        if tag in inside:
            return result  # type: ignore[return-value]  # the table is of literals
    return "passed"


# ---- what pytest prints ----

_WORDS: Final[Mapping[str, Result]] = {
    "PASSED": "passed",
    "FAILED": "failed",
    "ERROR": "error",
    "SKIPPED": "skipped",
    "XFAIL": "skipped",
    "XPASS": "failed",
}
_SUMMARY: Final = re.compile(r"^=+ short test summary info =+$", re.MULTILINE)
_OUTCOME: Final = "|".join(_WORDS)
_IN_SUMMARY: Final = re.compile(rf"^({_OUTCOME}) (\S+?::\S.*?)(?: - .*)?$", re.MULTILINE)
_WHILE_RUNNING: Final = re.compile(
    rf"^(\S+?::\S.*?) ({_OUTCOME})(?:\s+\(.*\))?\s*(?:\[\s*\d+%\])?$", re.MULTILINE
)
_SECTION: Final = re.compile(
    r"^=+ (?:FAILURES|ERRORS|PASSES|warnings summary|short test summary info) ", re.MULTILINE
)


def read_pytest(text: str) -> Results:
    """The results in what pytest has printed; Unreadable where it names no tests.

    Only where pytest speaks itself is it believed: before the first section, and after the last summary's
    head.
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    section = _SECTION.search(text)
    running = text[: section.start()] if section else text
    found = [(named(test), _WORDS[word]) for test, word in _WHILE_RUNNING.findall(running)]
    heads = list(_SUMMARY.finditer(text))
    if heads:
        summary = text[heads[-1].end() :]
        found += [(named(test), _WORDS[word]) for word, test in _IN_SUMMARY.findall(summary)]
    if not found:
        raise Unreadable("the output names no tests: `pytest -rA` and `pytest -v` do")
    return Results(found)
