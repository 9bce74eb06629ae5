"""Sorting failures: an exception becomes facts, and the facts a class that retry can decide on.

This is the one gate where foreign exceptions turn into data. Nothing that a task raises gets past it, however
broken: not a `__str__` that raises, not a message of fifty megabytes, not an error that cannot be pickled.
"""

from __future__ import annotations

import asyncio
import traceback
from typing import Final

from paceline.journal.records import ErrorClass, ErrorFacts

MESSAGE_LIMIT: Final = 4_096
TRACE_LIMIT: Final = 8_192
TRACE_FRAMES: Final = 12

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
        "WriteTimeout",
    }
)
"""Class names of the HTTP libraries and model SDKs, matched by name so that none of them is imported."""


def describe(error: BaseException, *, stage: str = "task") -> ErrorFacts:
    """The facts of an exception, bounded, whatever it does to prevent that."""
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
    headers = _attribute(_attribute(error, "response"), "headers")
    get = _attribute(headers, "get")
    if not callable(get):
        return None
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(get(name)) * unit
        except Exception:  # a foreign mapping, a date, or nothing there
            continue
        if 0 <= seconds < 86_400:
            return seconds
    return None


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
    except Exception:  # a property of a foreign object may raise anything
        return None


def _type_name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as broken:  # a foreign __str__ may raise anything, SystemExit included
        text = f"<no message: its __str__ raised {type(broken).__name__}>"
    return clip(_encodable(text), MESSAGE_LIMIT)


def _trace(error: BaseException) -> str:
    """The frames of the exception and, for each cause behind it, its name: enough to find the line."""
    try:
        frames = traceback.extract_tb(error.__traceback__)
        shown = [frame for frame in frames if not _ours(frame.filename)] or list(frames)
        text = "".join(traceback.format_list(shown[-TRACE_FRAMES:]))
        seen = {id(error)}
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        while cause is not None and id(cause) not in seen:
            seen.add(id(cause))
            text += f"caused by {_type_name(cause)}: {clip(_message(cause), 300)}\n"
            cause = cause.__cause__ or cause.__context__
    except Exception as broken:
        text = f"<no trace: {type(broken).__name__}>"
    return clip(_encodable(text), TRACE_LIMIT)


def _ours(filename: str) -> bool:
    return "/paceline/engine/" in filename or "/paceline/tasks/" in filename


def _encodable(text: str) -> str:
    """Text that UTF-8 can carry: a lone surrogate is shown by its code."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text[: 2 * TRACE_LIMIT].encode("utf-8", "backslashreplace").decode()
    return text


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of a text, its head and its tail, and how much was left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 4
    return f"{text[:head]} … [{len(text) - head - tail:,} characters left out] … {text[-tail:]}"
