"""Sorting failures: an exception becomes facts, and the facts a class that retry can decide on.

This is the one gate where foreign exceptions turn into data. Nothing that a task raises gets past it, however
broken: not a `__str__` that raises, not a message of fifty megabytes, not an error that cannot be pickled.
"""

from __future__ import annotations

import asyncio
import traceback
from typing import Final, TypeGuard

from paceline.journal.records import ErrorClass, ErrorFacts
from paceline.tasks.failures import TaskFailure

MESSAGE_LIMIT: Final = 4_096
TRACE_LIMIT: Final = 8_192
TRACE_FRAMES: Final = 12
FRAMES_LOOKED_AT: Final = 64
NAME_LIMIT: Final = 300
MEMBER_LIMIT: Final = 300
"""Characters of a message that stands beside others."""
CAUSES: Final = 8
MEMBERS: Final = 8
"""Exceptions of a group that are looked at."""

TRANSIENT_STATUS: Final = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
TRANSIENT_NAMES: Final = frozenset(
    {
        "APIConnectionError",
        "APITimeoutError",
        "ConnectError",
        "ConnectTimeout",
        "InternalServerError",
        "OverloadedError",
        "PoolTimeout",
        "ReadError",
        "ReadTimeout",
        "RemoteProtocolError",
        "ServerDisconnectedError",
        "ServiceUnavailableError",
        "WriteError",
        "JudgeUnreadable",  # ours: another answer of the same judge may be one that can be read
        "WriteTimeout",
    }
)
"""Class names of the HTTP libraries and model SDKs, matched by name so that none of them is imported."""

_PACKAGE: Final = __file__.rsplit("/", 2)[0]
_CALLERS: Final = tuple(f"{_PACKAGE}/{room}/" for room in ("engine", "tasks", "evaluators"))


def describe(error: BaseException, *, stage: str = "task") -> ErrorFacts:
    """The facts of an exception, bounded, whatever it does to prevent that."""
    if _is_ours(error):  # our own words: where in our code they stand helps nobody
        return ErrorFacts(type=type(error).__name__, message=_message(error), stage=stage)
    return ErrorFacts(
        type=_type_name(error),
        message=_message(error),
        trace=_trace(error),
        stage=stage,
    )


def classify(error: BaseException) -> ErrorClass:
    """Whether another try could help, judged by what the exception says of itself.

    A bug in user code is permanent: trying it again costs money and hides it.
    """
    try:
        classes = {_class_of(member) for member in _members(error)}
        return classes.pop() if len(classes) == 1 else "permanent"  # a group is what all of its members are
    except BaseException:  # its class, or a property of it, may raise anything when looked at
        return "permanent"


def _class_of(error: BaseException) -> ErrorClass:
    if _is_ours(error):
        return error.error_class
    status = _status(error)
    if status == 429 or type(error).__name__ in ("RateLimitError", "TooManyRequests", "ResourceExhausted"):
        return "rate_limited"
    if status in TRANSIENT_STATUS:
        return "transient"
    if status is not None:
        return "permanent"
    if isinstance(error, ConnectionError | TimeoutError | asyncio.IncompleteReadError):
        return "transient"
    if any(kind.__name__ in TRANSIENT_NAMES for kind in type(error).__mro__):
        return "transient"
    return "permanent"


def retry_after(error: BaseException) -> float | None:
    """Seconds that the provider asked to wait, where the exception carries its answer."""
    asked = [seconds for member in _members(error) if (seconds := _asked_by(member)) is not None]
    return max(asked, default=None)


def _asked_by(error: BaseException) -> float | None:
    get = _attribute(_attribute(_attribute(error, "response"), "headers"), "get")
    if not callable(get):
        return None
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(get(name)) * unit
        except BaseException:  # a foreign mapping, a date, or nothing there
            continue
        if 0 <= seconds < 86_400:
            return seconds
    return None


def _members(error: BaseException) -> list[BaseException]:
    """The exceptions that a group is about, the first of them; any other error stands for itself."""
    found: list[BaseException] = []
    todo = [error]
    while todo and len(found) < MEMBERS:
        one = todo.pop()
        if _is_group(one):
            todo.extend(reversed(one.exceptions))
        else:
            found.append(one)
    return found


def _is_ours(error: BaseException) -> TypeGuard[TaskFailure]:
    return issubclass(type(error), TaskFailure)  # by its type, as below


def _is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    # By its type: `isinstance` asks the object itself, and a foreign `__class__` may raise anything.
    return issubclass(type(error), BaseExceptionGroup)


def _status(error: BaseException) -> int | None:
    for owner in (error, _attribute(error, "response")):
        for name in ("status_code", "status"):
            value = _attribute(owner, name)
            if isinstance(value, int) and 100 <= value < 600:
                return int(value)
    return None


def _attribute(owner: object, name: str) -> object:
    try:
        return getattr(owner, name, None)
    except BaseException:  # a property of a foreign object may raise anything, SystemExit included
        return None


def _type_name(error: BaseException) -> str:
    kind = type(error)
    try:
        name = (
            kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        )
        return _encodable(clip(str.__str__(name), NAME_LIMIT))
    except BaseException:  # a foreign metaclass
        return "<no name>"


def _message(error: BaseException) -> str:
    text = _text_of(error)
    if _is_group(error):
        # "unhandled errors in a TaskGroup" helps nobody: what happened is in its members.
        members = [f"{_type_name(one)}: {clip(_text_of(one), MEMBER_LIMIT)}" for one in _members(error)]
        text = f"{clip(text, MEMBER_LIMIT)}: {'; '.join(members)}"
    return _encodable(clip(text, MESSAGE_LIMIT))


def _text_of(error: BaseException) -> str:
    try:
        return str.__str__(str(error))  # a plain one, whatever subclass of str it may be
    except BaseException as broken:  # a foreign __str__ may raise anything, SystemExit included
        return f"<no message: its __str__ raised {type(broken).__name__}>"


def _trace(error: BaseException) -> str:
    """The frames of the exception and, for each cause behind it, its name: enough to find the line."""
    try:
        # An exception that is raised again and again, some constant say, drags the frames of all times along.
        frames = traceback.extract_tb(error.__traceback__, limit=-FRAMES_LOOKED_AT)
        shown = [frame for frame in frames if not is_ours(frame.filename)] or list(frames)
        # Not by `format_list`, which parses each line again to underline a part of it.
        text = "".join(
            f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}\n    {frame.line}\n'
            for frame in shown[-TRACE_FRAMES:]
        )
        for cause in _causes(error):
            text += f"caused by {_type_name(cause)}: {clip(_message(cause), MEMBER_LIMIT)}\n"
    except BaseException as broken:
        text = f"<no trace: {type(broken).__name__}>"
    return _encodable(clip(text, TRACE_LIMIT))


def _causes(error: BaseException) -> list[BaseException]:
    """What stands behind an exception, nearest first, as far as anybody reads."""
    found = [error]
    while len(found) <= CAUSES:
        last = found[-1]
        cause = last.__cause__ or (None if last.__suppress_context__ else last.__context__)
        if cause is None or any(cause is seen for seen in found):
            break
        found.append(cause)
    return found[1:]


def is_ours(filename: str) -> bool:
    """Whether a frame is of the code that calls the user's, which says nothing about what went wrong."""
    return filename.startswith(_CALLERS)


def _encodable(text: str) -> str:
    """Text that UTF-8 can carry: a lone surrogate is shown by its code."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of a text, its head and its tail, and how much was left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 4
    return f"{text[:head]} … [{len(text) - head - tail:,} characters left out] … {text[-tail:]}"
