"""A scene changed so that physics gives the same run, seen from there: scaled, turned, mirrored, moved, shuffled, accompanied.

Every quantity of a scene is a product of powers of length, mass and time; the tables say which.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from tumble.collision import Compound, ConvexHull, HalfSpace, Pose, Sphere
from tumble.sim import BodyDef, Scene

# exponents of length, mass and time, by the names of fields; what is not named is a number
BODY = {
    "position": (1, 0, 0), "velocity": (1, 0, -1), "angular_velocity": (0, 0, -1), "density": (-3, 1, 0), "mass": (0, 1, 0),
    "inertia": (2, 1, 0), "center_of_mass": (1, 0, 0), "rolling_friction": (1, 0, 0), "torsional_friction": (1, 0, 0),
    "surface_velocity": (1, 0, -1), "surface_spin": (0, 0, -1),
}  # fmt: skip
SCENE = {"gravity": (1, 0, -2), "dt": (0, 0, 1), "duration": (0, 0, 1), "sleep_after": (0, 0, 1), "sleep_speed": (1, 0, -1),
         "sleep_spin": (0, 0, -1), "tolerance": (1, 0, -1)}  # fmt: skip
FORCE, TORQUE = (1, 1, -2), (2, 1, -2)
FORCES = {
    "UniformGravity": {"acceleration": (1, 0, -2)},
    "CentralGravity": {"gm": (3, 0, -2), "center": (1, 0, 0)},
    "MutualGravity": {"constant": (3, -1, -2), "softening": (1, 0, 0)},
    "Drag": {"linear": (0, 1, -1), "quadratic": (-1, 1, 0), "spin_linear": (2, 1, -1), "spin_quadratic": (2, 1, 0),
             "wind": (1, 0, -1)},
    "Spring": {"stiffness": (0, 1, -2), "length": (1, 0, 0), "damping": (0, 1, -1), "anchor_a": (1, 0, 0), "anchor_b": (1, 0, 0)},
    "ConstantForce": {"force": FORCE, "torque": TORQUE, "point": (1, 0, 0)},
}  # fmt: skip
ANCHORS = {"anchor": (1, 0, 0), "anchor_a": (1, 0, 0), "anchor_b": (1, 0, 0), "length": (1, 0, 0)}
TURNS = {"stiffness": TORQUE, "damping": (2, 1, -1), "friction": TORQUE, "motor_speed": (0, 0, -1), "motor_torque": TORQUE}
SLIDES = {"limits": (1, 0, 0), "rest": (1, 0, 0), "stiffness": (0, 1, -2), "damping": (0, 1, -1), "friction": FORCE,
          "motor_speed": (1, 0, -1), "motor_force": FORCE}  # fmt: skip
JOINTS = {"Point": ANCHORS | {"friction": TORQUE}, "Hinge": ANCHORS | TURNS, "Slider": ANCHORS | SLIDES, "Fixed": ANCHORS,
          "Distance": ANCHORS | SLIDES}  # fmt: skip
LENGTHS = ("radius", "half_length", "half_height", "half_extents", "radii", "vertices", "offset")  # of shapes


@dataclass(frozen=True)
class Scale:
    """Factors of length, mass and time."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    def factor(self, powers: tuple[int, int, int]) -> float:
        return self.length ** powers[0] * self.mass ** powers[1] * self.time ** powers[2]

    def fields(self, record: Any, dimensions: dict[str, tuple[int, int, int]]) -> dict[str, Any]:
        """The fields of a record that have dimensions, scaled."""
        known = {f.name for f in fields(record)}
        return {
            name: _times(self.factor(powers), value)
            for name, powers in dimensions.items()
            if name in known and (value := getattr(record, name)) is not None
        }

    def shape(self, shape: Any) -> Any:
        if isinstance(shape, Compound):
            return Compound([(self.shape(s), Pose(_times(self.length, p.position), p.orientation)) for s, p in shape.parts])
        if isinstance(shape, ConvexHull):
            return ConvexHull(self.length * shape.vertices)
        own = [f.name for f in fields(shape)]
        return type(shape)(**{n: _times(self.length if n in LENGTHS else 1.0, getattr(shape, n)) for n in own})

    def body(self, body: BodyDef) -> BodyDef:
        path = body.path and replace(
            body.path,
            times=_times(self.time, body.path.times),
            positions=body.path.positions and _times(self.length, body.path.positions),
        )
        own = {k: v for k, v in self.fields(body, BODY).items() if not (path and k == "position")}
        return body.replace(shape=self.shape(body.shape), path=path, **own)

    def scene(self, scene: Scene) -> Scene:
        """The same scene, larger, heavier, slower: all else alike."""
        out = replace(
            scene,
            bodies=[self.body(b) for b in scene.bodies],
            joints=[j.replace(**self.fields(j, JOINTS[type(j).__name__])) for j in scene.joints],
            forces=[f.replace(**self.fields(f, FORCES[type(f).__name__])) for f in scene.forces],
        )
        for name, value in self.fields(scene, SCENE).items():
            setattr(out, name, value)
        return out


def _times(factor: float, value: Any) -> Any:
    """A number, or a tuple of them to any depth, times a factor."""
    if isinstance(value, tuple):
        return tuple(_times(factor, v) for v in value)
    return factor * value


@dataclass(frozen=True)
class Motion:
    """Space turned by an orientation, mirrored first (y to -y) with ``side`` -1, then moved."""

    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    side: float = 1.0
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def matrix(self) -> np.ndarray:
        return Pose((0, 0, 0), self.orientation).matrix()[:3, :3] @ np.diag([1.0, self.side, 1.0])

    def vector(self, v: Any) -> tuple:
        return tuple((self.matrix @ np.asarray(v, dtype=float)).tolist())

    def point(self, x: Any) -> tuple:
        return tuple((self.matrix @ np.asarray(x, dtype=float) + self.shift).tolist())

    def axial(self, w: Any) -> tuple:
        return tuple((self.side * (self.matrix @ np.asarray(w, dtype=float))).tolist())

    def turned(self, q: Any) -> tuple:
        """The attitude of a body whose shape was mirrored in its own frame."""
        a, b = np.array(self.orientation), self.mirrored(q)
        v = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
        return (float(a[0] * b[0] - a[1:] @ b[1:]), *map(float, v))

    def mirrored(self, q: Any) -> np.ndarray:
        return np.asarray(q) * ([1, -1, 1, -1] if self.side < 0 else [1, 1, 1, 1])

    def own(self, v: Any) -> tuple:
        """A vector in the frame of a body."""
        return (v[0], self.side * v[1], v[2])

    def shape(self, shape: Any) -> Any:
        if isinstance(shape, HalfSpace):
            normal = self.vector(shape.normal)
            return HalfSpace(normal, shape.offset + float(np.dot(normal, self.shift)))
        if isinstance(shape, ConvexHull):
            return ConvexHull(shape.vertices * [1, self.side, 1])
        if isinstance(shape, Compound):
            return Compound(
                [(self.shape(s), Pose(self.own(p.position), tuple(self.mirrored(p.orientation)))) for s, p in shape.parts]
            )
        return shape

    def body(self, body: BodyDef) -> BodyDef:
        if isinstance(body.shape, HalfSpace):
            return body.replace(shape=self.shape(body.shape))
        if body.surface_spin != (0.0, 0.0, 0.0) or body.center_of_mass is not None:
            raise NotImplementedError("surface_spin and center_of_mass are not turned")
        path = body.path and replace(
            body.path,
            positions=body.path.positions and tuple(map(self.point, body.path.positions)),
            orientations=tuple(self.turned(q) for q in body.path.orientations or (body.orientation,) * len(body.path.times)),
        )
        place = {} if path else {"position": self.point(body.position), "orientation": self.turned(body.orientation)}
        return body.replace(
            shape=self.shape(body.shape), path=path, velocity=self.vector(body.velocity),
            angular_velocity=self.axial(body.angular_velocity), surface_velocity=self.own(body.surface_velocity), **place,
        )  # fmt: skip

    def scene(self, scene: Scene) -> Scene:
        """The scene, seen from elsewhere."""
        return replace(
            scene,
            gravity=self.vector(scene.gravity),
            bodies=[self.body(b) for b in scene.bodies],
            joints=[self._joint(j) for j in scene.joints],
            forces=[self._force(f) for f in scene.forces],
        )

    def _joint(self, joint: Any) -> Any:
        name, changes = type(joint).__name__, {}
        for field in ("anchor", "anchor_a", "anchor_b"):
            if hasattr(joint, field):
                changes[field] = self.point(getattr(joint, field))
        if name == "Hinge":  # an angle about an axial vector
            changes["axis"] = self.axial(joint.axis)
        elif name == "Slider":
            changes["axis"] = self.vector(joint.axis)
        return joint.replace(**changes)

    def _force(self, force: Any) -> Any:
        name = type(force).__name__
        if name == "ConstantForce":
            if force.frame != "world" or force.point is not None:
                raise NotImplementedError("forces in the frame of a body are not turned")
            return force.replace(force=self.vector(force.force), torque=self.axial(force.torque))
        if name == "Drag":
            return force.replace(wind=self.vector(force.wind))
        if name == "Spring":
            end = self.point(force.anchor_b) if force.b is None else self.own(force.anchor_b)
            return force.replace(anchor_a=self.own(force.anchor_a), anchor_b=end)
        raise NotImplementedError(name)


def shuffled(scene: Scene, seed: int = 0) -> Scene:
    """Bodies, joints and forces in another order."""
    rng = np.random.default_rng(seed)
    mixed = lambda rows: [rows[i] for i in rng.permutation(len(rows))]  # noqa: E731
    return replace(scene, bodies=mixed(scene.bodies), joints=mixed(scene.joints), forces=mixed(scene.forces))


def beside(scene: Scene, far: float = 1e3) -> Scene:
    """A ball more, so far away [m] that it touches nothing but the floor, if there is one; no force acts on it."""
    if any(f.on() is None for f in scene.forces):
        raise NotImplementedError("forces on all bodies would act on it too")
    ball = BodyDef(Sphere(0.1), name="bystander", position=(far, far, 0.5), velocity=(0.3, 0.0, 0.1), restitution=0.7)
    return replace(scene, bodies=[ball, *scene.bodies])
