"""How models are named: `openai:gpt-5.4-mini`, `anthropic:claude-haiku-5-5`, `openai-compatible:llama@http://host/v1`.

A name says through which API a model is asked, and what it is called there. Whether there is a model of that
name, only the provider knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from paceline.errors import UsageError
from paceline.models.anthropic_messages import AnthropicMessages
from paceline.models.function import Function
from paceline.models.hosted import Hosted, without_secrets
from paceline.models.messages import Model
from paceline.models.openai_chat import OpenAIChat
from paceline.models.openai_responses import OpenAIResponses
from paceline.models.options import options_of
from paceline.models.simulated import NAME as SIM
from paceline.models.simulated import Simulated
from paceline.settings import nearest


@dataclass(frozen=True, slots=True)
class Provider:
    """A way to reach models."""

    api: type[Hosted]
    key_variable: str | None
    example: str


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider(OpenAIChat, "OPENAI_API_KEY", "openai:gpt-5.4-mini"),
    "openai-responses": Provider(OpenAIResponses, "OPENAI_API_KEY", "openai-responses:gpt-5.4-mini"),
    "anthropic": Provider(AnthropicMessages, "ANTHROPIC_API_KEY", "anthropic:claude-haiku-5-5"),
    # Whose server that is, nobody knows: no key goes there unless it is named.
    "openai-compatible": Provider(OpenAIChat, None, "openai-compatible:llama-3@http://127.0.0.1:8000/v1"),
}
APIS: Final[Mapping[str, type[Hosted]]] = {"chat": OpenAIChat, "responses": OpenAIResponses}
FORMS: Final = ", ".join((*(provider.example for provider in PROVIDERS.values()), SIM))

_MAKERS: Final = (
    (re.compile(r"claude", re.IGNORECASE), "anthropic"),
    (re.compile(r"(?:gpt|chatgpt|o[1-9]|ft:gpt)", re.IGNORECASE), "openai"),
)
"""Whose models are called so, for guesses."""


def model(which: str | Model | Callable[..., Any] | Mapping[str, Any], **options: Any) -> Model:
    """A model from its name, from a mapping with a `name` and options, or from a callable.

    A `Model` is returned as it is. Says at once if the name or an option cannot be; whether there is a key,
    `check_ready` tells.
    """
    if isinstance(which, Mapping):
        return _from_mapping(which, options)
    if isinstance(which, str):
        return _from_name(which, options)
    if callable(getattr(which, "ask", None)):
        if options:
            raise UsageError(f"{which!r} has its options already", hint="give options with a name")
        return which  # type: ignore[return-value]  # it asks, so it is a model
    if callable(which):
        if options:
            raise UsageError("a function has no options", hint="bind arguments with functools.partial")
        return Function(which)
    raise UsageError(
        f"a {type(which).__name__} is no model",
        hint=f"a name, such as {FORMS}; or a function from text to text",
    )


def looks_like_a_model(written: str) -> bool:
    """Whether a text that stands where a Python object is named was meant to be a model."""
    # `sim:answer` may well be a function of somebody's `sim.py`.
    return written.partition(":")[0] in PROVIDERS or written == SIM


def _from_mapping(which: Mapping[str, Any], options: Mapping[str, Any]) -> Model:
    said = {**which, **options}
    name = said.pop("name", None)
    if not isinstance(name, str):
        raise UsageError(
            f"a model with options wants a name, not {name!r}",
            hint="`{name: openai:gpt-5.4-mini, temperature: 0}`",
        )
    return _from_name(name, said)


def _from_name(written: str, said: Mapping[str, Any]) -> Model:
    kind, colon, rest = written.partition(":")
    if kind == SIM and (rest.strip() or not colon):
        return Simulated(rest.strip(), **said)
    provider = PROVIDERS.get(kind)
    if provider is None or not colon or not rest.strip():
        raise _unknown(written)
    name, at_sign, place = rest.rpartition("@") if _has_place(rest) else (rest, "", "")
    options = {word: value for word, value in said.items() if word != "api"}
    if at_sign:
        if options.get("base_url") not in (None, place):
            raise UsageError(
                f"{name}: its base URL is said twice", hint="keep the one in the name, or the option base_url"
            )
        options["base_url"] = place
    api = _api(said, kind, provider)
    shown = f"{kind}:{name}"
    chosen = options_of(options, model=shown, without=api.unused)
    _check_address(chosen.base_url, shown, needed=kind == "openai-compatible")
    return api(kind, name, chosen, key_variable=provider.key_variable)


def _has_place(rest: str) -> bool:
    return "@http://" in rest or "@https://" in rest


def _api(said: Mapping[str, Any], kind: str, provider: Provider) -> type[Hosted]:
    wanted = said.get("api")
    if wanted is None:
        return provider.api
    if provider.api is not OpenAIChat or wanted not in APIS:
        allowed = ", ".join(APIS) if provider.api is OpenAIChat else "one only, which need not be said"
        raise UsageError(f"{kind} has no API {wanted!r}", hint=f"it has {allowed}")
    return APIS[wanted]


def _check_address(url: str | None, shown: str, *, needed: bool) -> None:
    if url is None:
        if needed:
            raise UsageError(
                f"{shown} does not say where the model is",
                hint=f"write {shown}@https://host/v1, or base_url: ...",
            )
        return
    if not re.match(r"https?://[^\s/]+", url):
        raise UsageError(
            f"{shown}: {without_secrets(url)!r} is no base URL", hint="it begins with http:// or https://"
        )


def _unknown(written: str) -> UsageError:
    return UsageError(f"there is no model {written!r}{_meant(written)}", hint=f"models are named {FORMS}")


def _meant(written: str) -> str:
    """A question that names what was probably meant, or nothing."""
    kind, _, rest = written.replace("/", ":", 1).partition(":")
    kind = kind.strip().casefold()
    if kind == SIM:
        return f"; did you mean {SIM}?"
    if kind in PROVIDERS:
        return f"; did you mean {kind}:{rest.strip() or PROVIDERS[kind].example.partition(':')[2]}?"
    for pattern, maker in _MAKERS:
        if pattern.match(written.strip()):
            return f"; did you mean {maker}:{written.strip()}?"
    close = nearest(kind, PROVIDERS).removesuffix("?")
    return f"{close}:{rest}?" if close and rest else ""
