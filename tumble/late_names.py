"""Public names of a package, which load when they are first used.

The stub beside its page, ``__init__.pyi``, lists them. Type checkers and editors read it in place of the page, and here the
package reads it too, so that there is no second list.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Callable
from importlib import import_module

from tumble.short_names import stand_in

LINE = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


def late_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package by its name, "tumble.sim"; "sim" where its folder was found."""
    if not package.startswith("tumble."):  # without this a second copy of all of it would load
        stand_in(package)
        package = f"tumble.{package}"
    stub = pkgutil.get_data(package, "__init__.pyi").decode()
    home = {name: room for room, name in LINE.findall(stub)}
    names = sorted(home)

    def find(name: str) -> object:
        if name not in home:
            raise import_module("tumble.collision.spelling").not_in(package, name, names)
        found = getattr(__import__(home[name], fromlist=[name]), name)
        setattr(sys.modules[package], name, found)  # found at once from now on
        return found

    return find, lambda: names, names
