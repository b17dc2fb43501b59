"""What can be asked of a world. No question changes it, with one exception: after a change from outside a kick is due, and it is
made before the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.errors import InputError, check_vector
from tumble.collision.hints import Numbers, PoseLike, Rows
from tumble.collision.pose import Pose
from tumble.collision.spelling import did_you_mean
from tumble.collision.suggesting import Reads
from tumble.sim.compiled import joint_energies
from tumble.sim.joints import joint_tables as joint_tables
from tumble.sim.joints.mechanism.mechanism import Mechanism
from tumble.sim.ledger import diagnostics, readings
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.promises import Promises, promises
from tumble.sim.scene.scene import Scene
from tumble.sim.state import SLEEPING, STEPS
from tumble.sim.world import sleep as sleeping
from tumble.sim.world import spatial_queries as queries

if TYPE_CHECKING:
    from tumble.collision.shapes.definitions import Shape
    from tumble.sim.world.body import Body
    from tumble.sim.world.joint import Joint

NO_POSE = Pose()
ARRAYS = ("positions", "orientations", "velocities", "angular_velocities", "centers_of_mass")


def fixed(array: np.ndarray) -> np.ndarray:
    """The array, read-only: writing into it would change nothing in the world, and so it raises."""
    array.flags.writeable = False
    return array


class States(Reads):
    """Whose bodies' states are read as arrays: a world, or many."""

    def read(self, **out: np.ndarray) -> None:
        """Write ``positions``, ``orientations``, ``velocities``, ``angular_velocities`` or ``centers_of_mass`` into arrays given.

        >>> world.read(positions=x, velocities=v)        # (n, 3) each
        >>> worlds.read(positions=x, velocities=v)       # (n, bodies, 3) each
        """
        for name, array in out.items():
            if name not in ARRAYS:
                raise InputError(name, "...", f"must be one of {', '.join(ARRAYS)}{did_you_mean(name, ARRAYS)}")
            values = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.shape != values.shape or not array.flags.writeable:
                raise InputError(name, getattr(array, "shape", array), f"must be an array of shape {values.shape} to write into")
            array[...] = values


class Asking(States):
    """State, energies, contacts and neighbours of a :class:`~tumble.sim.world.world.World`, which derives from this."""

    bodies: list[Body]
    joints: list[Joint]

    @property
    def dt(self) -> float:
        """Length of a step [s]."""
        return self.settings.dt

    @property
    def gravity(self) -> np.ndarray:
        """(3,) [m/s^2]"""
        return fixed(np.array(self.settings.gravity))

    @property
    def step_count(self) -> int:
        """Steps taken since the world began."""
        return int(self.model.books.counters[STEPS])

    @property
    def time(self) -> float:
        """[s] since the world began."""
        return self.step_count * self.settings.dt

    @property
    def names(self) -> tuple[str, ...]:
        """Of all bodies, in the order of the arrays."""
        return tuple(body.name for body in self.bodies)

    def show(self, height: int = 560, camera: Any = None) -> Any:
        """The world as it stands in 3D in a notebook, to be orbited: :func:`render.show`."""
        from tumble.sim.world import notebook_html as html

        return html.shown(self, height=height, camera=camera)

    @property
    def scene(self) -> Scene:
        """The scene this world was built from; for one built by ``add``, the bodies as they were added."""
        if self._scene is None:
            self._scene = self._scene_later()()
        return self._scene

    def _scene_later(self) -> Callable[[], Scene]:
        """The scene as it is now, one's own, made when it is called."""
        if self._scene is not None:
            scene = self._scene.copied()
            return lambda: scene
        return partial(
            Scene.known,
            **vars(self.options),
            allow_overlap=True,
            materials=deepcopy(self.materials) if self.materials else {},
            pairs=deepcopy(self.pairs) if self.pairs else [],
            bodies=[b.definition for b in self.bodies],
            joints=[j.definition for j in self.joints],
            forces=list(self.forces),
            apart=list(self.apart),
            actuators=list(self.controls.actuators.values()),
            instruments=self.instruments.mounted,
        )

    def mechanism(self, body: Body | str | None = None) -> Mechanism:
        """Jointed bodies in coordinates of their own: those that joints connect with ``body``; all that move if left out."""
        return Mechanism(self, getattr(body, "name", body))

    @property
    def joint_positions(self) -> np.ndarray:
        """(j,) [rad or m] coordinates of all joints, in the order of ``world.joints``; nan for one that has none."""
        return fixed(np.array([joint.position if joint.measures else np.nan for joint in self.joints], float))

    @property
    def joint_speeds(self) -> np.ndarray:
        """(j,) [rad/s or m/s] rates of the coordinates, as ``joint_positions``."""
        return fixed(np.array([joint.speed if joint.measures else np.nan for joint in self.joints], float))

    @property
    def joint_forces(self) -> np.ndarray:
        """(j, 3) [N] of each joint on its b, at its anchor, world axes, mean over the last step."""
        return fixed(np.array([joint.force for joint in self.joints], float).reshape(-1, 3))

    @property
    def joint_torques(self) -> np.ndarray:
        """(j, 3) [N m] of each joint on its b, as ``joint_forces``."""
        return fixed(np.array([joint.torque for joint in self.joints], float).reshape(-1, 3))

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m] of the origins of the body frames."""
        b = self.model.bodies
        return fixed(b.x - np.einsum("nij,nj->ni", diagnostics.rotations(b.q), b.center))

    @property
    def centers_of_mass(self) -> np.ndarray:
        """(n, 3) [m]"""
        return fixed(self.model.bodies.x.copy())

    @property
    def orientations(self) -> np.ndarray:
        """(n, 4) unit quaternions (w, x, y, z), body to world."""
        return fixed(self.model.bodies.q.copy())

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3) [m/s] of the centres of mass, in the middle of the kick: exactly zero for a body at rest."""
        return fixed(diagnostics.velocities(self.model.bodies))

    @property
    def angular_velocities(self) -> np.ndarray:
        """(n, 3) [rad/s] world axes."""
        return fixed(diagnostics.angular_velocities(self.model.bodies))

    def energy(self) -> diagnostics.Energy:
        """Kinetic energy (linear, angular), potential energy and their ``total`` [J]."""
        energy = diagnostics.energy(self.model.bodies, self._packed().forces)
        return energy._replace(potential=energy.potential + sum(joint_energies(self.model)))

    def momentum(self) -> np.ndarray:
        """(3,) [kg m/s] of all dynamic bodies."""
        return diagnostics.momentum(self.model.bodies)

    def angular_momentum(self, about: Numbers = (0.0, 0.0, 0.0)) -> np.ndarray:
        """(3,) [kg m^2/s] of all dynamic bodies about a point of the world."""
        return diagnostics.angular_momentum(self.model.bodies, check_vector("about", about))

    @property
    def reservoir(self) -> np.ndarray:
        """(2, 3): momentum, and angular momentum about the origin, given to static and driven bodies so far."""
        return fixed(self.model.books.reservoir[:2] + 0.0)

    @property
    def ledger(self) -> ledger.Ledger:
        """Where the energy went since the start; see :mod:`tumble.sim.ledger.entries`."""
        return self._ledger_at(self.energy())

    def _ledger_at(self, e: diagnostics.Energy) -> ledger.Ledger:
        """The ledger, where the energy is known."""
        books = self.model.books
        now = e.total if self._changed_at is None else self._changed_at
        named = float(np.dot(ledger.SIGNS, books.energy[: ledger.ENTRIES]))
        start = self._start if self._started or self._changed_at is None else now
        scale = e.kinetic_linear + e.kinetic_angular + diagnostics.heights(self.model.bodies) + abs(start)
        return ledger.Ledger(*map(float, books.energy[: ledger.ENTRIES]), now - start - named, float(books.moved[0]), scale)

    def contacts(self) -> np.ndarray:
        """Contact points of the last kick, a structured array; see :func:`tumble.sim.ledger.readings.contacts`."""
        self._begin()
        return readings.contacts(sleeping.with_dormant(self), self.dt)

    def ledger_by_pair(self) -> dict[tuple[str, str], dict[str, float]]:
        """Works of contact and impacts between each two bodies since ``keep_accounts`` [J], by their names.

        ``contact``, ``restitution`` and ``friction`` add up to the entries of the ledger, but for what joints take; ``external``
        is the work of the driven one of the two.
        """
        self._begin()
        books, out = self.model.books, {}
        for key, row in zip(books.account - 1, books.works, strict=True):
            if key >= 0:
                names = tuple(self._by_serial[s].name if s in self._by_serial else f"#{s}" for s in (key >> 31, key & 0x7FFFFFFF))
                out[names] = dict(zip(("contact", "restitution", "friction", "external"), map(float, row[:4]), strict=True))
        return dict(sorted(out.items()))

    def ledger_by_body(self) -> dict[str, dict[str, float]]:
        """Energy of each body now, and its half of the works of its contacts since ``keep_accounts`` [J], by name.

        ``kinetic`` and ``potential`` (of uniform gravity); ``contact``, ``restitution``, ``friction`` and ``external`` as in
        :meth:`ledger_by_pair`: each of two bodies has half, so that all bodies together have what all pairs have.
        """
        pairs, b = self.ledger_by_pair(), self.model.bodies
        p, l = diagnostics.mean_momenta(b)
        moving = b.mass > 0
        kinetic = 0.5 * ((p**2).sum(axis=1) * b.inv_mass + (l * diagnostics.angular_velocities(b)).sum(axis=1) * moving)
        potential = -b.mass * (b.x * (b.gravity + b.field)).sum(axis=1)
        entries = ("contact", "restitution", "friction", "external")
        out = {
            name: {"kinetic": float(kinetic[i]), "potential": float(potential[i])} | dict.fromkeys(entries, 0.0)
            for i, name in enumerate(self.names)
        }
        for names, works in pairs.items():
            for name in names:
                for entry in entries if name in out else ():
                    out[name][entry] += 0.5 * works[entry]
        return out

    def ray_cast(
        self, origin: Numbers, direction: Numbers, reach: float = math.inf, ignore: Iterable[Body] = ()
    ) -> queries.BodyHit | None:
        """The first body on the ray from ``origin`` (3,) [m] along ``direction`` (3,), within ``reach`` [m]; None: no body."""
        return queries.ray_cast(self, origin, direction, reach, ignore)

    def ray_casts(
        self, origins: Numbers | Rows, directions: Numbers | Rows, reach: float = math.inf, ignore: Iterable[Body] = ()
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Many rays at once, (n, 3) each or one row for all: see :func:`tumble.sim.world.spatial_queries.ray_casts`."""
        return queries.ray_casts(self, origins, directions, reach, ignore)

    def nearest(
        self, shape: Shape | Numbers, pose: PoseLike = NO_POSE, reach: float = math.inf, ignore: Iterable[Body] = ()
    ) -> list[queries.Neighbor]:
        """Bodies within ``reach`` [m] of a shape at a pose, or of a point (3,) [m]; the nearest first, overlap negative."""
        return queries.neighbors(self, shape, pose, reach, ignore)

    def overlap(self, shape: Shape | Numbers, pose: PoseLike = NO_POSE, ignore: Iterable[Body] = ()) -> list[queries.Neighbor]:
        """Bodies that a shape at a pose touches or overlaps, the deepest first."""
        return queries.neighbors(self, shape, pose, 0.0, ignore)

    @property
    def asleep(self) -> np.ndarray:
        """(n,) bool: bodies that sleep."""
        return fixed(self.model.bodies.kind == SLEEPING)

    def max_penetration(self) -> float:
        """Depth of the deepest contact now [m]; 0 where nothing overlaps."""
        self._begin()
        return readings.max_penetration(sleeping.with_dormant(self))

    def statistics(self) -> dict[str, float]:
        """Counters since the start: steps, impacts, solves, iterations, unsolved, uncertain, capped, rekicks,
        placed (kicks before which joints were taken to their places); worst values."""
        return readings.statistics(self.model.books)

    def promises(self) -> Promises:
        """What the method promises and this world kept, or missed, since its start: ``print(world.promises())``."""
        books = self.ledger
        return promises(self.statistics(), books._asdict(), books.scale, books.closes, [b.definition for b in self.bodies])

    def state_hash(self) -> str:
        """Hash over every bit of the state: equal hashes, equal futures."""
        return self._state_hash_later()()

    def _state_hash_later(self) -> Callable[[], str]:
        """The same of the world as it is now, worked out when it is called."""
        self._begin()
        columns = [column.copy() for column in readings.state_bits(self.model, self._dormant)]
        step, pushes = self.step_count, self._pushes.to_dict()
        return lambda: readings.state_hash(columns, step, pushes)
