"""The user's code: how a Python file or module is loaded, and what is said when it cannot be.

A file is executed once for each process, under a name that is the same in every process: its stem, as
`import` would call it, with its folder first on `sys.path`, as `python file.py` has it. So what the file
defines can be imported again by that name, which is how values of its classes come back from a journal and
how they reach child processes.

Whatever the code raises while it is loaded becomes a `SuiteError` that shows the user's own frames.
"""

from __future__ import annotations

import importlib
import keyword
import re
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

from paceline.errors import PacelineError, SuiteError
from paceline.settings import nearest


def load_file(path: Path, *, shown: str = "") -> ModuleType:
    """The module that a Python file is; executed only if this process has not done so yet."""
    from importlib.util import module_from_spec, spec_from_file_location

    shown = shown or str(path)
    path = path.resolve()
    if not path.is_file():
        raise SuiteError(f"{shown}: there is no such file", hint=f"looked for {path}")
    put_first_on_path(path.parent)
    name = module_name(path)
    if (loaded := sys.modules.get(name)) is not None:
        return loaded
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SuiteError(f"{shown} is not a Python file", hint="its name has to end in .py")
    module = module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses and pickling look their own module up
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        raise _failed(shown, error)
    return module


def load_object(written: str, *, base: Path) -> Any:
    """What `module:name` or `file.py:name` names; files, and modules first, are looked for in `base`."""
    place, colon, attribute = written.rpartition(":")
    if not colon or not place or not attribute:
        raise SuiteError(
            f"{written!r} does not name a Python object",
            hint="write module:function or file.py:function, such as app.py:answer",
        )
    if place.endswith(".py"):
        module = load_file(base / place, shown=place)
    else:
        module = _import(place, base)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            known = [name for name in vars(module) if not name.startswith("_")]
            raise SuiteError(
                f"{place} has no {attribute!r}{nearest(attribute, known)}",
                hint=f"it defines {', '.join(known[:12]) or 'nothing'}",
            )
        found = getattr(found, part)
    return found


def _import(name: str, base: Path) -> ModuleType:
    # The current directory comes after the suite's own: what lies beside a suite belongs to it.
    put_first_on_path(Path.cwd())
    put_first_on_path(base)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise _failed(name, error)
        raise SuiteError(
            f"there is no module {error.name!r} to import",
            hint=f"looked beside the suite ({base}), in the current directory and in the installed packages; "
            f"a file is named with its ending: {name.replace('.', '/')}.py:...",
        )
    except BaseException as error:
        raise _failed(name, error)


def put_first_on_path(folder: Path) -> None:
    """Make `folder` the first place that imports look at."""
    text = str(folder.resolve())
    if not sys.path or sys.path[0] != text:
        sys.path.insert(0, text)


def module_name(path: Path) -> str:
    """The name that a file's module has in every process: its stem, unless that belongs to another module."""
    stem = path.stem
    plain = re.sub(r"\W", "_", stem)
    usable = stem.isidentifier() and not keyword.iskeyword(stem) and stem not in sys.stdlib_module_names
    names = [stem, f"paceline_suite_{plain}"] if usable else [f"paceline_suite_{plain}"]
    for name in names:
        taken = sys.modules.get(name)
        if taken is None or _is_from(taken, path):
            return name
    return f"paceline_suite_{plain}_{zlib.crc32(str(path).encode()):08x}"


def _is_from(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).resolve() == path


def _failed(shown: str, error: BaseException) -> BaseException:
    """The error of a file that did not load: what was raised, and the frames that are the user's."""
    if isinstance(error, KeyboardInterrupt | PacelineError):
        return error
    from traceback import extract_tb, format_exception_only, format_list

    frames = [
        frame
        for frame in extract_tb(error.__traceback__)
        if frame.filename != __file__ and not frame.filename.startswith("<frozen")
    ]
    told = "".join([*format_list(frames), *format_exception_only(error)]).rstrip()
    return SuiteError(
        f"{shown} cannot be loaded, because it raised {type(error).__name__}:\n{told}",
        hint="a suite's file is executed once when it is loaded; nothing has been run",
    )
