"""TestsPass: of a test suite in the workspace of a case, the tests pass that have to.

What ran is told by what the suite reports: a test that is not in there has not passed, whatever the exit code
says. Results of an earlier run, or of the agent's own making, are removed before the suite starts.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason
from paceline.evaluators.code.commanding import (
    Done,
    InWorkspace,
    check_command,
    how_it_ended,
    workspace_of,
)
from paceline.evaluators.code.hidden import hidden_tests
from paceline.evaluators.code.judging import NotJudged, not_contained
from paceline.evaluators.code.patches import matches
from paceline.evaluators.code.reports import BIGGEST, Results, Unreadable, read_junit, read_pytest
from paceline.evaluators.wording import brief
from paceline.processes.launch import Ended
from paceline.workspaces.inside import parts_of, read

PYTEST: Final = "python -m pytest -q -p no:cacheprovider --junit-xml={junit}"
JUNIT: Final = "{junit}"
"""Where in a command the path of the results file goes."""
LISTED: Final = 5
"""Tests that a reason names."""


@dataclass
class TestsPass(InWorkspace):
    """The tests of a suite in the workspace pass: all of them, or those in `fail_to_pass` and `pass_to_pass`.

    `command` writes JUnit XML to where `{junit}` stands in it, or to the files that `junit` names within the
    workspace (a path or a pattern); without either, what `pytest -v` or `-rA` prints is read. The lists are
    those of SWE-bench, and are taken from the case's metadata where they are not given. `files` are written
    into the workspace before, and `test_patch` is applied to it: tests that the agent has not seen. The
    metadata has them as `test_files` and `test_patch`.
    """

    __test__: ClassVar[bool] = False  # pytest takes whatever is called Test... for tests

    command: str | list[str] = PYTEST
    fail_to_pass: list[str] | None = None
    pass_to_pass: list[str] | None = None
    junit: str | None = None
    files: dict[str, str] | None = None
    test_patch: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_command(self.command, "TestsPass")
        in_command = JUNIT in (self.command if isinstance(self.command, str) else " ".join(self.command))
        if self.junit is not None and in_command:
            raise UsageError(
                "TestsPass is told twice where the results are",
                hint="write {junit} into the command, or name the file that it writes by `junit`",
            )
        for path in (*(self.files or ()), *([self.junit] if self.junit is not None else ())):
            parts_of(path)

    async def evaluate(self, ctx: AnyContext) -> dict[str, EvaluationReason]:
        needed = self._needed(ctx.metadata)
        hidden = hidden_tests(self.files, self.test_patch, ctx.metadata)
        async with workspace_of(ctx, self.cwd) as where:
            await asyncio.to_thread(hidden.put_into, where, ctx.attributes)
            done, results = await self._results(where)
        name = self.get_default_evaluation_name()
        passed = self._limit_passed(done.ended)
        if passed or isinstance(results, Unreadable):
            why = passed or f"{results}; {how_it_ended(done.ended)}"
            found = {name: EvaluationReason(False, why)}
        else:
            found = _of_these(name, results, needed) if needed else {name: _of_all(results, done.ended)}
        return {**found, **not_contained(name, done.gaps)}

    def _needed(self, metadata: object) -> tuple[str, ...]:
        """The tests that have to pass, each once; none where that is all that there are."""
        lists = (
            _listed("FAIL_TO_PASS", metadata) if self.fail_to_pass is None else self.fail_to_pass,
            _listed("PASS_TO_PASS", metadata) if self.pass_to_pass is None else self.pass_to_pass,
        )
        needed = tuple(dict.fromkeys(test for each in lists for test in each or ()))
        if not needed and lists != (None, None):
            raise NotJudged("the lists of tests that have to pass are empty: they would say nothing")
        return needed

    async def _results(self, where: Path) -> tuple[Done, Results | Unreadable]:
        """Carry the suite out; what it reports, or why that cannot be had."""
        with tempfile.TemporaryDirectory(prefix="paceline-junit-", ignore_cleanup_errors=True) as folder:
            file = Path(folder, "results.xml")
            command, in_file = _told_where(self.command, file)
            if self.junit is not None:
                _remove_files_like(where, self.junit)
            done = await self._carried_out(command, where, *([file.parent] if in_file else []))
            _require_pytest(done.ended)
            try:
                if in_file:
                    return done, read_junit([_content(file)])
                if self.junit is not None:
                    reports = [read(where, path, most=BIGGEST) for path in _files_like(where, self.junit)]
                    return done, read_junit(reports)
                return done, read_pytest(done.ended.stdout.read().decode(errors="replace"))
            except Unreadable as error:
                return done, error


def _told_where(command: str | list[str], file: Path) -> tuple[str | list[str], bool]:
    """The command with the path of its results file in it, and whether there is a place for that."""
    if isinstance(command, str):
        return command.replace(JUNIT, shlex.quote(str(file))), JUNIT in command
    return [word.replace(JUNIT, str(file)) for word in command], any(JUNIT in word for word in command)


def _content(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        if size > BIGGEST:
            raise Unreadable(f"the results have {size:,} bytes")
        return file.read_bytes()
    except FileNotFoundError:
        raise Unreadable("there are no results: the tests did not come to their end") from None


def _remove_files_like(where: Path, pattern: str) -> None:
    for path in _files_like(where, pattern):
        Path(where, path).unlink()


def _files_like(where: Path, pattern: str) -> list[str]:
    """The files in a workspace that a pattern means; none that a link leads to."""
    found = []
    for folder, _folders, names in os.walk(where):
        for path in (Path(folder, name) for name in names):
            relative = path.relative_to(where).as_posix()
            if matches(relative, pattern) and path.is_file() and not path.is_symlink():
                found.append(relative)
    return sorted(found)


def _require_pytest(ended: Ended) -> None:
    if ended.code == 1 and b"No module named pytest" in ended.stderr.read():
        raise NotJudged("there is no pytest for the python that the command names")


def _listed(name: str, metadata: object) -> list[str] | None:
    """A list of tests from the metadata: SWE-bench has them as JSON in a text."""
    value = metadata.get(name) if isinstance(metadata, Mapping) else None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise NotJudged(f"{name} in the metadata is neither a list of tests nor JSON of one") from None
    if value is not None and not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
        raise NotJudged(f"{name} in the metadata is {brief(value)}, not a list of tests")
    return value


def _of_these(name: str, results: Results, needed: Sequence[str]) -> dict[str, EvaluationReason]:
    """The verdict where some tests have to pass."""
    become = {test: results.of(test) for test in needed}
    missing = [test for test, result in become.items() if result is None]
    failed = [test for test, result in become.items() if result not in ("passed", None)]
    passed = len(needed) - len(missing) - len(failed)
    parts = [f"{_some(failed)} did not pass"] if failed else []
    parts += [f"there are no results for {_some(missing)}"] if missing else []
    why = f"{passed} of {len(needed)} passed; {'; '.join(parts)}" if parts else None
    return {
        name: EvaluationReason(not parts, why),
        f"{name}_share": EvaluationReason(passed / len(needed)),
    }


def _of_all(results: Results, ended: Ended) -> EvaluationReason:
    """The verdict where all tests have to pass, and there has to be one."""
    failed, passed = results.that("failed", "error"), results.that("passed")
    if failed:
        return EvaluationReason(False, f"{len(failed)} of {len(results)} tests failed: {_some(failed)}")
    if not passed:
        return EvaluationReason(False, f"no test has passed: {how_it_ended(ended)}")
    if not ended.ok:
        return EvaluationReason(False, f"its tests passed, and {how_it_ended(ended)}")
    return EvaluationReason(True)


def _some(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - LISTED} more" if len(tests) > LISTED else ""
    return f"{', '.join(tests[:LISTED])}{more}"
