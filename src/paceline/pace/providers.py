"""Who answers model calls, and how each of them speaks: one row per provider, one per endpoint.

A call is known by the path it is sent to, whatever the host, so that any OpenAI-compatible base URL is paced.
The host then says whose rules hold; of a host that nobody knows, the wire format decides. What differs
between providers is data here; what is read with it is in `answers`.

Knows names and words. Knows nothing of requests being sent.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

import msgspec

Wire = Literal["openai", "anthropic", "gemini", "bedrock"]
"""How requests and answers are written."""

Charge = Literal["used", "most", "sum"]
"""What a call is charged against tokens per minute: what it used; the greater of its prompt and `max_tokens`;
or the sum of both. The latter two are charged when it arrives and not given back."""


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    wire: Wire
    hosts: tuple[str, ...] = ()
    """Ends of host names."""
    charge: Charge = "used"
    prices: str | None = None
    """What genai-prices calls it; None where its models are known by their own names."""
    daily_requests: bool = False
    """Whether the request limit in its headers is one per day."""
    quota_words: bool = True
    """Whether "exceeded your current quota" means spent money. Gemini says it of every limit."""
    plain_429: Literal["requests", "unknown"] = "unknown"
    """What a bare "Too many requests" is about."""


OPENAI: Final = Provider(
    name="openai", wire="openai", hosts=("api.openai.com",), charge="most", prices="openai"
)
ANTHROPIC: Final = Provider(
    name="anthropic", wire="anthropic", hosts=("api.anthropic.com",), prices="anthropic"
)
COMPATIBLE: Final = Provider(name="openai-compatible", wire="openai")
"""vLLM, SGLang, llama.cpp, LiteLLM, gateways: whoever speaks like OpenAI under a name of their own."""
AZURE: Final = Provider(
    name="azure",
    wire="openai",
    hosts=(".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"),
    charge="sum",
    prices="azure",
)
GEMINI: Final = Provider(
    name="gemini",
    wire="gemini",
    hosts=("generativelanguage.googleapis.com",),
    prices="google",
    quota_words=False,
)
VERTEX: Final = Provider(
    name="vertex", wire="gemini", hosts=("aiplatform.googleapis.com",), prices="google", quota_words=False
)
BEDROCK: Final = Provider(
    name="bedrock",
    wire="bedrock",
    hosts=(".amazonaws.com",),
    charge="sum",
    prices="aws",
    plain_429="requests",
)
OPENROUTER: Final = Provider(
    name="openrouter", wire="openai", hosts=("openrouter.ai",), prices="openrouter", daily_requests=True
)

PROVIDERS: Final = (
    OPENAI,
    ANTHROPIC,
    AZURE,
    GEMINI,
    VERTEX,
    BEDROCK,
    OPENROUTER,
    Provider(name="groq", wire="openai", hosts=("api.groq.com",), prices="groq", daily_requests=True),
    Provider(name="mistral", wire="openai", hosts=("api.mistral.ai",), prices="mistral"),
    Provider(name="deepseek", wire="openai", hosts=("api.deepseek.com",), prices="deepseek"),
    Provider(
        name="together", wire="openai", hosts=("api.together.xyz", "api.together.ai"), prices="together"
    ),
    Provider(name="fireworks", wire="openai", hosts=("api.fireworks.ai",), prices="fireworks"),
    Provider(name="xai", wire="openai", hosts=("api.x.ai",), prices="x-ai"),
    Provider(name="cerebras", wire="openai", hosts=("api.cerebras.ai",), prices="cerebras"),
    Provider(name="perplexity", wire="openai", hosts=("api.perplexity.ai",), prices="perplexity"),
    Provider(name="cohere", wire="openai", hosts=("api.cohere.com", "api.cohere.ai"), prices="cohere"),
)


class Endpoint(NamedTuple):
    """Where a call goes, read from its path."""

    wire: Wire
    name: str
    """The part of the path that says what is asked: `/chat/completions`, `:generateContent`."""
    model: str = ""
    """Where the path names it."""


_SPOKEN: Final[dict[str, tuple[str, Wire]]] = {
    # Last part of the path: the endpoint and its wire.
    "completions": ("/completions", "openai"),
    "responses": ("/responses", "openai"),
    "embeddings": ("/embeddings", "openai"),
    "moderations": ("/moderations", "openai"),
    "rerank": ("/rerank", "openai"),
    "generations": ("/images/generations", "openai"),
    "messages": ("/messages", "anthropic"),
}
_DEPLOYMENT: Final = re.compile(r"/deployments/([^/]+)/")
_GEMINI: Final = re.compile(
    r"/models/([^/:]+)"
    r"(:(?:generateContent|streamGenerateContent|embedContent|batchEmbedContents|rawPredict|streamRawPredict))$"
)
_BEDROCK: Final = re.compile(
    r"/model/(.+)(/(?:converse|converse-stream|invoke|invoke-with-response-stream))$"
)


def endpoint_of(path: str) -> Endpoint | None:
    """What a path asks for; None where it is no model call."""
    last = path.rpartition("/")[2]
    if spoken := _SPOKEN.get(last):
        name, wire = spoken
        if not path.endswith(name):
            return None
        name = "/chat/completions" if path.endswith("/chat/completions") else name
        deployment = _DEPLOYMENT.search(path) if "/deployments/" in path else None
        return Endpoint(wire, name, deployment[1] if deployment else "")
    if ":" in last and (found := _GEMINI.search(path)):
        wire = "anthropic" if found[2].lower().endswith("rawpredict") else "gemini"
        return Endpoint(wire, found[2], found[1])
    if "/model/" in path and (found := _BEDROCK.search(path)):
        return Endpoint("bedrock", found[2], found[1])
    return None


def provider_of(host: str, path: str) -> Provider | None:
    """Whose rules hold for what is sent there; None where it is no model call."""
    endpoint = endpoint_of(path)
    return None if endpoint is None else provider_for(host, endpoint)


def provider_for(host: str, endpoint: Endpoint) -> Provider:
    """The row of a host, or where nobody knows it, the row of those who speak like it."""
    for row in PROVIDERS:
        for known in row.hosts:
            if host == known or host.endswith(known if known[0] in ".-" else f".{known}"):
                return row
    if host.endswith("-aiplatform.googleapis.com"):
        return VERTEX
    return {"openai": COMPATIBLE, "anthropic": ANTHROPIC, "gemini": GEMINI, "bedrock": BEDROCK}[endpoint.wire]
