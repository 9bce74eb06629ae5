"""Which judge is meant by `SUITE:NAME`, for `paceline calibrate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paceline.errors import SuiteError

if TYPE_CHECKING:
    from paceline.calibration.judging import Judge
    from paceline.settings import Effective


def find_judge(written: str, flags: Mapping[str, Any]) -> tuple[Judge, Effective]:
    """The judge of that name, and the settings that hold for it.

    NAME is an evaluator that a Python file defines, or one of a suite's by its label in reports.
    """
    from paceline.calibration.judging import judge_of
    from paceline.settings import effective, nearest
    from paceline.usercode import load_file

    target, _, name = written.rpartition(":")
    if not target or not name:
        raise SuiteError(
            f"{written!r} does not name a judge",
            hint="write suite.py:NAME, suite.yaml:NAME or judges.py:NAME",
        )
    path = Path(target)
    module = vars(load_file(path, shown=target)) if path.suffix == ".py" else {}
    defined = module.get(name)
    judges = [each for each, found in module.items() if _is_evaluator(found) and each[:1] != "_"]
    if _is_evaluator(defined):
        chosen = effective(flags)
        return judge_of(written, defined, file=path, judge_model=chosen["judge_model"]), chosen
    if path.suffix == ".py" and not {"suite", "dataset", "task"} & module.keys():
        raise SuiteError(
            f"{target} defines no judge {name!r}{nearest(name, judges)}",
            hint=f"it defines: {', '.join(judges) or 'no evaluator'}",
        )
    return _of_suite(written, target, name, flags)


def _is_evaluator(found: object) -> bool:
    return not isinstance(found, type) and (callable(found) or callable(getattr(found, "evaluate", None)))


def _of_suite(written: str, target: str, name: str, flags: Mapping[str, Any]) -> tuple[Judge, Effective]:
    from paceline.calibration.judging import judge_of
    from paceline.cli.jobs import evaluators_of
    from paceline.evaluators.judges.choosing import judging_with
    from paceline.evaluators.prepare import prepare
    from paceline.settings import effective
    from paceline.suite import load_suite

    suite = load_suite(target, needs_task=False)
    chosen = effective(flags, suite=suite)
    evaluators = evaluators_of(suite)
    with judging_with(chosen["judge_model"]):
        labels = [each.label for each in prepare(evaluators)]
    if name not in labels:
        raise SuiteError(
            f"{target} has no evaluator {name!r}",
            hint=f"its evaluators: {', '.join(labels) or 'none'}; a Python file may define one by that name",
        )
    file = Path(target.rpartition(":")[0] if ".py:" in target else target)
    judge = evaluators[labels.index(name)]
    return judge_of(written, judge, file=file, judge_model=chosen["judge_model"]), chosen


__all__ = ["find_judge"]
