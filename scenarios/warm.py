"""Compile all kernels into the cache: ``python -m scenarios.warm``. Before parallel tests, lest each worker does it."""

from __future__ import annotations

import sys

from collision.kernels.building.growing import Line
from collision.kernels.shipped import provide
from collision.queries.single import LIBRARY
from scenarios.runs.run import warm

if __name__ == "__main__":
    warm()
    provide(LIBRARY)
    LIBRARY.prepare(Line())
    sys.exit(0)
