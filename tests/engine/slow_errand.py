"""A module that takes its time to load, as one that imports a deep-learning library does."""

from __future__ import annotations

import multiprocessing
import time

if multiprocessing.parent_process() is not None:
    time.sleep(1.0)


def answer(_inputs: object) -> str:
    return "here"
