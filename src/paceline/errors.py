"""Our own errors: what breaks a promise of Paceline or of whoever called it.

What a task or an evaluator raises is never here: that is data about a case. Each error says in
`str()` what happened and in `hint` what to do next; front doors print both.

    PacelineError
    ├── UsageError            the caller asked for something that cannot be; nothing has started (exit 2)
    │   ├── DatasetError      a dataset file or its cases are not usable; names file and line
    │   ├── SuiteError        a suite cannot be found, loaded or understood
    │   ├── SettingsError     a setting is unknown or has a value that it cannot have
    │   └── FingerprintChanged  a resume of something that is no longer the same suite
    ├── JournalError          the record of a run
    │   ├── JournalBusy       another process is writing it
    │   ├── JournalForeign    the file is there, and it is not a journal
    │   ├── JournalTooNew     a later Paceline has written it
    │   ├── JournalBroken     the disk refused a write or a sync: the run cannot go on (exit 3)
    │   └── ValueLost         a recorded value cannot be had back as what it was
    ├── PaceError             a call cannot be made
    │   ├── PoolClosed        its provider will not answer: the money is spent, or the key is refused
    │   └── DeskClosed        whoever grants calls has gone
    └── EngineStuck           the event loop is blocked for good (exit 3)
"""

from __future__ import annotations


class PacelineError(Exception):
    """Base of all errors of Paceline's own."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint
        if hint:
            # Where no front door prints it, a traceback does.
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.hint)


def _rebuild(kind: type[PacelineError], message: str, hint: str) -> PacelineError:
    return kind(message, hint=hint)


class UsageError(PacelineError, ValueError):
    """Wrong usage: nothing has started, nothing was spent."""

    exit_code = 2


class DatasetError(UsageError):
    """A dataset cannot be used as it is."""


class SuiteError(UsageError):
    """A suite cannot be found, loaded or understood."""


class SettingsError(UsageError):
    """A setting is unknown, or has a value that it cannot have."""


class FingerprintChanged(UsageError):
    """The suite is not the one that the run was started with."""


class JournalError(PacelineError):
    """Something about the record of a run."""


class JournalBusy(JournalError):
    """Another process writes this journal."""

    exit_code = 2


class JournalForeign(JournalError, ValueError):
    """The file exists and is not a journal of ours."""

    exit_code = 2


class JournalTooNew(JournalError):
    """The journal has a format that this version does not know."""

    exit_code = 2


class JournalBroken(JournalError):
    """The disk refused to keep a record; what was committed before is safe."""


class ValueLost(JournalError):
    """A recorded value cannot be had back as what it was."""


class PaceError(PacelineError):
    """A call cannot be made."""


class PoolClosed(PaceError):
    """The provider will not answer calls of this pool, however long one waits."""

    def __init__(self, message: str, *, hint: str = "", pool: str = "", cause: str = "") -> None:
        super().__init__(message, hint=hint)
        self.pool = pool
        self.cause = cause

    def __reduce__(self) -> tuple[object, ...]:
        return _pool_closed, (self.message, self.hint, self.pool, self.cause)


def _pool_closed(message: str, hint: str, pool: str, cause: str) -> PoolClosed:
    return PoolClosed(message, hint=hint, pool=pool, cause=cause)


class DeskClosed(PaceError):
    """Whoever grants calls has gone: the run is over."""


class EngineStuck(PacelineError):
    """The event loop does not come back, so the run cannot go on in this process."""
