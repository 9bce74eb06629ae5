"""Standalone: one template about one thing, outside of any run.

    evaluate("groundedness", output=..., context=..., model="openai:gpt-5.4-mini")  ->  EvalResult
    await aevaluate("groundedness", ...)

    result       what comes back
    calling      a template asked, timed, and put into that form
    background   the loop that calls which block share, so that they share connections, too

What the caller can mend (a name, an input, a model that is not set) is raised. What goes wrong while somebody
judges is in the result, whose status is then `failed`, and which has neither a score nor a verdict.
"""

from __future__ import annotations

from paceline.standalone.calling import aevaluate, evaluate_template
from paceline.standalone.result import EvalResult

__all__ = ["EvalResult", "aevaluate", "evaluate_template"]
