"""Suites: a dataset, a task and settings that belong together, in `suite.py` or in `suite.yaml`.

A Python file is a suite if it holds a `Suite` object named `suite` (or `file.py:name` says which), or a
`dataset` and a `task`. A YAML file is one if its keys are those of `suite_schema()`; `docs/suite-file.md`
explains them. A dataset file becomes one by naming a task for it.

Loading is all or nothing: what cannot be used is a `SuiteError` with file, line and remedy, before anything
has run. Knows what a suite consists of; whether dataset and task are any good, their own rooms find out.
"""

from paceline.suite.evaluators import built_evaluators
from paceline.suite.loading import candidates_hint, find_suites, load_suite
from paceline.suite.schema import suite_schema
from paceline.suite.suite import Suite

__all__ = ["Suite", "built_evaluators", "candidates_hint", "find_suites", "load_suite", "suite_schema"]
