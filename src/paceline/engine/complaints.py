"""A word on stderr, where somebody may be reading: a stderr that is closed or gone never ends a run.

Where one case is run at a time, what goes wrong is shown as it happens, with the frames of the user's code.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from types import TracebackType

from paceline.engine.failures import is_ours
from paceline.journal.records import ErrorFacts
from paceline.journal.redaction import Redactor
from paceline.printable import harmless


def complain(text: str) -> None:
    """Say something on stderr, if it is there."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"{harmless(text)}\n")
        sys.stderr.flush()


def complain_of(what: str, error: ErrorFacts | None, exception: BaseException | None) -> None:
    """Show an error with its traceback, which begins where the user's code does; without secrets."""
    told = ""
    if exception is not None:
        with contextlib.suppress(Exception):  # an exception may refuse to be shown
            trace = _from_users_code(exception.__traceback__)
            told = "".join(traceback.format_exception(type(exception), exception, trace))
    if not told and error is not None:
        told = f"  {error.type}: {error.message}\n"
    # Terminals are recorded, too: by whoever runs this for somebody else, most of all.
    complain(Redactor.standard().clean_text(f"paceline: {what}:\n{told}"))


def _from_users_code(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_next is not None and is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace
