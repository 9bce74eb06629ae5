"""Logs of Inspect: `.eval`, which is a zip of JSON, and the same as one JSON file.

    score "C", or true              an assertion that is true
    score "I", "N" or "P", or false one that is false: what is partly correct is not correct
    any other number                a score; a score of several values is several, `scorer.value`
    error, or no score              not scored: it has not passed

A sample is a case by its id, an epoch is a repeat. Latency is Inspect's working time. A log that is not
finished, or lacks samples, is not whole.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from paceline.comparison.foreign.reading import (
    NO_NUMBER,
    amount,
    digest,
    finite,
    mapping_in,
    parse_json,
    refuse,
    text_in,
)
from paceline.comparison.sides import Side
from paceline.errors import DatasetError
from paceline.journal.records import Key, OutcomeKind
from paceline.report.sightings import Sighting

MOST_MEMBERS: Final = 1_000_000
MOST_OF_MEMBER: Final = 512 << 20
"""Bytes of one sample, unpacked."""
MOST_IN_ALL: Final = 64 << 30
MOST_RATIO: Final = 1000
"""How many times smaller text may be packed; what is above that unpacks to nothing anyone has written."""
_SMALL: Final = 16 << 20
"""Bytes below which the ratio does not matter."""
_LETTERS: Final = {"C": True, "I": False, "P": False, "N": False}
_HEADER: Final = "header.json"


def read_zip(place: Path, name: str) -> Side:
    """An `.eval` file."""
    try:
        with zipfile.ZipFile(place) as archive:
            members = archive.infolist()
            _check(members, str(place))
            header = _header(archive, members, str(place))
            samples = (
                (parse_json(_unpacked(archive, member, str(place)), where), where)
                for member in members
                if member.filename.startswith("samples/") and member.filename.endswith(".json")
                for where in [f"{place}:{member.filename}"]
            )
            return _side(name, str(place), header, samples)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise DatasetError(
            f"{place} cannot be read: {error}", hint="`inspect log recover` mends a damaged log"
        ) from error


def _check(members: list[zipfile.ZipInfo], where: str) -> None:
    """Refuse an archive that unpacks beyond measure, by what it says of itself."""
    if len(members) > MOST_MEMBERS:
        refuse(where, f"it has more than {MOST_MEMBERS:,} members")
    if sum(member.file_size for member in members) > MOST_IN_ALL:
        refuse(where, f"it unpacks to more than {MOST_IN_ALL >> 30} GiB")
    if len({member.filename for member in members}) < len(members):
        refuse(where, "a member of it stands twice")


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> bytes:
    """A member, whatever the archive says of its size."""
    most = min(MOST_OF_MEMBER, max(_SMALL, MOST_RATIO * member.compress_size))
    with archive.open(member) as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        refuse(f"{where}:{member.filename}", f"it unpacks to more than {most >> 20} MiB")
    return raw


def _header(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], where: str) -> dict[str, Any]:
    """What the log says of the whole; of one that was cut off, what it said when it began."""
    by_name = {member.filename: member for member in members}
    member = by_name.get(_HEADER) or by_name.get("_journal/start.json")
    if member is None:
        refuse(where, "it is no log of Inspect: there is no header.json")
    header = parse_json(_unpacked(archive, member, where), f"{where}:{member.filename}")
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        refuse(where, "its header does not say what was evaluated")
    return header if member.filename == _HEADER else {**header, "status": "started"}


def read_document(place: Path, name: str, data: Any) -> Side:
    """A log as one JSON file."""
    samples = data.get("samples")
    if not isinstance(samples, list):
        refuse(str(place), "it has no samples", "`inspect log dump` writes a log with its samples")
    return _side(
        name,
        str(place),
        data,
        ((sample, f"{place}: sample {number}") for number, sample in enumerate(samples, start=1)),
    )


def _side(name: str, place: str, header: Mapping[str, Any], samples: Iterator[tuple[Any, str]]) -> Side:
    seen: dict[Key, Sighting] = {}
    for sample, where in samples:
        sighting = _sighting(sample, where)
        if sighting.key in seen:
            refuse(where, f"{sighting.key} stands twice")
        seen[sighting.key] = sighting
    about = header["eval"]
    config = mapping_in(about, "config", place)
    return Side(
        name=name,
        kind="inspect",
        suite=str(about.get("task") or "unknown"),
        seen=seen,
        whole=header.get("status") == "success" and len(seen) >= _expected(about, config, place),
        settings={"timeout": limit} if (limit := config.get("time_limit")) is not None else {},
        tasks={
            "model": about.get("model"),
            "roles": about.get("model_roles"),
            # Older logs have it with the plan.
            "settings": about.get("model_generate_config") or mapping_in(header, "plan", place).get("config"),
        },
        evaluators=_scorers(about),
    )


def _expected(about: Mapping[str, Any], config: Mapping[str, Any], where: str) -> int:
    dataset = mapping_in(about, "dataset", where)
    ids, count, epochs = dataset.get("sample_ids"), dataset.get("samples"), config.get("epochs")
    n = len(ids) if isinstance(ids, list) else count if isinstance(count, int) else 0
    limit = config.get("limit")
    if not isinstance(ids, list) and isinstance(limit, int) and not isinstance(limit, bool):
        n = min(n, limit)
    return n * (epochs if isinstance(epochs, int) else 1)


def _scorers(about: Mapping[str, Any]) -> dict[str, Any] | None:
    scorers = about.get("scorers")
    if not isinstance(scorers, list):
        return None
    return {str(each.get("name")): each.get("options") for each in scorers if isinstance(each, dict)}


def _sighting(sample: Any, where: str) -> Sighting:
    if not isinstance(sample, dict):
        refuse(where, "it is no object")
    epoch = sample.get("epoch", 1)
    if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 1:
        refuse(where, f"its epoch is {epoch!r:.60}")
    assertions: dict[str, bool] = {}
    scores: dict[str, float] = {}
    silent = False
    for scorer, score in mapping_in(sample, "scores", where).items():
        value = score.get("value") if isinstance(score, dict) else score
        for name, each in _values(scorer, value):
            silent |= each is NO_NUMBER or each is None
            _put(name, each, assertions, scores)
    outcome = _outcome(sample, nothing=not (assertions or scores) or silent)
    return Sighting(
        key=Key(text_in(sample, "id", where), epoch - 1),
        outcome=outcome,
        passed=(all(assertions.values()) if assertions else None) if outcome == "scored" else False,
        assertions=assertions,
        scores=scores,
        seconds=amount(sample.get("working_time")) or amount(sample.get("total_time"))
        if outcome in ("scored", "evaluator_error")
        else None,
        cost=_cost(mapping_in(sample, "model_usage", where)),
        content=digest("inspect", sample.get("input"), sample.get("target"), sample.get("choices")),
    )


def _outcome(sample: Mapping[str, Any], *, nothing: bool) -> OutcomeKind:
    if sample.get("error") is not None:
        return "task_error"
    if not nothing:
        return "scored"
    limit = sample.get("limit")
    timed_out = isinstance(limit, dict) and limit.get("type") in ("time", "working")
    return "timeout" if timed_out else "evaluator_error"


def _values(scorer: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"{scorer}.{name}", each) for name, each in value.items())
    elif isinstance(value, list):
        yield from ((f"{scorer}.{place}", each) for place, each in enumerate(value))
    else:
        yield scorer, value


def _put(name: str, value: Any, assertions: dict[str, bool], scores: dict[str, float]) -> None:
    if isinstance(value, bool):
        assertions[name] = value
    elif isinstance(value, str) and value in _LETTERS:
        assertions[name] = _LETTERS[value]
    elif (number := finite(value)) is not None:
        scores[name] = number


def _cost(usage: Mapping[str, Any]) -> float | None:
    costs = [amount(each.get("total_cost")) if isinstance(each, dict) else None for each in usage.values()]
    known = [each for each in costs if each is not None]
    return sum(known) if known and len(known) == len(costs) else None


__all__ = ["read_document", "read_zip"]
