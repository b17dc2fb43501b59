"""Random worlds of 2 to 12 mixed bodies, each a function of its seed and of the step alone.

All shapes and compounds; restitution 0, 0.3, 0.8 or 1, friction 0, 0.2, 1 or 10; half of the worlds have joints; some have
forces, driven bodies, conveyors, sensors, walls, no gravity and no floor, or let bodies sleep.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Pose,
    ShapeSet,
    Sphere,
    signed_distance,
)
from tumble.collision.shapes.definitions import Shape, convex_parts
from tumble.sim import BodyDef, ConstantForce, Distance, Drag, Fixed, Hinge, Path, Point, Scene, Slider, Spring

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
        _ground(scene, rng, surface, count, jointed)
    dynamic: list[BodyDef] = []
    links: list[int] = []  # bodies that a joint holds to the one before them
    while len(dynamic) < count:
        held = jointed and len(dynamic) > 0 and len(links) < 5 and rng.random() < 0.5
        body = _placed(scene, rng, free, count, dynamic[-1] if held else None, surface())
        if body is None:
            break
        links += [len(dynamic)] * held
        dynamic.append(body)
    for k in links:
        _joint(scene, rng, dynamic[k - 1], dynamic[k])
    if jointed and not free:
        _joint(scene, rng, None, dynamic[int(rng.integers(len(dynamic)))])
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


def _ground(scene: Scene, rng: Rng, surface, count: int, jointed: bool) -> None:
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
    elif what < 0.3 and not (walled or jointed):  # it can not move what is held, or against a wall
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


def _placed(scene: Scene, rng: Rng, free: bool, count: int, beside: BodyDef | None, surface: dict[str, float]) -> BodyDef | None:
    """Add a body that touches nothing yet, thrown, in free space towards the middle; or beside another, moving as that does."""
    shape = some_shape(rng, float(rng.choice((0.06, 0.1, 0.2))))
    density = float(rng.choice((200.0, 1000.0, 8000.0), p=(0.2, 0.6, 0.2)))
    fields = {"orientation": _orientation(rng), "density": density, **surface}
    spread = 0.3 * count ** (1 / 3)
    for k in range(TRIES):
        at = rng.uniform(-spread, spread, 3)
        if not free:
            at[2] += spread + 0.25
        if beside is not None:
            way = rng.normal(size=3)
            at = np.array(beside.position) + way / np.linalg.norm(way) * (_reach(beside.shape) + _reach(shape)) * (0.7 + 0.01 * k)
        body = BodyDef(shape, position=tuple(at.tolist()), **fields)
        if all(_apart(body, other) for other in scene.bodies):
            velocity, spin = rng.normal(size=3) * 1.5, rng.normal(size=3) * 4
            if free:
                velocity -= 2.0 * at
            if beside is not None:
                velocity, spin = np.array(beside.velocity), np.zeros(3)
            return scene.append(body.replace(velocity=tuple(velocity.tolist()), angular_velocity=tuple(spin.tolist())))
    return None


def _reach(shape: Shape) -> float:
    """Radius of the sphere about the origin that holds a shape [m]."""
    return max(ShapeSet([s]).geometry.radius[0] + math.hypot(*pose.position) for s, pose in convex_parts(shape))


def _apart(a: BodyDef, b: BodyDef) -> bool:
    return signed_distance(a.shape, Pose(a.position, a.orientation), b.shape, Pose(b.position, b.orientation)).distance > 1e-3


def _joint(scene: Scene, rng: Rng, a: BodyDef | None, b: BodyDef) -> None:
    """A joint of any kind between two bodies, at a place between them, or between the world and a body."""
    way = rng.normal(size=3)
    hook = np.array(b.position) + way / np.linalg.norm(way) * _reach(b.shape) if a is None else np.array(a.position)
    names, axis = {"a": a and a.name, "b": b.name}, tuple(rng.normal(size=3).tolist())
    anchor = tuple((0.5 * (hook + b.position)).tolist())
    kind, driven = rng.choice(5, p=(0.3, 0.3, 0.15, 0.1, 0.15)), rng.random()
    if kind == 0:
        scene.add_joint(Point(**names, anchor=anchor))
    elif kind == 1:
        more = {"motor_speed": 3.0, "motor_torque": 0.5} if driven < 0.1 else {"limits": (-1.0, 1.0)} if driven < 0.3 else {}
        scene.add_joint(Hinge(**names, anchor=anchor, axis=axis, **more))
    elif kind == 2:
        more = {"stiffness": 50.0, "damping": 1.0} if driven < 0.2 else {"limits": (-0.2, 0.2)} if driven < 0.5 else {}
        scene.add_joint(Slider(**names, anchor=anchor, axis=axis, **more))
    elif kind == 3 and a is not None:
        scene.add_joint(Fixed(**names, anchor=anchor))
    else:
        length = float(np.linalg.norm(hook - b.position))
        more = {"limits": (0.0, 1.2 * length)} if driven < 0.5 else {}
        scene.add_joint(Distance(**names, anchor_a=tuple(hook.tolist()), anchor_b=b.position, **more))


def _force(scene: Scene, rng: Rng, bodies: list[BodyDef]) -> None:
    """Drag, a push or a damped spring, none of which is stiff: they are slow against the step for the lightest body too."""
    kind, a, b = rng.integers(3), bodies[0], bodies[-1]
    mass = min(body.mass_properties()[0] for body in bodies)
    if kind == 0:
        least = min(float(np.linalg.eigvalsh(body.mass_properties()[2])[0]) for body in bodies)
        scene.add_force(Drag(linear=0.5 * mass, spin_linear=0.5 * least))
    elif kind == 1:
        push = 3 * a.mass_properties()[0] * rng.normal(size=3)
        scene.add_force(ConstantForce(force=tuple(push.tolist()), bodies=(a.name,)))
    elif a is not b:
        scene.add_force(Spring(a.name, b.name, stiffness=mass * (2 * math.pi) ** 2, length=0.3, damping=0.5 * mass))
