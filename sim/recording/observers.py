"""What is called during a run, and when.

An observer is anything with ``every`` (in steps) that can be called with a world. ``World.run`` calls ``start(world)``
once, then the observer itself at step 0, at each multiple of ``every`` and at the last step, then ``finish(world)``,
also when the run is interrupted. ``start`` and ``finish`` may be missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from tumble.collision.errors import check_number
from tumble.sim.errors import InputError
from tumble.sim.ledger.events import EVENT_KINDS

if TYPE_CHECKING:
    from tumble.sim.ledger.events import Event
    from tumble.sim.world.world import World


class Every:
    """Call ``action(world)`` every ``n`` steps; ``action`` may be a function or another observer.

    >>> world.run(seconds=2.0, observers=[Every(24, lambda world: print(world.time))])
    """

    def __init__(self, n: int, action: Callable[[World], Any] | None = None):
        self.every = whole_number("every", n)
        self.action = action

    def start(self, world: World) -> None:
        if hasattr(self.action, "start"):
            self.action.start(world)

    def __call__(self, world: World) -> None:
        if self.action is not None:
            self.action(world)

    def finish(self, world: World) -> None:
        if hasattr(self.action, "finish"):
            self.action.finish(world)


class EveryTime(Every):
    """Call ``action(world)`` at the start, and at the first step at or after each multiple of ``seconds`` from there.

    >>> world.run(seconds=2.0, observers=[EveryTime(0.1, Recorder("run.zarr"))])
    """

    def __init__(self, seconds: float, action: Callable[[World], Any] | None = None):
        super().__init__(1, action)
        self.seconds = check_number("seconds", seconds, above=0)
        self._origin, self._next = 0.0, 0

    def start(self, world: World) -> None:
        self._origin, self._next = world.time, 0
        super().start(world)

    def __call__(self, world: World) -> None:
        passed = math.floor((world.time - self._origin) / self.seconds + 1e-9)  # a multiple is not missed by rounding
        if passed >= self._next:
            self._next = passed + 1
            super().__call__(world)


class On(Every):
    """Call ``action(world, event)`` for each event of a kind: "impact", "begin", "end", "persist", "enter" or "leave".

    ``between``: names of bodies; one: events that it takes part in, two: events between the two. An ``action`` that is itself an
    observer, such as a Recorder, is called with the world alone, at the steps that have such events. During a run with On
    among its observers the events go to them, and ``world.events()`` is left with none.

    >>> world.run(seconds=2.0, observers=[On("impact", lambda world, event: print(event.time, event.loss))])
    """

    def __init__(
        self,
        kind: Literal["impact", "begin", "end", "persist", "enter", "leave"],
        action: Callable[[World, Event], Any] | Callable[[World], Any],
        between: str | Sequence[str] = (),
    ):
        super().__init__(1, action)
        if kind not in EVENT_KINDS:
            raise InputError("kind", kind, f"must be one of {', '.join(EVENT_KINDS)}")
        if isinstance(between, str):
            between = (between,)
        if len(between) > 2:
            raise InputError("between", list(between), "must be one name or two")
        self.kind, self.between = kind, frozenset(between)

    def start(self, world: World) -> None:
        for name in self.between:
            if name not in world.names:
                raise InputError("between", name, f"there is no such body; there are {', '.join(world.names)}")
        super().start(world)

    def __call__(self, world: World) -> None:
        """Nothing: it is told of events by :meth:`happened`."""

    def happened(self, world: World, events: Sequence[Any]) -> None:
        mine = [e for e in events if e.kind == self.kind and self.between <= {e.a.name, e.b.name}]
        if hasattr(self.action, "start"):
            if mine:
                self.action(world)
        else:
            for event in mine:
                self.action(world, event)


def whole_number(name: str, value: object) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < 1:
        raise InputError(name, value, "must be a whole number of at least 1")
    return int(value)
