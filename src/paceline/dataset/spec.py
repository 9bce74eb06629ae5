"""How evaluators are written in files, in the three short forms that Pydantic Evals has.

    EqualsExpected                          a name
    Contains: Paris                         a name with one argument
    Contains: {value: Paris, as_strings: true}   a name with arguments by keyword

and the long form, for a single argument that would look like keywords:

    {name: Contains, arguments: [{city: Paris}]}

This room knows the spelling only. Which classes there are, and whether they take these arguments,
is known by `paceline.evaluators.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paceline.errors import DatasetError

Spec = str | dict[str, Any]
"""A spec as it stands in a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorSpec:
    """The name of an evaluator and what it is made with: one positional argument, keywords, or nothing."""

    name: str
    positional: tuple[Any, ...] = ()
    keywords: dict[str, Any]
    where: str = field(default="", compare=False, repr=False)
    """File and line where it stands, for whoever finds that no evaluator goes by this name."""

    @classmethod
    def parse(cls, written: Spec, *, where: str = "") -> EvaluatorSpec:
        """Read any of the forms; `where` names file and line in the error."""
        match written:
            case str(name):
                return cls(name=name, keywords={}, where=where)
            case {"name": str(name), "arguments": list() | tuple() as arguments} if len(written) == 2:
                return cls._long_form(name, arguments, where)
            case {"name": str(name), "arguments": arguments} if len(written) == 2:
                return cls.parse(name if arguments is None else {name: arguments}, where=where)
            case dict() if len(written) == 1:
                ((name, argument),) = written.items()
                if not isinstance(name, str):
                    raise _misspelt(written, where)
                if isinstance(argument, dict) and all(isinstance(key, str) for key in argument):
                    return cls(name=name, keywords=argument, where=where)
                return cls(name=name, positional=(argument,), keywords={}, where=where)
            case _:
                raise _misspelt(written, where)

    @classmethod
    def _long_form(cls, name: str, arguments: list[Any] | tuple[Any, ...], where: str) -> EvaluatorSpec:
        if len(arguments) != 1:
            raise _misspelt({"name": name, "arguments": arguments}, where)
        return cls(name=name, positional=(arguments[0],), keywords={}, where=where)

    def written(self) -> Spec:
        """The shortest form that reads back as this spec."""
        if self.positional:
            (argument,) = self.positional
            if isinstance(argument, dict):
                # The short form would read back as keywords.
                return {"name": self.name, "arguments": [argument]}
            return {self.name: argument}
        return {self.name: dict(self.keywords)} if self.keywords else self.name


def _misspelt(written: object, where: str) -> DatasetError:
    place = f"{where}: " if where else ""
    return DatasetError(
        f"{place}{written!r} is not an evaluator",
        hint="write a name (`EqualsExpected`), a name with its argument (`Contains: Paris`), "
        "or a name with keywords (`Contains: {value: Paris}`)",
    )
