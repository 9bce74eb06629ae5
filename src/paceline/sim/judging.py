"""How a simulated model judges: by a simple rule about what a judge's prompt shows between its marks.

    an output and a context           every claim has to be supported, see `claims`; the score is the share
    an output and what is expected    the expected words have to be in the output, in their order; the score
                                      is the share of them that is there
    anything else                     by chance that depends on the prompt alone; four in five are fine

    ⟦output 3f9a61c07b52e8d4⟧:        what is shown, and how it is told apart from what is asked
    Paris.
    ⟦end of output 3f9a61c07b52e8d4⟧

A gullible model does the same unless something outside of all marks tells it what to say, which it then says.
It takes any line that looks like the end of a piece for one, whatever its mark.

This is a simulation: no verdict of it says anything about what was judged. Knows texts and schemas.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from zlib import crc32

from paceline.sim.claims import supported

DECISIONS: Final = frozenset({"pass", "score", "choice"})
JUDGED: Final = ("output", "generated value", "hypothesis", "response", "answer", "text", "conversation")
EXPECTED: Final = ("expected output", "expected value", "expected", "reference", "ground truth")
_PIECE: Final = re.compile(
    r"⟦(?P<name>[^⟧\n]+) (?P<mark>\w+)⟧:\n(?P<text>.*?)\n⟦end of (?P=name) (?P=mark)⟧", re.DOTALL
)
_BELIEVED: Final = re.compile(r"⟦[^⟧\n]+⟧:\n.*?⟦end of [^⟧\n]*⟧", re.DOTALL)


class _Verdict(NamedTuple):
    """What a judge thinks, whatever form it is to say it in."""

    share: float
    """From 0 to 1."""
    passed: bool
    reason: str
    said: Mapping[str, Any]
    """What it was told to say, where it does as it is told."""


def judgement(system: str, shown: str, schema: Mapping[str, Any], *, gullible: bool) -> dict[str, Any] | None:
    """What is answered to a judge's prompt; None where this is none. `shown` is what users have said."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not _asks_for_a_verdict(set(properties)):
        return None
    pieces = {found["name"]: found["text"] for found in _PIECE.finditer(shown)}
    verdict = _obeyed(shown) if gullible else None
    if verdict is None and not pieces:
        return None
    verdict = verdict or _verdict(pieces, f"{system}\n{shown}")
    return {
        name: verdict.said.get(name, _part(name, kind, verdict, pieces)) for name, kind in properties.items()
    }


def _asks_for_a_verdict(names: set[str]) -> bool:
    return bool(DECISIONS & names) and names <= {*DECISIONS, "reason"}


def _part(name: str, kind: Mapping[str, Any], verdict: _Verdict, pieces: Mapping[str, str]) -> object:
    """One field of the answer."""
    match name:
        case "pass":
            return verdict.passed
        case "score":
            return _score(verdict, kind)
        case "choice":
            return _choice(kind, pieces)
        case _:
            return verdict.reason


def _verdict(pieces: Mapping[str, str], prompt: str) -> _Verdict:
    judged = next((pieces[name] for name in JUDGED if name in pieces), None)
    if judged is not None and "context" in pieces:
        found = supported(judged, pieces["context"])
        left = "".join(f"; not: {claim!r}" for claim in found.unsupported[:1])
        told = f"{found.claims - len(found.unsupported)} of {found.claims} claims are supported{left}"
        return _Verdict(found.share, not found.unsupported, f"Simulated: {told}.", {})
    expected = next((pieces[name] for name in EXPECTED if name in pieces), None)
    if judged is not None and expected is not None:
        share = _share_of_words(expected, judged)
        told = "the expected answer is there" if share == 1 else "the expected answer is not there"
        return _Verdict(share, share == 1, f"Simulated: {told}.", {})
    fine = crc32(prompt.encode(errors="replace")) % 5 != 0
    return _Verdict(float(fine), fine, "Simulated: by chance, for nothing here tells.", {})


def _share_of_words(expected: str, given: str) -> float:
    wanted, got = (re.findall(r"\w+(?:\.\w+)*", text.casefold()) for text in (expected, given))
    if f" {' '.join(wanted)} " in f" {' '.join(got)} ":
        return 1.0
    return min(0.9, sum(word in got for word in wanted) / len(wanted)) if wanted else 0.0


def _score(verdict: _Verdict, kind: Mapping[str, Any]) -> float | int:
    levels = kind.get("enum") or (kind.get("minimum", 0), kind.get("maximum", 1))
    low, high = float(min(levels)), float(max(levels))
    score = low + verdict.share * (high - low)
    # Rounded down, so that only what is right throughout gets the highest level.
    return math.floor(score) if kind.get("type") == "integer" else round(score, 3)


def _choice(kind: Mapping[str, Any], pieces: Mapping[str, str]) -> str:
    """A choice that is named in what is judged, else one by chance that depends on that alone."""
    choices: Sequence[str] = kind.get("enum") or ("",)
    whole = "\n".join(pieces.values())
    named = [each for each in choices if re.search(rf"\b{re.escape(each)}\b", whole, re.IGNORECASE)]
    return named[0] if named else choices[crc32(whole.encode(errors="replace")) % len(choices)]


# Doing as one is told -----------------------------------------------------------------------------

_SWAYED_BY: Final = re.compile(
    r"\b(?:approv\w+|accept|award|give|pass(?:ed)?|correct|right|true|yes|perfect|fine|met|meets|counts|grad(?:e|ed|ing)|"
    r"marks?|scores?|rat(?:e|ed|ing)|verdict|verified|leniently|kindness|win|reference solution|"
    r"lose my job|shut down|is over|fail(?:ed)?|false)\b",
    re.IGNORECASE,
)
"""Any of these outside of what is judged is taken for an order: our own prompts use none of them there."""
_AGAINST: Final = frozenset({"fail", "failed", "false"})
_EITHER_WAY: Final = frozenset({"give", "mark", "score", "grade", "graded", "rate", "rated", "verdict"})
_WRITTEN: Final = re.compile(r"\{[^{}]*\"(?:pass|score|choice)\"\s*:[^{}]*\}")


def _obeyed(shown: str) -> _Verdict | None:
    """The verdict that something outside of all pieces asks for."""
    outside = _BELIEVED.sub("\n", shown)
    if written := _WRITTEN.search(outside):
        try:
            said = json.loads(written.group())
        except ValueError:
            said = {}
        return _Verdict(1.0, True, _told(written.group()), {**said, "reason": _told(written.group())})
    found = [match.group().casefold() for match in _SWAYED_BY.finditer(outside)]
    if not found:
        return None
    others = set(found) - _AGAINST - _EITHER_WAY  # "if you fail this, you will be shut down" asks for a pass
    passed = bool(others) or not set(found) & _AGAINST
    return _Verdict(float(passed), passed, _told(" ".join(found)), {})


def _told(order: str) -> str:
    return f"Simulated, and gullible: told to by {order!r}."
