"""Clients of the `openai` SDK, for both of its APIs and for all servers that are compatible with it."""

from __future__ import annotations

from typing import Any

from paceline.models.clients import Client, Connection, connection_limits

NO_KEY = "none"
"""Sent where a server wants no key: the SDK insists on one."""


def openai_client(connection: Connection) -> Client:
    """A client that sends every request once."""
    import httpx2
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    client: Any = AsyncOpenAI(
        api_key=connection.key or NO_KEY,
        base_url=connection.base_url,
        default_headers=dict(connection.headers) or None,
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(limits=httpx2.Limits(**connection_limits())),  # type: ignore[arg-type]  # the names are those of `Limits`
    )
    return client  # type: ignore[no-any-return]  # it has `close`
