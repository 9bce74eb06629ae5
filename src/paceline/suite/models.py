"""Models as what is under test, said in a suite.yaml or on a command line: no Python is needed.

    model: openai:gpt-5.4-mini          or {name: openai:gpt-5.4-mini, temperature: 0}
    system: You are a translator.
    prompt: "Translate into French: {{ inputs.text }}"

Beside `prompt` and `system` there are `messages`, `tools` and `schema`; each of them may be `{file: PATH}`.
What stands at the top holds for every variant that is a model, unless the variant says otherwise.

Knows how it is written. What is asked, and when a model cannot be, is the model task's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from paceline.errors import SuiteError, UsageError

if TYPE_CHECKING:
    from paceline.tasks.model import ModelTask

PARTS: Final = ("prompt", "system", "messages", "tools", "schema")
"""What may be said of a model task beside its model."""
_TEXTS: Final = ("prompt", "system")

Task = Callable[..., Any]


class ModelsOf(NamedTuple):
    """What a file says of models, and where errors are to say that it stands."""

    model: Any
    parts: Mapping[str, Any]
    base: Path
    where: Callable[[str], str]
    """The place of a key, as errors name it."""

    def task(self, key: str = "model", said: Mapping[str, Any] | None = None) -> ModelTask:
        """The model task of the file, or of a variant that says some of it otherwise."""
        from paceline.tasks.model import ModelTask

        said = said or {}
        which = said.get("model", self.model)
        parts = {**self.parts, **{name: said[name] for name in PARTS if name in said}}
        try:
            read = {name: _read(value, name, self.base) for name, value in parts.items()}
            return ModelTask(which, **read)
        except UsageError as error:
            raise SuiteError(f"{self.where(key)}: {error}", hint=error.hint) from None

    def variant(self, name: str, said: object) -> ModelTask | None:
        """The task of a variant, if that is a model."""
        key = f"variants.{name}"
        if isinstance(said, str):
            return self.task(key, {"model": said}) if is_model(said) else None
        if not isinstance(said, Mapping) or "task" in said:
            return None
        if unknown := [word for word in said if word not in ("model", *PARTS)]:
            raise SuiteError(
                f"{self.where(key)}: variant {name!r} has no {unknown[0]!r}",
                hint=f"beside model there are {', '.join(PARTS)}; "
                "options of a model stand with its name: `model: {name: ..., temperature: 0}`",
            )
        return self.task(key, said)


def is_model(written: str) -> bool:
    """Whether this names a model rather than a Python object."""
    from paceline.models import looks_like_a_model

    return looks_like_a_model(written)


def on_models(task: Task | None, names: Sequence[str]) -> tuple[Task | None, dict[str, Task]]:
    """What runs in place of `task` where models are named at the call: a task, or variants.

    A model task keeps what it asks; anything else gives way to the inputs themselves.
    """
    tasks = {name: _on(task, name) for name in names}
    if len(tasks) == 1:
        return next(iter(tasks.values())), {}
    return None, tasks


def on_models_named(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What a file says, with other models in place of its task or model: one, or several as variants."""
    from paceline.tasks.model import of_any_model

    kept = {key: value for key, value in values.items() if key not in ("task", "model", "variants")}
    said = values.get("model")
    options = of_any_model(said) if isinstance(said, Mapping) else {}
    asked = {name: {**options, "name": name} for name in names}
    if len(names) == 1:
        return {**kept, "model": asked[names[0]]}
    return {**kept, "variants": {name: {"model": which} for name, which in asked.items()}}


def _on(task: Task | None, name: str) -> Task:
    from paceline.tasks.model import ModelTask

    try:
        return task.on(name) if isinstance(task, ModelTask) else ModelTask(name)
    except UsageError as error:
        raise SuiteError(f"--model: {error}", hint=error.hint) from None


def _read(value: Any, name: str, base: Path) -> Any:
    """A part as it is written, or what is in the file that it names."""
    match value:
        case {"file": str(file)} if len(value) == 1:
            return _in_file(base / file, name)
    return value


def _in_file(path: Path, name: str) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise UsageError(f"{name}: {path} cannot be read: {why}", hint="paths are relative to the suite file")
    if name in _TEXTS:
        return text
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(
            f"{name}: {path} is neither JSON nor YAML: {getattr(error, 'problem', None) or error}",
            hint=f"it holds what `{name}:` would",
        ) from None
