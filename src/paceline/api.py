"""The facade: what `import paceline` offers, in terms of the rooms below.

    Dataset         cases and evaluators, from code or from a file; `evaluate` and `evaluate_sync` run it
                    (the same call with the same `journal=` goes on with a run)
    evaluate        the same for a dataset; and, given the name of a template, one verdict about one thing
    rescore         scores the stored outputs of a run anew, without its task
    verify          audits a run directory

Knows how the rooms fit together. Every rule lives in the room that it is about.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, Unpack, overload

from paceline.dataset.case import Case, InputsT, MetadataT, OutputT
from paceline.dataset.rows import RowFile, is_row_file
from paceline.dataset.spec import EvaluatorSpec
from paceline.delivery import Stream, delivered
from paceline.errors import DatasetError, UsageError
from paceline.options import EvaluateOptions, Options, RampOptions, Task

if TYPE_CHECKING:
    from paceline.conduct import Finished, Job
    from paceline.dataset.files import DatasetSpec
    from paceline.evaluators.judges.choosing import Which
    from paceline.journal.audit import Audit
    from paceline.ramp.report import RampReport
    from paceline.report import Report
    from paceline.report.report import FailOn
    from paceline.standalone import EvalResult

__all__ = [
    "Dataset",
    "evaluate",
    "evaluate_sync",
    "exit_code",
    "job_of",
    "rescore",
    "run_job",
    "verify",
]

TextFormat = Literal["yaml", "json"]
Format = Literal["yaml", "json", "jsonl", "csv"]
TaskOf: TypeAlias = Callable[[InputsT], Awaitable[OutputT]] | Callable[[InputsT], OutputT]


class Dataset(Generic[InputsT, OutputT, MetadataT]):
    """Cases, and the evaluators for all of them.

    `cases` may be a `RowFile`, which streams: then they are only ever gone through, not held. With type
    parameters, `Dataset[Question, str, Tags].from_file(...)`, the parts of its cases are made what these say.
    """

    types: ClassVar[tuple[Any, ...]] = ()
    """The type parameters: of inputs, expected output and metadata."""

    if not TYPE_CHECKING:

        def __class_getitem__(cls, kinds):
            # A class of its own for each set of parameters: an alias would not tell its class methods.
            from paceline.dataset.typed import says_something

            kinds = kinds if isinstance(kinds, tuple) else (kinds,)
            if not any(map(says_something, kinds)):
                return super().__class_getitem__(kinds)
            return type(cls.__name__, (cls,), {"types": kinds, "__module__": cls.__module__})

    def __init__(
        self,
        *,
        name: str | None = None,
        cases: Sequence[Case[InputsT, OutputT, MetadataT]] | RowFile,
        evaluators: Sequence[object] = (),
        custom_evaluator_types: Sequence[type[Any]] = (),
        report_evaluators: Sequence[Any] = (),
    ) -> None:
        self.name = name
        self.custom_evaluator_types = tuple(custom_evaluator_types)
        """Classes that rows of a file may name, beside the built-in ones."""
        self.report_evaluators = tuple(report_evaluators)
        """Of Pydantic Evals, as they stand in a file: without effect here, kept for writing back."""
        self.cases: list[Case[InputsT, OutputT, MetadataT]] | RowFile
        self.cases = cases if isinstance(cases, RowFile) else list(cases)
        self.evaluators: list[object] = list(evaluators)
        if not isinstance(cases, RowFile):
            _refuse_duplicates(cases)

    def __repr__(self) -> str:
        return f"Dataset(name={self.name!r}, cases={len(self.cases)}, evaluators={len(self.evaluators)})"

    def add_case(
        self,
        *,
        name: str | None = None,
        inputs: InputsT,
        metadata: MetadataT | None = None,
        expected_output: OutputT | None = None,
        evaluators: Sequence[object] = (),
    ) -> None:
        """Add a case at the end."""
        cases = self._listed()
        if name is not None and any(case.name == name for case in cases):
            raise DatasetError(
                f"there is a case {name!r} already", hint="names tell cases apart: choose another"
            )
        cases.append(
            Case(
                name=name,
                inputs=inputs,
                metadata=metadata,
                expected_output=expected_output,
                evaluators=tuple(evaluators),
            )
        )

    def add_evaluator(self, evaluator: object, specific_case: str | None = None) -> None:
        """Add an evaluator for all cases, or for the one that is named."""
        if specific_case is None:
            self.evaluators.append(evaluator)
            return
        found = [case for case in self._listed() if case.name == specific_case]
        if not found:
            raise DatasetError(f"there is no case {specific_case!r}", hint="name one of the dataset's cases")
        for case in found:
            case.evaluators = (*case.evaluators, evaluator)

    def _listed(self) -> list[Case[InputsT, OutputT, MetadataT]]:
        if isinstance(self.cases, RowFile):
            where, listed = str(self.cases.path), list(self.cases)
            for case in listed:
                case.evaluators = _built(case.evaluators, self.custom_evaluator_types, where)
            self.cases = listed
        return self.cases

    # Files

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        fmt: Format | None = None,
        custom_evaluator_types: Sequence[type[Any]] = (),
        custom_report_evaluator_types: Sequence[type[Any]] = (),  # noqa: ARG003  # as there; without effect
        *,
        mapping: Mapping[str, str] | None = None,
    ) -> Dataset[Any, Any, Any]:
        """Read YAML or JSON (in Pydantic Evals' format), JSONL or CSV; the ending says which.

        `mapping` says for rows which of their fields is our `inputs`, `expected_output`, `name`.
        """
        file = Path(path)
        if fmt == "jsonl" or fmt == "csv" or (fmt is None and is_row_file(file)):  # noqa: PLR1714  # narrows the type
            rows = RowFile(file, mapping=mapping, fmt=fmt)
            return cls(
                name=file.name.split(".")[0], cases=rows, custom_evaluator_types=custom_evaluator_types
            )
        from paceline.dataset.files import read_dataset

        return cls._from_spec(read_dataset(file, fmt=fmt), custom_evaluator_types, where=str(file))

    @classmethod
    def from_text(
        cls,
        contents: str,
        fmt: TextFormat = "yaml",
        custom_evaluator_types: Sequence[type[Any]] = (),
        custom_report_evaluator_types: Sequence[type[Any]] = (),  # noqa: ARG003  # as there; without effect
        *,
        default_name: str | None = None,
    ) -> Dataset[Any, Any, Any]:
        """Read a dataset from text."""
        from paceline.dataset.files import parse_dataset

        return cls._from_spec(parse_dataset(contents, fmt, default_name=default_name), custom_evaluator_types)

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        custom_evaluator_types: Sequence[type[Any]] = (),
        custom_report_evaluator_types: Sequence[type[Any]] = (),  # noqa: ARG003  # as there; without effect
        *,
        default_name: str | None = None,
    ) -> Dataset[Any, Any, Any]:
        """Make a dataset of what such a file holds."""
        from paceline.dataset.files import dataset_from_dict

        return cls._from_spec(dataset_from_dict(data, default_name=default_name), custom_evaluator_types)

    @classmethod
    def _from_spec(
        cls, spec: DatasetSpec, custom: Sequence[type[Any]], *, where: str = "the dataset"
    ) -> Dataset[Any, Any, Any]:
        for number, case in enumerate(spec.cases, start=1):
            called = f"{where}: case {number if case.name is None else repr(case.name)}"
            case.evaluators = _built(case.evaluators, custom, called)
        for note in spec.notes:
            warnings.warn(note, stacklevel=3)
        return cls(
            name=spec.name,
            cases=cls._typed(spec.cases, where),
            evaluators=_built(spec.evaluators, custom, where),
            report_evaluators=spec.report_evaluators,
        )

    @classmethod
    def _typed(cls, cases: Sequence[Case[Any, Any, Any]], where: str) -> Sequence[Case[Any, Any, Any]]:
        if not cls.types:
            return cases
        from paceline.dataset.typed import typed_case

        return [
            typed_case(case, cls.types, where=f"{where}: case {case.name or number}")
            for number, case in enumerate(cases, start=1)
        ]

    def to_file(
        self,
        path: str | os.PathLike[str],
        fmt: TextFormat | None = None,
        schema_path: str | Path | None = "./{stem}_schema.json",
        custom_evaluator_types: Sequence[type[Any]] = (),
        custom_report_evaluator_types: Sequence[type[Any]] = (),  # noqa: ARG002  # as there; without effect
    ) -> None:
        """Write YAML or JSON in Pydantic Evals' format, and a JSON schema beside it for editors."""
        from paceline.dataset.files import DatasetSpec, write_dataset
        from paceline.evaluators.registry import schema_of

        written = DatasetSpec(
            name=self.name,
            cases=tuple(replace(case, evaluators=_written(case.evaluators)) for case in self._listed()),
            evaluators=_written(self.evaluators),
            report_evaluators=self.report_evaluators,
        )
        write_dataset(
            Path(path),
            written,
            fmt=fmt,
            schema_path=schema_path,
            evaluator_schema=schema_of(custom_evaluator_types),
        )

    @classmethod
    def model_json_schema_with_evaluators(
        cls,
        custom_evaluator_types: Sequence[type[Any]] = (),
        custom_report_evaluator_types: Sequence[type[Any]] = (),  # noqa: ARG003  # as there; without effect
    ) -> dict[str, Any]:
        """The JSON schema of dataset files."""
        from paceline.dataset.files import dataset_schema
        from paceline.evaluators.registry import schema_of

        return dataset_schema(schema_of(custom_evaluator_types))

    # Running

    def stream(
        self, task: TaskOf[InputsT, OutputT] | None = None, **options: Unpack[EvaluateOptions]
    ) -> Stream[InputsT, OutputT, MetadataT]:
        """Run the task on every case, and go through the results as they land: `async for done in ...`."""
        return Stream(job_of(self, task, Options.of(options)))

    async def evaluate(
        self, task: TaskOf[InputsT, OutputT] | None = None, **options: Unpack[EvaluateOptions]
    ) -> Report[InputsT, OutputT, MetadataT]:
        """Run the task on every case and score what it answers. See `EvaluateOptions`."""
        return await evaluate(self, task, **options)

    def evaluate_sync(
        self, task: TaskOf[InputsT, OutputT] | None = None, **options: Unpack[EvaluateOptions]
    ) -> Report[InputsT, OutputT, MetadataT]:
        """`evaluate` for code that is not async; works inside a running loop too."""
        return evaluate_sync(self, task, **options)

    async def ramp(
        self, task: TaskOf[InputsT, OutputT] | None = None, **options: Unpack[RampOptions]
    ) -> RampReport:
        """Find out how many calls at a time the provider bears, with these cases. See `RampOptions`."""
        from paceline.ramp.front import ramped

        return await ramped(lambda usual: job_of(self, task, usual), options)

    def ramp_sync(
        self, task: TaskOf[InputsT, OutputT] | None = None, **options: Unpack[RampOptions]
    ) -> RampReport:
        """`ramp` for code that is not async. In the main thread, Ctrl-C ends in `RampInterrupted`."""
        from paceline.ramp.front import ramped_sync

        return ramped_sync(lambda usual: job_of(self, task, usual), options)


def _built(specs: Iterable[object], custom: Sequence[type[Any]], where: str) -> tuple[object, ...]:
    return tuple(_one_built(spec, custom, where) for spec in specs)


def _one_built(spec: object, custom: Sequence[type[Any]], where: str) -> object:
    from paceline.evaluators.registry import build

    if not isinstance(spec, EvaluatorSpec):
        raise DatasetError(
            f"{where}: {spec!r} is an evaluator already, where a file has the name of one",
            hint="give evaluators that are objects to `Case`, `Dataset` or `add_evaluator`",
        )
    return build(spec, custom, where=spec.where or where)


def _written(evaluators: Iterable[object]) -> tuple[EvaluatorSpec, ...]:
    from paceline.evaluators.registry import spec_of

    return tuple(EvaluatorSpec.parse(spec_of(evaluator)) for evaluator in evaluators)


def _refuse_duplicates(cases: Iterable[Case[Any, Any, Any]]) -> None:
    seen: set[str] = set()
    for case in cases:
        if case.name is None:
            continue
        if case.name in seen:
            raise DatasetError(
                f"Duplicate case name: {case.name!r}",
                hint="names tell cases apart, in a resume and in a comparison",
            )
        seen.add(case.name)


@overload
def evaluate(
    dataset: Dataset[InputsT, OutputT, MetadataT],
    task: TaskOf[InputsT, OutputT] | None = None,
    **options: Unpack[EvaluateOptions],
) -> Coroutine[Any, Any, Report[InputsT, OutputT, MetadataT]]: ...
@overload
def evaluate(
    template: str,
    /,
    *,
    model: Which | None = None,
    config: Mapping[str, Any] | None = None,
    threshold: float | None = None,
    **inputs: Any,
) -> EvalResult: ...
def evaluate(*given: Any, **named: Any) -> Any:
    """`await evaluate(dataset, task)` runs the task on every case of the dataset and scores what it answers.

    Cancelling it cuts off what is in flight; what is on record stays, and the same call goes on from there.

    `evaluate("groundedness", output=..., context=...)`, with the name of a template, judges one thing, blocks
    until that is done, and returns the result; `aevaluate` does not block.
    """
    if given and isinstance(given[0], str):
        from paceline.standalone import evaluate_template

        return evaluate_template(*given, **named)
    if given and not hasattr(given[0], "cases"):
        # At once, and not when it is awaited: a list of templates is not awaited by anybody.
        raise UsageError(
            f"evaluate wants a dataset, or the name of one template, and not a {type(given[0]).__name__}",
            hint='await evaluate(dataset, task), or evaluate("groundedness", output=..., context=...)',
        )
    return _evaluate(*given, **named)


async def _evaluate(dataset: Dataset[Any, Any, Any], task: Task | None = None, **options: Any) -> Report:
    from paceline.conduct import conduct

    finished = await conduct(job_of(dataset, task, Options.of(options)))  # type: ignore[arg-type]  # it looks
    return delivered(finished)


def evaluate_sync(
    dataset: Dataset[InputsT, OutputT, MetadataT],
    task: TaskOf[InputsT, OutputT] | None = None,
    **options: Unpack[EvaluateOptions],
) -> Report[InputsT, OutputT, MetadataT]:
    """`evaluate` for code that is not async.

    In the main thread, Ctrl-C lets what is in flight finish, then raises `RunInterrupted`.
    """
    if isinstance(dataset, str):
        raise UsageError(
            f"evaluate_sync runs a task on a dataset, and {dataset!r} is a text",
            hint=f"evaluate({dataset!r}, output=...) blocks already, where that is a template",
        )
    return delivered(run_job(job_of(dataset, task, Options.of(options))))


def job_of(
    dataset: Dataset[Any, Any, Any],
    task: Task | None,
    options: Options,
    *,
    suite: str | None = None,
    evaluators: Sequence[object] = (),
    keep: Callable[[Any], Any] | None = None,
    command: Sequence[str] = (),
) -> Job:
    """What is to be carried out, checked as far as that goes without reading the cases.

    `suite` is the name of the suite where it is not that of the dataset.
    """
    from paceline.conduct import Job
    from paceline.tasks.callable import CallableTask

    tasks = dict(options.variants or {})
    if (task is None) == (not tasks):
        raise UsageError(
            "a run has either one task or variants",
            hint="evaluate(task), or evaluate(variants={'a': task_a, ...})",
        )
    if task is not None:
        tasks = {"": task}
    name = suite or dataset.name or "unnamed"
    return Job(
        # Never to be mistaken for the run, or gone on with in its place.
        suite=f"{name}-rehearsal" if options.rehearse else name,
        label=options.name or "",
        cases=dataset.cases,
        types=dataset.types,
        custom=dataset.custom_evaluator_types,
        tasks={name: CallableTask(call) for name, call in tasks.items()},
        evaluators=(*dataset.evaluators, *evaluators),
        options=options,
        keep=keep,
        command=list(command),
    )


def run_job(job: Job) -> Finished:
    """Carry a job out from sync code, with signals handled where this is the main thread."""
    from paceline.conduct import conduct
    from paceline.engine.loop import run_to_end

    return run_to_end(lambda: conduct(job, owns_process=True), debug=job.options.debug)


def rescore(
    path: str | os.PathLike[str],
    *,
    evaluators: Sequence[object] | None = None,
    expected: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    **options: Unpack[EvaluateOptions],
) -> Report:
    """Score the stored outputs of a run, or a results file of another harness, into a new run.

    Without `evaluators` those of the run are made again, as far as they are built-in ones. `expected`
    replaces what the cases expect: a mapping by case name, or a file with an id and an expected answer in
    each row.
    """
    from paceline.conduct.rescoring import rescoring_job

    return delivered(
        run_job(rescoring_job(path, evaluators=evaluators, expected=expected, options=Options.of(options)))
    )


def verify(path: str | os.PathLike[str]) -> Audit:
    """Audit a run: torn, damaged, duplicate, missing, foreign or hand-edited lines, and blobs."""
    from paceline.journal.audit import audit

    return audit(path)


def exit_code(finished: Finished, *, fail_on: FailOn = "errors") -> int:
    """The exit code that a finished run stands for."""
    if finished.ending.how == "failed":
        return 3
    if finished.interrupts >= 2:
        return 130
    if finished.unknown_cost and fail_on != "none":
        return finished.report.exit_code(fail_on=fail_on) or 1  # a rule on what is unknown is red
    return finished.report.exit_code(fail_on=fail_on)
