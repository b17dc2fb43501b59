"""Short names: where a program finds the folders of this tree, ``sim`` is ``tumble.sim``, the same module, and not a second copy.

An installed tumble has no short names: a program's own ``sim.py`` is its own.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Same(Loader):
    """Hands over a module that is there by its whole name."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(f"tumble.{spec.name}")
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own  # which the import has just overwritten


class _Below(MetaPathFinder):
    """Finds what lies below packages that go by a short name."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        first, _, rest = name.partition(".")
        if not rest or sys.modules.get(first) is not sys.modules.get(f"tumble.{first}", name):
            return None
        return ModuleSpec(name, _Same())


def stand_in(name: str) -> None:
    """From now on the short name is that of ``tumble.name``."""
    warnings.warn(
        f"{name} is a part of tumble: import tumble.{name}", DeprecationWarning, stacklevel=4
    )  # of who imports the package
    sys.modules[name] = import_module(f"tumble.{name}")
    if not any(isinstance(finder, _Below) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Below())
