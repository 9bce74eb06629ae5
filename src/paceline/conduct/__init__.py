"""Conducting a run: from a job to a finished record and its report.

job         what is to be carried out, as one value, and what came of it
supply      the cases, checked, counted and put in order
record      the journal, opened or created, held against the suite, read back from
conductor   prepares, lets the engine work, closes the record, reads the report
guards      signals, the watch over the loop
tracing     spans for OpenTelemetry
rescoring   the job of scoring stored outputs anew
"""

from paceline.conduct.conductor import Conductor, conduct
from paceline.conduct.job import Finished, Job, Progress, ToDo

__all__ = ["Conductor", "Finished", "Job", "Progress", "ToDo", "conduct"]
