"""Evaluators of code: what a model or an agent has written is run, and what comes of that is judged.

python_tests   a generated function, called by tests that it can neither see nor answer for
commands       a command in the workspace of a case
suites         a test suite in the workspace: which tests passed, of those that had to
changes        a patch: whether it applies, and which files it touches
"""
