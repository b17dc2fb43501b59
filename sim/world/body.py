"""A view of one body of a world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from tumble.collision.errors import InputError, check_quaternion, check_vector
from tumble.collision.suggesting import Writes
from tumble.sim.compiled import GLANCE
from tumble.sim.forces.path import Path
from tumble.sim.readout import ANGULAR_VELOCITY, ORIENTATION, POSITION, VELOCITY
from tumble.sim.scene.arrays import set_surface_motion
from tumble.sim.world.applied_forces import three
from tumble.sim.world.world_queries import fixed

if TYPE_CHECKING:
    from tumble.collision.hints import Numbers, Turn
    from tumble.collision.shapes.definitions import Shape
    from tumble.sim.scene.body_definition import BodyDef
    from tumble.sim.scene.visual import Visual
    from tumble.sim.world.world import World


Told = TypeVar("Told")


class View(Writes):
    """A body or a joint of a world: reads from, and writes to, its row of the world's arrays."""

    __slots__ = ("_row", "_world", "definition")

    def __init__(self, world: World, index: int | None, definition: Any):
        self._world, self._row, self.definition = world, index, definition

    @property
    def index(self) -> int:
        """Its row in the arrays of the world; removing one moves those after it up."""
        if self._row is None:
            raise InputError(type(self).__name__.lower(), self.name, "was removed from its world")
        return self._row

    @property
    def alive(self) -> bool:
        """False once it was removed from its world."""
        return self._row is not None

    @property
    def name(self) -> str:
        """Unique among the bodies, or the joints, of its world."""
        return self.definition.name

    def _has(self, name: str) -> Any:
        """A field of what it was added as."""
        return getattr(self.definition, name)

    def _change(self, name: str, value: object) -> None:
        """Have another value of a field from now on."""
        raise NotImplementedError


class Changing(Generic[Told]):
    """A field of what a body or a joint was added as, which may be changed while the world runs. ``told``: what it is."""

    def __init__(self, told: str):
        self.__doc__ = told

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, view: None, owner: type) -> Changing[Told]: ...
    @overload
    def __get__(self, view: View, owner: type) -> Told: ...
    def __get__(self, view: View | None, owner: type) -> Any:
        return self if view is None else view._has(self._name)

    def __set__(self, view: View, value: Told) -> None:
        view._change(self._name, value)


class Body(View):
    """One body: reads from, and writes to, its row of the world's arrays. ``definition`` is what it was added as.

    After ``World.remove`` only what it was is known; anything else raises InputError.
    """

    __slots__ = ()

    definition: BodyDef

    kind = Changing["Kind"]('"dynamic", "static" or "kinematic"; may be changed while the world runs.')
    friction = Changing[float]("Coulomb's coefficient; may be changed while the world runs.")
    static_friction = Changing[float | None]("Coulomb's coefficient of what sticks, None: as friction; may be changed too.")
    restitution = Changing[float]("In [0, 1]; may be changed while the world runs.")

    def _change(self, name: str, value: object) -> None:
        self._world._rewrite(self, **{name: value})

    @property
    def world(self) -> World:
        """The World that it is, or was, in."""
        return self._world

    @property
    def shape(self) -> Shape:
        """In the body frame."""
        return self.definition.shape

    @property
    def color(self) -> tuple[float, float, float] | None:
        """(r, g, b) in [0, 1]; None: the renderer picks one. May be changed while the world runs."""
        return self.definition.color

    @color.setter
    def color(self, value: str | Numbers | None) -> None:
        self.definition = self.definition.replace(color=value)
        self._world._scene = None

    @property
    def finish(self) -> str:
        """How its surface takes the light in pictures."""
        return self.definition.finish

    @property
    def visual(self) -> Visual | None:
        """The Visual that is drawn in place of the shape."""
        return self.definition.visual

    @property
    def center_of_mass(self) -> np.ndarray:
        """(3,) [m] in the body frame."""
        return fixed(self.definition.mass_properties()[1])

    @property
    def inertia(self) -> np.ndarray:
        """(3, 3) [kg m^2] about the centre of mass, body axes."""
        return fixed(self.definition.mass_properties()[2])

    def _read(self, which: tuple[int, int]) -> np.ndarray:
        """Some numbers of the state of this body, read-only: to change them, set the whole."""
        world, row = self._world, self._row
        glance, bodies = world._glance, world.model.bodies
        if glance is None or glance.arguments[0] is not bodies:
            glance = world._glance = GLANCE.bind(bodies)
        return glance.part(self.index if row is None else row, which)

    @property
    def mass(self) -> float:
        """[kg]; inf where impulses do not move it. May be changed: velocities stay, and what that moves is ``user`` work."""
        return self.definition.mass_properties()[0]

    @mass.setter
    def mass(self, value: float) -> None:
        if self.kind != "dynamic":
            raise InputError("mass", value, f"{self.name} is {self.kind}: impulses do not move it")
        self._world._rewrite(self, mass=value)

    @property
    def position(self) -> np.ndarray:
        """(3,) [m] of the origin of the body frame."""
        return self._read(POSITION)

    @position.setter
    def position(self, value: Numbers) -> None:
        self._world._set(self.index, position=check_vector("position", value))

    @property
    def orientation(self) -> np.ndarray:
        """(4,) unit quaternion, body to world."""
        return self._read(ORIENTATION)

    @orientation.setter
    def orientation(self, value: Numbers | Turn) -> None:
        self._world._set(self.index, orientation=check_quaternion("orientation", value))

    @property
    def velocity(self) -> np.ndarray:
        """(3,) [m/s] of the centre of mass."""
        return self._read(VELOCITY)

    @velocity.setter
    def velocity(self, value: Numbers) -> None:
        self._world._set(self.index, velocity=check_vector("velocity", value))

    @property
    def angular_velocity(self) -> np.ndarray:
        """(3,) [rad/s] world axes."""
        return self._read(ANGULAR_VELOCITY)

    @angular_velocity.setter
    def angular_velocity(self, value: Numbers) -> None:
        self._world._set(self.index, angular_velocity=check_vector("angular_velocity", value))

    def apply_force(self, force: Numbers, point: Numbers | None = None) -> None:
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

    def apply_torque(self, torque: Numbers) -> None:
        """Turn with a torque (3,) [N m] through the coming step, world axes; as :meth:`apply_force`."""
        x, y, z = three("torque", torque)
        self._world._pushes.add(self, (0.0, 0.0, 0.0, x, y, z))

    def apply_impulse(self, impulse: Numbers, point: Numbers | None = None) -> None:
        """Change the momentum at once by ``impulse`` (3,) [N s] at ``point`` (3,) [m]: :meth:`World.apply_impulse`."""
        self._world.apply_impulse(self, impulse, point)

    @property
    def path(self) -> Path | None:
        """The Path of a kinematic body that follows one."""
        return self.definition.path

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
        return fixed(self._world.model.bodies.surface_v[self.index].copy())

    @surface_velocity.setter
    def surface_velocity(self, value: Numbers) -> None:
        self._run(check_vector("surface_velocity", value), self.surface_spin)

    @property
    def surface_spin(self) -> np.ndarray:
        """(3,) [rad/s] at which the surface turns against the body, about the origin of the body frame, in its axes."""
        return fixed(self._world.model.bodies.surface_w[self.index].copy())

    @surface_spin.setter
    def surface_spin(self, value: Numbers) -> None:
        self._run(self.surface_velocity, check_vector("surface_spin", value))

    def _run(self, velocity: object, spin: object) -> None:
        self._world.wake()
        set_surface_motion(self._world.model.bodies, self.index, velocity, spin)

    def _repr_html_(self) -> str:
        from tumble.sim.world import notebook_html as html

        return html.body_page(self)

    def __repr__(self) -> str:
        if not self.alive:
            return f"<Body {self.name!r}: removed>"
        x, y, z = self.position
        return f"<Body {self.name!r}: {self.kind} {type(self.shape).__name__} at ({x:.6g}, {y:.6g}, {z:.6g})>"
