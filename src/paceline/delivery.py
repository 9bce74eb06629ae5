"""How a run is handed to whoever has asked for it: its report, its results as they land, or its interrupt.

A run that failed raises what has failed it. One that was interrupted raises too, or a script would go on as
if it had all results; what it has is with the exception. Knows finished runs. Starts one only as a stream.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic

from paceline.dataset.case import InputsT, MetadataT, OutputT
from paceline.errors import UsageError

if TYPE_CHECKING:
    from paceline.conduct import Finished, Job
    from paceline.engine.events import AnyEvent, CaseFinished
    from paceline.report import Report


class RunInterrupted(KeyboardInterrupt):
    """A run was interrupted and has ended in order; `report` is of what is on record."""

    def __init__(self, report: Report, hint: str) -> None:
        super().__init__(hint)
        self.report = report


def delivered(finished: Finished) -> Report[Any, Any, Any]:
    """The report of a run that has ended well, or at least in order; else what it ended in."""
    if finished.ending.error is not None:
        raise finished.ending.error
    if finished.interrupts:
        path = finished.report.path
        again = f"; the same call with journal={str(path)!r} goes on from there" if path else ""
        raise RunInterrupted(finished.report, f"interrupted: what is on record is safe{again}")
    return finished.report


class Stream(Generic[InputsT, OutputT, MetadataT]):
    """A run whose results are gone through as they land, each one durable before it is handed out.

    Leaving the loop early cuts off what is in flight; what is on record stays, and a resume goes on from
    there.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._begun = False
        self.report: Report[InputsT, OutputT, MetadataT] | None = None
        """Of the whole run, once the loop has come to its end."""

    def __aiter__(self) -> AsyncIterator[CaseFinished]:
        if self._begun:
            raise UsageError(
                "this stream has been gone through already, and a second time would run everything again",
                hint="call `stream` again for another run; `stream.report` has the results of this one",
            )
        self._begun = True
        return self._landing()

    async def _landing(self) -> AsyncGenerator[CaseFinished]:
        import asyncio

        from paceline.conduct import conduct
        from paceline.engine.events import CaseFinished

        landed: asyncio.Queue[CaseFinished | None] = asyncio.Queue()

        def on_event(event: AnyEvent) -> None:
            if isinstance(event, CaseFinished):
                landed.put_nowait(event)

        run = asyncio.ensure_future(conduct(replace(self._job, listeners=(on_event,))))
        run.add_done_callback(lambda _run: landed.put_nowait(None))
        try:
            while (done := await landed.get()) is not None:
                yield done
            self.report = delivered(await run)
        finally:
            run.cancel()
            await asyncio.wait([run])
