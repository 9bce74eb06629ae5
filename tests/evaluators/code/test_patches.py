"""Which files a patch touches, held against what git itself makes of it; and patterns of paths."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paceline.evaluators.code.patches import Damaged, files_of, matches, patch_in

PLAIN = """\
--- a/src/app.py\t2026-11-19
+++ b/src/app.py\t2026-11-19
@@ -1,2 +1,2 @@
 first
-second
+--- a/not/a/file
"""


def test_a_plain_patch_names_its_files() -> None:
    assert files_of(PLAIN) == ("src/app.py",)


def test_what_looks_like_a_file_within_a_hunk_is_none() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n---- a/secret\n++++ b/secret\n-two\n"
    assert files_of(patch) == ("x",)


def test_of_a_file_that_is_new_or_gone_only_that_is_named() -> None:
    assert files_of("--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+text\n") == ("new.txt",)
    assert files_of("--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-text\n") == ("old.txt",)


@pytest.mark.parametrize(
    "patch",
    [
        "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n one\ndiff --git a/secret b/secret\n",
        "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n one\n",
    ],
)
def test_a_patch_whose_counts_are_wrong_is_damaged(patch: str) -> None:
    with pytest.raises(Damaged):
        files_of(patch)


def test_a_patch_is_found_among_words() -> None:
    answer = f"I changed it:\n\n```diff\n{PLAIN}```\n\nRun `make` and then:\n```\nmake test\n```\n"
    assert patch_in(answer) == PLAIN
    assert patch_in(PLAIN) == PLAIN
    assert files_of(patch_in("I did nothing.")) == ()


names = st.text(
    st.characters(codec="utf-8", exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=8
).filter(lambda name: name not in (".", "..") and name.lower() != ".git" and len(name.encode()) < 100)


def git(folder: Path, *arguments: str) -> bytes:
    return subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    ).stdout


contents = st.dictionaries(names, st.binary(max_size=20), max_size=3)


@example({"0": b""}, {'"\x80': b""}, False)
@example({"0": b""}, {'a\tb\\c "ö"': b"", "ö": b"text"}, True)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents, contents, st.booleans())
def test_the_files_of_gits_own_patches_are_those_that_git_names(
    tmp_path_factory: pytest.TempPathFactory,
    before: dict[str, bytes],
    after: dict[str, bytes],
    quoted: bool,
) -> None:
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q")
    for name, content in before.items():
        (folder / name).write_bytes(content)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    for name in before:
        (folder / name).unlink()
    for name, content in after.items():
        (folder / name).write_bytes(content)
    git(folder, "add", "-A")
    how = ("-c", f"core.quotePath={str(quoted).lower()}", "diff", "--cached", "--binary", "--no-renames")
    patch = git(folder, *how).decode("utf-8", "backslashreplace")
    told = git(folder, "diff", "--cached", "--name-only", "-z", "--no-renames").decode().split("\0")
    assert files_of(patch) == tuple(sorted(filter(None, told)))


def test_both_names_of_a_file_that_was_moved_are_named(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "old name").write_text("the same text\n" * 20)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / "old name").rename(tmp_path / "new name")
    git(tmp_path, "add", "-A")
    assert files_of(git(tmp_path, "diff", "--cached", "-M").decode()) == ("new name", "old name")


@pytest.mark.parametrize(
    ("pattern", "meant", "not_meant"),
    [
        ("*.py", ["a.py", "src/a.py"], ["a.pyc", "a.py/b"]),
        ("conftest.py", ["conftest.py", "tests/conftest.py"], ["tests/conftest.py.bak", "myconftest.py"]),
        ("src/", ["src/a", "src/b/c.py"], ["src", "lib/src/a", "srcs/a"]),
        ("docs/*.md", ["docs/a.md"], ["docs/b/a.md", "a.md", "x/docs/a.md"]),
        ("docs/**/*.md", ["docs/a.md", "docs/b/c/a.md"], ["docs/a.txt"]),
        ("**/tests/**", ["tests/a", "a/tests/b/c"], ["tests", "contests/a"]),
        ("src/[ab]?.py", ["src/a1.py"], ["src/c1.py", "src/a/.py", "src/a.py"]),
        ("src/[!a]*", ["src/b"], ["src/a", "src//"]),
        ("./Makefile", ["Makefile"], ["Makefiles"]),
        ("a+b(c)/x", ["a+b(c)/x"], ["aab(c)/x"]),
        ("**", ["a", "a/b"], []),
    ],
)
def test_patterns(pattern: str, meant: list[str], not_meant: list[str]) -> None:
    assert [path for path in meant if not matches(path, pattern)] == []
    assert [path for path in not_meant if matches(path, pattern)] == []
