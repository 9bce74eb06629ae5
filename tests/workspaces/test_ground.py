"""Workspaces lie on the ground of their run, see nothing of each other, and nothing of them is left over."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from paceline.workspaces import ground as ground_module
from paceline.workspaces.git import make_comparing
from paceline.workspaces.ground import Ground, grounds_root, sweep
from paceline.workspaces.sources import Archive, Nothing, Repository, Template, WorkspaceError
from paceline.workspaces.stores import Store, store_of
from paceline.workspaces.workspace import check, make, remake
from tests.workspaces.repositories import elsewhere, git, repository, shown, write
from tests.workspaces.test_archives import tar

__all__ = ["elsewhere"]


def claimed(name: str = "run", pins: Path | None = None) -> Ground:
    ground = Ground(grounds_root(), name, pins=pins)
    ground.claim()
    return ground


def test_a_workspace_of_a_repository_is_at_its_commit_and_has_its_history_only(elsewhere: Path) -> None:
    first, second = repository(elsewhere / "repo", {"a": "1"}, {"a": "2"})
    ground = claimed()
    work = make(ground, "c/1", Repository(str(elsewhere / "repo"), first), {}).path
    assert shown(work) == {"a": "1"}
    assert git(work, "status", "--short") == ""
    assert git(work, "log", "--all", "--format=%H") == first  # what comes after it is not to be seen
    newest = make(ground, "c/2", Repository(str(elsewhere / "repo"), "trunk"), {})
    assert (shown(newest.path), newest.record["commit"]) == ({"a": "2"}, second)
    ground.close()


def test_two_workspaces_of_one_repository_share_objects_and_nothing_else(elsewhere: Path) -> None:
    repository(elsewhere / "repo", {"a": "1" * 10_000})
    ground = claimed()
    source = Repository(str(elsewhere / "repo"))
    one, other = (make(ground, f"c/{number}", source, {}).path for number in (1, 2))
    write(one, {"a": "changed"})
    git(one, "stash")
    git(one, "branch", "fix")
    git(one, "config", "user.name", "one")
    assert git(other, "stash", "list") == ""
    assert git(other, "branch", "--format=%(refname:short)") == "main"
    assert shown(other) == {"a": "1" * 10_000}
    loose = [
        path for path in (other / ".git/objects").rglob("*") if path.is_file() and path.name != "alternates"
    ]
    assert loose == []
    ground.close()


@pytest.mark.parametrize("url", ["/no/such/repository", "./shop", "~/no-such-repository"])
def test_a_repository_that_is_not_there_is_said_before_anything_runs(elsewhere: Path, url: str) -> None:
    with pytest.raises(WorkspaceError, match="there is no repository"):
        check(Repository(url))
    check(Repository(str(elsewhere)))
    check(Repository("https://example.com/shop.git"))
    check(Repository("git@example.com:shop.git"))


def test_a_store_that_was_left_half_made_is_made_whole(elsewhere: Path) -> None:
    repository(elsewhere / "repo", {"a": "1"})
    source = Repository(str(elsewhere / "repo"))
    (store_of(source).objects / "info").mkdir(parents=True)  # and then a kill
    ground = claimed()
    assert shown(make(ground, "c/1", source, {}).path) == {"a": "1"}
    ground.close()


def test_many_workspaces_are_made_at_the_same_time_from_one_fetch(elsewhere: Path) -> None:
    repository(elsewhere / "repo", {f"f{number}": str(number) for number in range(50)})
    ground = claimed()
    source = Repository(str(elsewhere / "repo"))
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda number: make(ground, f"c{number}/1", source, {}), range(16)))
    assert all(shown(each.path) == shown(elsewhere / "repo") for each in made)
    assert len(list((elsewhere / "cache/repositories").glob("*.git"))) == 1
    ground.close()


def test_nobody_compares_by_a_repository_that_is_half_made(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slowly(place: Path, *, literal: bool) -> None:
        place.mkdir()
        begun.set()
        assert go_on.wait(30)
        make_comparing(place, literal=literal)

    monkeypatch.setattr(ground_module, "make_comparing", slowly)
    ground = claimed()

    def is_whole() -> bool:
        return (ground.repository / "HEAD").exists()

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(is_whole)
        assert begun.wait(30)
        second = threads.submit(is_whole)
        wait([second], timeout=0.2)  # whoever does not wait for the first is done by now
        go_on.set()
        assert first.result()
        assert second.result()
    ground.close()


def test_a_branch_that_moves_means_the_same_commit_for_the_whole_run_resumes_included(
    elsewhere: Path,
) -> None:
    first, _ = repository(elsewhere / "repo", {"a": "1"}, {})
    git(elsewhere / "repo", "reset", "--quiet", "--hard", first)
    source, pins = Repository(str(elsewhere / "repo"), "trunk"), elsewhere / "run" / "commits.json"
    ground = claimed(pins=pins)
    assert shown(make(ground, "c/1", source, {}).path) == {"a": "1"}
    write(elsewhere / "repo", {"a": "2"})
    git(elsewhere / "repo", "commit", "--all", "--quiet", "-m", "moved")
    assert shown(make(ground, "c/2", source, {}).path) == {"a": "1"}
    ground.close()
    resumed = claimed(pins=pins)
    assert shown(make(resumed, "c/3", source, {}).path) == {"a": "1"}
    resumed.close()
    fresh = claimed("another")
    assert shown(make(fresh, "c/1", source, {}).path) == {"a": "2"}
    fresh.close()


def test_a_commit_is_found_by_any_of_its_names(elsewhere: Path) -> None:
    first, second = repository(elsewhere / "repo", {"a": "1"}, {"a": "2"})
    git(elsewhere / "repo", "tag", "v1", first)
    git(elsewhere / "repo", "tag", "-a", "-m", "annotated", "v2", second)
    store = Store(elsewhere / "cache", str(elsewhere / "repo"))
    for name, commit in {first[:9]: first, "v1": first, "v2": second, "HEAD": second, first: first}.items():
        assert store.commit(name) == commit
    with pytest.raises(WorkspaceError, match="has no commit nowhere"):
        store.commit("nowhere")
    with pytest.raises(WorkspaceError, match="no commit"):
        store.commit("--upload-pack=touch /tmp/x")


def test_a_commit_that_is_here_is_not_asked_for_again(elsewhere: Path) -> None:
    (only,) = repository(elsewhere / "repo", {"a": "1"})
    url = f"file://{elsewhere / 'repo'}"
    store = Store(elsewhere / "cache", url)
    assert store.commit("trunk") == only
    (elsewhere / "repo").rename(elsewhere / "gone")
    assert store.commit(only) == only
    with pytest.raises(WorkspaceError, match="cannot be fetched"):
        store.commit("trunk")


def test_a_template_is_what_it_was_when_the_run_first_used_it(elsewhere: Path) -> None:
    template = write(elsewhere / "template", {"a": "1", "empty/keep": ""})
    (template / "empty/keep").unlink()
    (template / "link").symlink_to("a")
    ground = claimed()
    first = make(ground, "c/1", Template(template), {})
    assert shown(first.path) == {"a": "1", "link": "-> a"}
    assert (first.path / "empty").is_dir()
    write(template, {"a": "2"})
    second = make(ground, "c/2", Template(template), {})
    assert shown(second.path) == {"a": "1", "link": "-> a"}
    assert second.changes(elsewhere / "patch").files == ()
    ground.close()
    later = claimed()
    with pytest.raises(WorkspaceError, match="not what it was"):
        remake(later, "c/1", first.record, None)
    later.close()


def test_a_workspace_is_made_from_an_archive(elsewhere: Path) -> None:
    archive = tar(elsewhere / "a.tgz", ("top/a", {}, b"1"), ("top/sub/b", {}, b"2"))
    ground = claimed()
    workspace = make(ground, "c/1", Archive(archive, strip=1), {})
    assert shown(workspace.path) == {"a": "1", "sub/b": "2"}
    ground.close()


def test_what_is_missing_is_told_before_anything_is_made(elsewhere: Path) -> None:
    check(Nothing())
    with pytest.raises(WorkspaceError, match="no folder"):
        check(Template(elsewhere / "gone"))
    with pytest.raises(WorkspaceError, match="no archive"):
        check(Archive(elsewhere / "gone"))


def test_without_git_the_remedy_is_told(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(elsewhere))
    with pytest.raises(WorkspaceError, match="no git") as refused:
        check(Nothing())
    assert "apt-get install git" in refused.value.hint


def test_a_ground_is_removed_when_its_run_lets_it_go(elsewhere: Path) -> None:
    ground = claimed()
    make(ground, "c/1", Nothing(), {"a": b"1"})
    ground.close()
    assert list(grounds_root().iterdir()) == []


def test_a_ground_that_is_in_use_is_neither_taken_nor_swept(elsewhere: Path) -> None:
    ground = claimed()
    work = make(ground, "c/1", Nothing(), {"a": b"1"}).path
    with pytest.raises(WorkspaceError, match="in use"):
        Ground(grounds_root(), "run").claim()
    assert sweep(grounds_root()) == 0
    claimed("another").close()
    assert shown(work) == {"a": "1"}
    ground.close()


KILLED = """
    import os, sys
    from paceline.workspaces.ground import Ground, grounds_root
    from paceline.workspaces.sources import Nothing
    from paceline.workspaces.workspace import make

    ground = Ground(grounds_root(), "killed")
    ground.claim()
    make(ground, "c/1", Nothing(), {"a": b"1"})
    if os.fork():
        os.kill(os.getpid(), 9)
    os.close(1)
    __import__("time").sleep(60)
"""


def test_what_a_killed_process_has_left_is_swept_though_its_forked_child_lives_on(elsewhere: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED)], stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    child.stdout.read()
    child.stdout.close()
    assert child.wait() == -9
    left = grounds_root() / "killed"
    assert left.is_dir()
    another = claimed("another")
    assert not left.exists()
    another.close()
    assert list(grounds_root().iterdir()) == []
    os.killpg(child.pid, 9)  # raises where the forked child is gone: then nothing was tested


def test_a_folder_that_others_can_write_is_no_place_for_workspaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PACELINE_WORKSPACES", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    root = tmp_path / f"paceline-{os.getuid()}"
    root.mkdir()
    root.chmod(0o777)
    with pytest.raises(WorkspaceError, match="can be written by others") as refused:
        grounds_root()
    assert "PACELINE_WORKSPACES" in refused.value.hint
    root.chmod(0o700)
    assert grounds_root() == root.resolve()
