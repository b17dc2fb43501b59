"""What users run: the catalog, scene files, running and recording, the command line. Names load when they are first used."""

from __future__ import annotations

if __name__ == "scenarios":  # found by its folder: without this a second copy of all of it would load
    from tumble.short_names import stand_in

    stand_in(__name__)

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tumble.scenarios.checks.assertions import Violation
    from tumble.scenarios.fields import Flag, Real, Text, Vector, Whole
    from tumble.scenarios.files.scene_files import load_scene, save_scene
    from tumble.scenarios.importing.models import load_model
    from tumble.scenarios.registry import Scenario, load, names, scenario
    from tumble.scenarios.runs.instrument_files import export_readings
    from tumble.scenarios.runs.scene_run import run_scenario, run_scene, scene_of
    from tumble.scenarios.showing.window_loop import view

__all__ = [
    "Flag",
    "Real",
    "Scenario",
    "Text",
    "Vector",
    "Violation",
    "Whole",
    "export_readings",
    "load",
    "load_model",
    "load_scene",
    "names",
    "run_scenario",
    "run_scene",
    "save_scene",
    "scenario",
    "scene_of",
    "view",
]

_ROOMS = {
    "checks.assertions": ("Violation",),
    "fields": ("Flag", "Real", "Text", "Vector", "Whole"),
    "files.scene_files": ("load_scene", "save_scene"),
    "importing.models": ("load_model",),
    "showing.window_loop": ("view",),
    "runs.instrument_files": ("export_readings",),
    "registry": ("Scenario", "load", "names", "scenario"),
    "runs.scene_run": ("run_scenario", "run_scene", "scene_of"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise import_module("tumble.collision.spelling").not_in(__name__, name, __all__)
    return getattr(import_module(f"tumble.scenarios.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
