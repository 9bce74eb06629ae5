"""Upstreams: where calls go from the gateway, with the real keys.

The keys are read here from the environment of the harness and are put into requests here. A child is told
the address of the gateway and a key of its own instead, under the names that its SDK looks for.

Knows names of variables and headers. Knows nothing of connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, get_args

import msgspec

from paceline.errors import UsageError

Auth = Literal["authorization", "x-api-key", "x-goog-api-key"]
"""The header that a key stands in."""


class Upstream(msgspec.Struct, frozen=True, kw_only=True):
    """One place that answers model calls."""

    name: str
    """The part of a path at the gateway that leads there."""
    base_url: str
    """As an SDK would have it, without a slash at its end."""
    key: str = ""
    auth: Auth = "authorization"
    key_names: tuple[str, ...] = ()
    """Variables that an SDK looks for its key in; the first that is set here holds the real one."""
    url_names: tuple[str, ...] = ()
    """Variables that an SDK looks for its base URL in."""
    prefix: str = ""
    """What the base URL that a child is told ends in, since some look for it; it leads nowhere."""

    def __repr__(self) -> str:
        return f"Upstream(name={self.name!r}, base_url={self.base_url!r})"  # a key stays out of every log

    @property
    def credentials(self) -> dict[str, str]:
        """The header with the real key; nothing where there is none."""
        if not self.key:
            return {}
        return {self.auth: f"Bearer {self.key}" if self.auth == "authorization" else self.key}


KNOWN: Final = (
    Upstream(
        name="openai",
        base_url="https://api.openai.com/v1",
        key_names=("OPENAI_API_KEY",),
        url_names=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        prefix="/v1",
    ),
    Upstream(
        name="anthropic",
        base_url="https://api.anthropic.com",
        auth="x-api-key",
        key_names=("ANTHROPIC_API_KEY",),
        url_names=("ANTHROPIC_BASE_URL",),
    ),
    Upstream(
        name="gemini",
        base_url="https://generativelanguage.googleapis.com",
        auth="x-goog-api-key",
        key_names=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        url_names=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
    ),
)
"""Those that SDKs and agents find by variables of the environment."""


def upstreams_in(
    environ: Mapping[str, str], more: Mapping[str, Mapping[str, str]] | None = None
) -> dict[str, Upstream]:
    """By name: those that are known, as this environment has them, and `more` that somebody has written.

    Each of `more` says `base_url`, and may say `key_env` (the variable that holds its key), `auth`, and
    `url_env` (the variable in which a child looks for the address).
    """
    found = {each.name: _as_set(each, environ) for each in KNOWN}
    for name, written in (more or {}).items():
        found[name] = _written(name, written, environ, found.get(name))
    return found


def _as_set(upstream: Upstream, environ: Mapping[str, str]) -> Upstream:
    url = next((environ[name] for name in upstream.url_names if environ.get(name)), upstream.base_url)
    key = next((environ[name] for name in upstream.key_names if environ.get(name)), "")
    return msgspec.structs.replace(upstream, base_url=url.rstrip("/"), key=key)


_AUTHS: Final[Mapping[str, Auth]] = {each: each for each in get_args(Auth)}
FIELDS: Final = ("base_url", "key_env", "auth", "url_env")


def _written(
    name: str, written: Mapping[str, str], environ: Mapping[str, str], known: Upstream | None
) -> Upstream:
    if not name.isidentifier():
        raise UsageError(
            f"gateway: {name!r} is no name of an upstream", hint="letters, digits and _, such as openrouter"
        )
    if unknown := sorted(set(written) - set(FIELDS)):
        raise UsageError(
            f"gateway: upstream {name} has no {unknown[0]!r}", hint=f"it has {', '.join(FIELDS)}"
        )
    base_url = written.get("base_url") or (known.base_url if known else "")
    if not base_url.startswith(("http://", "https://")):
        raise UsageError(
            f"gateway: upstream {name} has no base_url", hint="such as https://openrouter.ai/api/v1"
        )
    named = written.get("auth") or (known.auth if known else "authorization")
    auth = _AUTHS.get(named)
    if auth is None:
        raise UsageError(f"gateway: upstream {name}: auth cannot be {named!r}", hint=f"{', '.join(_AUTHS)}")
    key_names = (written["key_env"],) if "key_env" in written else known.key_names if known else ()
    url_names = (written["url_env"],) if "url_env" in written else known.url_names if known else ()
    key = next((environ[each] for each in key_names if environ.get(each)), "")
    return Upstream(
        name=name,
        base_url=base_url.rstrip("/"),
        key=key,
        auth=auth,
        key_names=key_names,
        url_names=url_names,
    )


def environment(gateway: str, token: str, upstreams: Iterable[Upstream]) -> dict[str, str]:
    """What a child is told in place of addresses and keys; `gateway` is the address of the gateway."""
    told: dict[str, str] = {}
    for upstream in upstreams:
        told |= dict.fromkeys(upstream.url_names, f"{gateway}/{token}/{upstream.name}{upstream.prefix}")
        told |= dict.fromkeys(upstream.key_names, token)
    return told
