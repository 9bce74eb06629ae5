"""Meeting a library at its import: somebody is told as soon as it is loaded, without loading it for that.

Knows Python's import system. Knows nothing of what the library is for.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Collection, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Told = Callable[[ModuleType], None]


class _Watch:
    """A finder that finds nothing itself: it asks the others, and has their loader say when it is done."""

    names: Collection[str] = ()
    told: Told | None = None

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  # the words of Python's import system
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if name not in self.names:
            return None
        wanted, self.names = self.names, [each for each in self.names if each != name]
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.names = wanted
        if spec is not None and spec.loader is not None and self.told is not None:
            spec.loader = _Telling(spec.loader, self.told)  # type: ignore[assignment]  # by its shape it is one
        return spec


class _Telling:
    """A loader that tells when the module is loaded, and otherwise is the one it stands for."""

    def __init__(self, loader: Any, told: Told) -> None:
        self._loader = loader
        self._told = told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._told(module)


_watch = _Watch()


def after_import(names: Collection[str], told: Told | None) -> None:
    """Call `told` with each of these modules once it is imported; with no names, no more."""
    _watch.names, _watch.told = names, told
    if names and _watch not in sys.meta_path:
        sys.meta_path.insert(0, _watch)
    elif not names and _watch in sys.meta_path:
        sys.meta_path.remove(_watch)
