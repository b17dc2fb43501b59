"""Pictures, films and figures of a world or a recorded run. Draws frames; never steps, never writes state.

``still(world_or_run, "a.png")``, ``film(run, "a.mp4")``, ``plots.energy_momentum(run, "energy.png")``, ``export(run, "a.glb")``.
Importing this package
loads nothing heavy: OpenGL, PyAV and matplotlib come in with the first call that needs them.
"""

from __future__ import annotations

if __name__ == "render":  # found by its folder: without this a second copy of all of it would load
    from tumble.short_names import stand_in

    stand_in(__name__)

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tumble.render.camera import Camera
    from tumble.render.cameras.shots import Follow, Keyframes, Orbit
    from tumble.render.figures import plots
    from tumble.render.films.video import film, film_beside, picture, still
    from tumble.render.frames.overlay import OVERLAYS
    from tumble.render.web.gltf import export
    from tumble.render.web.notebook import show

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
    "tumble.render.camera": ("Camera",),
    "tumble.render.web.gltf": ("export",),
    "tumble.render.web.notebook": ("show",),
    "tumble.render.frames.overlay": ("OVERLAYS",),
    "tumble.render.cameras.shots": ("Follow", "Keyframes", "Orbit"),
    "tumble.render.films.video": ("film", "film_beside", "picture", "still"),
}
_HOME = {name: module for module, names in _MEMBERS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "plots":
        return importlib.import_module("tumble.render.figures.plots")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise importlib.import_module("tumble.collision.spelling").not_in(__name__, name, __dir__())


def __dir__() -> list[str]:
    return sorted([*_HOME, "plots"])
