"""What is said over the line between us and the warden of a command.

    to it       the length of a request, the request as JSON; then `END`, or `AT_ONCE` where there is no grace
    from it     a line of JSON each: `{}` to begin with, `{"pid": ...}` once the command runs,
                `{"ended": ...}` when it has ended, `{"broken": ...}` where the warden itself has failed

A line that closes is a message, too: to a warden, that we are gone; to us, that it was killed.
"""

from __future__ import annotations

import struct
from typing import Final

LENGTH: Final = struct.Struct("!I")
END: Final = b"T"
AT_ONCE: Final = b"K"
