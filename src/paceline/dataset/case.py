"""Case: one question, what is expected of the answer, and what is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    InputsT = TypeVar("InputsT", default=Any)
    OutputT = TypeVar("OutputT", default=Any)
    MetadataT = TypeVar("MetadataT", default=Any)
else:
    from typing import TypeVar

    # Defaults for type variables come with Python 3.13; checkers read the ones above.
    InputsT = TypeVar("InputsT")
    OutputT = TypeVar("OutputT")
    MetadataT = TypeVar("MetadataT")


@dataclass(slots=True, kw_only=True)
class Case(Generic[InputsT, OutputT, MetadataT]):
    """One question for the task.

    `evaluators` score this case only, in addition to the dataset's. A case without a name is known
    by its content; see `paceline.dataset.identity`.
    """

    name: str | None = None
    inputs: InputsT
    metadata: MetadataT | None = None
    expected_output: OutputT | None = None
    # Evaluators live in a room above this one, hence `object`: `paceline.evaluators.prepare` checks them.
    evaluators: Sequence[object] = ()
