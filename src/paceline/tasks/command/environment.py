"""What a program sees of our environment: what programs need to run at all, and what it is given by name.

Keys of providers are not among it: they are passed by name (`pass_env`), or not at all, where the gateway
gives each attempt a key of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from paceline.errors import UsageError
from paceline.tasks.attempt import Attempt

ALWAYS: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ"),
    *("LANG", "LANGUAGE", "LC_*"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *(
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
    ),
    *("SSL_CERT_DIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("PYTHONPATH", "VIRTUAL_ENV", "NODE_PATH"),
)
"""Variables that every command is given, where they are set."""
TRACE: Final = ("TRACEPARENT", "TRACESTATE")


def passed(names: Iterable[str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of our environment that names and patterns let through."""
    environ = os.environ if environ is None else environ
    names = tuple(names)
    patterns = [name for name in names if set("*?[") & set(name)]
    found = {name: environ[name] for name in names if name in environ}
    if patterns:
        matching = (name for name in environ if any(fnmatchcase(name, each) for each in patterns))
        found |= {name: environ[name] for name in matching}
    return found


def check_passed(names: Iterable[str]) -> None:
    """Raise a `UsageError` for a variable that is to be passed on and is not there."""
    missing = [name for name in names if not set("*?[") & set(name) and name not in os.environ]
    if missing:
        raise UsageError(
            f"pass_env: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set here",
            hint=f"set it: export {missing[0]}=...",
        )


def of_attempt(attempt: Attempt | None, *, workspace: Path | None, suite: Path) -> dict[str, str]:
    """What a program is told of the attempt that it is."""
    told = {"PACELINE_SUITE": str(suite)}
    if workspace is not None:
        told["PACELINE_WORKSPACE"] = str(workspace)
    told |= passed(TRACE)
    if attempt is None:
        return told
    key = attempt.key
    return {
        **told,
        "PACELINE_RUN_ID": attempt.run.run_id,
        "PACELINE_CASE": key.case,
        "PACELINE_CASE_REPEAT": str(key.repeat),
        "PACELINE_CASE_VARIANT": key.variant,
        "PACELINE_CASE_ATTEMPT": str(attempt.number),
        **attempt.environ(),
    }
