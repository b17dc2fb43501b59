"""Pictures, films and figures of a world or a recorded run. Draws frames; never steps, never writes state.

``still(world_or_run, "a.png")``, ``film(run, "a.mp4")``, ``plots.energy_momentum(run, "energy.png")``, ``export(run, "a.glb")``.
Importing this package
loads nothing heavy: OpenGL, PyAV and matplotlib come in with the first call that needs them.
"""

from __future__ import annotations

import os

from tumble.late_names import late_names

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # else pygame greets on the standard output

__getattr__, __dir__, __all__ = late_names(__name__)
