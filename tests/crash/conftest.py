"""A nursery for all tests of a session, and a folder for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash.nursery import Nursery


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery
