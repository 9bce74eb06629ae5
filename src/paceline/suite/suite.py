"""A suite: a dataset, a task and settings that belong together, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paceline.errors import SuiteError
from paceline.settings import Written, at, check_names

if TYPE_CHECKING:
    from paceline.gates.rules import Rules


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What to run on what, and how."""

    dataset: Any
    """A `Dataset`, the path of a dataset file (from `folder`), or a mapping such as a dataset file holds."""
    task: Callable[..., Any] | None = None
    name: str = ""
    evaluators: Sequence[object] = ()
    """For all cases, in addition to those of the dataset."""
    custom_evaluators: Sequence[type[Any]] = ()
    """Classes that a dataset file may name beside the built-in ones."""
    lifecycle: Any = None
    variants: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Several tasks to compare in one run, by name, in place of the one in `task`."""
    map: Mapping[str, str] = field(default_factory=dict)
    """For rows in JSONL and CSV: which of their fields is our `inputs`, `expected_output`, `name`."""
    metadata: Mapping[str, Any] | None = None
    repeat: int | None = None
    check: Mapping[str, Any] = field(default_factory=dict)
    """What a run of it has to keep: `min`, `max`, `no_regression`, ...; see `paceline check`."""
    settings: Mapping[str, object] = field(default_factory=dict)
    file: str = ""
    """The file that this was loaded from, as it was named; with `:name` where that was said."""
    folder: Path = field(default_factory=Path)
    lines: Mapping[str, int] = field(default_factory=dict)
    """Where in the file each setting stands."""

    def __post_init__(self) -> None:
        place = self.file or "Suite"
        check_names(self.settings, place, lines=self.lines)
        if self.repeat is not None and "repeat" in self.settings:
            raise SuiteError(f"{place}: repeat is said twice", hint="keep `repeat`, drop it from `settings`")
        self.rules()  # a rule that says nothing is told before anything is run
        if self.task is not None and self.variants:
            raise SuiteError(
                f"{place}: there is a task and there are variants",
                hint="each variant is a task: name it among them",
            )

    def rules(self) -> Rules:
        """What a run of it has to keep; a baseline is looked for from its folder."""
        from paceline.gates.rules import rules_written

        where = at(self.file or "Suite", self.lines.get("check", 0))
        return rules_written(self.check, folder=self.folder.absolute(), where=where)

    def written_settings(self) -> Mapping[str, Written]:
        """The settings that the suite brings along, with the places where they are written."""
        place = self.file or "the suite"
        values = dict(self.settings) if self.repeat is None else {**self.settings, "repeat": self.repeat}
        return {
            name: Written(value, at(place, self.lines.get(name, 0)), self.folder)
            for name, value in values.items()
        }
