"""Bodies of a world: added, changed, moved from outside, removed; and the arrays that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tumble.collision.errors import InputError, check_vector
from tumble.collision.hints import FileName, Numbers, Rows, Turn
from tumble.collision.shapes.definitions import Shape, convex_parts
from tumble.collision.shapes.ground import Facet, Ground
from tumble.collision.shapes.shapeset import ShapeSet, check_convex
from tumble.collision.spelling import spelled
from tumble.sim.compiled import REFRESH
from tumble.sim.flight.methods.integrators import INTEGRATORS
from tumble.sim.forces.force_tables import pack_forces
from tumble.sim.forces.path import Path
from tumble.sim.ledger import diagnostics
from tumble.sim.ledger import entries as ledger
from tumble.sim.scene import arrays as tables
from tumble.sim.scene.body_definition import BodyDef, Kind
from tumble.sim.scene.materials import SURFACE_FIELDS, coefficients, made_of, said, surfaces
from tumble.sim.scene.visual import Finish, Visual
from tumble.sim.state import DYNAMIC, SLEEPING, Model, bodies_of, books_of, contacts_of, joints_of, memory_of
from tumble.sim.world import sleep as sleeping
from tumble.sim.world.body import Body
from tumble.sim.world.world_queries import Asking

_PLURALS = {
    "orientations": "orientation", "velocities": "velocity", "angular_velocities": "angular_velocity", "names": "name",
    "masses": "mass", "densities": "density", "colors": "color",
}  # fmt: skip


class WithBodies(Asking):
    """Bodies of a world: added, changed, moved from outside, removed; and the arrays that hold them."""

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
        self._end_instruments()
        self._scene = None

    def _packed(self) -> Model:
        """The model, its group of forces up to date with bodies and forces."""
        model = self.model
        if self._packed_for is not model.bodies or self._packed_links is not model.joints.linked:
            method = list(INTEGRATORS).index(self.options.integrator)
            pushed = [body.index for body in self._pushes.rows]
            group = pack_forces(
                self.forces, self._calls, model.bodies, model.joints, self.names, self.settings.gravity, method, pushed
            )
            self.model = model = model._replace(forces=group)
            self._pushes.find(group)
            REFRESH.bind(model.bodies, group)()
            self._packed_for, self._packed_links = model.bodies, model.joints.linked
        return model

    def _row(self, body: Body) -> int:
        """The row of a body of this world; InputError for anything else."""
        if not isinstance(body, Body):
            raise InputError("body", body, "must be a body, as World.add returns it")
        if body._world is not self:
            raise InputError("body", body.name, "belongs to another world")
        return body.index

    def _resize(self, model: Model) -> None:
        """Take a model of another size, with scratch space that goes with it."""
        self.model = model
        self._table = contacts_of(len(model.contacts.gap))
        books = books_of(ledger.ENTRIES, accounts=len(model.books.account))
        memory = memory_of(len(model.contacts.gap), len(model.pairs.event))
        self._saved = (bodies_of(len(model.bodies.kind)), books, joints_of(len(model.joints.kind)), memory)

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
        if set(changes) <= set(SURFACE_FIELDS):
            self.wake()
            body.definition = definition
            self.model.bodies.material[i] = coefficients({field: getattr(definition, field) for field in SURFACE_FIELDS})
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
