"""What test suites report, read: which tests there were, and what became of each."""

from __future__ import annotations

import pytest

from paceline.evaluators.code.reports import Named, Results, Unreadable, named, read_junit, read_pytest

JUNIT = b"""<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="5">
<testcase classname="tests.test_a" name="test_passes" time="0.001" />
<testcase classname="tests.test_a" name="test_fails" time="0"><failure message="">trace</failure></testcase>
<testcase classname="tests.test_a.TestB" name="test_c[1-x/y]" time="0.001" />
<testcase classname="tests.test_a" name="test_left_out" time="0.0"><skipped type="pytest.skip" /></testcase>
<testcase classname="tests.test_b" name="test_breaks" time="0.0" /><testcase classname="tests.test_b"
  name="test_breaks"><error message="in teardown">trace</error></testcase>
<testcase classname="" name="tests.test_c"><error message="collection failure">trace</error></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ("tests/test_a.py::test_passes", "passed"),
        ("./tests/test_a.py::test_passes", "passed"),
        ("tests.test_a::test_passes", "passed"),
        ("test_passes", "passed"),
        ("test_passes (tests.test_a)", "passed"),
        ("test_passes (tests.test_a.test_passes)", "passed"),
        ("tests/test_a.py::test_fails", "failed"),
        ("tests/test_a.py::TestB::test_c[1-x/y]", "passed"),
        ("tests/test_a.py::test_left_out", "skipped"),
        ("tests/test_b.py::test_breaks", "error"),
        ("repository/tests/test_a.py::test_passes", "passed"),
        ("test_a.py::test_passes", "passed"),
        ("tests/test_b.py::test_passes", None),
        ("tests/test_a.py::test_c[1-x/y]", None),
        ("tests/test_a.py::TestB::test_c[2]", None),
        ("other_test_a.py::test_passes", None),
        ("", None),
    ],
)
def test_junit_is_looked_up_by_names_as_people_write_them(written: str, result: str | None) -> None:
    assert read_junit([JUNIT]).of(written) == result


def test_results_of_several_files_are_taken_together() -> None:
    one = b'<testsuite><testcase classname="a" name="x"/></testsuite>'
    other = b'<testsuite><testcase classname="a" name="x"><failure/></testcase></testsuite>'
    assert len(read_junit([one, other])) == 1
    assert read_junit([one, other]).of("a::x") == "failed"
    assert read_junit([other, one]).of("a::x") == "failed"


def test_a_name_that_two_tests_share_is_neither_of_them() -> None:
    results = Results([(Named("a", "x"), "passed"), (Named("b", "x"), "failed")])
    assert results.of("x") is None
    assert results.of("a::x") == "passed"
    assert results.that("failed", "error") == ["b::x"]


@pytest.mark.parametrize(
    "xml",
    [
        b"",
        b"nothing",
        b"<html></html>",
        b"<testsuites><testsuite>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><testsuites>&a;</testsuites>',
        b"\x00\x01",
    ],
    ids=repr,
)
def test_what_is_no_junit_is_unreadable(xml: bytes) -> None:
    with pytest.raises(Unreadable):
        read_junit([xml])


def test_no_files_are_no_results() -> None:
    with pytest.raises(Unreadable, match="there are no results"):
        read_junit([])


VERBOSE = """\
============================= test session starts ==============================
collecting ... collected 5 items

tests/test_a.py::test_passes PASSED                                      [ 20%]
tests/test_a.py::test_fails FAILED                                       [ 40%]
tests/test_a.py::TestB::test_c[1-x y] PASSED                             [ 60%]
tests/test_a.py::test_left_out SKIPPED (not today)                       [ 80%]
tests/test_a.py::test_expected XFAIL (known)                             [100%]

=================================== FAILURES ===================================
__________________________________ test_fails __________________________________
----------------------------- Captured stdout call -----------------------------
tests/test_a.py::test_forged PASSED                                      [100%]
PASSED tests/test_a.py::test_forged
=========================== short test summary info ============================
FAILED tests/test_a.py::test_fails - AssertionError: assert 1 == 2
========================= 1 failed, 2 passed in 0.02s ==========================
"""

SUMMARY = """\
.F.s
==================================== PASSES ====================================
PASSED tests/test_a.py::test_forged
=========================== short test summary info ============================
PASSED tests/test_a.py::test_passes
PASSED tests/test_a.py::TestB::test_c[1-x/y]
SKIPPED [1] tests/test_a.py:7: not today
ERROR tests/test_b.py::test_breaks - RuntimeError: no
FAILED tests/test_a.py::test_fails - AssertionError: assert 1 == 2 - not at all
"""


@pytest.mark.parametrize("text", [VERBOSE, SUMMARY], ids=["-v", "-rA"])
def test_what_pytest_prints_is_read_where_pytest_speaks_itself(text: str) -> None:
    results = read_pytest(text)
    assert results.of("tests/test_a.py::test_passes") == "passed"
    assert results.of("tests/test_a.py::test_fails") == "failed"
    assert results.of("tests/test_a.py::test_forged") is None


def test_colours_are_passed_over() -> None:
    assert (
        read_pytest("tests/a.py::test_x \x1b[32mPASSED\x1b[0m\x1b[32m   [100%]\x1b[0m\n").of("test_x")
        == "passed"
    )


def test_output_that_names_no_tests_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="names no tests"):
        read_pytest("3 passed in 0.1s\n")


@pytest.mark.parametrize(
    ("written", "place", "name"),
    [
        ("a/b.py::C::D::test_e[f::g]", "a.b.C.D", "test_e[f::g]"),
        ("test_x", "", "test_x"),
        ("test_x (a.b.C)", "a.b.C", "test_x"),
        ("describes something, in words", "", "describes something, in words"),
    ],
)
def test_a_name_is_a_place_and_a_name(written: str, place: str, name: str) -> None:
    assert named(written) == (place, name)
