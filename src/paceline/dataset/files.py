"""Dataset files: YAML and JSON in the format of Pydantic Evals, read with care and written to read back.

    # yaml-language-server: $schema=capitals_schema.json
    name: capitals
    cases:
    - name: France
      inputs: What is the capital of France?
      expected_output: Paris
      evaluators: [IsInstance: str]
    evaluators: [EqualsExpected]

Files of Pydantic Evals can be read here, and ours there. What is wrong with a file is said all at once, each
with file, line and remedy, before anything runs. Report evaluators are theirs alone: they are kept for
writing back, and a note says that they have no effect here.

Values are written as JSON has them: a tuple becomes a list, a dataclass or model an object; in YAML a date
stays a date. What would not read back as it was written is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeGuard

import msgspec

from paceline.dataset.case import Case
from paceline.dataset.documents import (
    Document,
    document_of_data,
    read_json,
    read_text,
    read_yaml,
)
from paceline.dataset.documents import Path as DataPath
from paceline.dataset.identity import TWICE_HINT, AnyCase, objection_to
from paceline.dataset.problems import Problems, kind_of
from paceline.dataset.spec import EvaluatorSpec, Spec
from paceline.errors import DatasetError
from paceline.settings import nearest

Format = Literal["yaml", "json"]
SCHEMA_PATH: Final = "./{stem}_schema.json"
_SCHEMA_LINE: Final = "# yaml-language-server: $schema="
_SUFFIXES: Final[dict[str, Format]] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
_FIELDS: Final = ("name", "cases", "evaluators", "report_evaluators", "$schema")
_CASE_FIELDS: Final = ("name", "inputs", "metadata", "expected_output", "evaluators")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSpec:
    """What a dataset file says: cases with evaluators as they are written, not yet as objects."""

    name: str | None = None
    cases: tuple[AnyCase, ...]
    """Their `evaluators` are `EvaluatorSpec`s."""
    evaluators: tuple[EvaluatorSpec, ...] = ()
    report_evaluators: tuple[Any, ...] = ()
    """As they stand in the file; they have no effect here."""
    notes: tuple[str, ...] = ()
    """What a person should know about how the file was read."""


# --- reading ------------------------------------------------------------------------------------------------


def read_dataset(path: Path | str, fmt: Format | None = None) -> DatasetSpec:
    """Read a dataset file; a dataset that does not say its name is called as the file is."""
    path = Path(path)
    fmt = fmt or format_of(path)
    text = read_text(_read_bytes(path), str(path))
    return _dataset(_document(text, fmt, str(path)), default_name=path.stem)


def parse_dataset(text: str, fmt: Format = "yaml", *, default_name: str | None = None) -> DatasetSpec:
    """Read a dataset from text."""
    return _dataset(_document(text.removeprefix("\ufeff"), fmt, ""), default_name=default_name)


def dataset_from_dict(data: Mapping[str, Any], *, default_name: str | None = None) -> DatasetSpec:
    """Read a dataset from data of the shape that files have."""
    return _dataset(document_of_data(data), default_name=default_name)


def format_of(path: Path) -> Format:
    """The format that a file's name tells."""
    if fmt := _SUFFIXES.get(path.suffix.lower()):
        return fmt
    raise DatasetError(
        f"{path}: the name does not tell whether this is YAML or JSON",
        hint='name it .yaml or .json, or say fmt="yaml"; rows, one case on each line, go by .jsonl and .csv',
    )


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file", hint=f"looked in {path.parent.absolute()}")
    except OSError as error:
        raise DatasetError(f"{path}: {error.strerror}", hint="a dataset file that can be read is needed")


def _document(text: str, fmt: Format, name: str) -> Document:
    if fmt not in ("yaml", "json"):
        raise DatasetError(f"there is no format {fmt!r}", hint="a dataset is written as yaml or json")
    return read_yaml(text, name) if fmt == "yaml" else read_json(text, name)


def _dataset(document: Document, *, default_name: str | None) -> DatasetSpec:
    data = document.data
    if not isinstance(data, Mapping):
        raise DatasetError(
            f"{document.name or 'the dataset'} is {kind_of(data)}, not a mapping with `cases`",
            hint="begin with `cases:` and a list below it; rows, one case on each line, go by .jsonl",
        )
    problems = Problems()
    _check_fields(document, (), data, _FIELDS, problems)
    reader = _Reader(document, problems)
    name = data.get("name")
    if name is not None and not isinstance(name, str):
        problems.add(document.where(("name",)), f"the name is {name!r:.40}, not text", "put it in quotes")
    cases = reader.cases(data.get("cases"))
    evaluators = reader.specs(("evaluators",), data.get("evaluators"))
    report_evaluators = reader.listed(("report_evaluators",), data.get("report_evaluators"))
    problems.raise_any()
    return DatasetSpec(
        name=default_name if name is None else name,
        cases=cases,
        evaluators=evaluators,
        report_evaluators=tuple(report_evaluators),
        notes=document.notes + _note_on(report_evaluators, document),
    )


def _note_on(report_evaluators: Sequence[object], document: Document) -> tuple[str, ...]:
    if not report_evaluators:
        return ()
    where = document.where(("report_evaluators",))
    return (f"{where}: report evaluators have no effect here; `paceline report` has figures of its own",)


class _Reader:
    """Turns the parts of a document into cases, and takes down what is wrong with them."""

    def __init__(self, document: Document, problems: Problems) -> None:
        self._document = document
        self._problems = problems
        self._named: dict[str, DataPath] = {}

    def cases(self, written: object) -> tuple[AnyCase, ...]:
        where, hint = self._document.where(("cases",)), "write a list below `cases:`, each with `inputs:`"
        if not written and (written is None or _is_list(written)):
            self._problems.add(where, "there are no cases", hint)
        cases = []
        for index, data in enumerate(self.listed(("cases",), written)):
            if self._problems.full:
                break
            cases.append(self._case(("cases", index), data))
        return tuple(case for case in cases if case is not None)

    def listed(self, path: DataPath, written: object) -> Sequence[Any]:
        """A field that holds a list; nothing, and a problem taken down, where it holds something else."""
        if written is None:
            return ()
        if _is_list(written):
            return written
        what = f"`{path[-1]}` is {kind_of(written)}, not a list"
        self._problems.add(
            self._document.where(path), what, f"write a list, even of one: `{path[-1]}: [...]`"
        )
        return ()

    def _case(self, path: DataPath, data: object) -> AnyCase | None:
        if not isinstance(data, Mapping):
            hint = "each case is a mapping with `inputs:`, and what else there is to say"
            self._problems.add(self._document.where(path), f"a case is {kind_of(data)}, not a mapping", hint)
            return None
        _check_fields(self._document, path, data, _CASE_FIELDS, self._problems)
        if "inputs" not in data:
            called = f"the case {data['name']!r:.80}" if data.get("name") is not None else "a case"
            self._problems.add(
                self._document.where(path), f"{called} has no inputs", "add `inputs:`, what the task is given"
            )
        return Case(
            name=self._name((*path, "name"), data.get("name")),
            inputs=data.get("inputs"),
            metadata=data.get("metadata"),
            expected_output=data.get("expected_output"),
            evaluators=self.specs((*path, "evaluators"), data.get("evaluators")),
        )

    def _name(self, path: DataPath, name: object) -> str | None:
        if name is None:
            return None
        if type(name) is int:
            name = str(name)  # 007 aside, what stands there is what is meant
        if objection := objection_to(name):
            self._problems.add(self._document.where(path), f"the name of a case {objection[0]}", objection[1])
            return None
        assert isinstance(name, str)
        if (first := self._named.setdefault(name, path)) is not path:
            what = f"a second case is named {name!r}; the first: {self._document.where(first)}"
            self._problems.add(self._document.where(path), what, TWICE_HINT)
        return name

    def specs(self, path: DataPath, written: object) -> tuple[EvaluatorSpec, ...]:
        """Evaluators as they are written, each with its place."""
        specs = []
        for index, spec in enumerate(self.listed(path, written)):
            where = self._document.where((*path, index))
            try:
                specs.append(EvaluatorSpec.parse(spec, where=where))
            except DatasetError as error:
                self._problems.add("", error.message, error.hint)
        return tuple(specs)


def _check_fields(
    document: Document, path: DataPath, data: Mapping[Any, Any], known: Sequence[str], problems: Problems
) -> None:
    for field in data:
        if field not in known:
            kind = "a case" if path else "a dataset"
            problems.add(
                document.where((*path, field)),
                f"{kind} has no field {field!r}{nearest(str(field), known)}",
                f"the fields of {kind}: {', '.join(name for name in known if name != '$schema')}",
            )


def _is_list(data: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(data, Sequence) and not isinstance(data, str | bytes)


# --- writing ------------------------------------------------------------------------------------------------


def write_dataset(
    path: Path | str,
    dataset: DatasetSpec,
    *,
    fmt: Format | None = None,
    evaluator_schema: Mapping[str, Any] | None = None,
    schema_path: Path | str | None = SCHEMA_PATH,
) -> None:
    """Write a dataset file, and beside it the JSON schema by which editors complete and check it.

    `evaluator_schema` says how an evaluator may be written; without it any of the short forms will do.
    A schema that has not changed is left alone; with `schema_path=None` there is none.
    """
    path = Path(path)
    fmt = fmt or format_of(path)
    data = _as_data(dataset, fmt)
    schema_file = reference = None
    if schema_path is not None:
        schema_file = path.parent / str(schema_path).format(stem=path.stem)
        reference = Path(os.path.relpath(schema_file, path.parent)).as_posix()
    text = _yaml_text(data, reference) if fmt == "yaml" else _json_text(data, reference)
    _check_reads_back(text, data, fmt)
    if schema_file is not None:
        _write_if_changed(schema_file, _json(dataset_schema(evaluator_schema)))
    _replace(path, text)


def _as_data(dataset: DatasetSpec, fmt: Format) -> dict[str, Any]:
    """The dataset as plain data, without what is at its default."""
    written = {
        "name": dataset.name,
        "cases": [_case_as_data(case, number, fmt) for number, case in enumerate(dataset.cases, start=1)],
        "evaluators": [_plain(_spec_as_written(spec), fmt, str(spec)) for spec in dataset.evaluators],
        "report_evaluators": list(dataset.report_evaluators),
    }
    return {field: value for field, value in written.items() if value or field == "cases"}


def _case_as_data(case: AnyCase, number: int, fmt: Format) -> dict[str, Any]:
    called = f"case {number}" if case.name is None else f"case {case.name!r}"
    written = {
        "name": case.name,
        "inputs": _plain(case.inputs, fmt, f"{called}: its inputs"),
        "metadata": _plain(case.metadata, fmt, f"{called}: its metadata"),
        "expected_output": _plain(case.expected_output, fmt, f"{called}: its expected output"),
        "evaluators": [_plain(_spec_as_written(spec), fmt, f"{called}: {spec}") for spec in case.evaluators]
        or None,
    }
    return {field: value for field, value in written.items() if value is not None or field == "inputs"}


def _spec_as_written(spec: object) -> Spec:
    if isinstance(spec, EvaluatorSpec):
        return spec.written()
    if isinstance(spec, str | dict):
        return EvaluatorSpec.parse(spec).written()
    raise DatasetError(
        f"{spec!r:.80} cannot be written to a dataset file",
        hint="only what has a name and arguments can stand in a file: make it an Evaluator class",
    )


def _plain(value: object, fmt: Format, called: str) -> Any:
    kept = (datetime, date) if fmt == "yaml" else ()
    try:
        return msgspec.to_builtins(value, builtin_types=kept, str_keys=fmt == "json", enc_hook=_model_as_data)
    except Exception as error:
        raise DatasetError(
            f"{called} cannot be written to a dataset file: {error}",
            hint="plain data, dataclasses and models can be; keep other cases in Python",
        )


def _model_as_data(value: Any) -> Any:
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    raise NotImplementedError(f"{type(value).__name__} is not data")


def _yaml_text(data: dict[str, Any], schema: str | None) -> str:
    import yaml

    header = f"{_SCHEMA_LINE}{schema}\n" if schema else ""
    try:
        body: str = yaml.dump(data, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=110)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise DatasetError(f"this dataset cannot be written as YAML: {error}", hint="write it as .json")
    return header + body


@cache
def _dumper() -> type[Any]:
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # chosen when it is run
        """Long text as a block, and nothing as a reference to something further up."""

        def ignore_aliases(self, _: object) -> bool:
            return True

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper


def _json_text(data: dict[str, Any], schema: str | None) -> str:
    return _json({"$schema": schema, **data} if schema else data)


def _json(data: object) -> str:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    # Half a surrogate pair can stand in no file; its escape can.
    return (text if text.isascii() or _is_text(text) else json.dumps(data, indent=2)) + "\n"


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_reads_back(text: str, data: dict[str, Any], fmt: Format) -> None:
    try:
        read = _document(text, fmt, "").data
    except DatasetError:
        read = {}
    read.pop("$schema", None)
    if repr(_comparable(read)) != repr(_comparable(data)):
        raise DatasetError(
            f"this dataset would not read back from {fmt.upper()} as it is",
            hint="write it as .json" if fmt == "yaml" else "keep it in Python",
        )


def _comparable(data: object) -> object:
    """The data, with times as their text: the same moment may have its zone from another source."""
    if isinstance(data, dict):
        return [(key, _comparable(value)) for key, value in data.items()]
    if isinstance(data, list | tuple):
        return [_comparable(value) for value in data]
    return data.isoformat() if isinstance(data, datetime) else data


def _write_if_changed(path: Path, text: str) -> None:
    try:
        unchanged = path.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        unchanged = False
    if not unchanged:
        _replace(path, text)


def _replace(path: Path, text: str) -> None:
    """Write the file as a whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8", newline="\n")
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise DatasetError(f"{path}: {error.strerror}", hint="choose a folder that can be written to")


# --- the schema for editors ---------------------------------------------------------------------------------

_ANY_FORM: Final = {
    "description": "`Name`, `Name: argument` or `Name: {keyword: argument}`",
    "anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 2}],
}


def dataset_schema(evaluator_schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON schema of dataset files; `evaluator_schema` is that of one evaluator as it is written."""
    evaluator = dict(evaluator_schema or _ANY_FORM)
    definitions = evaluator.pop("$defs", {})  # references to them start at the root of the whole schema
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Dataset",
        "type": "object",
        "additionalProperties": False,
        "required": ["cases"],
        "properties": {
            "$schema": {"type": "string"},
            "name": {"type": ["string", "null"]},
            "cases": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Case"}},
            "evaluators": _EVALUATORS,
            "report_evaluators": {"type": "array", "description": "Of Pydantic Evals; no effect here."},
        },
        "$defs": {**definitions, "Case": _CASE_SCHEMA, "Evaluator": evaluator},
    }


_EVALUATORS: Final = {"type": ["array", "null"], "items": {"$ref": "#/$defs/Evaluator"}}
_CASE_SCHEMA: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["inputs"],
    "properties": {
        "name": {"type": ["string", "integer", "null"], "description": "Unique in the dataset."},
        "inputs": {"description": "What the task is given."},
        "metadata": {"description": "What else is known about the case."},
        "expected_output": {"description": "What the answer is compared with."},
        "evaluators": {"description": "For this case, besides those of the dataset.", **_EVALUATORS},
    },
}
