"""Many worlds of one scene, stepped together on all cores: ensembles, control, learning.

Each member is a :class:`World` and gives, bit for bit, what it gives alone, on any number of threads. The states
of all members lie side by side, so that they are read, and set, as arrays (n, bodies, 3).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np

from tumble.collision.kernels.native import Call, Calls
from tumble.collision.spelling import spelled
from tumble.collision.suggesting import Keeps
from tumble.sim.errors import InputError, SimulationError
from tumble.sim.ledger import diagnostics
from tumble.sim.recording.observers import whole_number
from tumble.sim.recording.recorder import Recorder
from tumble.sim.recording.run import Run
from tumble.sim.scene import arrays as tables
from tumble.sim.scene.scene import Scene
from tumble.sim.state import OK, Bodies, Model
from tumble.sim.world import checkpoint
from tumble.sim.world.parts.stepping import CALL
from tumble.sim.world.world import World
from tumble.sim.world.world_queries import States, fixed

TOGETHER = ("kind", "mass", "inv_mass", "inertia", "inv_inertia", "center", "x", "q", "p", "l", "p_before", "l_before")
MEMBER_EVENTS_KEPT = 64  # of a member, that wait to be read
PIECES = 4  # parts of the work for each thread, since members may take unlike time

Which: TypeAlias = "Sequence[int] | np.ndarray[Any, Any] | None"  # members: numbers, or true and false for each; None: all


class _Member(World):
    """One of many: with less room at the start, for candidate pairs and for events that are not read yet. It grows as it must."""

    ROOM = 16

    def _resize(self, model: Model) -> None:
        super()._resize(model)
        self._threads = 1  # each member is stepped by one
        if len(model.books.log) == tables.EVENTS_KEPT:
            self.listen(capacity=MEMBER_EVENTS_KEPT)


class Worlds(Keeps, States, Sequence):
    """``n`` worlds of one scene, or one of each of several scenes with as many bodies.

    >>> worlds = Worlds(scene, 1000)
    >>> worlds.set(velocities=start)                      # (1000, bodies, 3)
    >>> worlds.step(240)
    >>> worlds.positions[:, 0], worlds.errors

    Parameters
    ----------
    scene : a Scene, or a list of scenes whose bodies are as many; members may differ in all that a scene says.
    n : how many worlds; left out, one of each scene.
    vary : called with each world and its number after it was built, to set masses, frictions, states ...
    threads : how many threads step them; by default as many as the machine has cores.

    A member that fails is flagged in :attr:`errors`, by its number, and stands still from then on; the others go on.
    """

    SETS = ("threads", "members", "errors")

    def __init__(
        self,
        scene: Scene | Sequence[Scene],
        n: int | None = None,
        vary: Callable[[World, int], None] | None = None,
        threads: int | None = None,
    ):
        scenes = [scene] if isinstance(scene, Scene) else list(scene)
        if not scenes or not all(isinstance(s, Scene) for s in scenes):
            raise InputError("scene", scene, "must be a Scene, or a list of them")
        n = len(scenes) if n is None else whole_number("n", n)
        if len(scenes) not in (1, n):
            raise InputError("n", n, f"must be left out, or {len(scenes)}: one world of each scene")
        for k, other in enumerate(scenes):
            if len(other) != len(scenes[0]):
                raise InputError("scene", k, f"has {len(other)} bodies, the first one {len(scenes[0])}: they must be as many")
        self.threads = (os.cpu_count() or 1) if threads is None else whole_number("threads", threads)
        self.members = [_Member.from_scene(scenes[k % len(scenes)]) for k in range(n)]
        self.errors: dict[int, SimulationError] = {}
        self._gathered: dict[str, np.ndarray] = {}
        self._calls: Calls | None = None
        self._called: list[Call] = []
        self._pace = 1  # steps of a call, as in World.step
        self._pool: ThreadPoolExecutor | None = None
        for k, world in enumerate(self.members):
            if vary is not None:
                vary(world, k)
            self._readied(k)
        self._gather()
        self._begun = self.snapshot()

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, k: int) -> World:
        return self.members[k]

    def __iter__(self) -> Iterator[World]:
        return iter(self.members)

    def _gather(self) -> None:
        """Lay the states of all members side by side; their arrays become rows of these."""
        for name in TOGETHER:
            self._gathered[name] = np.stack([getattr(world.model.bodies, name) for world in self.members])
        for k, world in enumerate(self.members):
            fresh = world._packed_for is world.model.bodies
            self._seat(k)
            world._packed_for = world.model.bodies if fresh else None

    def _seat(self, k: int) -> None:
        """The arrays of a member become rows of those of all."""
        world, rows = self.members[k], {name: column[k] for name, column in self._gathered.items()}
        world.model = world.model._replace(bodies=world.model.bodies._replace(**rows))

    def _all(self, name: str) -> np.ndarray:
        """A column of all bodies of all members, (n, bodies, ...)."""
        column = self._gathered[name]
        if any(getattr(world.model.bodies, name).base is not column for world in self.members):
            raise InputError("worlds", name, "bodies were added to a member, or taken from it: members must stay alike")
        return column

    def _flat(self) -> Bodies:
        """The state of all bodies of all members, as one group."""
        some = {name: self._all(name).reshape(-1, *self._gathered[name].shape[2:]) for name in TOGETHER}
        return self.members[0].model.bodies._replace(**some)

    def _shaped(self, values: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        values = values.reshape(len(self), -1, values.shape[-1])
        if out is None:
            return values
        out[...] = values
        return out

    # ------------------------------------------------------------------ stepping

    def step(self, n: int = 1, where: Which = None) -> None:
        """Take ``n`` steps with all members, or those ``where``: a mask (n,) of truths, or their numbers."""
        n = whole_number("n", n)
        ready = [k for k in self._chosen(where) if k not in self.errors and self._readied(k)]
        calls, numbers = [], []
        for k in ready:
            call = self.members[k]._advancing()
            if call.__class__ is Call and not (self.members[k]._pushes.now or self.members[k].controls.explicit):
                calls.append(call)
                numbers.append(k)
            else:
                self._alone(k, n)
        if not calls:
            return
        if calls != self._called:
            self._calls, self._called = Calls(calls), calls
        done = [0] * len(calls)
        size = -(-len(calls) // (self.threads * PIECES))
        pieces = [(first, min(first + size, len(calls))) for first in range(0, len(calls), size)]
        left = n
        while left > 0:
            begun, count = time.perf_counter(), min(left, self._pace)
            self._over(pieces, count)
            self._pace = max(1, min(2 * count, int(count * CALL / (time.perf_counter() - begun))))
            left -= count
            fine = True
            for i in range(len(calls)):
                taken, result = self._calls.result(i)
                done[i] += taken
                fine = fine and result == OK
            if not fine:
                break
        for i, k in enumerate(numbers):
            if done[i] < n:  # a table is to grow, a body wakes, or it can not go on
                self._alone(k, n - done[i])

    def _over(self, pieces: list[tuple[int, int]], n: int) -> None:
        if self.threads == 1 or len(pieces) == 1:
            for first, stop in pieces:
                self._calls.run(first, stop, n)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads)
        for waiting in [self._pool.submit(self._calls.run, first, stop, n) for first, stop in pieces]:
            waiting.result()

    def _alone(self, k: int, n: int) -> None:
        try:
            self.members[k].step(n)
        except SimulationError as error:
            self.errors[k] = error

    def _readied(self, k: int) -> bool:
        """Have what was set and what is pushed take hold in a member; False where that fails."""
        world = self.members[k]
        try:
            if world._pushes.coming or world._pushes.now:
                world._ready()
            elif world._changed_at is not None:
                world._begin()
        except SimulationError as error:
            self.errors[k] = error
            return False
        world._started = True
        return True

    def _chosen(self, where: Which) -> list[int]:
        """Numbers of members from a mask, or numbers; None: all."""
        if where is None:
            return list(range(len(self)))
        rows = np.asarray(where)
        if rows.dtype == bool and rows.shape == (len(self),):
            return np.flatnonzero(rows).tolist()
        if rows.ndim > 1 or not (np.issubdtype(rows.dtype, np.integer) or rows.size == 0):
            raise InputError("where", where, f"must be a mask of {len(self)} truths, or numbers of members")
        rows = np.atleast_1d(rows).astype(int)
        if rows.size and not (0 <= rows.min() and rows.max() < len(self)):
            raise InputError("where", where, f"must be numbers from 0 to {len(self) - 1}")
        return rows.tolist()

    def run(self, seconds: float, record: Iterable[int] = (), every: int = 1) -> dict[int, Run]:
        """Step all members by so many seconds; the runs of the members ``record``, sampled each ``every`` steps."""
        recorders = {k: Recorder(None, every=every) for k in self._chosen(list(record))}
        steps, every = round(seconds / self.members[0].dt), whole_number("every", every)
        for k, recorder in recorders.items():
            recorder.start(self.members[k])
            recorder(self.members[k])
        taken = 0
        while taken < steps:
            n = min(every, steps - taken) if recorders else steps
            self.step(n)
            taken += n
            for k, recorder in recorders.items():
                if k not in self.errors:
                    recorder(self.members[k])
        for k, recorder in recorders.items():
            recorder.finish(self.members[k])
        return {k: recorder.run() for k, recorder in recorders.items()}

    # ------------------------------------------------------------------ states

    @property
    def positions(self) -> np.ndarray:
        """(n, bodies, 3) [m] of the origins of the body frames."""
        return fixed(self.read_positions())

    @property
    def orientations(self) -> np.ndarray:
        """(n, bodies, 4) unit quaternions, body to world: a view of the state, read-only."""
        return fixed(self._all("q").view())

    @property
    def velocities(self) -> np.ndarray:
        """(n, bodies, 3) [m/s] of the centres of mass."""
        return fixed(self._shaped(diagnostics.velocities(self._flat()), None))

    @property
    def angular_velocities(self) -> np.ndarray:
        """(n, bodies, 3) [rad/s] world axes."""
        return fixed(self._shaped(diagnostics.angular_velocities(self._flat()), None))

    @property
    def centers_of_mass(self) -> np.ndarray:
        """(n, bodies, 3) [m]: a view of the state, read-only."""
        return fixed(self._all("x").view())

    def read_positions(self, out: np.ndarray | None = None) -> np.ndarray:
        """As :attr:`positions`, written into ``out`` (n, bodies, 3) where that is given."""
        b = self._flat()
        return self._shaped(b.x - np.einsum("nij,nj->ni", diagnostics.rotations(b.q), b.center), out)

    @spelled
    def set(
        self,
        where: Which = None,
        *,
        positions: np.ndarray | None = None,
        orientations: np.ndarray | None = None,
        velocities: np.ndarray | None = None,
        angular_velocities: np.ndarray | None = None,
    ) -> None:
        """Set ``positions``, ``orientations``, ``velocities`` or ``angular_velocities`` (n, bodies, 3 or 4) of members ``where``.

        The first axis has one row a member that is meant. Static bodies keep their velocities, which are zero.
        """
        rows = self._chosen(where)
        states = {"position": positions, "orientation": orientations, "velocity": velocities}
        given = {}
        for name, values in (states | {"angular_velocity": angular_velocities}).items():
            if values is None:
                continue
            shape = (len(rows), len(self.members[0].bodies), 4 if name == "orientation" else 3)
            given[name] = np.broadcast_to(np.asarray(values, dtype=float), shape)
            if not np.isfinite(given[name]).all():
                raise InputError(name, "...", "must be finite")
        for at, k in enumerate(rows):
            world = self.members[k]
            for i, body in enumerate(world.bodies):
                mine = {name: values[at, i] for name, values in given.items()}
                if body.kind == "static":
                    mine = {name: value for name, value in mine.items() if "velocity" not in name}
                if mine:
                    world._set(i, **mine)

    def energies(self) -> np.ndarray:
        """(n,) [J] total energy of each member."""
        return np.array([world.energy().total for world in self.members])

    def statistics(self) -> dict[str, np.ndarray]:
        """Counters and worst values of each member, (n,) each; see :meth:`World.statistics`."""
        each = [world.statistics() for world in self.members]
        return {name: np.array([row[name] for row in each]) for name in each[0]}

    def snapshot(self) -> list[dict[str, Any]]:
        """The whole state of all members, for :meth:`reset`."""
        return [checkpoint.taken(world) for world in self.members]

    def reset(self, where: Which = None, to: list[dict[str, Any]] | None = None) -> None:
        """Put members back to a snapshot, by default to the state in which they were made; their errors are forgotten."""
        states = self._begun if to is None else to
        for k in self._chosen(where):
            world = self.members[k]
            checkpoint.restore(world, states[k])
            self.errors.pop(k, None)
            for name, column in self._gathered.items():
                column[k] = getattr(world.model.bodies, name)
            self._seat(k)
            world._packed_for = None

    def __repr__(self) -> str:
        return f"<Worlds: {len(self)} of {len(self.members[0].bodies)} bodies, {len(self.errors)} failed>"
