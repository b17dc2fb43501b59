"""A view of one body of a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from collision.errors import InputError, check_quaternion, check_vector
from sim.compiled import GLANCE
from sim.glance import ANGULAR_VELOCITY, ORIENTATION, POSITION, VELOCITY
from sim.path import Path
from sim.pushes import three
from sim.tables import run

if TYPE_CHECKING:
    from sim.bodies import BodyDef
    from sim.world import World


class Body:
    """One body: reads from, and writes to, its row of the world's arrays. ``definition`` is what it was added as.

    After ``World.remove`` only what it was is known; anything else raises InputError.
    """

    __slots__ = ("_row", "_world", "definition")

    def __init__(self, world: World, index: int | None, definition: BodyDef):
        self._world, self._row, self.definition = world, index, definition

    @property
    def index(self) -> int:
        """The body's row in the arrays of the world; removing a body moves those after it up."""
        if self._row is None:
            raise InputError("body", self.name, "was removed from its world")
        return self._row

    world = property(lambda self: self._world, doc="the World that it is, or was, in")
    alive = property(lambda self: self._row is not None, doc="False once the body was removed from its world")

    name = property(lambda self: self.definition.name)
    shape = property(lambda self: self.definition.shape)
    color = property(lambda self: self.definition.color)
    finish = property(lambda self: self.definition.finish, doc="how its surface takes the light in pictures")
    visual = property(lambda self: self.definition.visual, doc="the Visual that is drawn in place of the shape, or None")
    center_of_mass = property(lambda self: self.definition.mass_properties()[1], doc="(3,) [m] in the body frame")
    inertia = property(lambda self: self.definition.mass_properties()[2], doc="(3, 3) [kg m^2] body axes")

    def _read(self, which: slice) -> np.ndarray:
        """Some numbers of the state of this body, read-only: to change them, set the whole."""
        world, row = self._world, self._row
        glance, bodies = world._glance, world.model.bodies
        if glance is None or glance.arguments[0] is not bodies:
            glance = world._glance = GLANCE.bind(bodies)
        return glance.part(self.index if row is None else row, which)

    def _tunable(name: str, doc: str) -> property:  # noqa: N805
        def write(self, value: object) -> None:
            self._world._rewrite(self, **{name: value})

        return property(lambda self: getattr(self.definition, name), write, doc=f"{doc}; may be changed while the world runs.")

    kind = _tunable("kind", '"dynamic", "static" or "kinematic"')
    friction = _tunable("friction", "Coulomb's coefficient")
    static_friction = _tunable("static_friction", "Coulomb's coefficient of what sticks; None: as friction")
    restitution = _tunable("restitution", "In [0, 1]")
    del _tunable

    @property
    def mass(self) -> float:
        """[kg]; inf where impulses do not move it. May be changed: velocities stay, and what that moves is ``user`` work."""
        return self.definition.mass_properties()[0]

    @mass.setter
    def mass(self, value: object) -> None:
        if self.kind != "dynamic":
            raise InputError("mass", value, f"{self.name} is {self.kind}: impulses do not move it")
        self._world._rewrite(self, mass=value)

    @property
    def position(self) -> np.ndarray:
        """(3,) [m] of the origin of the body frame."""
        return self._read(POSITION)

    @position.setter
    def position(self, value: object) -> None:
        self._world._set(self.index, position=check_vector("position", value))

    @property
    def orientation(self) -> np.ndarray:
        """(4,) unit quaternion, body to world."""
        return self._read(ORIENTATION)

    @orientation.setter
    def orientation(self, value: object) -> None:
        self._world._set(self.index, orientation=check_quaternion("orientation", value))

    @property
    def velocity(self) -> np.ndarray:
        """(3,) [m/s] of the centre of mass."""
        return self._read(VELOCITY)

    @velocity.setter
    def velocity(self, value: object) -> None:
        self._world._set(self.index, velocity=check_vector("velocity", value))

    @property
    def angular_velocity(self) -> np.ndarray:
        """(3,) [rad/s] world axes."""
        return self._read(ANGULAR_VELOCITY)

    @angular_velocity.setter
    def angular_velocity(self, value: object) -> None:
        self._world._set(self.index, angular_velocity=check_vector("angular_velocity", value))

    def apply_force(self, force: object, point: object | None = None) -> None:
        """Push with a force (3,) [N] through the coming step, at ``point`` (3,) [m] of the world, by default the centre of mass.

        World axes; constant over the step, besides other forces; its work is the entry ``user`` of the ledger. For one that lasts
        say it before each step (``world.run(..., control=...)``), or see ``World.add_force``.
        """
        x, y, z = three("force", force)
        if point is None:
            self._world._pushes.add(self, (x, y, z, 0.0, 0.0, 0.0))
            return
        a, b, c = three("point", point)
        i, j, k = self._world.model.bodies.x[self.index].tolist()
        a, b, c = a - i, b - j, c - k
        self._world._pushes.add(self, (x, y, z, b * z - c * y, c * x - a * z, a * y - b * x))

    def apply_torque(self, torque: object) -> None:
        """Turn with a torque (3,) [N m] through the coming step, world axes; as :meth:`apply_force`."""
        x, y, z = three("torque", torque)
        self._world._pushes.add(self, (0.0, 0.0, 0.0, x, y, z))

    path = property(lambda self: self.definition.path, doc="the Path of a kinematic body that follows one, or None")

    def follow(self, path: Path | None) -> None:
        """Move on a path from now on (kinematic bodies only); its times are those of the world. None: stop where it is."""
        if not isinstance(path, Path | None):
            raise InputError("path", path, "must be a Path, such as Path(times=(0, 1), positions=((0, 0, 0), (0, 0, 1)))")
        self._world._follow(self, path)

    @property
    def asleep(self) -> bool:
        """The body sleeps, see ``World(sleep_after=...)``."""
        return bool(self._world.asleep[self.index])

    @property
    def surface_velocity(self) -> np.ndarray:
        """(3,) [m/s] at which the surface moves against the body, in the body frame; to be set at any time."""
        return self._world.model.bodies.surface_v[self.index].copy()

    @surface_velocity.setter
    def surface_velocity(self, value: object) -> None:
        self._run(check_vector("surface_velocity", value), self.surface_spin)

    @property
    def surface_spin(self) -> np.ndarray:
        """(3,) [rad/s] at which the surface turns against the body, about the origin of the body frame, in its axes."""
        return self._world.model.bodies.surface_w[self.index].copy()

    @surface_spin.setter
    def surface_spin(self, value: object) -> None:
        self._run(self.surface_velocity, check_vector("surface_spin", value))

    def _run(self, velocity: object, spin: object) -> None:
        self._world.wake()
        run(self._world.model.bodies, self.index, velocity, spin)

    def _repr_html_(self) -> str:
        from sim import html

        return html.body(self)

    def __repr__(self) -> str:
        if not self.alive:
            return f"<Body {self.name!r}: removed>"
        x, y, z = self.position
        return f"<Body {self.name!r}: {self.kind} {type(self.shape).__name__} at ({x:.6g}, {y:.6g}, {z:.6g})>"
