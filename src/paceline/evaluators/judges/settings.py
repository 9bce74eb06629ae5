"""How a judge's model is asked, and how it is written: in our words, where others have words of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from paceline.errors import UsageError
from paceline.models import Model
from paceline.models.options import Options, options_of

_OTHER_WORDS: Final = {"stop_sequences": "stop", "extra_body": "extra", "extra_headers": "headers"}
"""What Pydantic AI's `ModelSettings` call the same."""
_SECRET: Final = ("headers", "api_key_env")


def settings_for(model: Model, given: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Settings as this model takes them; UsageError for one that it does not know."""
    if not given:
        return {}
    said = {_OTHER_WORDS.get(name, name): value for name, value in given.items()}
    if isinstance(getattr(model, "options", None), Options):
        options_of(said, model=model.name, without=getattr(model, "unused", ()))
    elif said:
        raise UsageError(
            f"the model {model.name} takes no settings, and the judge has {', '.join(said)}",
            hint="leave model_settings out",
        )
    return said


def written_model(given: Any) -> Any:
    """A model as a file names it; itself where it has no name that would bring it back."""
    options = getattr(given, "options", None)
    if not isinstance(options, Options):
        return dict(given) if isinstance(given, Mapping) else given
    said: dict[str, Any] = msgspec.to_builtins(options)
    if any(name in said for name in _SECRET):
        return given
    said.pop("base_url", None)  # it is in the name
    return {"name": given.name, **said} if said else given.name


__all__ = ["settings_for", "written_model"]
