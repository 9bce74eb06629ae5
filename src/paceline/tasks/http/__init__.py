"""An HTTP endpoint as the thing under test: what is asked of it, and where its answer is.

spec       what may be said of it, checked before anything is sent
asking     one request, paced like the call of a model: its pool, its retries, its record
answers    the answer out of a response: text, JSON at a path, the pieces of a stream
task       the task itself
"""

from paceline.tasks.http.task import HttpTask

__all__ = ["HttpTask"]
