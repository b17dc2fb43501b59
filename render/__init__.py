"""Pictures, films and figures of a world or a recorded run. Draws frames; never steps, never writes state.

``still(world_or_run, "a.png")``, ``film(run, "a.mp4")``, ``plots.energy_momentum(run, "energy.png")``, ``export(run, "a.glb")``.
Importing this package
loads nothing heavy: OpenGL, PyAV and matplotlib come in with the first call that needs them.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from render import plots
    from render.camera import Camera
    from render.gltf import export
    from render.notebook import show
    from render.overlay import OVERLAYS
    from render.shots import Follow, Keyframes, Orbit
    from render.video import film, film_beside, picture, still

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # else pygame greets on the standard output

__all__ = [
    "OVERLAYS",
    "Camera",
    "Follow",
    "Keyframes",
    "Orbit",
    "export",
    "film",
    "film_beside",
    "picture",
    "plots",
    "show",
    "still",
]

_MEMBERS = {
    "render.camera": ("Camera",),
    "render.gltf": ("export",),
    "render.notebook": ("show",),
    "render.overlay": ("OVERLAYS",),
    "render.shots": ("Follow", "Keyframes", "Orbit"),
    "render.video": ("film", "film_beside", "picture", "still"),
}
_HOME = {name: module for module, names in _MEMBERS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "plots":
        return importlib.import_module("render.plots")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise importlib.import_module("collision.spelling").not_in(__name__, name, __dir__())


def __dir__() -> list[str]:
    return sorted([*_HOME, "plots"])
