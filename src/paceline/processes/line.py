"""What is said over the line between us and a warden, which sees to one command after the other.

    to it       the length of a request, and with it the open files for stdin, stdout and stderr; the request
                as JSON; then `END`, or `AT_ONCE` where there is no grace
    from it     a line of JSON each: `{}` once it has the request, `{"pid": ...}` once the command runs,
                `{"ended": ..., "free": ...}` when that has ended, and whether it takes another request;
                `{"broken": ...}` where the warden itself has failed

A line that closes is a message, too: to a warden, that we are gone, or need it no more; to us, that it was
killed.
"""

from __future__ import annotations

import struct
from typing import Final

LENGTH: Final = struct.Struct("!I")
END: Final = b"T"
AT_ONCE: Final = b"K"
FILES: Final = 3
"""Stdin, stdout, stderr."""
IDLE_S: Final = 10.0
"""A warden that has waited so long for its next command leaves; we have stopped asking it well before."""
