"""PatchApplies and FilesChanged."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.evaluators import EvaluationReason, FilesChanged, NotJudged, PatchApplies
from tests.evaluators.cases import finished, passes, reason

PATCH = """\
diff --git a/app.py b/app.py
--- a/app.py
+++ b/app.py
@@ -1,2 +1,2 @@
 def answer():
-    return 41
+    return 42
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text("def answer():\n    return 41\n")
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def applied(output: object, to: Path, **more: Any) -> EvaluationReason:
    metadata = more.pop("metadata", None)
    return asyncio.run(PatchApplies(str(to), **more).evaluate(finished(output, metadata=metadata)))


def test_a_patch_that_applies_to_the_files_of_a_folder_passes(repository: Path) -> None:
    assert applied(PATCH, repository).value is True
    assert applied(f"Here:\n```diff\n{PATCH}```\n", repository).value is True
    assert applied(PATCH.rstrip("\n"), repository).value is True
    assert (repository / "app.py").read_text().endswith("41\n")


def test_a_folder_needs_no_repository(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def answer():\n    return 41\n")
    assert applied(PATCH, tmp_path).value is True


def test_one_that_does_not_says_why(repository: Path) -> None:
    (repository / "app.py").write_text("something else\n")
    found = applied(PATCH, repository)
    assert found.value is False
    assert "patch failed: app.py:1" in str(found.reason)


def test_a_commit_is_taken_as_it_is_whatever_lies_in_the_folder(repository: Path) -> None:
    (repository / "app.py").write_text("something else\n")
    assert applied(PATCH, repository, commit="HEAD").value is True
    assert applied(PATCH, repository, metadata={"base_commit": "HEAD"}).value is True
    status = subprocess.run(
        ["git", "status", "--short"], cwd=repository, capture_output=True, text=True, check=True
    )
    assert status.stdout == " M app.py\n"


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("", "it names no file"),
        ("I cannot do that.", "it names no file"),
        ({"patch": PATCH}, "the output is a dict, not a patch"),
        (PATCH.replace("-1,2 +1,2", "-1,9 +1,9"), "damaged"),
        (PATCH.replace("app.py", "../beside/app.py"), "../beside/app.py"),
    ],
)
def test_what_is_no_patch_does_not_pass(repository: Path, output: object, why: str) -> None:
    (repository.parent / "beside").mkdir(exist_ok=True)
    (repository.parent / "beside" / "app.py").write_text("def answer():\n    return 41\n")
    found = applied(output, repository)
    assert found.value is False
    assert why in str(found.reason)


def test_without_anything_to_apply_it_to_it_is_not_known(repository: Path) -> None:
    with pytest.raises(NotJudged, match="no folder"):
        applied(PATCH, repository / "nowhere")
    with pytest.raises(NotJudged, match="has no commit nosuch"):
        applied(PATCH, repository, commit="nosuch")
    with pytest.raises(NotJudged, match="has no commit --help"):
        applied(PATCH, repository, commit="--help")


# ---- FilesChanged ----


def test_files_are_those_of_the_patch() -> None:
    assert passes(FilesChanged(), PATCH) is True
    assert passes(FilesChanged(only=["*.py"]), PATCH) is True
    assert reason(FilesChanged(only=["docs/"]), PATCH) == "it changed app.py, and only docs/ may be changed"
    assert reason(FilesChanged(never=["app.py", "tests/"]), PATCH) == "it changed app.py, which it never may"


def test_files_are_those_of_the_workspace_where_there_was_one() -> None:
    ctx = finished(PATCH, attributes={"changed_files": [{"path": "tests/test_a.py", "kind": "modified"}]})
    said = FilesChanged(never=["tests/"]).evaluate(ctx)
    assert said.reason == "it changed tests/test_a.py, which it never may"


def test_nothing_changed_is_no_change() -> None:
    assert reason(FilesChanged(), "I did nothing.") == "it changed 0 files, and at least 1 were to be changed"
    assert FilesChanged(at_least=0).evaluate(finished("", attributes={"changed_files": []})).value is True


def test_too_many_files_are_too_many() -> None:
    ctx = finished("", attributes={"changed_files": [f"f{n}" for n in range(7)]})
    assert FilesChanged(at_most=6).evaluate(ctx).reason == "it changed 7 files, and at most 6 may be changed"
    assert "f0, f1, f2, f3, f4 and 2 more" in str(FilesChanged(only=["x"]).evaluate(ctx).reason)


@pytest.mark.parametrize(
    "ctx",
    [
        finished({"answer": 1}),
        finished("", attributes={"changed_files": [{"path": "a"}], "changed_files_left_out": 3}),
        finished("", attributes={"changed_files": [1]}),
    ],
    ids=["no workspace and no patch", "not all on record", "not paths"],
)
def test_where_nothing_tells_what_was_changed_it_is_not_known(ctx: Any) -> None:
    with pytest.raises(NotJudged):
        FilesChanged().evaluate(ctx)


def test_a_damaged_patch_does_not_pass() -> None:
    assert "damaged" in reason(FilesChanged(at_least=0), PATCH.replace("-1,2 +1,2", "-1,9 +1,9"))


@pytest.mark.parametrize("wrong", [{"only": "src/"}, {"never": [1]}, {"never": [""]}])
def test_patterns_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="FilesChanged cannot have"):
        FilesChanged(**wrong)
