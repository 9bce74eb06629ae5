"""What a suite.yaml may hold: its keys, their shapes, and the JSON schema for editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from paceline.errors import SuiteError
from paceline.settings import SETTINGS

_OBJECT: Final = {"type": "string", "pattern": r"^.+:[A-Za-z_][\w.]*$"}
_SPEC: Final = {
    "anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 2}],
    "description": "`Name`, `Name: argument` or `Name: {keyword: argument}`.",
}
_MODEL: Final = {
    "anyOf": [
        {"type": "string"},
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    ],
    "description": "A model: its name, `openai:gpt-5.4-mini`, or a mapping of `name` and options.",
}
_FILE: Final = {
    "type": "object",
    "properties": {"file": {"type": "string"}},
    "required": ["file"],
    "additionalProperties": False,
}
_TEXT: Final = {"anyOf": [{"type": "string"}, _FILE]}
_LIST: Final = {"anyOf": [{"type": "string"}, {"type": "array"}, _FILE]}
MODEL_PARTS: Final[dict[str, dict[str, Any]]] = {
    "prompt": {**_TEXT, "description": "What a model is asked; `{{ inputs.FIELD }}` is filled in."},
    "system": {**_TEXT, "description": "What a model is told before all else."},
    "messages": {**_LIST, "description": "What a model is told, message by message: a list, or a place."},
    "tools": {**_LIST, "description": "Tools that a model is offered; else those of a case, if it has any."},
    "schema": {"type": "object", "description": "JSON schema of the answer that a model has to give."},
}
_TEXTS: Final = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_DURATION: Final = {"type": ["number", "string"]}
_SIZE: Final = {"type": ["integer", "string"]}
_CONTAINER: Final = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "image": {"type": "string"},
                "mounts": {"type": "array", "items": {"type": "string"}},
                "network": {"type": "string"},
                "user": {"type": "string"},
                "workdir": {"type": "string"},
                "cpus": {"type": "number"},
                "options": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["image"],
            "additionalProperties": False,
        },
    ]
}
_COMMAND: Final = {
    **_TEXTS,
    "description": "A program with its arguments, or a text for a shell; places are `{{ inputs.field }}`.",
}
COMMAND_PARTS: Final[dict[str, dict[str, Any]]] = {
    "stdin": {"type": "string", "description": "What the command reads."},
    "env": {
        "type": "object",
        "additionalProperties": {"type": ["string", "number"]},
        "description": "Variables of its environment.",
    },
    "pass_env": {
        **_TEXTS,
        "description": "Variables of ours that it is given: names, or patterns such as `AWS_*`.",
    },
    "cwd": {"type": "string", "description": "The folder that it starts in, from its workspace."},
    "setup": {**_TEXTS, "description": "Shell commands that are run in the workspace before it."},
    "timeout": {**_DURATION, "description": "How long an attempt may take, in place of the run's setting."},
    "setup_timeout": {**_DURATION, "description": "How long a setup command may take; 30m by itself."},
    "grace": {**_DURATION, "description": "Between TERM and KILL when it is ended; 3s by itself."},
    "output": {
        "anyOf": [
            {"enum": ["stdout", "diff"]},
            {
                "type": "object",
                "properties": {"file": {"type": "string"}, "json": {"type": "string"}},
                "additionalProperties": False,
                "minProperties": 1,
            },
        ],
        "description": "Where its answer is: `stdout`, `diff`, `{file: out.txt}`, `{json: result.answer}`.",
    },
    "exit_codes": {
        "anyOf": [{"const": "any"}, {"type": "array", "items": {"type": "integer"}}],
        "description": "Exit codes that are no failure; [0] by itself.",
    },
    "workspace": {
        "anyOf": [
            {"enum": ["empty", "none"]},
            {
                "type": "object",
                "properties": {
                    "template": {"type": "string"},
                    "repository": {"type": "string"},
                    "commit": {"type": "string"},
                    "archive": {"type": "string"},
                    "strip": {"type": "integer"},
                },
                "additionalProperties": False,
            },
        ],
        "description": "What the folder of each attempt is made from.",
    },
    "files": {
        "anyOf": [{"type": "string"}, {"type": "object"}],
        "description": "Files that are written into the workspace: names with contents.",
    },
    "keep": {
        "enum": ["never", "failed", "always"],
        "description": "Which workspaces stay, in the run directory. Their patch always does.",
    },
    "limits": {
        "type": "object",
        "properties": {
            "memory": _SIZE,
            "processes": {"type": "integer"},
            "cpu": _DURATION,
            "file_size": _SIZE,
            "open_files": {"type": "integer"},
        },
        "additionalProperties": False,
        "description": "What each attempt may use.",
    },
    "output_limit": {**_SIZE, "description": "How much of stdout and stderr is kept, each; 16MiB by itself."},
    "gateway": {
        "type": "boolean",
        "description": "Whether its model calls go by the gateway; true by itself, where calls are paced.",
    },
    "allow": {
        "type": "object",
        "description": "What each attempt may use of models, by the gateway: calls, tokens, usd, models.",
    },
    "docker": {**_CONTAINER, "description": "Run it in a container of this image."},
    "podman": {**_CONTAINER, "description": "The same with podman."},
    "bubblewrap": {
        "anyOf": [
            {"type": "boolean"},
            {
                "type": "object",
                "properties": {
                    "network": {"type": "boolean"},
                    "readable": {"type": "array", "items": {"type": "string"}},
                    "writable": {"type": "array", "items": {"type": "string"}},
                },
                "additionalProperties": False,
            },
        ],
        "description": "Run it where it sees its workspace and the system, and not your files.",
    },
}
HTTP: Final = {
    "type": "object",
    "properties": {
        "url": {"type": "string"},
        "method": {"enum": ["GET", "POST", "PUT", "PATCH", "DELETE"]},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "body": {},
        "answer": {"type": "string"},
        "stream": {"type": "boolean"},
    },
    "required": ["url"],
    "additionalProperties": False,
    "description": "An endpoint: url, method, headers, body, the path to the answer, stream.",
}
_BOUNDS: Final = {"type": "object", "additionalProperties": {"type": ["number", "string"]}}
CHECK: Final[dict[str, dict[str, Any]]] = {
    "min": {**_BOUNDS, "description": "Figures by name, and the least that they may be."},
    "max": {**_BOUNDS, "description": "Figures by name, and the most that they may be."},
    "min_coverage": {"type": ["number", "string"], "description": "The least share of keys to be scored."},
    "no_regression": {"type": "string", "description": "A run, or a saved baseline, not to be worse than."},
    "require_calibrated_judges": {
        "type": "boolean",
        "description": "Whether every judge has to have been shown to agree with people.",
    },
    "confidence": {
        "type": ["number", "string"],
        "description": "How sure one has to be that a bound is kept: 0.95. Else the figure itself decides.",
    },
    "allow_simulated": {"type": "boolean", "description": "Whether a rehearsal may be green."},
}
PROPERTIES: Final[dict[str, dict[str, Any]]] = {
    "$schema": {"type": "string", "description": "Where editors find this schema."},
    "name": {
        "type": "string",
        "description": "Its folder below `runs/`. Default: the dataset's name, else the file's.",
    },
    "dataset": {
        "type": "string",
        "description": "Path of a dataset file (YAML, JSON, JSONL, CSV), from this file.",
    },
    "cases": {
        "type": "array",
        "items": {"type": "object", "required": ["inputs"]},
        "description": "The cases themselves, in place of `dataset`, written as in a dataset file.",
    },
    "evaluators": {
        "type": "array",
        "items": _SPEC,
        "description": "Evaluators for all cases, your own as `file.py:name`.",
    },
    "custom_evaluators": {
        "type": "array",
        "items": _OBJECT,
        "description": "Classes of your own to use as evaluators: `module:Class` or `file.py:Class`.",
    },
    "task": {**_OBJECT, "description": "What is under test: `module:function` or `file.py:function`."},
    "model": {**_MODEL, "description": f"{_MODEL['description']} It is asked in place of a `task`."},
    **MODEL_PARTS,
    "command": {**_COMMAND, "description": f"{_COMMAND['description']} It is run in place of a `task`."},
    **COMMAND_PARTS,
    "http": {**HTTP, "description": f"{HTTP['description']} It is asked in place of a `task`."},
    "variants": {
        "type": "object",
        "additionalProperties": {
            "anyOf": [
                {"type": "string", "pattern": r"^[^:]+:.+$"},
                {"type": "object", "properties": {"task": _OBJECT}, "required": ["task"]},
                {
                    "type": "object",
                    "properties": {"model": _MODEL, **MODEL_PARTS},
                    "additionalProperties": False,
                    "minProperties": 1,
                },
                {
                    "type": "object",
                    "properties": {"http": HTTP},
                    "required": ["http"],
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "properties": {"command": _COMMAND, **COMMAND_PARTS},
                    "additionalProperties": False,
                    "minProperties": 1,
                },
            ]
        },
        "description": "Several tasks, models, commands or endpoints by name, in place of one.",
    },
    "lifecycle": {**_OBJECT, "description": "A CaseLifecycle: `module:Class` or `file.py:Class`."},
    "map": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "Which field of a JSONL or CSV row is our `inputs`, `expected_output`, `name`.",
    },
    "metadata": {"type": "object", "description": "Facts about the run, kept in its journal and report."},
    "repeat": {"type": "integer", "minimum": 1, "description": "How often each case is run."},
    "check": {
        "type": "object",
        "properties": CHECK,
        "additionalProperties": False,
        "description": "What a run has to keep, for `paceline check` and `run --check`.",
    },
    "settings": {
        "type": "object",
        "description": "Settings of the run, by the names that `paceline config` lists.",
    },
}

_SHAPES: Final[Mapping[str, tuple[type, str]]] = {
    "string": (str, "a text"),
    "array": (list, "a list"),
    "object": (dict, "keys with values"),
    "integer": (int, "a whole number"),
}


def check_shape(key: str, value: object, where: str, *, has_common: bool = False) -> None:
    """Refuse a value that is not of the shape of its key; `has_common`: whether variants have a model or a
    command in common."""
    if not isinstance(PROPERTIES[key].get("type"), str) or key in COMMAND_PARTS:
        return  # of several shapes, or not ours: whoever reads it says what is wrong
    kind, words = _SHAPES[PROPERTIES[key]["type"]]
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise SuiteError(f"{where}: {key} wants {words}", hint=PROPERTIES[key]["description"])
    if key == "variants" and isinstance(value, dict):
        for name, said in value.items():
            _check_variant(name, said, where, has_common=has_common)


def _check_variant(name: str, said: object, where: str, *, has_common: bool) -> None:
    match said:
        case str() | {"task": str()}:
            return
        case {"http": dict(), **rest} if not rest:
            return
        case dict() if "task" not in said and ("model" in said or "command" in said or (has_common and said)):
            return
    raise SuiteError(
        f"{where}: variant {name!r} names neither a task nor a model nor a command nor an endpoint",
        hint=f"`{name}: app.py:answer`, `{name}: {{task: app.py:answer, loud: true}}`, "
        f"`{name}: {{model: openai:gpt-5.4-mini}}`, or `{name}: {{command: [my-agent]}}`",
    )


def suite_schema() -> dict[str, Any]:
    """The JSON schema of a suite.yaml, for editors."""
    settings = {setting.name: {**setting.kind.schema, "description": setting.help} for setting in SETTINGS}
    from paceline.evaluators.registry import schema_of

    properties = dict(PROPERTIES)
    # Those of the user's own may have any name, so the built-in ones help an editor and forbid nothing.
    known = {"anyOf": [*schema_of()["anyOf"], _SPEC]}
    properties["evaluators"] = {**PROPERTIES["evaluators"], "items": known}
    properties["settings"] = {
        **PROPERTIES["settings"],
        "properties": settings,
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A suite of Paceline",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "oneOf": [{"required": ["dataset"]}, {"required": ["cases"]}],
    }
