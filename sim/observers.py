"""What is called during a run, and when.

An observer is anything with ``every`` (in steps) that can be called with a world. ``World.run`` calls ``start(world)``
once, then the observer itself at step 0, at each multiple of ``every`` and at the last step, then ``finish(world)``,
also when the run is interrupted. ``start`` and ``finish`` may be missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.errors import InputError


class Every:
    """Call ``action(world)`` every ``n`` steps; ``action`` may be a function or another observer.

    >>> world.run(seconds=2.0, observers=[Every(24, lambda world: print(world.time))])
    """

    def __init__(self, n: int, action: Callable[[Any], None] | None = None):
        self.every = whole("every", n)
        self.action = action

    def start(self, world: Any) -> None:
        if hasattr(self.action, "start"):
            self.action.start(world)

    def __call__(self, world: Any) -> None:
        if self.action is not None:
            self.action(world)

    def finish(self, world: Any) -> None:
        if hasattr(self.action, "finish"):
            self.action.finish(world)


def whole(name: str, value: object) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < 1:
        raise InputError(name, value, "must be a whole number of at least 1")
    return int(value)
