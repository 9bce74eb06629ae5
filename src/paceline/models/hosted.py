"""What models behind an SDK have in common: name, options, readiness, and the shape of a call.

An adapter says which SDK it stands on, how a request is built and how an answer is read. Errors of the SDK
pass as they are: who retries knows them.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

from paceline.errors import UsageError
from paceline.models.clients import Client, Connection, client_for
from paceline.models.messages import Answer, Conversation, Message, Tool
from paceline.models.options import Options, replaced
from paceline.models.plain import messages_of, tools_of
from paceline.models.schemas import read_json
from paceline.models.simulated import is_simulated
from paceline.pace.calls import Usage
from paceline.pace.usages import usage_of


class Hosted(ABC):
    """A model that is asked through an official SDK."""

    sdk: ClassVar[str]
    """The package, and our extra that brings it."""
    unused: ClassVar[frozenset[str]] = frozenset()
    """Words of `Options` that the API has no use for."""

    def __init__(self, provider: str, model: str, options: Options, *, key_variable: str | None) -> None:
        self.provider = provider
        self.model = model
        self.options = options
        self.key_variable = options.api_key_env or key_variable
        """The environment variable that holds the key; None where none is needed."""

    @property
    def name(self) -> str:
        """`openai:gpt-5.4-mini`, with the address where one was given."""
        place = f"@{without_secrets(self.options.base_url)}" if self.options.base_url else ""
        return f"{self.provider}:{self.model}{place}"

    @property
    def version(self) -> str:
        """Name and options: what decides the answers."""
        return ", ".join((self.name, *self.options.said()))

    def __repr__(self) -> str:
        return f"<model {self.version}>"

    def check_ready(self) -> None:
        """Whether there is an SDK and a key. The SDK is loaded here: it takes a second, and in the midst of a
        run that would be a second in which nothing else happens.
        """
        if find_spec(self.sdk) is None:
            raise UsageError(
                f"{self.name} needs the package {self.sdk}, which is not installed",
                hint=f"pip install 'paceline[{self.sdk}]'",
            )
        try:
            import_module(self.sdk)
        except Exception as error:  # an installation that is broken, in whatever way
            raise UsageError(
                f"{self.name} needs the package {self.sdk}, which cannot be loaded: {error}",
                hint=f"pip install --upgrade 'paceline[{self.sdk}]'",
            ) from error
        if self.key_variable is not None and not self._key():
            self._without_key(self.key_variable)

    def _without_key(self, variable: str) -> None:
        """There is no key in the variable."""
        raise UsageError(
            f"{self.name} needs a key, and {variable} is not set",
            hint=f"export {variable}=..., or name the variable that holds it: `api_key_env: MY_KEY`",
        )

    def _key(self) -> str | None:
        return (os.environ.get(self.key_variable) or None) if self.key_variable else None

    async def ask(
        self,
        messages: Conversation,
        *,
        tools: Sequence[Tool | Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Answer:
        """One call of the API, sent once: sending it again is the business of the pace below."""
        chosen = replaced(self.options, options, model=self.name, without=self.unused)
        request = self.request(messages_of(messages), tools_of(tools), schema, chosen)
        client = await client_for(self._connection(chosen), self._ready_client)
        answer = self.read(await self.send(client, request))
        return answer if schema is None else read_json(answer)

    def _ready_client(self, connection: Connection) -> Client:
        # Looked at again: not every caller has done so before, and a variable may be gone in a child process.
        self.check_ready()
        return self.client(connection)

    def _connection(self, options: Options) -> Connection:
        headers = tuple(sorted((options.headers or {}).items()))
        return Connection(self.sdk, options.base_url, self._key(), headers)

    @abstractmethod
    def request(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Tool, ...],
        schema: Mapping[str, Any] | None,
        options: Options,
    ) -> dict[str, Any]:
        """The keyword arguments of the SDK's call."""

    @abstractmethod
    def client(self, connection: Connection) -> Client:
        """A new client of the SDK."""

    @abstractmethod
    async def send(self, client: Any, request: dict[str, Any]) -> Any:
        """What the SDK returns for a request."""

    @abstractmethod
    def read(self, raw: Any) -> Answer:
        """What that says, in our words."""


def without_secrets(url: str) -> str:
    """An address without user, password and query, where keys are sometimes put."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def usage_in(raw: Any) -> Usage | None:
    """The tokens that an answer of an SDK tells, read as the door reads them."""
    told = getattr(raw, "usage", None)
    return None if told is None else usage_of(told.model_dump())


def request_of(raw: Any) -> dict[str, Any]:
    """How the provider names the request that an answer of an SDK is to, and whether a simulated one does."""
    request = getattr(raw, "_request_id", None) or ""
    return {"request_id": request, "simulated": is_simulated(request)}


def given(**values: Any) -> dict[str, Any]:
    """What was given: the rest is left to the provider."""
    return {name: value for name, value in values.items() if value is not None}
