"""What is kept of an attempt holds no secrets, and is the same byte for byte otherwise."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.journal.redaction import Redactor
from paceline.tasks.command import keeping
from paceline.tasks.command.keeping import cleaned

SECRET = "hunter2-hunter3-hunter4"
REDACTOR = Redactor(environ={"MY_TOKEN": SECRET})
KEY = (
    "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 3 + "-----END PRIVATE KEY-----\n"
)
LINES = st.lists(
    st.one_of(
        st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")),
        st.sampled_from([SECRET.encode(), f"a {SECRET} b".encode(), KEY.encode(), "ü€\U0001f600".encode()]),
    ),
    max_size=12,
)


def after(content: bytes, folder: Path) -> bytes | None:
    path = folder / "stdout.txt"
    path.write_bytes(content)
    cleaned(path, REDACTOR)
    assert [each.name for each in folder.iterdir()] in ([path.name], [])
    return path.read_bytes() if path.exists() else None


@settings(max_examples=150)
@given(lines=LINES, piece=st.integers(1, 80))
def test_secrets_are_found_wherever_a_file_is_cut(lines: list[bytes], piece: int) -> None:
    content = b"\n".join(lines)
    text = content.decode("utf-8", "surrogateescape")
    whole = REDACTOR.clean_body(text).encode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as small:
        small.setattr(keeping, "PIECE", piece)
        found = after(content, Path(folder))
    assert found == (whole if content else None)


def test_a_key_that_never_ends_does_not_hold_up_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "PIECE", 100)
    monkeypatch.setattr(keeping, "LONGEST_KEY", 300)
    content = b"-----BEGIN nothing\n" + b"a line\n" * 1_000
    assert after(content, tmp_path) == content
