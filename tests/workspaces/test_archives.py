"""An archive is unpacked within its folder and within bounds, or it is refused."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.workspaces.archives import stays_inside, unpack
from paceline.workspaces.sources import WorkspaceError
from tests.workspaces.repositories import shown


def tar(path: Path, *members: tuple[str, dict[str, Any], bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]  # a mode that is a plain str
        for name, facts, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            for fact, value in facts.items():
                setattr(member, fact, value)
            archive.addfile(member, io.BytesIO(content))
    return path


def zipped(path: Path, *members: tuple[str, int, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, mode, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return path


LINK = {"type": tarfile.SYMTYPE}


def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_file_is_unpacked_with_folders_links_and_what_can_be_executed(
    tmp_path: Path, mode: str
) -> None:
    archive = tar(
        tmp_path / "a.tar",
        ("repo-1a2b", {"type": tarfile.DIRTYPE}, b""),
        ("repo-1a2b/run", {"mode": 0o755}, b"#!"),
        ("repo-1a2b/sub/data", {"mode": 0o4777}, b"1"),
        ("repo-1a2b/sub/link", {**LINK, "linkname": "../run"}, b""),
        mode=mode,
    )
    folder = into(tmp_path)
    unpack(archive, folder, strip=1)
    assert shown(folder) == {"run": "x #!", "sub/data": "x 1", "sub/link": "-> ../run"}
    assert not (folder / "sub/data").stat().st_mode & 0o4000


def test_a_zip_file_is_unpacked(tmp_path: Path) -> None:
    archive = zipped(
        tmp_path / "a.zip", ("a/run", 0o100755, b"#!"), ("a/plain", 0, b"1"), ("a/link", 0o120777, b"plain")
    )
    folder = into(tmp_path)
    unpack(archive, folder)
    assert shown(folder) == {"a/run": "x #!", "a/plain": "1", "a/link": "-> plain"}


HOSTILE: dict[str, tuple[str, dict[str, Any], bytes]] = {
    "leads upwards": ("../up", {}, b""),
    "leads upwards further down": ("a/../../up", {}, b""),
    "is absolute": ("/tmp/up", {}, b""),
    "link upwards": ("up", {**LINK, "linkname": "../x"}, b""),
    "absolute link": ("up", {**LINK, "linkname": "/etc"}, b""),
    "link upwards behind a name": ("up", {**LINK, "linkname": "a/../.."}, b""),
    "hard link": ("up", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"}, b""),
    "device": ("up", {"type": tarfile.CHRTYPE}, b""),
    "pipe": ("up", {"type": tarfile.FIFOTYPE}, b""),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_tar_file_is_refused_and_nothing_is_outside(tmp_path: Path, how: str) -> None:
    folder = into(tmp_path)
    with pytest.raises(WorkspaceError, match="is refused"):
        unpack(tar(tmp_path / "a.tar", ("fine", {}, b"1"), HOSTILE[how]), folder)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.tar", "into"]


@pytest.mark.parametrize("name", ["../up", "/tmp/up", "a/../../up"])
def test_a_hostile_zip_file_is_refused(tmp_path: Path, name: str) -> None:
    folder = into(tmp_path)
    with pytest.raises(WorkspaceError, match="is refused"):
        unpack(zipped(tmp_path / "a.zip", (name, 0o100644, b"")), folder)
    with pytest.raises(WorkspaceError, match="leads out"):
        unpack(zipped(tmp_path / "b.zip", ("link", 0o120777, b"/etc")), folder)


def test_nothing_is_written_behind_a_link_of_the_archive(tmp_path: Path) -> None:
    folder = into(tmp_path)
    archive = tar(tmp_path / "a.tar", ("link", {**LINK, "linkname": "sub"}, b""), ("link/file", {}, b"1"))
    with pytest.raises(WorkspaceError, match="behind a link"):
        unpack(archive, folder)


def test_bombs_are_refused_before_they_go_off(tmp_path: Path) -> None:
    folder = into(tmp_path)
    zeros = b"\0" * 20_000_000
    for archive in (
        tar(tmp_path / "a.tgz", ("a", {}, zeros)),
        zipped(tmp_path / "a.zip", ("a", 0o100644, zeros)),
    ):
        with pytest.raises(WorkspaceError, match="more than 1,000,000 bytes"):
            unpack(archive, folder, most=1_000_000)
    many = tar(tmp_path / "many.tgz", *((f"f{number}", {}, b"") for number in range(30)))
    with pytest.raises(WorkspaceError, match="more than 20 entries"):
        unpack(many, folder, entries=20)
    assert sum(each.stat().st_size for each in folder.rglob("*")) <= 2_000_000


def test_a_name_of_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 1_000_000_000
    (tmp_path / "a.tar").write_bytes(long_name.tobuf() + b"x" * 4_096)
    with pytest.raises(WorkspaceError, match="header"):
        unpack(tmp_path / "a.tar", into(tmp_path))


@pytest.mark.parametrize("cut", [300, 700, 1_100])
def test_a_damaged_archive_is_refused_and_not_taken_for_a_shorter_one(tmp_path: Path, cut: int) -> None:
    whole = tar(tmp_path / "a.tar", *((name, {}, b"1" * 600) for name in "abc"), mode="w")
    content = bytearray(whole.read_bytes())
    content[1536 + 100] ^= 0xFF  # the second header
    (tmp_path / "b.tar").write_bytes(content)
    (tmp_path / "c.tar").write_bytes(content[:cut])
    (tmp_path / "d.tar").write_bytes(b"no archive at all")
    folder = into(tmp_path)
    for name in ("b.tar", "c.tar", "d.tar"):
        with pytest.raises(WorkspaceError, match="damaged"):
            unpack(tmp_path / name, folder)


STEP = st.sampled_from(["..", "x", "y", ".", ""])


@given(
    st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=3),
    st.lists(STEP, max_size=5),
    st.lists(STEP, max_size=5),
)
def test_links_that_are_taken_never_lead_out_also_not_by_way_of_each_other(
    path: list[str], target: list[str], through: list[str]
) -> None:
    """Whatever name on the way is a link itself, to a place that would have been taken."""
    link, other = "/".join(path), "/".join(through)
    if not stays_inside(link, "/".join(target)) or not stays_inside("x", other):
        return

    def resolved(place: list[str], steps: list[str], depth: int) -> list[str]:
        for step in steps:
            if step == "..":
                assert place, f"{link} -> {'/'.join(target)} leads out"
                place = place[:-1]
            elif step not in ("", "."):
                is_link = step == "x" and not place and depth < 5
                place = resolved(place, through, depth + 1) if is_link else [*place, step]
        return place

    # Folders of the archive are real ones, so the link starts from where its path says.
    resolved(path[:-1], target, 0)


@settings(max_examples=200)
@given(
    which=st.sampled_from(["tar", "pax", "zip"]),
    changes=st.lists(st.tuples(st.integers(0, 4_000), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_whatever_an_archive_says_of_itself_it_is_unpacked_or_refused(
    which: str, changes: list[tuple[int, int]]
) -> None:
    whole = bytearray(_small(which))
    for place, byte in changes:
        whole[place % len(whole)] = byte
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "archive").write_bytes(whole)
        (Path(folder) / "into").mkdir()
        with suppress(WorkspaceError):
            unpack(Path(folder) / "archive", Path(folder) / "into", most=1_000_000)
        assert {path.name for path in Path(folder).iterdir()} == {"archive", "into"}


def test_a_header_that_makes_no_sense_is_damage(tmp_path: Path) -> None:
    sparse = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**50)}
    archive = tar(tmp_path / "a.tar", ("a", {"pax_headers": sparse}, b"1\n0\n"), mode="w")
    with pytest.raises(WorkspaceError, match="damaged"):
        unpack(archive, into(tmp_path))


@lru_cache
def _small(which: str) -> bytes:
    """A small archive: files, a folder, a link, and, with `pax`, headers of the longer kind."""
    taken = io.BytesIO()
    if which == "zip":
        with zipfile.ZipFile(taken, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("a/b.txt", "b" * 300)
            packed.writestr("c", "c")
    else:
        with tarfile.open(fileobj=taken, mode="w", format=tarfile.PAX_FORMAT) as packed_tar:
            for name in ("a/b.txt", "ü" * 120 if which == "pax" else "c"):
                told = tarfile.TarInfo(name)
                told.size = 300
                if which == "pax":
                    told.pax_headers = {"mtime": "1.5", "GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
                packed_tar.addfile(told, io.BytesIO(b"1\n" * 150))
            link = tarfile.TarInfo("link")
            link.type, link.linkname = tarfile.SYMTYPE, "c"
            packed_tar.addfile(link)
    return taken.getvalue()


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a.tar", ("a", {}, b"1"), ("a/b", {}, b"2"))
    with pytest.raises(WorkspaceError, match="a/b"):
        unpack(archive, into(tmp_path))
    assert os.listdir(tmp_path / "into") == ["a"]  # noqa: PTH208
