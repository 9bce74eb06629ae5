"""Models of embeddings: texts in, a vector for each out, so that texts of like meaning lie close together.

    await embedder("openai:text-embedding-3-small").embed(["a cat", "a kitten"])

They are named like other models, and reached through the same clients; or they are a function from texts to
vectors. `sim` places texts by their words, and says that it does.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from paceline.errors import UsageError
from paceline.models.clients import client_for
from paceline.models.hosted import request_of, usage_in
from paceline.models.naming import model
from paceline.models.openai_chat import OpenAIChat
from paceline.models.simulated import NAME as SIM
from paceline.models.simulated import Simulated
from paceline.pace.calls import Usage
from paceline.sim.openai_embeddings import DIMENSIONS, vector

Vector: TypeAlias = tuple[float, ...]
EXAMPLE: Final = "openai:text-embedding-3-small"


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """A vector for each text, in their order."""

    vectors: tuple[Vector, ...]
    model: str = ""
    usage: Usage | None = None
    simulated: bool = False


class Embedder(Protocol):
    """Something that gives texts a place."""

    @property
    def name(self) -> str:
        """What it is called in reports."""
        ...

    @property
    def version(self) -> str:
        """All that was said of what decides its vectors. No secrets."""
        ...

    def check_ready(self) -> None:
        """Raise a `UsageError` with the remedy if asking cannot work: no SDK, no key."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One call."""
        ...


def embedder(which: str | Embedder | Callable[..., Any] | Mapping[str, Any]) -> Embedder:
    """A model of embeddings from its name, from a mapping with a `name` and options, or from a function."""
    if callable(getattr(which, "embed", None)):
        return which  # type: ignore[return-value]  # it embeds, so it is one
    if callable(which) and not callable(getattr(which, "ask", None)):
        return _Function(which)
    asked = model(which)  # type: ignore[arg-type]  # it is not an embedder, as was seen above
    if isinstance(asked, Simulated):
        return _Simulated()
    if type(asked) is OpenAIChat:
        return _OpenAI(asked.provider, asked.model, asked.options, key_variable=asked.key_variable)
    raise UsageError(
        f"{asked.name} is no model of embeddings",
        hint=f"{EXAMPLE}, openai-compatible:NAME@https://host/v1, or {SIM}",
    )


class _OpenAI(OpenAIChat):
    """A model behind `POST /embeddings`."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        client = await client_for(self._connection(self.options), self._ready_client)
        raw = await client.embeddings.create(
            model=self.model, input=list(texts), encoding_format="float", extra_body=self.options.extra
        )
        in_order = sorted(raw.data, key=lambda each: each.index)
        return _checked(
            Vectors(
                vectors=tuple(tuple(each.embedding) for each in in_order),
                model=raw.model,
                usage=usage_in(raw),
                simulated=request_of(raw)["simulated"],
            ),
            texts,
        )


class _Simulated:
    """By the words of a text, in this process."""

    name = version = SIM

    def check_ready(self) -> None:
        """It always is."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        found = tuple(tuple(vector(text, DIMENSIONS)) for text in texts)
        return Vectors(vectors=found, model=SIM, simulated=True)


class _Function:
    """A function from texts to vectors, sync (on a thread) or async."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call
        self.name = getattr(call, "__name__", type(call).__name__)
        declared = getattr(call, "version", None)
        self.version = f"{self.name}, version={declared!r}" if isinstance(declared, str) else self.name

    def check_ready(self) -> None:
        """A callable is there."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        is_async = inspect.iscoroutinefunction(self._call)
        said = self._call(list(texts)) if is_async else asyncio.to_thread(self._call, list(texts))
        found = tuple(tuple(map(float, each)) for each in await said)
        return _checked(Vectors(vectors=found, model=self.name), texts)


def _checked(found: Vectors, texts: Sequence[str]) -> Vectors:
    """A vector for each text, all of one length and of finite numbers."""
    lengths = {len(each) for each in found.vectors}
    if len(found.vectors) != len(texts) or len(lengths) != 1 or 0 in lengths:
        raise ValueError(f"{len(texts)} texts got {len(found.vectors)} vectors, of {sorted(lengths)} numbers")
    if not all(math.isfinite(number) for each in found.vectors for number in each):
        raise ValueError("a vector has a number that is not finite")
    return found


__all__ = ["Embedder", "Vector", "Vectors", "embedder"]
