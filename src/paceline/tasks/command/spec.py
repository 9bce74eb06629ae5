"""What may be said of a command, checked as a whole before anything is started.

Templates are taken apart once; what they are filled with is `values`: the inputs of the case, the folder of
the workspace, that of the suite, and which attempt it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from paceline.errors import UsageError
from paceline.processes.launch import OUTPUT_KEPT, Limits
from paceline.setting_kinds import duration
from paceline.settings import nearest
from paceline.tasks.command.boxes import Box, bubblewrap_of
from paceline.tasks.command.engines import ENGINES, container_of
from paceline.tasks.command.output import Output, output_of
from paceline.tasks.command.shell import Script, script_of
from paceline.tasks.template import ROOT, Template
from paceline.workspaces.sources import Archive, Nothing, Repository, Source
from paceline.workspaces.sources import Template as Copy

ROOTS: Final = (ROOT, "workspace", "suite", "case")
"""What places may begin with: `case` has `name`, `repeat`, `variant` and `attempt`."""
LIMITS: Final = ("memory", "processes", "cpu", "file_size", "open_files")
SOURCES: Final = ("template", "repository", "commit", "archive", "strip")
SETUP_S: Final = 1800.0
GRACE_S: Final = 3.0

Keep = Literal["never", "failed", "always"]
_KEEP: Final = ("never", "failed", "always")
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """What a workspace is made from, with places in it."""

    parts: Mapping[str, Template]
    strip: int = 0

    def source(self, values: Mapping[str, Any], folder: Path) -> Source:
        """The source for a case; paths are from the suite's folder."""
        said = {name: template.fill_from(values) for name, template in self.parts.items()}
        if "template" in said:
            return Copy(folder / Path(said["template"]).expanduser())
        if "archive" in said:
            return Archive(folder / Path(said["archive"]).expanduser(), self.strip)
        if "repository" in said:
            local = folder / Path(said["repository"]).expanduser()
            url = str(local) if local.exists() else said["repository"]
            return Repository(url, said.get("commit") or "HEAD")
        return Nothing()

    @property
    def is_fixed(self) -> bool:
        """Whether it is the same for every case, and can be checked before the first."""
        return not any(template.places for template in self.parts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A command as it was said."""

    argv: tuple[Template, ...] = ()
    script: Script | None = None
    """In place of `argv`, for a shell."""
    program: str
    """What to call it."""
    stdin: Template | None
    env: Mapping[str, Template]
    pass_env: tuple[str, ...]
    cwd: Template | None
    setup: tuple[Script, ...]
    timeout: float | None
    setup_timeout: float
    grace: float
    output: Output
    accepted: frozenset[int] | None
    source: SourceSpec | None
    """None: there is no workspace, it works in the suite's folder."""
    files: Template | Mapping[str, Template | Path]
    keep: Keep
    limits: Limits
    kept: int
    box: Box | None
    allow: Mapping[str, Any] | None
    wants_gateway: bool
    version: str

    def allowance(self) -> Any:
        """What an attempt may use of models, in the gateway's words."""
        from paceline.gateway.tickets import UNBOUNDED, Allowance

        return UNBOUNDED if self.allow is None else msgspec.convert(self.allow, Allowance)


def spec_of(said: Mapping[str, Any], folder: Path) -> Spec:
    """The spec that was said; `said` has every argument of `CommandTask` that was given."""
    command = said.get("command")
    argv, script, program = _command(command)
    source = _source(said.get("workspace"))
    output = output_of(said.get("output"))
    if source is None and (output.of != "stdout" or said.get("files") or said.get("keep")):
        raise UsageError(
            "without a workspace there is nothing to write files into, to compare or to keep",
            hint="leave `workspace: none` out: each attempt has an empty folder of its own then",
        )
    return Spec(
        argv=argv,
        script=script,
        program=program,
        stdin=_template(said.get("stdin"), "stdin"),
        env=_env(said.get("env")),
        pass_env=_texts(said.get("pass_env"), "pass_env", "[OPENAI_API_KEY]"),
        cwd=_template(said.get("cwd"), "cwd"),
        setup=tuple(
            script_of(Template(text, where="setup", roots=ROOTS))
            for text in _texts(said.get("setup"), "setup", "pip install -e ., or a list of commands")
        ),
        timeout=_duration(said.get("timeout"), "timeout", None),
        setup_timeout=_duration(said.get("setup_timeout"), "setup_timeout", SETUP_S) or SETUP_S,
        grace=_duration(said.get("grace"), "grace", GRACE_S) or GRACE_S,
        output=output,
        accepted=_accepted(said.get("exit_codes")),
        source=source,
        files=_files(said.get("files"), folder),
        keep=_one_of(said.get("keep"), "keep", _KEEP),
        limits=_limits(said.get("limits")),
        kept=_size(said["output_limit"], "output_limit") if said.get("output_limit") else OUTPUT_KEPT,
        box=_box(said, folder),
        allow=_allow(said.get("allow")),
        wants_gateway=_wants_gateway(said),
        version=", ".join(f"{name}={_fingerprint(value)}" for name, value in sorted(said.items())),
    )


def _command(command: object) -> tuple[tuple[Template, ...], Script | None, str]:
    if isinstance(command, str) and command.strip():
        script = script_of(Template(command, where="command", roots=ROOTS))
        return (), script, command.split()[0]
    if isinstance(command, Sequence) and any(isinstance(part, bool) for part in command):
        raise UsageError(
            f"command: one of its words is {next(part for part in command if isinstance(part, bool))}",
            hint="YAML takes true, false, yes and no for truth values: put the word into quotes",
        )
    if (
        isinstance(command, Sequence)
        and command
        and all(isinstance(part, str | int | float) for part in command)
    ):
        command = [str(part) for part in command]
        argv = tuple(Template(part, where="command", roots=ROOTS) for part in command)
        return argv, None, Path(command[0]).name if not argv[0].places else command[0]
    raise UsageError(
        "command wants a text, for a shell, or a list of texts: the program and its arguments",
        hint="`command: [my-agent, '{{ inputs.task }}']`, or `command: my-agent {{ inputs.task }} > log`",
    )


def _source(said: object) -> SourceSpec | None:
    match said:
        case None | "empty":
            return SourceSpec({})
        case "none" | False:
            return None
        case Mapping() if said:
            pass
        case _:
            raise UsageError(f"workspace cannot be {said!r:.100}", hint=_WORKSPACES)
    for key in said:
        if key not in SOURCES:
            raise UsageError(f"workspace has no key {key!r}{nearest(str(key), SOURCES)}", hint=_WORKSPACES)
    if sum(name in said for name in ("template", "repository", "archive")) != 1:
        raise UsageError("a workspace is made from one thing", hint=_WORKSPACES)
    if ("commit" in said and "repository" not in said) or ("strip" in said and "archive" not in said):
        raise UsageError(
            "workspace: a commit is of a repository, `strip` is for an archive", hint=_WORKSPACES
        )
    strip = said.get("strip", 0)
    if not isinstance(strip, int) or isinstance(strip, bool) or strip < 0:
        raise UsageError("workspace: strip wants a number of folders", hint="`strip: 1`")
    parts = {name: _template(value, f"workspace.{name}") for name, value in said.items() if name != "strip"}
    return SourceSpec({name: part for name, part in parts.items() if part is not None}, strip)


_WORKSPACES: Final = (
    "{template: FOLDER}, {repository: URL, commit: COMMIT}, {archive: FILE, strip: 1}, `empty`, "
    "which it is by itself, or `none`: no folder of its own"
)


def _files(said: object, folder: Path) -> Template | Mapping[str, Template | Path]:
    hint = "`files: {TASK.md: '{{ inputs.task }}', a.cfg: {copy: fixtures/a.cfg}}`, or '{{ inputs.files }}'"
    match said:
        case None:
            return {}
        case str():
            template = Template(said, where="files", roots=ROOTS)
            if template.only_place() is None:
                raise UsageError("files wants names with contents, or one place that holds them", hint=hint)
            return template
        case Mapping():
            return {str(name): _file(str(name), content, folder, hint) for name, content in said.items()}
    raise UsageError(f"files cannot be {said!r:.100}", hint=hint)


def _file(name: str, content: object, folder: Path, hint: str) -> Template | Path:
    match content:
        case str():
            return Template(content, where=f"files.{name}", roots=ROOTS)
        case {"copy": str() as path, **rest} if not rest:
            found = folder / path
            if not found.is_file():
                raise UsageError(f"files.{name}: there is no file {found}", hint=hint)
            return found
    raise UsageError(f"files.{name} wants a text, or a file to copy", hint=hint)


def _env(said: object) -> dict[str, Template]:
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        raise UsageError("env wants names with values", hint="`env: {MODEL: gpt-5.4-mini, SEED: '1'}`")
    found: dict[str, Template] = {}
    for name, value in said.items():
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise UsageError(f"env: {name!r} is no name of a variable", hint="letters, digits and _")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UsageError(f"env: {name} wants a text", hint=f"`{name}: '1'`")
        found[name] = Template(str(value), where=f"env.{name}", roots=ROOTS)
    return found


def _box(said: Mapping[str, Any], folder: Path) -> Box | None:
    named = [name for name in (*ENGINES, "bubblewrap") if said.get(name) not in (None, False)]
    if len(named) > 1:
        raise UsageError(
            f"a command runs in one place, and {' and '.join(named)} are said", hint="keep one of them"
        )
    if not named:
        return None
    if named[0] == "bubblewrap":
        return bubblewrap_of(said["bubblewrap"], folder)
    return container_of(named[0], said[named[0]], ROOTS, folder)


def _wants_gateway(said: Mapping[str, Any]) -> bool:
    wanted = said.get("gateway", True)
    if not isinstance(wanted, bool):
        raise UsageError(f"gateway is true or false, not {wanted!r:.60}", hint="true, if nothing is said")
    if not wanted and said.get("allow"):
        raise UsageError(
            "what a command may use of models is seen at the gateway only", hint="leave `gateway` out"
        )
    # It listens on this machine's own address, which within a container or without network is another one.
    container, bubble = _container(said), said.get("bubblewrap")
    if container and container.get("network") != "host":
        return False
    return wanted and not (isinstance(bubble, Mapping) and bubble.get("network") is False)


def _container(said: Mapping[str, Any]) -> Mapping[str, Any]:
    given: object = next((said[name] for name in ENGINES if said.get(name)), {})
    return given if isinstance(given, Mapping) else {"image": given}


def _allow(said: object) -> Mapping[str, Any] | None:
    if said is None:
        return None
    from paceline.gateway.tickets import Allowance

    hint = "`allow: {calls: 50, tokens: 200000, usd: 0.5, models: ['gpt-5*']}`"
    if not isinstance(said, Mapping):
        raise UsageError("allow wants names with values", hint=hint)
    for key in said:
        if key not in Allowance.__struct_fields__:
            raise UsageError(
                f"allow has no key {key!r}{nearest(str(key), Allowance.__struct_fields__)}", hint=hint
            )
    try:
        msgspec.convert(said, Allowance)
    except msgspec.ValidationError as error:
        raise UsageError(f"allow: {error}", hint=hint)
    return dict(said)


def _accepted(said: object) -> frozenset[int] | None:
    match said:
        case None:
            return frozenset({0})
        case "any":
            return None
        case Sequence() if said and all(isinstance(each, int) and 0 <= each < 256 for each in said):
            return frozenset(int(each) for each in said)
    raise UsageError("exit_codes wants the codes that are no failure", hint="`exit_codes: [0, 1]`, or `any`")


def _limits(said: object) -> Limits:
    hint = "`limits: {memory: 4GiB, processes: 200, cpu: 10m, file_size: 1GiB, open_files: 1024}`"
    if said is None:
        return Limits()
    if not isinstance(said, Mapping):
        raise UsageError("limits wants names with values", hint=hint)
    for key in said:
        if key not in LIMITS:
            raise UsageError(f"limits has no key {key!r}{nearest(str(key), LIMITS)}", hint=hint)
    cpu = _duration(said.get("cpu"), "limits.cpu", None)
    return Limits(
        memory=_size(said["memory"], "limits.memory") if "memory" in said else None,
        processes=_count(said["processes"], "limits.processes") if "processes" in said else None,
        cpu_s=None if cpu is None else max(round(cpu), 1),
        file_size=_size(said["file_size"], "limits.file_size") if "file_size" in said else None,
        open_files=_count(said["open_files"], "limits.open_files") if "open_files" in said else None,
    )


def _size(said: object, where: str) -> int:
    """Bytes from `500`, `"64MiB"`, `"2g"`; units are powers of 1024."""
    if isinstance(said, int) and not isinstance(said, bool) and said > 0:
        return said
    if isinstance(said, str) and (written := _SIZE.fullmatch(said.strip())):
        size = int(float(written[1]) * 1024 ** _POWERS[written[2].lower()])
        if size > 0:
            return size
    raise UsageError(f"{where} wants a size, not {said!r:.60}", hint="such as 512MiB or 2GiB")


def _count(said: object, where: str) -> int:
    if isinstance(said, int) and not isinstance(said, bool) and said > 0:
        return said
    raise UsageError(f"{where} wants a number, more than 0, not {said!r:.60}", hint="such as 100")


def _duration(said: object, where: str, default: float | None) -> float | None:
    if said is None:
        return default
    try:
        return duration(said)
    except ValueError:
        raise UsageError(f"{where} wants a duration, not {said!r:.60}", hint="such as 90, 30s, 10m or 1h30m")


def _template(said: object, where: str) -> Template | None:
    if said is None:
        return None
    if not isinstance(said, str):
        raise UsageError(
            f"{where} wants a text, not {said!r:.60}", hint=f"`{where}: '{{{{ inputs.text }}}}'`"
        )
    return Template(said, where=where, roots=ROOTS)


def _texts(said: object, where: str, example: str) -> tuple[str, ...]:
    if said is None:
        return ()
    if isinstance(said, str):
        return (said,)
    if isinstance(said, Sequence) and all(isinstance(each, str) for each in said):
        return tuple(said)
    raise UsageError(f"{where} wants texts", hint=f"`{where}: {example}`")


def _one_of(said: object, where: str, words: Sequence[str]) -> Any:
    if said is None:
        return words[0]
    if said not in words:
        raise UsageError(f"{where} cannot be {said!r:.60}", hint=f"it is {', '.join(words)}")
    return said


def _fingerprint(value: object) -> str:
    """A short name for what was said, the same in every process."""
    written = msgspec.json.encode(value, enc_hook=str, order="deterministic")
    return hashlib.blake2b(written, digest_size=4).hexdigest()
