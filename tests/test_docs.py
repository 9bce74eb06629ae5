"""What the documentation shows is true: its examples run, its links lead somewhere, its index is whole."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paceline.containment import means
from tests.documents import Block, PageError, blocks_of

ROOT = Path(__file__).resolve().parent.parent
RUNNER = ROOT / "tests" / "documents.py"
MANUAL = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", *MANUAL]
TEXTS = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]


def run(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a page in a process of its own, in `folder`."""
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, str(RUNNER), str(page)], cwd=folder, capture_output=True, text=True, check=False
    )


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


RUNS_GENERATED_CODE = ROOT / "docs" / "how-to" / "code-evaluators.md"
DATA = ROOT.parent / "shared" / "data"
FETCHED = {
    ROOT / "docs" / "how-to" / "from-string-match-to-a-judge.md": {
        "topical_chat.json": DATA / "topical_chat_human_judge.json"
    },
}
"""What a page has its reader fetch, and where that is here: the tests fetch nothing."""


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_example_on_the_page_runs(page: Path, tmp_path: Path) -> None:
    if page == RUNS_GENERATED_CODE and means().way == "limits":
        pytest.skip(f"generated code cannot be contained here: {means().why_not}")
    folder = tmp_path / "follow along"
    folder.mkdir()
    for name, data in FETCHED.get(page, {}).items():
        if not data.exists():
            pytest.skip(f"../shared/data/{data.name} is not here")
        shutil.copyfile(data, folder / name)
    ended = run(page, folder)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("page", TEXTS, ids=shown)
def test_every_link_on_the_page_leads_to_a_file(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\((?!\w+:)([^)#\s]+)[^)]*\)", prose)
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_page_of_the_manual_is_reached_from_its_index() -> None:
    index = ROOT / "docs" / "index.md"
    listed = {
        (index.parent / target).resolve() for target in re.findall(r"\]\(([^)#\s]+)", index.read_text())
    }
    assert [shown(page) for page in MANUAL if page != index and page not in listed] == []


# ---- and the runner would notice if it were not ----


def page(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_blocks_share_one_namespace_and_one_folder(tmp_path: Path) -> None:
    reads = 'from pathlib import Path\nassert Path("deep/a.toml").read_text() == f"x = {x + 1}\\n"'
    blocks = ("python\nx = 2", 'toml title="deep/a.toml"\nx = 3', f"python\n{reads}")
    written = page(tmp_path, "\n".join(f"```{block}\n```" for block in blocks))
    ended = run(written, tmp_path / "here")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "here" / "deep" / "a.toml").exists()


def test_an_example_that_fails_names_its_line_on_the_page(tmp_path: Path) -> None:
    ended = run(page(tmp_path, "# Page\n\ntext\n\n```python\nx = 1\nassert x == 2\n```\n"), tmp_path / "here")
    assert ended.returncode != 0
    assert 'page.md", line 7' in ended.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```python no-run\nx\n```", "no-run needs a reason"),
        ("```python\nx", "never closed"),
        ('```python title="broken.py"\nx = \n```', "SyntaxError"),
        ("```console\n$ python -c 'print(7); exit(3)'\n```", "ended with 3, not 0:\n7"),
        ("```console exit=3\n$ python -c 'exit(3)'\n$ python -c ''\n```", "ended with 3, not 0"),
        ("```console exit=3\n$ python -c ''\n```", "ended with 0, not 3"),
        ("```console\n$ python -c 'print(\"2 of 3\")'\n3 out of 3\n```", "does not print ['3 out of 3']"),
    ],
)
def test_a_page_that_is_not_true_is_noticed(text: str, complaint: str, tmp_path: Path) -> None:
    ended = run(page(tmp_path, text), tmp_path / "here")
    assert ended.returncode != 0
    assert complaint in ended.stderr


def test_what_is_marked_with_a_reason_is_left_alone(tmp_path: Path) -> None:
    text = '```python no-run="needs an account"\nx = \n```\n```console\n$ make demo\n$ pip install x\n```'
    ended = run(page(tmp_path, text), tmp_path / "here")
    assert ended.returncode == 0, ended.stderr


def test_what_is_shown_of_an_output_may_differ_in_numbers_and_spaces_and_leave_lines_out(
    tmp_path: Path,
) -> None:
    says = "import sys; print('Pass   rate', 1 / 3); print('Time 2s'); print('on stderr', file=sys.stderr)"
    text = f'```console\n$ python -c "{says}"\nPass rate 0.1\n...\non stderr\n```'
    ended = run(page(tmp_path, text), tmp_path / "here")
    assert ended.returncode == 0, ended.stderr


def test_an_expected_exit_code_is_that_of_the_last_command(tmp_path: Path) -> None:
    text = "```console exit=3\n$ python -c 'print(1)'\n1\n$ python -c \\\n> 'exit(3)'\n```"
    ended = run(page(tmp_path, text), tmp_path / "here")
    assert ended.returncode == 0, ended.stderr


def test_a_block_knows_its_marks_and_its_place() -> None:
    (block,) = blocks_of('a\n\n  ```python title="my file.py" no-run=why\n  x = 1\n    y\n  ```\n')
    assert block == Block("python", {"title": "my file.py", "no-run": "why"}, 4, "x = 1\n  y\n")


def test_a_longer_fence_holds_shorter_ones() -> None:
    (block,) = blocks_of("````markdown\n```python\nx\n```\n````\n")
    assert block.text == "```python\nx\n```\n"


def test_a_page_is_run_with_the_tools_of_its_own_interpreter(tmp_path: Path) -> None:
    text = f"```console\n$ python -c 'import sys; assert sys.prefix == \"{sys.prefix}\"'\n```"
    ended = run(page(tmp_path, text), tmp_path / "here")
    assert ended.returncode == 0, ended.stderr


def test_an_unclosed_block_is_an_error_for_whoever_reads_blocks() -> None:
    with pytest.raises(PageError, match="line 2"):
        list(blocks_of("text\n```python\nx\n"))


def test_examples_are_not_decided_by_where_tests_are_run(tmp_path: Path) -> None:
    assert "PACELINE_RUNS" not in os.environ
    text = "```python\nimport os\nassert os.listdir() == []\n```"
    assert run(page(tmp_path, text), tmp_path / "here").returncode == 0
