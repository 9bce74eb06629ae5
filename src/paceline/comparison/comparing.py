"""Comparing: sides in, a comparison out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from string import ascii_uppercase
from typing import IO, Any, Final, cast

import msgspec

from paceline.comparison.differing import Difference, differing
from paceline.comparison.metrics import PASS_RATE, Measured, Metric, Verdict, decided, measured
from paceline.comparison.pairing import Change, Changed, changes, paired
from paceline.comparison.sides import Side, matched, read_side, side_of, variants_of
from paceline.errors import UsageError
from paceline.report.report import Report
from paceline.statistics.interval import CONFIDENCE

Named = Report[Any, Any, Any] | Side | str | os.PathLike[str]
MOST_SIDES: Final = len(ascii_uppercase)


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two of the runs."""

    first: str
    """The letter of the one that the other is held against: A."""
    second: str
    n_shared: int
    """Keys that were run in both."""
    changes: dict[Change, list[Changed]]
    metrics: list[Metric]
    """The pass rate first; none that only one of them has."""
    differing: list[Difference]

    def metric(self, name: str) -> Metric:
        """A metric by its name, such as `pass_rate` or `scores.tone`."""
        found = next((each for each in self.metrics if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in self.metrics)
            raise UsageError(f"no metric {name!r} is in both runs", hint=f"there is {known}")
        return found

    @property
    def verdict(self) -> Verdict:
        """Of the second run against the first one, by pass rate."""
        return self.metric(PASS_RATE).verdict


class Comparison:
    """Two runs or more, held against each other."""

    def __init__(self, sides: Sequence[Side], pairs: Sequence[Pair], *, confidence: float) -> None:
        self.sides: dict[str, Side] = dict(zip(ascii_uppercase, sides, strict=False))
        """The runs by their letters: A, B, and so on."""
        self.pairs = list(pairs)
        """A with B; of more than two runs, each with each that comes after it."""
        self.confidence = confidence

    def __repr__(self) -> str:
        return f"Comparison({', '.join(side.name for side in self.sides.values())})"

    @property
    def verdict(self) -> Verdict:
        """Of two runs: whether the second is better or worse by pass rate, or that it cannot be told."""
        if len(self.pairs) != 1:
            raise UsageError(
                f"there is no one verdict on {len(self.sides)} runs", hint="each of `pairs` has its own"
            )
        return self.pairs[0].verdict

    def render(self, width: int = 80) -> str:
        """What `print` prints."""
        from paceline.comparison.terminal import render

        return render(self, width=width)

    def __str__(self) -> str:
        return self.render()

    def print(self, width: int = 80, *, file: IO[str] | None = None) -> None:
        """Print it, to standard output unless a `file` is given."""
        print(self.render(width), file=file)

    def to_markdown(self) -> str:
        """The same for a pull request or a summary of a CI job."""
        from paceline.comparison.markdown import markdown

        return markdown(self)

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write it as one HTML file that needs nothing else, and answer where that is."""
        from paceline.pages.packing import block
        from paceline.pages.writing import write_page

        names = " and ".join(side.name for side in self.sides.values())
        return write_page(
            Path(path),
            "comparison/main.mjs",
            title=f"Comparison of {names} · Paceline",
            facts=[("Comparison", self.render())],
            before=[block("comparison", msgspec.json.encode(self.to_dict()))],
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data; `paceline.comparison.document.KEYS` says what each key means."""
        from paceline.comparison.document import document

        return document(self)

    def to_json(self, *, indent: int = 2) -> str:
        """`to_dict` as JSON text; `indent=0` for one line."""
        return msgspec.json.format(msgspec.json.encode(self.to_dict()), indent=indent or -1).decode()


def compare(
    *runs: Named,
    variants: bool = False,
    lower: Iterable[str] = (),
    fields: Mapping[str, str] | None = None,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Hold runs against each other, the first one being what the second is compared with.

    Each is a report, or the place of a run, of a saved baseline, or of what another harness has written.
    With `variants`, one run is named, and its variants are compared. `lower` names scores of which less is
    better. `fields` says how rows of JSONL call our fields: `{"case": "id", "passed": "is_correct"}`; with a
    letter before it, `{"B.passed": "ok"}`, it is for one of them only.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence is {confidence}", hint="it lies between 0 and 1: 0.95")
    if variants and len(runs) != 1:
        raise UsageError(f"the variants of one run are compared, not of {len(runs)}", hint="name one run")
    if not variants and not 2 <= len(runs) <= MOST_SIDES:
        raise UsageError(
            f"{len(runs)} runs cannot be compared",
            hint=f"name from 2 to {MOST_SIDES} of them, or one with --variants",
        )
    letters = ascii_uppercase[: len(runs)]
    by_letter = _fields_of(fields or {}, letters)
    sides = [_side(run, by_letter[letter]) for letter, run in zip(letters, runs, strict=True)]
    return compared(variants_of(sides[0]) if variants else matched(sides), lower=lower, confidence=confidence)


def compared(sides: Sequence[Side], *, lower: Iterable[str] = (), confidence: float) -> Comparison:
    """Hold these against each other, each with each."""
    if len(sides) > MOST_SIDES:
        raise UsageError(f"{len(sides)} are too many to compare", hint=f"at most {MOST_SIDES}")
    lettered = list(zip(ascii_uppercase, sides, strict=False))
    lower = tuple(lower)
    both = list(combinations(lettered, 2))
    shared = [paired(first.seen, second.seen) for (_, first), (_, second) in both]
    families: list[list[Measured]] = [measured(each, lower=lower, confidence=confidence) for each in shared]
    _check_lower(lower, families)
    pairs = [
        Pair(
            first=one,
            second=other,
            n_shared=len(keys),
            changes=changes(first.seen, second.seen),
            metrics=metrics,
            differing=differing(first, second, keys),
        )
        for ((one, first), (other, second)), keys, metrics in zip(
            both, shared, decided(families, confidence=confidence), strict=True
        )
    ]
    return Comparison([side for _, side in lettered], pairs, confidence=confidence)


def _check_lower(lower: Sequence[str], families: Sequence[Sequence[Measured]]) -> None:
    scores = {each.metric.name for family in families for each in family if each.metric.name[:7] == "scores."}
    for name in lower:
        if name not in scores and f"scores.{name}" not in scores:
            known = ", ".join(sorted(scores)) or "none"
            raise UsageError(f"there is no score {name!r} in these runs", hint=f"scores in both: {known}")


def _side(run: Named, fields: Mapping[str, str]) -> Side:
    if isinstance(run, Side):
        return run
    return side_of(run) if isinstance(run, Report) else read_side(cast("str", run), fields)


def _fields_of(fields: Mapping[str, str], letters: str) -> dict[str, dict[str, str]]:
    """What is mapped, for each of the runs."""
    for_all = {ours: theirs for ours, theirs in fields.items() if not _lettered(ours)}
    found = {letter: dict(for_all) for letter in letters}
    for ours, theirs in fields.items():
        if _lettered(ours):
            if ours[0] not in found:
                raise UsageError(f"there is no run {ours[0]} to map {ours!r} for", hint=f"runs are {letters}")
            found[ours[0]][ours[2:]] = theirs
    return found


def _lettered(ours: str) -> bool:
    return len(ours) > 2 and ours[0] in ascii_uppercase and ours[1] == "."


__all__ = ["Comparison", "Named", "Pair", "compare", "compared"]
