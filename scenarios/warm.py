"""Compile all kernels into the cache: ``python -m tumble.scenarios.warm``. Before parallel tests, lest each worker does it."""

from __future__ import annotations

import sys

from tumble.collision.kernels.building.growing import Line
from tumble.collision.kernels.shipped import provide
from tumble.collision.queries.single import LIBRARY
from tumble.scenarios.runs.scene_run import warm

if __name__ == "__main__":
    provide(LIBRARY)
    warm(*() if LIBRARY.path.exists() else (LIBRARY,))
    LIBRARY.prepare(Line())
    sys.exit(0)
