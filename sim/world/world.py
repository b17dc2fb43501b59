"""The world: build it, step it, ask it."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, Literal

import numpy as np

from tumble.collision.errors import InputError, check_number, check_vector
from tumble.collision.hints import FileName, Numbers, Rows, Turn
from tumble.collision.kernels.native import Careful, Meanwhile
from tumble.collision.kernels.shipped import provide
from tumble.collision.shapes.definitions import Shape, convex_parts
from tumble.collision.shapes.ground import Facet, Ground
from tumble.collision.shapes.shapeset import ShapeSet, check_convex
from tumble.collision.spelling import did_you_mean, spelled
from tumble.collision.suggesting import Keeps
from tumble.sim.compiled import ADVANCE, ASSEMBLE, BEGIN, LIBRARY, RECENTRE, REFRESH
from tumble.sim.errors import SimulationError
from tumble.sim.flight.methods.integrators import TABLE
from tumble.sim.forces.definitions import Force, as_force
from tumble.sim.forces.functions import Callback
from tumble.sim.forces.path import Path
from tumble.sim.forces.tables import callbacks, check_bodies, pack
from tumble.sim.joints import tables as joint_tables
from tumble.sim.joints.definitions import JointDef
from tumble.sim.joints.mechanism.actuators import Actuator, Controls
from tumble.sim.ledger import diagnostics, readings
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.blow_up import FAR, LIGHT
from tumble.sim.ledger.events import Event, take
from tumble.sim.recording.compiled_samples import NONE
from tumble.sim.recording.observers import Every, whole
from tumble.sim.recording.provenance import metadata_later
from tumble.sim.recording.recorder import Recorder
from tumble.sim.recording.run import Run
from tumble.sim.scene import arrays as tables
from tumble.sim.scene.body_definition import BodyDef, Finish, Kind, said
from tumble.sim.scene.materials import FIELDS, coefficients, made_of, put_material, put_pair, rules, surfaces
from tumble.sim.scene.options import Options, Rule
from tumble.sim.scene.scene import Scene, free_name
from tumble.sim.scene.visual import Visual
from tumble.sim.state import (
    BOOKS_FULL,
    DROWSY,
    DYNAMIC,
    EVENTS,
    LOG,
    NOT_FINITE,
    OK,
    PAIRS_FULL,
    SLEEPING,
    THROWN,
    TORN,
    WAKE,
    Model,
    bodies_of,
    books_of,
    contacts_of,
)
from tumble.sim.words import count
from tumble.sim.world import checkpoint
from tumble.sim.world import compiled_recording as recollected
from tumble.sim.world import sleep as sleeping
from tumble.sim.world.applied_forces import Pushes
from tumble.sim.world.body import Body
from tumble.sim.world.joint import Joint
from tumble.sim.world.thread_pool import HUGE, LARGE, LONG, MOST, Apart, Helpers, cores
from tumble.sim.world.world_queries import Asking

CALL = 0.05  # s that a compiled call of several steps may take: Ctrl-C ends a run between two calls
SAMPLES = 4000  # most samples of a run that nobody asked to record
LARGEST = 1e150  # of the numbers of a state whose squares are finite


_PLURALS = {
    "orientations": "orientation", "velocities": "velocity", "angular_velocities": "angular_velocity", "names": "name",
    "masses": "mass", "densities": "density", "colors": "color",
}  # fmt: skip


CHANGED = (  # of bodies and books: what a step changes, as pipeline.save keeps it
    ("x", "q", "p", "l", "p_before", "l_before", "low", "island"),
    ("counters", "energy", "pending", "moved", "worst", "reservoir", "reservoir_pending", "account", "works"),
)


def _too_fast(bodies: Any, dt: float) -> np.ndarray:
    """(n,) bool: the bodies that contacts threw, as in ``ledger/blow_up.py``."""
    out = bodies.kind == DYNAMIC
    radius, turning = bodies.radius[out], bodies.spin[out] * np.linalg.norm(bodies.l[out], axis=1)
    speed = bodies.inv_mass[out] * np.linalg.norm(bodies.p[out], axis=1) + radius * turning
    out[out] = (speed > LIGHT) | (speed * dt > FAR * radius)
    return out


def _not_finite(bodies: Any) -> np.ndarray:
    """(n,) bool: the bodies whose state is not finite."""
    return ~np.isfinite(_state(bodies)).all(axis=1)


def _state(bodies: Any) -> np.ndarray:
    """(n, 19) what moves of bodies: a row each."""
    return np.hstack((bodies.x, bodies.q, bodies.p, bodies.l, bodies.p_before, bodies.l_before))


class World(Keeps, Asking):
    """Rigid bodies under gravity, in contact. SI units, z up.

    >>> world = World()
    >>> world.add(HalfSpace(), kind="static")
    >>> crate = world.add(Box((0.5, 0.5, 0.5)), position=(0, 0, 2), angular_velocity=(1, 2, 3))
    >>> run = world.run(seconds=2.0)
    >>> world.energy().total, crate.position

    The keywords are those of :class:`~tumble.sim.scene.options.Options`: ``gravity``, ``dt``, ``integrator``, ``solver`` ...
    And ``threads``: how many share the work of a step in worlds of 100 bodies and more, to the same bits; by default as many as
    the process has cores, or $TUMBLE_THREADS.
    """

    ROOM = tables.PAIRS  # candidate pairs that there is room for at the start
    SETS = (
        "options",
        "settings",
        "materials",
        "pairs",
        "bodies",
        "quarantined",
        "joints",
        "controls",
        "apart",
        "forces",
    )

    @spelled
    def __init__(
        self,
        gravity: Numbers = (0.0, 0.0, -9.81),
        dt: float = 1 / 240,
        integrator: Literal["rk4", "exact", "splitting", "dop853"] = "rk4",
        tolerance: float = 1e-11,
        look_ahead: bool = True,
        friction_rule: Rule = "geometric",
        restitution_rule: Rule = "max",
        restitution_law: Literal["stronge", "poisson", "newton"] = "stronge",
        solver: Literal["newton", "sweeps"] = "newton",
        sleep_after: float = 0.0,
        sleep_speed: float = 1e-3,
        sleep_spin: float = 1e-2,
        quarantine: bool = False,
        threads: int | None = None,
    ):
        provide(LIBRARY)
        self.threads = threads
        self.options = Options(
            gravity=gravity,
            dt=dt,
            integrator=integrator,
            tolerance=tolerance,
            look_ahead=look_ahead,
            friction_rule=friction_rule,
            restitution_rule=restitution_rule,
            restitution_law=restitution_law,
            solver=solver,
            sleep_after=sleep_after,
            sleep_speed=sleep_speed,
            sleep_spin=sleep_spin,
            quarantine=quarantine,
        )
        self.settings = self.options.settings()
        self.materials: dict[str, dict[str, Any]] = {}
        self.pairs: list[dict[str, Any]] = []
        self._bound_begin: Any = None
        self._late: Apart | None = None  # a call that Ctrl-C was not waited for
        self._slow = False  # a step takes so long that one would wait for Ctrl-C
        self._bound_for: Any = None  # settings that the compiled step is bound for
        self._helpers: Helpers | None = None  # threads that share its work
        self._bound: Any = None  # the compiled step, bound to the arrays that it was called for last
        self._strip = NONE  # where the step takes samples
        self._glance: Any = None  # the same for what views of bodies read, and those of joints
        self._glance_joint: Any = None
        self._pace = 1  # steps of a compiled call
        self.bodies: list[Body] = []
        self.quarantined: list[SimulationError] = []  # why bodies were taken out, one for each step at which some were
        self.joints: list[Joint] = []
        self.controls = Controls(self)
        self._scene: Scene | None = None
        self._dormant: dict[str, np.ndarray] = {}  # contacts of sleeping bodies
        self._serial = 0  # of the next body
        self._by_serial: dict[int, Body] = {}
        self.apart: list[tuple[str, str]] = []  # pairs of bodies that do not meet
        self._start = 0.0  # energy that the ledger counts from [J]
        self._started = False  # before that, what is set belongs to the start; afterwards it is work of the user
        self._changed_at: float | None = 0.0  # energy before a change from outside; None: nothing was changed
        self.forces: list[Force] = []
        self._calls: dict[Force, Callback] = {}  # functions among the forces
        self._pushes = Pushes()
        self._packed_for: Any = None  # the group of bodies that the group of forces belongs to
        self._packed_links: Any = None  # and what of the joints
        self._waiting: list[Body] = []  # bodies that were added and have no rows yet
        self._named: dict[str, Body] = {}
        self._numbers: dict[str, int] = {}  # to try next for a body without a name, by the shape's
        self._set_of_shapes = ShapeSet([])
        self._resize(tables.empty(self.ROOM, rules=rules(friction_rule, restitution_rule)))

    # ------------------------------------------------------------------ building

    @classmethod
    def from_scene(cls, scene: Scene) -> World:
        """A world that starts from a scene."""
        world = cls(**scene.chosen())
        world.materials, world.pairs = deepcopy(scene.materials), deepcopy(scene.pairs)
        world._add(list(scene.bodies))
        world._add_joints(scene.joints)
        for actuator in scene.actuators:
            world.controls.add(actuator)
        for a, b in scene.apart:
            world.exclude(a, b)
        for force in scene.forces:
            world.add_force(force)
        world._scene = scene
        return world

    @spelled
    def add(
        self,
        shape: Shape,
        *,
        name: str = "",
        kind: Kind = "dynamic",
        position: Numbers = (0.0, 0.0, 0.0),
        orientation: Numbers | Turn = (1.0, 0.0, 0.0, 0.0),
        velocity: Numbers = (0.0, 0.0, 0.0),
        angular_velocity: Numbers = (0.0, 0.0, 0.0),
        path: Path | None = None,
        density: float | None = None,
        mass: float | None = None,
        inertia: Numbers | Rows | None = None,
        center_of_mass: Numbers | None = None,
        groups: int = 1,
        mask: int = 0xFFFFFFFF,
        sensor: bool = False,
        material: str = "",
        friction: float | None = None,
        static_friction: float | None = None,
        restitution: float | None = None,
        tangential_restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
        surface_velocity: Numbers = (0.0, 0.0, 0.0),
        surface_spin: Numbers = (0.0, 0.0, 0.0),
        color: str | Numbers | None = None,
        finish: Finish | None = None,
        visual: Visual | FileName | None = None,
    ) -> Body:
        """Add a body. What is None is that of the material, else of :class:`~sim.BodyDef`. InputError names what is wrong.

        Parameters
        ----------
        name : unique in the world; left empty, one is made of the shape's.
        kind : "dynamic" moves by the laws of motion, "static" never, "kinematic" at its given velocity or on its path.
        position : (3,) [m] of the origin of the body frame. orientation : (4,) unit quaternion (w, x, y, z), body to world.
        velocity : (3,) [m/s] of the centre of mass. angular_velocity : (3,) [rad/s] in the world frame.
        path : a :class:`~tumble.sim.forces.path.Path` that a kinematic body follows.
        density : [kg/m^3]; mass : [kg]; inertia : (3, 3) or (3,) [kg m^2]; center_of_mass : (3,) [m] in the body frame.
        groups, mask : sets of bits: what the body is, and what it meets. sensor : it feels overlap and touches nothing.
        material : name of a material of the world. friction : Coulomb's coefficient. static_friction : of what sticks.
        restitution : in [0, 1]. tangential_restitution : in [-1, 1]. rolling_friction, torsional_friction : [m].
        surface_velocity : (3,) [m/s], surface_spin : (3,) [rad/s]: how the surface moves against the body.
        color : a name, "#rrggbb", "#rgb" or (r, g, b) in [0, 1]. finish : how its surface takes the light in pictures.
        visual : a mesh file, or a :class:`~tumble.sim.scene.visual.Visual`, drawn in place of the shape, which alone collides.
        """
        return self._name_and_add([BodyDef(shape, **made_of(self.materials, said(locals())))])[0]

    @spelled
    def add_many(
        self,
        shape: Shape,
        positions: Rows,
        *,
        orientations: Rows | None = None,
        velocities: Rows | None = None,
        angular_velocities: Rows | None = None,
        names: Sequence[str] | None = None,
        masses: Numbers | None = None,
        densities: Numbers | None = None,
        colors: Sequence[str | Numbers] | None = None,
        kind: Kind = "dynamic",
        orientation: Numbers | Turn = (1.0, 0.0, 0.0, 0.0),
        velocity: Numbers = (0.0, 0.0, 0.0),
        angular_velocity: Numbers = (0.0, 0.0, 0.0),
        density: float | None = None,
        mass: float | None = None,
        inertia: Numbers | Rows | None = None,
        center_of_mass: Numbers | None = None,
        groups: int = 1,
        mask: int = 0xFFFFFFFF,
        sensor: bool = False,
        material: str = "",
        friction: float | None = None,
        static_friction: float | None = None,
        restitution: float | None = None,
        tangential_restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
        surface_velocity: Numbers = (0.0, 0.0, 0.0),
        surface_spin: Numbers = (0.0, 0.0, 0.0),
        color: str | Numbers | None = None,
        finish: Finish | None = None,
        visual: Visual | FileName | None = None,
    ) -> list[Body]:
        """Add a body of this shape at each of the ``positions`` (n, 3) [m]; much faster than one by one.

        ``orientations`` (n, 4), ``velocities`` (n, 3), ``angular_velocities`` (n, 3), ``names``, ``masses``, ``densities`` and
        ``colors``: one for each body; other fields are those of :meth:`add`, the same for all.

        >>> world.add_many(Box((0.1, 0.1, 0.1)), positions=[(0, 0, 0.1 + 0.2 * k) for k in range(100)], friction=0.6)
        """
        fields = said(locals())
        rows: dict[str, list[Any]] = {"position": list(fields.pop("positions"))}
        for many, one in _PLURALS.items():
            if many in fields:
                rows[one] = list(fields.pop(many))
                if len(rows[one]) != len(rows["position"]):
                    raise InputError(many, len(rows[one]), f"must be {len(rows['position'])}, one for each position")
        common = made_of(self.materials, {field: value for field, value in fields.items() if field not in rows})
        columns = zip(*rows.values(), strict=True)
        return self._name_and_add([BodyDef(shape, **common, **dict(zip(rows, row, strict=True))) for row in columns])

    def _name_and_add(self, definitions: list[BodyDef]) -> list[Body]:
        """Add bodies that may have no names yet."""
        named, new = [], set()
        for definition in definitions:
            if not definition.name:
                base = type(definition.shape).__name__.lower()
                n = self._numbers.get(base, 1)
                while (name := base if n == 1 else f"{base}_{n}") in self._named or name in new:
                    n += 1
                self._numbers[base] = n + 1
                definition = definition.replace(name=name)
            elif definition.name in self._named or definition.name in new:
                raise InputError("name", definition.name, "is taken by another body of the world")
            new.add(definition.name)
            named.append(definition)
        self._add(named)
        self._scene = None
        return self.bodies[-len(named) :] if named else []

    def _add(self, definitions: list[BodyDef]) -> None:
        """Take these bodies in; the arrays grow when they are asked for, so that the n-th body costs no more than the first."""
        for shape in {id(d.shape): d.shape for d in definitions}.values():
            for piece, _ in convex_parts(shape):
                if not isinstance(piece, Ground):
                    check_convex(piece)
        if self.pairs:
            surfaces([*(b.definition for b in self.bodies), *definitions], self.materials, self.pairs)  # raises before we change
        if self._changed_at is None:
            self._change(())  # what a new body touches wakes when the world begins again
        first = len(self.bodies)
        bodies = [Body(self, i, d) for i, d in enumerate(definitions, first)]
        self.bodies += bodies
        self._named |= {body.name: body for body in bodies}
        self._waiting += bodies
        if any(d.path for d in definitions):
            self._grow()

    @property
    def model(self) -> Model:
        """All arrays of the world."""
        if self._late is not None:
            self._await()
        if self._waiting:
            self._grow()
        return self._model

    @model.setter
    def model(self, model: Model) -> None:
        self._model = model

    @property
    def _shapes(self) -> ShapeSet:
        """The convex pieces of all bodies."""
        if self._waiting:
            self._grow()
        return self._set_of_shapes

    def _grow(self) -> None:
        """Grow all arrays by the bodies that were added, and their convex pieces."""
        bodies, self._waiting = self._waiting, []
        definitions = [body.definition for body in bodies]
        parts = [convex_parts(d.shape) for d in definitions]
        known = self._set_of_shapes.shapes
        facets = tables.facets(self._model.geoms)  # of grounds: the last rows
        new = [shape for pieces in parts for shape, _ in pieces]
        shapes = ShapeSet([*known[: len(known) - facets], *new, *known[len(known) - facets :]], ground=True)
        if facets and self._dormant:
            rows = self._dormant["pair"]
            rows += len(new) * (rows >= len(known) - facets)
        surface, exceptions = surfaces([b.definition for b in self.bodies], self.materials, self.pairs)
        self._resize(tables.with_bodies(self._model, definitions, parts, shapes, self.settings.gravity, self._serial))
        self.model = tables.with_surfaces(self._model, surface, exceptions)
        self._set_of_shapes = shapes
        self._by_serial |= dict(enumerate(bodies, self._serial))
        self._serial += len(bodies)
        if any(d.path for d in definitions):
            self._lay_paths(bodies)

    def add_joint(self, definition: JointDef) -> Joint:
        """Joint two bodies, or a body to the world, as they stand now: a Point, Hinge, Slider, Fixed or Distance.

        >>> hinge = world.add_joint(Hinge(None, arm, anchor=(0, 0, 2), axis=(0, 1, 0)))
        >>> hinge.angle, hinge.speed, hinge.force
        """
        if not isinstance(definition, JointDef):
            raise InputError("joint", definition, "must be a joint, such as Hinge(None, arm, axis=(0, 1, 0))")
        taken = {joint.name for joint in self.joints}
        if not definition.name:
            definition = definition.replace(name=free_name(type(definition).__name__.lower(), taken))
        elif definition.name in taken:
            raise InputError("name", definition.name, "is taken by another joint of the world")
        self._add_joints([definition])
        self._scene = None
        return self.joints[-1]

    def _add_joints(self, definitions: list[JointDef]) -> None:
        rows = [self._ends(d) for d in definitions]
        self._change()
        first = len(self.joints)
        self._resize(joint_tables.with_joints(self.model, definitions, rows))
        self.joints += [Joint(self, j, d) for j, d in enumerate(definitions, first)]

    def _ends(self, definition: JointDef) -> tuple[int, int]:
        """Rows of the two bodies of a joint, -1 for the world."""
        rows = []
        for side in ("a", "b"):
            name = getattr(definition, side)
            if name is not None and name not in self._named:
                raise InputError(side, name, f"there is no body of this name in the world{did_you_mean(name, self._named)}")
            rows.append(-1 if name is None else self._named[name].index)
        if not any(i >= 0 and self.bodies[i].kind == "dynamic" for i in rows):
            raise InputError("a", definition.a, "one of the two bodies must be dynamic")
        return rows[0], rows[1]

    def remove_joint(self, joint: Joint) -> None:
        """Take a joint out of the world; the bodies move on without it."""
        if not isinstance(joint, Joint) or joint._world is not self:
            raise InputError("joint", joint, "must be a joint of this world")
        gone = np.arange(len(self.joints)) == joint.index
        self._change()
        self._forget_joints(gone)
        self._scene = None

    def add_actuator(self, actuator: Actuator) -> None:
        """Drive a joint by a named input, ``world.controls[actuator.name]``."""
        if not isinstance(actuator, Actuator):
            raise InputError("actuator", actuator, "must be an Actuator")
        self.controls.add(actuator)
        self._scene = None

    def _forget_joints(self, gone: np.ndarray) -> None:
        for j in np.flatnonzero(gone):
            self.controls.forget(self.joints[j].name)
        self._resize(joint_tables.without_joints(self.model, gone))
        for joint, out in zip(self.joints, gone, strict=True):
            joint._row = None if out else joint._row
        self.joints = [joint for joint in self.joints if joint._row is not None]
        for j, joint in enumerate(self.joints):
            joint._row = j

    def remove(self, body: Body) -> None:
        """Take a body out of the world, with its joints; its energy leaves by the ``user`` entry of the ledger.

        The rows of the bodies after it move up. The view of the body is of no use any more: it raises InputError.
        """
        row = self._row(body)
        self._change()
        self._forget_joints((self.model.joints.body == row).any(axis=1))
        kept = [k for k, i in enumerate(self.model.geoms.body) if i != row]
        self._set_of_shapes = ShapeSet((self._shapes.shapes[k] for k in kept), ground=True)
        self._resize(tables.without_body(self.model, row))
        self._pushes.forget(body)
        self.bodies.remove(body)
        del self._named[body.name]
        body._row = None
        for later in self.bodies[row:]:
            later._row -= 1
        self._lay_paths([])
        self.apart = [pair for pair in self.apart if body.name not in pair]
        self._keep_apart()
        self.pairs = [pair for pair in self.pairs if body.name not in (pair["a"], pair["b"])]
        self.model = tables.with_surfaces(self.model, *surfaces([b.definition for b in self.bodies], self.materials, self.pairs))
        self.forces = [left for force in self.forces if (left := force.without(body.name)) is not None]
        self._scene = None

    @spelled
    def add_force(self, force: Force | Callable[..., Any], bodies: Body | str | Iterable[Body | str] | None = None) -> Force:
        """Add a force, such as :class:`~tumble.sim.forces.definitions.Spring`, or a function of your own:
        f(t, position, orientation, velocity, angular_velocity).

        ``bodies``: bodies, or names, that it acts on; left out, those that the force names, or all dynamic ones, also those
        that come later. Returns the force as it stands in ``world.forces``. InputError names what is wrong.
        """
        force = as_force(force, bodies)
        check_bodies(force, self.bodies)
        self._calls |= callbacks([force])
        self._change()
        self.forces.append(force)
        self._packed_for = self._scene = None
        return force

    def remove_force(self, force: Force) -> None:
        """Take a force away; the energy of its potential leaves by the ``user`` entry of the ledger."""
        if force not in self.forces:
            raise InputError("force", force, "is none of world.forces")
        self._change()
        self.forces.remove(force)
        self._packed_for = self._scene = None

    def _packed(self) -> Model:
        """The model, its group of forces up to date with bodies and forces."""
        if self._packed_for is not self.model.bodies or self._packed_links is not self.model.joints.linked:
            method = list(TABLE).index(self.options.integrator)
            pushed = [body.index for body in self._pushes.rows]
            group = pack(
                self.forces, self._calls, self.model.bodies, self.model.joints, self.names, self.settings.gravity, method, pushed
            )
            self.model = self.model._replace(forces=group)
            self._pushes.find(group)
            REFRESH.bind(self.model.bodies, group)()
            self._packed_for, self._packed_links = self.model.bodies, self.model.joints.linked
        return self.model

    def _row(self, body: Body) -> int:
        """The row of a body of this world; InputError for anything else."""
        if not isinstance(body, Body):
            raise InputError("body", body, "must be a body, as World.add returns it")
        if body._world is not self:
            raise InputError("body", body.name, "belongs to another world")
        return body.index

    @spelled
    def set_material(
        self,
        name: str,
        *,
        density: float | None = None,
        color: str | Numbers | None = None,
        finish: Finish | None = None,
        friction: float | None = None,
        static_friction: float | None = None,
        restitution: float | None = None,
        tangential_restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
    ) -> None:
        """Say what bodies of a material are like: density, color, friction, restitution; for bodies added from now on."""
        put_material(self.materials, name, said(locals(), "name"))

    @spelled
    def set_pair(
        self,
        a: Body | str,
        b: Body | str,
        *,
        friction: float | None = None,
        static_friction: float | None = None,
        restitution: float | None = None,
        tangential_restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
    ) -> None:
        """Give two bodies or materials coefficients of their own, such as ``friction=0.05`` or ``restitution=0.9``.

        ``a`` and ``b``: a body, its name, or the name of a material. A pair of bodies comes before a pair of a body and a
        material, and that before a pair of materials; what a pair does not give is combined by the rule.
        """
        coefficients = said(locals(), "a", "b")
        pairs = list(self.pairs)
        put_pair(pairs, *(self.names[self._row(x)] if isinstance(x, Body) else x for x in (a, b)), coefficients)
        surface, exceptions = surfaces([body.definition for body in self.bodies], self.materials, pairs)
        self.wake()
        self.pairs = pairs
        self.model = tables.with_surfaces(self.model, surface, exceptions)
        self._scene = None

    def _resize(self, model: Model) -> None:
        """Take a model of another size, with scratch space that goes with it."""
        self.model = model
        self._table = contacts_of(len(model.contacts.gap))
        self._saved = (bodies_of(len(model.bodies.kind)), books_of(ledger.ENTRIES, accounts=len(model.books.account)))

    def _grow_pairs(self) -> None:
        """Make room for what a step needs more of: facets of grounds, or pairs."""
        short = np.flatnonzero(self.model.geoms.short)
        if len(short):
            geoms = self.model.geoms
            self._add_facets(np.repeat(geoms.body[short], 8 + 2 * geoms.short[short]))
            return
        self._resize(tables.with_pairs(self.model, 2 * len(self.model.pairs.event)))

    def _add_facets(self, owners: np.ndarray) -> None:
        """Room for triangles of the grounds of these bodies (n,) that are near what moves."""
        shapes = ShapeSet([*self._shapes.shapes, *(Facet() for _ in owners)], ground=True)
        self._resize(tables.with_facets(self.model, owners))
        self._set_of_shapes = shapes

    def _fit_facets(self) -> None:
        """As many facets as the model has, which may be one from before there were more."""
        if len(self._set_of_shapes) > len(self._model.geoms.body):
            self._set_of_shapes = ShapeSet(self._set_of_shapes.shapes[: len(self._model.geoms.body)], ground=True)

    def wake(self) -> None:
        """Wake all sleeping bodies. What touches or changes a sleeping body wakes it by itself."""
        sleeping.wake(self)

    def _change(self, rows: Iterable[int] | None = None) -> None:
        """Something is about to be set from outside: remember the energy before it, and wake these bodies, by default all."""
        if (self.model.bodies.kind == SLEEPING).any() and rows != ():
            sleeping.wake(self, rows)
        if self._changed_at is None:
            self._changed_at = self.energy().total
            # what is kept is the middle of the kick; its second half will be asked for anew
            bodies = self.model.bodies
            p, l = diagnostics.mean_momenta(bodies)
            bodies.p[:] = bodies.p_before[:] = p
            bodies.l[:] = bodies.l_before[:] = l

    @diagnostics.unheard
    def _set(self, i: int, position=None, orientation=None, velocity=None, angular_velocity=None) -> None:
        """Set parts of the state of body i; the other parts stay."""
        body = self.bodies[i]
        for name, value in (("velocity", velocity), ("angular_velocity", angular_velocity)):
            if value is not None and body.kind == "static":
                raise InputError(name, value, f"{body.name} is static and does not move")
            if value is not None and body.path is not None:
                raise InputError(name, value, f"{body.name} follows a path; follow(None) ends that")
        if body.path is not None:
            raise InputError("position", position, f"{body.name} follows a path; follow(None) ends that")
        at, w = self.positions[i], self.angular_velocities[i]
        self._change([i] if body.kind == "dynamic" else None)
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
            b.p[i] = b.p_before[i] = b.p[i] if velocity is None else velocity
            b.l[i] = b.l_before[i] = w

    def _rewrite(self, body: Body, **changes: Any) -> None:
        """Change what a body is, as it stands and moves."""
        i, moving = body.index, {}
        if "kind" in changes:
            if body.path is not None:
                raise InputError("kind", changes["kind"], f"{body.name} follows a path; follow(None) ends that")
            still = changes["kind"] == "static"
            velocities = ((0.0, 0.0, 0.0),) * 2 if still else (body.velocity.tolist(), body.angular_velocity.tolist())
            moving = dict(zip(("velocity", "angular_velocity"), velocities, strict=True))
        definition = body.definition.replace(**changes, **moving)
        if set(changes) <= set(FIELDS):
            self.wake()
            body.definition = definition
            self.model.bodies.material[i] = coefficients({field: getattr(definition, field) for field in FIELDS})
        else:
            self._check_jointed(body, definition)
            at = {name: getattr(body, name).tolist() for name in ("position", "orientation", "velocity", "angular_velocity")}
            if body.path is not None or definition.kind == "static":
                at.pop("velocity"), at.pop("angular_velocity")
            self._change()
            body.definition = definition
            self.model = tables.with_other(self.model, i, definition.replace(**at), self.settings.gravity)
            self._packed_for = None
        self._scene = None

    def _check_jointed(self, body: Body, definition: BodyDef) -> None:
        """One of the two bodies of each joint stays dynamic, and so does what forces act on by name."""
        if definition.kind == "dynamic":
            return
        for joint in self.joints:
            if body in joint.bodies and not any(b is not None and b is not body and b.kind == "dynamic" for b in joint.bodies):
                raise InputError("kind", definition.kind, f"joint {joint.name} needs a dynamic body")
        for force in self.forces:
            if body.name in (force.on() or ()):
                raise InputError("kind", definition.kind, f"a force acts on {body.name}: remove it first")
        self._pushes.forget(body)

    def _follow(self, body: Body, path: Path | None) -> None:
        """Put a kinematic body on a path, or leave it where it is."""
        row = self._row(body)
        position, orientation = body.position, body.orientation
        definition = body.definition.replace(
            path=path, position=position, orientation=orientation, velocity=(0, 0, 0), angular_velocity=(0, 0, 0)
        )
        self._change()
        b = self.model.bodies
        b.p[row] = b.p_before[row] = b.l[row] = b.l_before[row] = 0.0
        for column in (b.gravity, b.torque, b.a_drive, b.j_drive, b.a_turn, b.j_turn, b.pull, b.twist):
            column[row] = 0.0
        body.definition = definition
        self._lay_paths([body])
        self._scene = None

    def _lay_paths(self, bodies: list[Body]) -> None:
        """Make the table of paths anew; these bodies take their places on theirs."""
        self.model = tables.with_paths(self.model, [body.definition for body in self.bodies])
        b = self.model.bodies
        for body in bodies:
            if body.path is not None:
                position, orientation = body.path.pose(self.time)
                i = body.index
                b.q[i] = b.q[i] if orientation is None else orientation
                at = body.definition.position if position is None else position
                b.x[i] = at + diagnostics.rotations(b.q[i : i + 1])[0] @ b.center[i]

    def apply_impulse(self, body: Body, impulse: Numbers, point: Numbers | None = None) -> None:
        """Change the momentum of a body by ``impulse`` (3,) [N s] at ``point`` (3,) [m], the centre of mass by default."""
        b, i = self.model.bodies, self._row(body)
        impulse = np.array(check_vector("impulse", impulse))
        if body.kind != "dynamic":
            raise InputError("body", body.name, "only dynamic bodies take impulses")
        arm = np.zeros(3) if point is None else np.array(check_vector("point", point)) - b.x[i]
        self._change([i])
        b.p[i] += impulse
        b.l[i] += np.cross(arm, impulse)
        b.p_before[i], b.l_before[i] = b.p[i], b.l[i]

    def exclude(self, a: Body | str, b: Body | str) -> None:
        """Let two bodies pass through each other from now on."""
        names = tuple(sorted(self.names[self._row(x)] if isinstance(x, Body) else x for x in (a, b)))
        for name in names:
            if name not in self.names:
                raise InputError("body", name, "there is no body of this name in the world")
        if names[0] == names[1]:
            raise InputError("b", names[1], "must be another body than a")
        self._change()
        self.apart = [*(pair for pair in self.apart if pair != names), names]
        self._keep_apart()
        self._scene = None

    def _keep_apart(self) -> None:
        row = {name: i for i, name in enumerate(self.names)}
        self.model = tables.with_apart(self.model, [(row[a], row[b]) for a, b in self.apart])

    def events(self) -> list[Event]:
        """What happened since this was asked last: impacts, contacts that began or ended, who entered or left a sensor.

        There is room for 4096 events (see :meth:`listen`); those that find none are counted, and a warning tells how many.
        """
        self._begin()
        return take(self)

    def listen(self, persist: bool = False, capacity: int = tables.EVENTS_KEPT) -> None:
        """Say how many events there is room for, and whether each step tells of contacts that last ("persist")."""
        books = self.model.books
        log = np.zeros((max(whole("capacity", capacity), int(books.counters[EVENTS])), LOG))
        log[: books.counters[EVENTS]] = books.log[: books.counters[EVENTS]]
        books.watch[0] = bool(persist)
        self.model = self.model._replace(books=books._replace(log=log))

    def keep_accounts(self) -> None:
        """From now on the books are also kept for each two bodies that touch: see :meth:`ledger_by_pair`."""
        if len(self.model.books.account) == 0:
            self._resize(tables.with_accounts(self.model))

    def __getitem__(self, name: str) -> Body:
        """The body of this name."""
        if name in self._named:
            return self._named[name]
        raise KeyError(f"no body of the world has the name {name!r}; there are {', '.join(self.names)}")

    # ------------------------------------------------------------------ stepping

    def _begin(self) -> None:
        """Centre the kick on velocities that were set, and book what setting them did to the energy."""
        if self._changed_at is None:
            return
        open_by = self._close_joints() if self.joints else 0.0
        if open_by > 1e-9:
            worst = max(self.joints, key=lambda joint: joint.error)
            open_by = f"the joints can not all be closed: {worst.name} stays open by {worst.error:.3g}"
            raise SimulationError(open_by, names=(worst.name,))
        now = self.energy().total
        if not self._started:
            self._start = now
        else:
            self.model.books.energy[ledger.USER] += now - self._changed_at
        self._kick()
        self._changed_at = None

    def _resume(self) -> None:
        """Go on once bodies fell asleep or woke: nothing was set, so the joints hold as they did."""
        self._kick()
        self._changed_at = None

    def _kick(self) -> None:
        """Centre the kick on the velocities as they are."""
        huge = len(self.bodies) >= HUGE and not self._calls
        while (result := self._apart(self._beginning()) if huge else self._beginning()()) in (PAIRS_FULL, WAKE):
            if result == WAKE:
                sleeping.wake_roused(self)
            else:
                self._grow_pairs()
        if result != OK:
            raise self._why(result)

    def _beginning(self) -> Callable[[], int]:
        """The compiled kick of what was set from outside, bound to the arrays as they are."""
        model, bound = self._packed(), self._bound_begin
        if bound is None or bound.arguments[0] is not model or bound.arguments[2] is not self.settings:
            bound = self._bound_begin = BEGIN.bind(model, self._shapes.geometry, self.settings)
        return bound

    def _ready(self) -> None:
        """What was set, and what is pushed, takes hold before the step."""
        again = self._pushes.begin(self)
        if self._changed_at is not None:
            self._begin()
        elif again:
            RECENTRE.bind(self.model.bodies)()
            self._kick()

    def _close_joints(self) -> float:
        """Put poses and velocities together such that joints hold; by how much the worst stays open [m or rad]."""
        m = self.model
        return float(ASSEMBLE.bind(m.bodies, m.contacts, m.joints, m.books, self.settings)())

    def _advancing(self) -> Callable[[int], tuple[int, int]]:
        """The compiled step, bound to the arrays as they are."""
        model, bound = self._packed(), self._bound
        other = bound is None or bound.arguments[0] is not model or self._bound_for is not self.settings
        if other or (bound.__class__ in (Careful, Meanwhile) and LIBRARY.whole):
            settings = self._bound_for = self.settings
            self._helpers = self._helped(model)
            if self._helpers is not None:
                settings = self._helpers.settings
            bound = self._bound = ADVANCE.bind(model, self._shapes.geometry, settings, self._table, self._saved, self._strip)
        elif bound.arguments[5] is not self._strip:
            recollected.rewind(bound, self._strip)
        return bound

    def _helped(self, model: Model) -> Helpers | None:
        """Threads to share the work of the steps with, where there is enough and all is compiled; members of Worlds have none."""
        if len(self.bodies) < LARGE or not ADVANCE.is_native or not LIBRARY.whole:
            return None
        self._slow = self._slow or len(self.bodies) >= HUGE
        return Helpers(self.threads - 1, model, self._shapes.geometry, self.settings)

    def _with_help(self, helpers: Helpers, advance: Callable[[int], tuple[int, int]], steps: int) -> tuple[int, int]:
        """Call the compiled step of a large world."""
        begun = time.perf_counter()
        done, result = (
            self._apart(helpers.take, advance, steps) if self._slow and not self._calls else helpers.take(advance, steps)
        )
        self._slow = time.perf_counter() - begun > LONG * max(1, done)
        return done, result

    def _apart(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Make a long compiled call such that Ctrl-C is heard: it goes on then, and the world waits for it when it is used."""
        self._late = late = Apart(call, *arguments)
        out = late.result()
        self._late = None
        return out

    def _await(self) -> None:
        """Wait for the end of a call that was interrupted; its step counts if it could be taken."""
        ended = self._late.result()
        self._late = None
        if isinstance(ended, tuple) and ended[1] in (NOT_FINITE, THROWN, TORN):  # of a step
            self._undo()

    @property
    def threads(self) -> int:
        """How many threads share the work of a step, where there is enough of it; the results are the same bits."""
        return self._threads

    @threads.setter
    def threads(self, value: int | None) -> None:
        value = cores() if value is None else whole("threads", value)
        if value > MOST:
            raise InputError("threads", value, f"must be at most {MOST}")
        self._threads, self._bound_for = value, None

    def step(self, n: int = 1) -> None:
        """Take ``n`` steps of length dt, in compiled calls of some hundredths of a second: Ctrl-C ends it between two."""
        if n.__class__ is not int or n < 1:
            n = whole("n", n)
        pushes, controls = self._pushes, self.controls
        driven = bool(controls.actuators) and controls.explicit
        while n > 0:
            if pushes.coming or pushes.now:
                self._ready()
            elif self._changed_at is not None:
                self._begin()
            if not self._started:
                self._started = True
            if driven:
                controls.refresh()
            if n == 1 or driven or pushes.now:
                advance, helpers = self._advancing(), self._helpers
                done, result = advance(1) if helpers is None else self._with_help(helpers, advance, 1)
            else:
                begun, count = time.perf_counter(), min(n, self._pace)
                advance, helpers = self._advancing(), self._helpers
                done, result = advance(count) if helpers is None else self._with_help(helpers, advance, count)
                spent = time.perf_counter() - begun
                self._pace = max(1, min(2 * count, int(count * CALL / spent))) if done == count else count
            n -= done
            if result == OK:
                continue
            if result == PAIRS_FULL:
                self._grow_pairs()
            elif result == DROWSY:
                sleeping.fall_asleep(self)
                self._resume()
            elif result == WAKE:
                sleeping.wake_roused(self)
                self._resume()
            elif result == BOOKS_FULL:
                self._resize(tables.with_accounts(self.model))
            else:
                self._stop(result)

    def _stop(self, result: int) -> None:
        """Go back to before the step, and say why it could not be taken; or go on without the bodies that it failed for."""
        error = self._why(result)
        self._undo()
        if not (self.options.quarantine and result in (NOT_FINITE, THROWN) and set(error.names) & set(self._named)):
            raise error
        for name in error.names:
            self.remove(self._named[name])
        self.quarantined.append(error)
        warnings.warn(f"{error}: taken out of the world", stacklevel=3)

    def _why(self, result: int) -> SimulationError:
        """Why a step could not be taken."""
        where = self.step_count + 1, self.time
        if result == TORN:
            worst = max(self.joints, key=lambda joint: joint.error)
            why = "a smaller dt may hold it: taut light links swing faster than 2/dt"
            return SimulationError(f"joint {worst.name} is open by {worst.error:.3g}; {why}", *where, (worst.name,))
        for call in self._calls.values():
            if call.error is not None:
                cause, call.error = call.error, None
                error = SimulationError(f"force {call.name} raised {type(cause).__name__}: {cause}", *where, (call.name,))
                error.__cause__ = cause
                return error
        if result == THROWN:
            names = tuple(self.names[i] for i in np.flatnonzero(_too_fast(self.model.bodies, self.dt)))
            why = "as from bodies that start deep in each other, of masses far apart"
            return SimulationError(f"contacts throw {', '.join(names)} faster than anything can make them, {why}", *where, names)
        flights = self.model.forces
        bad = _not_finite(self.model.bodies)
        bad |= ~np.isfinite(flights.path).all(axis=(0, 2)) & (flights.cluster >= 0)
        if not bad.any():  # a sum over all bodies is not: those whose numbers have no squares
            bad = ~(np.abs(_state(self.model.bodies)).max(axis=1) < LARGEST)
        names = tuple(self.names[i] for i in np.flatnonzero(bad))
        return SimulationError(f"the state of {', '.join(names) or 'the momenta'} is not finite", *where, names)

    def _undo(self) -> None:
        """Go back to the state before a step that failed half way; the next step begins anew from there.

        A body whose state was not finite there either lies still at the origin: nothing else is known of it.
        """
        for kept, now, columns in zip(self._saved, (self.model.bodies, self.model.books), CHANGED, strict=True):
            for column in columns:
                getattr(now, column)[:] = getattr(kept, column)
        bodies = self.model.bodies
        lost = _not_finite(bodies)
        for column in (bodies.x, bodies.p, bodies.l, bodies.p_before, bodies.l_before):
            column[lost] = 0.0
        bodies.q[lost] = (1.0, 0.0, 0.0, 0.0)
        self._change(())

    @spelled
    def run(
        self,
        seconds: float,
        observers: Iterable[Any] = (),
        control: Callable[[World], None] | None = None,
        every: int | None = None,
    ) -> Run:
        """Advance by ``seconds`` (to the nearest step), calling the observers at their steps; what was recorded.

        The Run is that of the first Recorder among the observers; without one the run is kept in memory, at each ``every``-th
        step, by default such that it has at most 4000 samples. Where nothing else observes or controls, the compiled step takes
        them itself: that costs 0.06 us a sample of one body, and 0.03 ms a run. ``control`` is called with the world before each
        step, after the observers have seen it, and may change anything: ``Every(4, f)`` to have it called before every fourth.
        """
        steps = round(check_number("seconds", seconds, least=0) / self.dt)
        observers = list(observers)
        if not observers and control is None:
            often = max(1, -(-steps // SAMPLES)) if every is None else whole("every", every)
            if recollected.fits(self, steps // often + 2):
                return self._run_alone(steps, often)
        recorder = next((r for o in observers for r in (o, getattr(o, "action", None)) if isinstance(r, Recorder)), None)
        nested = [r for o in observers for r in (o, getattr(o, "action", None))]
        heard = [o for o in nested if getattr(o, "listens", hasattr(o, "happened"))]  # by those who wait for events
        if recorder is not None and every is not None:
            raise InputError("every", every, "is that of the recorder: Recorder(every=...)")
        if recorder is None:
            recorder = Recorder(None, every=max(1, -(-steps // SAMPLES)) if every is None else whole("every", every))
            observers.append(recorder)
        if control is not None and not callable(control):
            raise InputError("control", control, "must be a function that takes the world")
        pilot = control if control is None or hasattr(control, "every") else Every(1, control)
        self._begin()
        self._started = True
        last = self.step_count + steps
        started = []
        try:
            for observer in observers:
                if hasattr(observer, "start"):
                    observer.start(self)
                started.append(observer)
                observer(self)
            while self.step_count < last:
                if pilot is not None and self.step_count % pilot.every == 0:
                    pilot(self)
                due = min(self.step_count - self.step_count % o.every + o.every for o in (*observers, pilot) if o is not None)
                self.step(min(due, last) - self.step_count)
                events = self.events() if heard else ()
                for observer in heard if events else ():
                    observer.happened(self, events)
                for observer in observers:
                    if self.step_count % observer.every == 0 or self.step_count == last:
                        observer(self)
        finally:
            for observer in started:
                if hasattr(observer, "finish"):
                    observer.finish(self)
        return recorder.run()

    def _run_alone(self, steps: int, every: int) -> Run:
        """Run with nobody watching but the compiled step, which takes the samples."""
        self._begin()
        self._started = True
        begun, told = time.perf_counter(), metadata_later(self)
        reel = recollected.Reel(self, steps // every + 2, every)
        reel.keep(self)
        self._strip = reel.strip
        try:
            if steps > 0:
                self.step(steps)
        finally:
            self._strip = NONE
        if steps > 0 and self.step_count % every:  # else it is there
            reel.keep(self)
        hashed, books, spent = self._state_hash_later(), self.model.books, time.perf_counter() - begun
        counters, worst = books.counters.copy(), books.worst.copy()

        def attributes() -> dict[str, Any]:  # worked out for those who ask
            how = {"every": every, "precision": "double", "compression": 0}
            done = {"complete": True, "wall_seconds": spent, "recording_seconds": 0.0}
            told_by = readings.statistics(books._replace(counters=counters, worst=worst))
            ended = {"statistics": json.dumps(told_by), "state_hash": hashed()}
            return {**told(), **how, **done, **ended}

        return Run(reel, self.names, attributes)

    def save(self, path: FileName) -> None:
        """Write the world to a file; :meth:`load` goes on from it bit for bit."""
        checkpoint.save(self, path)

    @classmethod
    def load(cls, path: FileName, functions: dict[str, Callable[..., Any]] | None = None) -> World:
        """The world that was saved to a file; ``functions``: by name, those that were forces, which no file can hold."""
        return checkpoint.load(cls, path, functions or {})

    def _repr_html_(self) -> str:
        from tumble.sim.world import notebook_html as html

        return html.world(self)

    def __repr__(self) -> str:
        return f"<World: {count(len(self.bodies), 'body')}, t = {self.time:.6g} s, {self.energy().total:.9g} J>"
