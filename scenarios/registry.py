"""Scenarios: a function with typed parameters that builds a Scene, found by its name.

A scenario is one file of ``scenarios/catalog``, named like its function:

    @scenario
    def drop(height: Annotated[float, Real(unit="m", above=0, help="of the box above the floor")] = 2.0) -> Scene:
        \"\"\"A box falls on the floor.

        What to look for, and why.
        \"\"\"
        scene = Scene(duration=3.0)
        ...
        return scene
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pkgutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Generic, ParamSpec, get_args, get_origin, get_type_hints

from tumble.collision.errors import InputError
from tumble.collision.spelling import did_you_mean
from tumble.scenarios.fields import Field
from tumble.sim.scene.scene import Scene

P = ParamSpec("P")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a scenario: its name, its default and the field that says type, unit, range and help."""

    name: str
    default: Any
    field: Field

    @property
    def unit(self) -> str:
        return getattr(self.field, "unit", "")

    @property
    def range(self) -> str:
        return getattr(self.field, "range", "") or ", ".join(getattr(self.field, "choices", ()))

    @property
    def help(self) -> str:
        return self.field.help


class Scenario(Generic[P]):
    """A named builder of scenes. Call it with parameters, as keywords: ``dzhanibekov(perturbation=1e-4) -> Scene``."""

    def __init__(self, function: Callable[P, Scene], parameters: dict[str, Parameter] | None = None):
        self.function = function
        self.name = function.__name__
        self.doc = inspect.getdoc(function) or ""
        self.summary = self.doc.partition("\n")[0]
        self.parameters = {p.name: p for p in _parameters(function)} if parameters is None else parameters
        self.__doc__, self.__name__, self.__module__ = function.__doc__, function.__name__, function.__module__
        named = inspect.Parameter.KEYWORD_ONLY
        shown = [inspect.Parameter(p.name, named, default=p.default) for p in self.parameters.values()]
        self.__signature__ = inspect.Signature(shown, return_annotation=Scene)  # what consoles and notebooks show

    if TYPE_CHECKING:

        def __call__(self, *given: P.args, **values: P.kwargs) -> Scene: ...
    else:

        def __call__(self, **values: Any) -> Scene:
            chosen = {p.name: p.default for p in self.parameters.values()}
            for name, value in values.items():
                chosen[name] = self.parameter(name, value).field.read(name, value)
            scene = self.function(**chosen)
            scene.name, scene.about = self.name, scene.about or self.doc
            scene.parameters |= {k: list(v) if isinstance(v, tuple) else v for k, v in chosen.items()}
            return scene

    def parse(self, texts: dict[str, str]) -> dict[str, Any]:
        """Parameters from texts, as ``--set name=text`` gives them."""
        return {name: self.parameter(name, text).field.parse(name, text) for name, text in texts.items()}

    def parameter(self, name: str, value: Any = None) -> Parameter:
        if name not in self.parameters:
            hint = f"{self.name} has no such parameter{did_you_mean(name, list(self.parameters))}"
            raise InputError(name, value, f"{hint} (it has {', '.join(self.parameters) or 'none'})")
        return self.parameters[name]

    def __repr__(self) -> str:
        return f"<scenario {self.name}: {self.summary}>"


def scenario(function: Callable[P, Scene]) -> Scenario[P]:
    """Make a scenario of a function whose parameters are ``Annotated[type, Field] = default``."""
    return Scenario(function)


def _parameters(function: Callable[..., Scene]) -> list[Parameter]:
    hints = get_type_hints(function, include_extras=True)
    out = []
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name)
        fields = [item for item in get_args(hint)[1:] if isinstance(item, Field)] if get_origin(hint) is Annotated else []
        if not fields or parameter.default is inspect.Parameter.empty:
            raise TypeError(f"{function.__name__}: parameter {name} needs Annotated[type, Field] and a default")
        default = fields[0].read(name, parameter.default)  # a default outside its own range is a mistake in the catalog
        out.append(Parameter(name, default, fields[0]))
    return out


def names() -> list[str]:
    """The names of the catalog, sorted. Imports none of it."""
    import tumble.scenarios.catalog

    return sorted(m.name for m in pkgutil.iter_modules(tumble.scenarios.catalog.__path__) if not m.name.startswith("_"))


def load(name: str | Path, reading: Any = None) -> Scenario[...]:
    """The scenario that is meant: a name of the catalog, a scene file, or a Python file ("x.py:name" where it has several).

    Raises InputError with the nearest name where there is none.
    """
    name, known = str(name), names()
    file, _, function = name.rpartition(":") if ".py:" in name else (name, "", "")
    if file.endswith(".py"):
        return _of_file(Path(file), function)
    if name.endswith(".toml") or "/" in name or os.sep in name or (name not in known and _there(name)):
        from tumble.scenarios.files.scene_files import load_scenario

        return load_scenario(name) if reading is None else load_scenario(name, reading)
    if name not in known:
        raise InputError("scenario", name, f"there is none of this name{did_you_mean(name, known)} (see `tumble list`)")
    return getattr(importlib.import_module(f"tumble.scenarios.catalog.{name}"), name)


def _there(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # no name that a file can have
        return False


def _of_file(path: Path, name: str) -> Scenario[...]:
    """The scenario of a Python file."""
    if not path.is_file():
        raise InputError("scenario", str(path), "there is no such file")
    module = module_of_file(path)
    found = {s.name: s for s in vars(module).values() if isinstance(s, Scenario) and s.__module__ == path.stem}
    if name in found or (len(found) == 1 and not name):
        return found[name or next(iter(found))]
    hint = f"has no @scenario{' ' + name if name else ''}" if not found or name else "has several: say which"
    also = f" (it has {', '.join(f'{path}:{n}' for n in found)})" if found else ""
    raise InputError("scenario", str(path), hint + also)


def module_of_file(path: Path) -> ModuleType:
    """A Python file of the user as a module. InputError with the line where it can not be run."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (InputError, KeyboardInterrupt):
        raise
    except SyntaxError as error:
        raise InputError("file", str(path), f"line {error.lineno}: {error.msg}") from error
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == spec.origin]
        where = f"line {lines[-1]}: " if lines else ""
        raise InputError("file", str(path), f"{where}{type(error).__name__}: {error}") from error
    return module


def catalog() -> dict[str, Scenario[...]]:
    """All scenarios by name."""
    return {name: load(name) for name in names()}
