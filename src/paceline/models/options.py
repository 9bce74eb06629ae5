"""How a model is asked: one set of words for all providers, checked before anything is asked.

Every adapter translates these words to its provider's. What only one provider knows goes through `extra`,
which is sent as it stands. A word that an API has no use for is refused: a setting that is silently dropped
makes two runs look comparable that are not.

Secrets stand in none of these: a key is named by its environment variable, and read where it is used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final

import msgspec

from paceline.errors import UsageError
from paceline.settings import nearest

Count = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Options(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What may be said about how a model is asked; None is the provider's own default."""

    temperature: Annotated[float, msgspec.Meta(ge=0)] | None = None
    top_p: Share | None = None
    max_tokens: Count | None = None
    """Of the output, reasoning included."""
    stop: tuple[str, ...] | None = None
    seed: int | None = None
    reasoning: str | None = None
    """How much to think: `low`, `medium`, `high`, or what else the model knows."""
    tool_choice: str | None = None
    """`auto`, `none`, `required`, or the name of the tool that has to be called."""
    parallel_tool_calls: bool | None = None
    extra: dict[str, Any] | None = None
    """Sent along in the body of the request as it stands."""
    timeout: Seconds | None = None
    """Seconds without a byte after which a call is given up. None is the SDK's ten minutes."""
    base_url: str | None = None
    api_key_env: str | None = None
    """The environment variable that holds the key."""
    headers: dict[str, str] | None = None
    """Sent along with each request. Never recorded: there may be secrets in them."""

    def said(self) -> list[str]:
        """What was said of what decides the answer, as `name=value`."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return [
            f"{name}={msgspec.json.encode(value, order='deterministic').decode()}"
            for name, value in plain.items()
            if name not in _NOT_OF_THE_ANSWER
        ]

    def __repr__(self) -> str:
        return f"Options({', '.join(self.said())})"


_NOT_OF_THE_ANSWER: Final = frozenset({"timeout", "api_key_env", "headers", "base_url"})
"""What decides whether and how fast there is an answer, or may hold a secret. The base URL is in the name."""

WORDS: Final = Options.__struct_fields__


def options_of(given: Mapping[str, Any], *, model: str, without: Collection[str] = ()) -> Options:
    """Options from what was written; `without` are words that this model's API has no use for."""
    known = [word for word in WORDS if word not in without]
    for word in given:
        if word in ("api_key", "key", "token"):
            raise UsageError(
                f"{model}: a key is not said here, it would end up in records",
                hint="put it into an environment variable and name that: `api_key_env: MY_KEY`",
            )
        if word in without and given[word] is not None:
            raise UsageError(
                f"{model}: this API has no {word}", hint=f"leave it out; it has {', '.join(known)}"
            )
        if word not in WORDS:
            raise UsageError(
                f"{model}: there is no option {word!r}{nearest(str(word), known)}",
                hint=f"there are {', '.join(known)}; what only this API knows goes below `extra`",
            )
    stop = given.get("stop")
    written = {**given, "stop": [stop]} if isinstance(stop, str) else dict(given)
    try:
        return msgspec.convert(written, Options)
    except msgspec.ValidationError as error:
        raise UsageError(f"{model}: {_worded(str(error))}", hint=_EXAMPLE) from None


def replaced(options: Options, given: Mapping[str, Any], *, model: str, without: Collection[str]) -> Options:
    """The options of one call: those of the model, with others in place of some."""
    if not given:
        return options
    before = {word: value for word in WORDS if (value := getattr(options, word)) is not None}
    return options_of({**before, **given}, model=model, without=without)


_EXAMPLE: Final = "for example `{temperature: 0, max_tokens: 500, stop: [END], timeout: 60}`"


def _worded(message: str) -> str:
    """msgspec's complaint, with the option in front."""
    said, _, path = message.partition(" - at `$.")
    option = path.rstrip("`").partition("[")[0]
    return f"option {option}: {said[0].lower()}{said[1:]}" if option else said
