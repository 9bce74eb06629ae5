"""How a task of our own says that an attempt has failed, and whether another one could help.

Where a task of the user's raises, its traceback tells where it broke. Here the message is all there is to
tell: these come from our code, and nothing in it is wrong.
"""

from __future__ import annotations

from typing import ClassVar

from paceline.journal.records import ErrorClass


class TaskFailure(Exception):
    """An attempt has failed; the name of the class is what reports call it."""

    error_class: ClassVar[ErrorClass] = "permanent"
