"""What the schema of JUnit XML asks for (that of Ant's tasks), as assertions on a parsed document."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

DECIMAL = re.compile(r"\d+(\.\d+)?")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
ORDER = ("properties", "testcase", "system-out", "system-err")


def validated(text: str) -> ET.Element:
    """The one suite of a document that keeps to the schema."""
    root = ET.fromstring(text.encode())  # what is parsed, this test has made
    assert root.tag == "testsuites"
    assert [child.tag for child in root] == ["testsuite"]
    suite = root[0]
    assert set(suite.attrib) == {
        *("id", "name", "package", "timestamp", "hostname"),
        *("tests", "failures", "errors", "skipped", "time"),
    }
    assert MOMENT.fullmatch(suite.attrib["timestamp"])
    assert suite.attrib["hostname"]
    assert suite.attrib["name"]
    assert DECIMAL.fullmatch(suite.attrib["time"])
    places = [ORDER.index(child.tag) for child in suite]
    assert places == sorted(places), "elements stand in the order of the schema"
    assert [child.tag for child in suite].count("properties") == 1
    assert [child.tag for child in suite][-2:] == ["system-out", "system-err"]
    for each in suite[0]:
        assert (each.tag, set(each.attrib)) == ("property", {"name", "value"})
        assert each.attrib["name"]
    cases = suite.findall("testcase")
    for case in cases:
        assert set(case.attrib) == {"name", "classname", "time"}
        assert case.attrib["name"]
        assert DECIMAL.fullmatch(case.attrib["time"])
        assert len(case) <= 1
        for said in case:
            assert said.tag in ("failure", "error", "skipped")
            assert set(said.attrib) <= {"message", "type"}
            assert said.tag == "skipped" or said.attrib["type"]
    assert int(suite.attrib["tests"]) == len(cases)
    for tag, counted in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.attrib[counted]) == sum(case.find(tag) is not None for case in cases)
    return suite
