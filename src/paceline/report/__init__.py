"""The report: a run's journal, folded into figures, rows and text. It needs the journal and nothing else.

`Report` is the door. `figures` says what the numbers mean, `rows` what a case looks like, `document.KEYS`
what stands in the JSON.
"""

from paceline.report.report import Report
from paceline.report.rows import EvaluationResult, ReportCase, ReportCaseFailure

EvaluationReport = Report
"""The name that Pydantic Evals' users know it by."""

__all__ = ["EvaluationReport", "EvaluationResult", "Report", "ReportCase", "ReportCaseFailure"]
