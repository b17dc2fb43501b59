"""One name for all of it: ``tumble.World``, ``tumble.Box``, ``tumble.film``; and ``tumble.sim`` and the other packages too.

Whatever ``sim``, ``scenarios``, ``collision`` and ``render`` list as public is here; of a name that two of them have, the first
one's. The stub beside this file lists the names, for editors. They load when they are first used: this import costs nothing.
"""

from __future__ import annotations

import os as _os
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

# In a source tree the packages lie beside this one, and links in it lead there. Where links can not be made, this does it.
_FOLDER = _os.path.dirname(_os.path.abspath(__file__))
if not _os.path.isdir(_os.path.join(_FOLDER, "sim")):
    __path__.append(_os.path.dirname(_FOLDER))

PACKAGES = ("sim", "scenarios", "collision", "render")  # where a name is looked for: what draws is loaded last


def __getattr__(name: str) -> object:
    if name in PACKAGES:
        return import_module(f"tumble.{name}")
    if name == "__all__":
        return __dir__()
    for package in _packages() if not name.startswith("_") else ():
        if name in package.__all__:
            return globals().setdefault(name, getattr(package, name))  # found at once from now on
    raise import_module("tumble.collision.spelling").not_in(__name__, name, __dir__())


def __dir__() -> list[str]:
    return sorted({*PACKAGES, *(name for package in _packages() for name in package.__all__)})


def _packages() -> Iterator[ModuleType]:
    return (import_module(f"tumble.{name}") for name in PACKAGES)
