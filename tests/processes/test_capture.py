"""However output comes in, its beginning and its end are kept, within the bound."""

from __future__ import annotations

import os
import tempfile

from hypothesis import given
from hypothesis import strategies as st

from paceline.processes.capture import MARK, Capture


@given(st.lists(st.binary(max_size=60), max_size=12), st.integers(2, 40))
def test_what_is_kept_is_the_first_half_and_the_last(parts: list[bytes], kept: int) -> None:
    whole = b"".join(parts)
    with tempfile.TemporaryFile(buffering=0) as file:
        capture = Capture(file.fileno(), kept=kept)
        for part in parts:
            capture.write(part)
            assert os.fstat(file.fileno()).st_size <= kept
        capture.finish()
        file.seek(0)
        found = file.read()
    assert capture.size == len(whole)
    assert capture.cut == (len(whole) > kept)
    if not capture.cut:
        assert found == whole
    else:
        head, tail = kept // 2, kept - kept // 2
        assert found == whole[:head] + MARK % (len(whole) - kept) + whole[-tail:]
