"""Random worlds of 2 to 12 mixed bodies, each a function of its seed and of the step alone.

All shapes and compounds; restitution 0, 0.3, 0.8 or 1, friction 0, 0.2, 1 or 10; half of the worlds have joints; some have
forces, driven bodies, conveyors, sensors, walls, no gravity and no floor, or let bodies sleep.
"""

from __future__ import annotations

import math

import numpy as np

from collision import Box, Capsule, Compound, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, Pose, Sphere, signed_distance
from collision.shapes import Shape
from sim import BodyDef, ConstantForce, Distance, Drag, Fixed, Hinge, Path, Point, Scene, Slider, Spring

RESTITUTIONS, FRICTIONS = (0.0, 0.3, 0.8, 1.0), (0.0, 0.2, 1.0, 10.0)
SECONDS = 3.0
TRIES = 200  # places tried for a body before it is left out

Rng = np.random.Generator


def world(seed: int, dt: float = 1 / 240) -> Scene:
    """World number ``seed``."""
    rng = np.random.default_rng((18, seed))
    scene = Scene(name=f"world_{seed}", dt=dt, duration=SECONDS, seed=seed)
    jointed, free = rng.random() < 0.5, rng.random() < 0.15
    mixed = rng.random() < 0.3
    common = _surface(rng)
    surface = lambda: _surface(rng) if mixed else common  # noqa: E731
    count = int(rng.integers(2, 13))
    if free:
        scene.gravity = (0.0, 0.0, 0.0)
    else:
        _ground(scene, rng, surface, count)
    dynamic: list[BodyDef] = []
    while len(dynamic) < count:
        body = _placed(scene, rng, free, count, surface())
        if body is None:
            break
        dynamic.append(body)
    if jointed:
        _joints(scene, rng, dynamic)
    if rng.random() < 0.25:
        _force(scene, rng, dynamic)
    if rng.random() < 0.15:
        scene.add(Sphere(0.4), kind="static", sensor=True, name="sensor", position=(0, 0, 0.5))
    if rng.random() < 0.2:
        scene.sleep_after = 0.25
    return scene


def _surface(rng: Rng) -> dict[str, float]:
    out = {"restitution": float(rng.choice(RESTITUTIONS)), "friction": float(rng.choice(FRICTIONS))}
    if rng.random() < 0.1:
        out["rolling_friction"] = 0.003
    return out


def _ground(scene: Scene, rng: Rng, surface, count: int) -> None:
    """A floor; some have walls around it, or a conveyor, a turntable, a paddle or a ledge on it."""
    scene.add(HalfSpace(), kind="static", name="floor", **surface())
    walled = rng.random() < 0.3
    if walled:
        room = 0.45 * count ** (1 / 3) + 0.2
        for k, normal in enumerate(((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))):
            scene.add(HalfSpace(normal, -room), kind="static", name=f"wall_{k}", **surface())
    what, speed, turn = rng.random(), float(rng.normal()), float(4 * rng.normal())
    if what < 0.1:
        scene.add(Box((0.6, 0.4, 0.05)), kind="static", name="conveyor", surface_velocity=(speed, 0, 0), **surface())
    elif what < 0.2:
        scene.add(Cylinder(0.5, 0.05), kind="kinematic", name="turntable", angular_velocity=(0, 0, turn), **surface())
    elif what < 0.3 and not walled:
        path = Path(times=(0.0, 0.75, 1.5), positions=((-0.9, 0, 0.2), (0.1, 0, 0.2), (-0.9, 0, 0.2)), loop=True)
        scene.add(Box((0.05, 0.8, 0.2)), kind="kinematic", name="paddle", path=path, **surface())
    elif what < 0.4:
        scene.add(Box((0.3, 0.3, 0.15)), kind="static", name="ledge", orientation=_orientation(rng), **surface())


def _orientation(rng: Rng) -> tuple[float, ...]:
    q = rng.normal(size=4)
    return tuple((q / np.linalg.norm(q)).tolist())


def some_shape(rng: Rng, size: float) -> Shape:
    """A shape of any kind whose extent is of the order of 2 ``size`` [m]."""
    f = lambda: float(size * rng.uniform(0.4, 1.0))  # noqa: E731
    kind = rng.integers(9)
    if kind == 0:
        return Sphere(f())
    if kind == 1:
        return Box((f(), f(), f()))
    if kind == 2:
        return Capsule(f() / 2, f() / 2)
    if kind == 3:
        return Cylinder(f(), f() * float(rng.choice((0.15, 1.0))))
    if kind == 4:
        return Cone(f(), f())
    if kind == 5:
        return Ellipsoid((f(), f(), f()))
    if kind == 6:
        return ConvexHull(size * rng.normal(size=(4, 3)) * 0.7 + [[0, 0, 0], [size, 0, 0], [0, size, 0], [0, 0, size]])
    if kind == 7:
        v = rng.normal(size=(int(rng.integers(6, 25)), 3))
        return ConvexHull(size * v / np.linalg.norm(v, axis=1)[:, None])
    a, b, c = f(), f() / 3, f() / 3
    if rng.random() < 0.5:
        return Compound([(Box((a, b, c)), Pose()), (Box((b, b, a)), Pose((a + b, 0, 0)))])
    return Compound([(Capsule(b, a), Pose()), (Sphere(c + b), Pose((0, 0, a + 2 * b + c)))])


def _placed(scene: Scene, rng: Rng, free: bool, count: int, surface: dict[str, float]) -> BodyDef | None:
    """Add a body that touches nothing yet, thrown; in free space towards the middle."""
    shape = some_shape(rng, float(rng.choice((0.06, 0.1, 0.2))))
    density = float(rng.choice((200.0, 1000.0, 8000.0), p=(0.2, 0.6, 0.2)))
    fields = {"orientation": _orientation(rng), "density": density, **surface}
    spread = 0.3 * count ** (1 / 3)
    for _ in range(TRIES):
        at = rng.uniform(-spread, spread, 3)
        if not free:
            at[2] += spread + 0.25
        body = BodyDef(shape, position=tuple(at.tolist()), **fields)
        if all(_apart(body, other) for other in scene.bodies):
            velocity, spin = rng.normal(size=3) * 1.5, rng.normal(size=3) * 4
            if free:
                velocity -= 2.0 * at
            return scene.append(body.replace(velocity=tuple(velocity.tolist()), angular_velocity=tuple(spin.tolist())))
    return None


def _apart(a: BodyDef, b: BodyDef) -> bool:
    return signed_distance(a.shape, Pose(a.position, a.orientation), b.shape, Pose(b.position, b.orientation)).distance > 1e-3


def _joints(scene: Scene, rng: Rng, bodies: list[BodyDef]) -> None:
    """One to five joints: chains of bodies, some hung on the world."""
    for _ in range(int(rng.integers(1, 6))):
        i = int(rng.integers(len(bodies)))
        b = bodies[i]
        a = None if rng.random() < 0.25 or len(bodies) < 2 else bodies[i - 1]
        if any({j.a, j.b} == {a and a.name, b.name} for j in scene.joints):
            continue
        ends = np.array([b.position if a is None else a.position, b.position])
        middle = ends.mean(axis=0) + (0.0 if a is not None else 0.1 * rng.normal(size=3))
        names, axis = {"a": a and a.name, "b": b.name}, tuple(rng.normal(size=3).tolist())
        anchor = tuple(middle.tolist())
        kind, driven = rng.choice(5, p=(0.3, 0.3, 0.15, 0.1, 0.15)), rng.random()
        if kind == 0:
            scene.add_joint(Point(**names, anchor=anchor))
        elif kind == 1:
            more = {"motor_speed": 3.0, "motor_torque": 0.5} if driven < 0.1 else {"limits": (-1.0, 1.0)} if driven < 0.3 else {}
            scene.add_joint(Hinge(**names, anchor=anchor, axis=axis, **more))
        elif kind == 2:
            more = {"stiffness": 50.0, "damping": 1.0} if driven < 0.2 else {"limits": (-0.2, 0.2)} if driven < 0.5 else {}
            scene.add_joint(Slider(**names, anchor=anchor, axis=axis, **more))
        elif kind == 3:
            scene.add_joint(Fixed(**names, anchor=anchor))
        else:
            far = ends[0] if a is not None else ends[1] + [0.0, 0.0, 0.5]
            length = float(np.linalg.norm(far - ends[1]))
            more = {"limits": (0.0, 1.2 * length)} if driven < 0.5 else {}
            scene.add_joint(Distance(**names, anchor_a=tuple(far.tolist()), anchor_b=b.position, **more))


def _force(scene: Scene, rng: Rng, bodies: list[BodyDef]) -> None:
    kind, first, last = rng.integers(3), bodies[0].name, bodies[-1].name
    mass = bodies[0].mass_properties()[0]
    if kind == 0:
        scene.add_force(Drag(linear=0.5 * mass, spin_linear=1e-3 * mass))
    elif kind == 1:
        scene.add_force(ConstantForce(force=tuple((3 * mass * rng.normal(size=3)).tolist()), bodies=(first,)))
    elif first != last:
        scene.add_force(Spring(first, last, stiffness=mass * (2 * math.pi) ** 2, length=0.3, damping=0.5 * mass))
