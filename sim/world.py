"""The world: build it, step it, ask it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from collision.errors import InputError, check_number, check_vector
from collision.shapes import convex_parts
from collision.shapeset import ShapeSet
from sim import checkpoint, diagnostics, ledger, readings, tables
from sim.bodies import BodyDef
from sim.body import Body
from sim.errors import SimulationError
from sim.integrators import TABLE
from sim.observers import whole
from sim.pipeline import advance, begin
from sim.recording import Recorder
from sim.run import Run
from sim.scene import Scene, free_name
from sim.state import DYNAMIC, NOT_FINITE, OK, PAIRS_FULL, POINTS, Model, Settings, bodies_of, books_of, contacts_of

CHUNK = 2000  # steps of one compiled call: often enough for Ctrl-C
SAMPLES = 4000  # most samples of a run that nobody asked to record


class World:
    """Rigid bodies under gravity, in contact. SI units, z up.

    >>> world = World()
    >>> world.add(HalfSpace(), kind="static")
    >>> crate = world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 2), angular_velocity=(1, 2, 3))
    >>> run = world.run(seconds=2.0)
    >>> world.energy().total, crate.position

    Parameters
    ----------
    gravity : (3,) [m/s^2].
    dt : length of a step [s].
    integrator : a name of ``sim.integrators.TABLE``.
    tolerance : the contact solver stops when no contact's velocity is off by more [m/s].
    """

    def __init__(
        self,
        gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
        dt: float = 1 / 240,
        integrator: str = "rk4",
        tolerance: float = 1e-11,
    ):
        if integrator not in TABLE:
            raise InputError("integrator", integrator, f"must be one of {', '.join(sorted(TABLE))}")
        self.integrator = integrator
        self.settings = Settings(
            dt=check_number("dt", dt, above=0),
            gravity=check_vector("gravity", gravity),
            tolerance=check_number("tolerance", tolerance, above=0),
            iterations=200,
            correction=0.2,
            slop=1e-12,
        )
        self.step_count = 0
        self.bodies: list[Body] = []
        self._scene: Scene | None = None
        self._start = 0.0  # energy that the ledger counts from [J]
        self._changed_at: float | None = 0.0  # energy before a change from outside; None: nothing was changed
        self._resize(tables.empty(pairs=64))
        self._shapes = ShapeSet([])

    # ------------------------------------------------------------------ building

    @classmethod
    def from_scene(cls, scene: Scene) -> World:
        """A world that starts from a scene."""
        world = cls(gravity=scene.gravity, dt=scene.dt, integrator=scene.integrator)
        world._add(list(scene.bodies))
        world._scene = scene
        return world

    def add(self, shape: Any, **fields: Any) -> Body:
        """Add a body; the fields are those of :class:`~sim.bodies.BodyDef`. InputError names what is wrong."""
        definition = BodyDef(shape, **fields)
        taken = set(self.names)
        if not definition.name:
            definition = definition.replace(name=free_name(type(shape).__name__.lower(), taken))
        elif definition.name in taken:
            raise InputError("name", definition.name, "is taken by another body of the world")
        self._add([definition])
        self._scene = None
        return self.bodies[-1]

    def _add(self, definitions: list[BodyDef]) -> None:
        """Grow all arrays by these bodies and their convex pieces."""
        parts = [convex_parts(d.shape) for d in definitions]
        shapes = ShapeSet([*self._shapes.shapes, *(shape for pieces in parts for shape, _ in pieces)])  # raises before we change
        self._change()
        first = len(self.bodies)
        self._resize(tables.with_bodies(self.model, definitions, parts, shapes, self.settings.gravity))
        self._shapes = shapes
        self.bodies += [Body(self, i, d) for i, d in enumerate(definitions, first)]

    def _resize(self, model: Model) -> None:
        """Take a model of another size, with scratch space that goes with it."""
        self.model = model
        self._table = contacts_of(POINTS * len(model.pairs.event))
        self._saved = (bodies_of(len(model.bodies.kind)), books_of(ledger.ENTRIES))

    def _grow_pairs(self) -> None:
        self._resize(tables.with_pairs(self.model, 2 * len(self.model.pairs.event)))

    def _change(self) -> None:
        """Something is about to be set from outside: remember the energy before it."""
        if self._changed_at is None:
            self._changed_at = self.energy().total
            # what is kept is the middle of the kick; its second half will be asked for anew
            bodies = self.model.bodies
            p, l = diagnostics.mean_momenta(bodies)
            bodies.p[:] = bodies.p_before[:] = p
            bodies.l[:] = bodies.l_before[:] = l

    def _set(self, i: int, position=None, orientation=None, velocity=None, angular_velocity=None) -> None:
        """Set parts of the state of body i; the other parts stay."""
        at, w = self.positions[i], self.angular_velocities[i]
        self._change()
        b = self.model.bodies
        if orientation is not None:
            b.q[i] = orientation
        rot = diagnostics.rotations(b.q[i : i + 1])[0]
        b.x[i] = (at if position is None else np.asarray(position)) + rot @ b.center[i]
        w = w if angular_velocity is None else np.asarray(angular_velocity)
        if b.kind[i] == DYNAMIC:
            if velocity is not None:
                b.p[i] = b.p_before[i] = b.mass[i] * np.asarray(velocity)
            if angular_velocity is not None or orientation is not None:
                b.l[i] = b.l_before[i] = rot @ b.inertia[i] @ rot.T @ w
        elif velocity is not None or angular_velocity is not None:
            if self.bodies[i].kind == "static":
                raise InputError("velocity", velocity, f"{self.bodies[i].name} is static and does not move")
            b.v_drive[i] = b.v_drive[i] if velocity is None else velocity
            b.w_drive[i] = w

    def apply_impulse(self, body: Body, impulse: object, point: object | None = None) -> None:
        """Change the momentum of a body by ``impulse`` (3,) [N s] at ``point`` (3,) [m], the centre of mass by default."""
        impulse = np.array(check_vector("impulse", impulse))
        if body.kind != "dynamic":
            raise InputError("body", body.name, "only dynamic bodies take impulses")
        b, i = self.model.bodies, body.index
        arm = np.zeros(3) if point is None else np.array(check_vector("point", point)) - b.x[i]
        self._change()
        b.p[i] += impulse
        b.l[i] += np.cross(arm, impulse)
        b.p_before[i], b.l_before[i] = b.p[i], b.l[i]

    # ------------------------------------------------------------------ stepping

    def _begin(self) -> None:
        """Centre the kick on velocities that were set, and book what setting them did to the energy."""
        if self._changed_at is None:
            return
        now = self.energy().total
        if self.step_count == 0:
            self._start = now
        else:
            self.model.books.energy[ledger.USER] += now - self._changed_at
        while begin(self.model, self._shapes.geometry, self.settings) == PAIRS_FULL:
            self._grow_pairs()
        self._changed_at = None

    def step(self, n: int = 1) -> None:
        """Take ``n`` steps of length dt, in compiled calls."""
        n = whole("n", n)
        self._begin()
        while n > 0:
            done, result = advance(self.model, self._shapes.geometry, self.settings, self._table, self._saved, min(n, CHUNK))
            self.step_count += done
            n -= done
            if result == PAIRS_FULL:
                self._grow_pairs()
            elif result != OK:
                assert result == NOT_FINITE
                bad = ~np.isfinite(self.model.bodies.x).all(axis=1) | ~np.isfinite(self.model.bodies.q).all(axis=1)
                names = ", ".join(self.names[i] for i in np.flatnonzero(bad)) or "the momenta"
                raise SimulationError(f"step {self.step_count + 1} (t = {self.time:.9g} s): the state of {names} is not finite")

    def run(self, seconds: float, observers: Iterable[Any] = ()) -> Run:
        """Advance by ``seconds`` (to the nearest step), calling the observers at their steps; what was recorded.

        The Run is that of the first Recorder among the observers; without one the run is kept in memory, at every
        n-th step such that it has at most 4000 samples.
        """
        steps = round(check_number("seconds", seconds, least=0) / self.dt)
        observers = list(observers)
        recorder = next((o for o in observers if isinstance(o, Recorder)), None)
        if recorder is None:
            recorder = Recorder(None, every=max(1, -(-steps // SAMPLES)))
            observers.append(recorder)
        self._begin()
        last = self.step_count + steps
        started = []
        try:
            for observer in observers:
                if hasattr(observer, "start"):
                    observer.start(self)
                started.append(observer)
                observer(self)
            while self.step_count < last:
                due = min(self.step_count - self.step_count % o.every + o.every for o in observers)
                self.step(min(due, last) - self.step_count)
                for observer in observers:
                    if self.step_count % observer.every == 0 or self.step_count == last:
                        observer(self)
        finally:
            for observer in started:
                if hasattr(observer, "finish"):
                    observer.finish(self)
        return recorder.run()

    # ------------------------------------------------------------------ asking

    dt = property(lambda self: self.settings.dt, doc="length of a step [s]")
    gravity = property(lambda self: np.array(self.settings.gravity), doc="(3,) [m/s^2]")
    time = property(lambda self: self.step_count * self.settings.dt, doc="[s] since the world began")
    names = property(lambda self: tuple(body.name for body in self.bodies))

    @property
    def scene(self) -> Scene:
        """The scene this world was built from; for one built by ``add``, the bodies as they were added."""
        if self._scene is None:
            s = self.settings
            self._scene = Scene(
                "world", s.gravity, s.dt, self.integrator, allow_overlap=True, bodies=[b.definition for b in self.bodies]
            )
        return self._scene

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m] of the origins of the body frames."""
        b = self.model.bodies
        return b.x - np.einsum("nij,nj->ni", diagnostics.rotations(b.q), b.center)

    @property
    def centers_of_mass(self) -> np.ndarray:
        """(n, 3) [m]"""
        return self.model.bodies.x.copy()

    @property
    def orientations(self) -> np.ndarray:
        """(n, 4) unit quaternions (w, x, y, z), body to world."""
        return self.model.bodies.q.copy()

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3) [m/s] of the centres of mass, in the middle of the kick: exactly zero for a body at rest."""
        return diagnostics.velocities(self.model.bodies)

    @property
    def angular_velocities(self) -> np.ndarray:
        """(n, 3) [rad/s] world axes."""
        return diagnostics.angular_velocities(self.model.bodies)

    def energy(self) -> diagnostics.Energy:
        """Kinetic energy (linear, angular), potential energy and their ``total`` [J]."""
        return diagnostics.energy(self.model.bodies)

    def momentum(self) -> np.ndarray:
        """(3,) [kg m/s] of all dynamic bodies."""
        return diagnostics.momentum(self.model.bodies)

    def angular_momentum(self, about: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
        """(3,) [kg m^2/s] of all dynamic bodies about a point of the world."""
        return diagnostics.angular_momentum(self.model.bodies, check_vector("about", about))

    @property
    def reservoir(self) -> np.ndarray:
        """(2, 3): momentum, and angular momentum about the origin, given to static and driven bodies so far."""
        return self.model.books.reservoir + 0.0

    @property
    def ledger(self) -> ledger.Ledger:
        """Where the energy went since the start; see :mod:`sim.ledger`."""
        books = self.model.books
        now = self.energy().total if self._changed_at is None else self._changed_at
        named = float(np.dot(ledger.SIGNS, books.energy))
        start = self._start if self.step_count or self._changed_at is None else now
        b, e = self.model.bodies, self.energy()
        heights = float(np.sum(np.abs(b.mass[:, None] * b.x * b.gravity)))
        scale = e.kinetic_linear + e.kinetic_angular + heights + abs(start)
        return ledger.Ledger(*map(float, books.energy), now - start - named, float(books.moved[0]), scale)

    def contacts(self) -> np.ndarray:
        """Contact points of the last kick, a structured array; see :func:`sim.readings.contacts`."""
        self._begin()
        return readings.contacts(self.model.contacts, self.dt)

    def max_penetration(self) -> float:
        """Depth of the deepest contact now [m]; 0 where nothing overlaps."""
        self._begin()
        return readings.max_penetration(self.model.contacts)

    def statistics(self) -> dict[str, float]:
        """Counters since the start: steps, impacts, solves, iterations, unsolved, uncertain, capped, rekicks; worst values."""
        return readings.statistics(self.model.books)

    def state_hash(self) -> str:
        """Hash over every bit of the state: equal hashes, equal futures."""
        self._begin()
        return readings.state_hash(self.model, self.step_count)

    def save(self, path: str | Path) -> None:
        """Write the world to a file; :meth:`load` goes on from it bit for bit."""
        checkpoint.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> World:
        """The world that was saved to a file."""
        return checkpoint.load(cls, path)

    def __repr__(self) -> str:
        return f"<World: {len(self.bodies)} bodies, t = {self.time:.6g} s, {self.energy().total:.9g} J>"
