"""The smallest scene found that still misses a promise: parts are left out, one after the other, as long as it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from benchmarks.worlds.measure import Trial, measure
from tumble.collision import Box, Compound, ConvexHull, Pose, Sphere
from tumble.collision.shapes.definitions import convex_parts
from tumble.sim import BodyDef, InputError, Scene

PLAIN = {  # simpler values of fields of bodies, in the order in which they are tried
    "rolling_friction": 0.0, "torsional_friction": 0.0, "surface_velocity": (0.0, 0.0, 0.0), "friction": 0.0,
    "restitution": 0.0, "angular_velocity": (0.0, 0.0, 0.0), "orientation": (1.0, 0.0, 0.0, 0.0), "density": 1000.0,
}  # fmt: skip
PLACES = ("a", "b", "name", "anchor", "anchor_a", "anchor_b", "axis", "length")  # of joints, which stay


def shrink(trial: Trial, promise: str, say: Callable[[str], None] = print) -> Scene:
    """The scene of a trial with what can be left out left out; the promise is missed by a tenth as much at least."""
    found = measure(trial)
    if promise not in found.values or promise not in found.missed:
        raise SystemExit(f"{promise} is kept there: {', '.join(f'{k} {v:.3g}' for k, v in found.values.items())}")
    bar = max(found.bars[promise], 0.1 * found.values[promise])
    scene = _until(trial.scene, found.when[promise])

    def misses(smaller: Scene) -> bool:
        try:
            value = measure(replace(trial, scene=smaller)).values[promise]
        except (InputError, KeyError, IndexError):  # the look asks for a body that was left out
            return False
        return value > bar

    if not misses(scene):
        scene = trial.scene
    smaller = True
    while smaller:
        smaller = False
        for what, candidate in _candidates(scene):
            if misses(candidate):
                say(f"without {what}")
                scene, smaller = candidate, True
                break
    return scene


def _until(scene: Scene, time: float) -> Scene:
    return replace(scene, duration=max(scene.dt, time)) if time > 0 else scene


def _candidates(scene: Scene) -> Iterator[tuple[str, Scene]]:
    """Scenes that are a little simpler, the largest steps first."""
    for body in scene.bodies if len(scene.bodies) > 1 else ():
        yield body.name, without(scene, body.name)
    for k in range(len(scene.joints)):
        yield scene.joints[k].name, replace(scene, joints=scene.joints[:k] + scene.joints[k + 1 :])
    for k in range(len(scene.forces)):
        yield f"force {k}", replace(scene, forces=scene.forces[:k] + scene.forces[k + 1 :])
    if scene.sleep_after:
        yield "sleep", replace(scene, sleep_after=0.0)
    for k, joint in enumerate(scene.joints):
        for field in fields(joint):
            if field.name not in PLACES and getattr(joint, field.name) != field.default:
                simpler = joint.replace(**{field.name: field.default})
                yield f"{field.name} of {joint.name}", _with(scene, "joints", k, simpler)
    for k, body in enumerate(scene.bodies):
        for change in _simpler(body):
            yield f"{', '.join(change)} of {body.name}", _with(scene, "bodies", k, body.replace(**change))
    for digits in (2, 4):
        if (rounded := _rounded(scene, digits)).bodies != scene.bodies:
            yield f"digits after {digits}", rounded


def _with(scene: Scene, what: str, k: int, part: Any) -> Scene:
    rows = list(getattr(scene, what))
    rows[k] = part
    return replace(scene, **{what: rows})


def _simpler(body: BodyDef) -> Iterator[dict[str, Any]]:
    if body.kind == "kinematic":
        yield {"kind": "static", "path": None, "velocity": (0, 0, 0), "angular_velocity": (0, 0, 0)}
    parts = convex_parts(body.shape)
    if isinstance(body.shape, Compound):
        for shape, _ in parts:
            yield {"shape": shape}
    if isinstance(body.shape, ConvexHull) and len(body.shape.vertices) > 4:
        yield {"shape": Box(tuple((np.ptp(body.shape.vertices, axis=0) / 2).tolist()))}
    for name, value in PLAIN.items():
        if getattr(body, name) != value and not (name == "orientation" and body.path):
            yield {name: value}


def _rounded(scene: Scene, digits: int) -> Scene:
    change = lambda body: {  # noqa: E731
        f: tuple(round(x, digits) for x in getattr(body, f)) for f in ("position", "velocity", "angular_velocity")
    }
    return replace(scene, bodies=[body if body.path else body.replace(**change(body)) for body in scene.bodies])


def without(scene: Scene, name: str) -> Scene:
    """A scene without one body, and what is fixed to it."""
    forces = [left for f in scene.forces if (left := f.without(name)) is not None]
    return replace(
        scene,
        bodies=[b for b in scene.bodies if b.name != name],
        joints=[j for j in scene.joints if name not in (j.a, j.b)],
        forces=forces,
        pairs=[p for p in scene.pairs if name not in (p["a"], p["b"])],
        apart=[p for p in scene.apart if name not in p],
    )


def as_python(scene: Scene) -> str:
    """The scene as a script that builds and runs it."""
    lines = ["from tumble.collision import *", "from tumble.sim import *", ""]
    given = ", ".join(f"{name}={getattr(scene, name)!r}" for name in ("gravity", "dt", "integrator", "duration", "sleep_after"))
    lines.append(f"scene = Scene({given})")
    for body in scene.bodies:
        lines.append(f"scene.add({_shape(body.shape)}, {_fields(body, ('shape',))})")
    lines += [f"scene.add_joint({type(j).__name__}({_fields(j)}))" for j in scene.joints]
    lines += [f"scene.add_force({type(f).__name__}({_fields(f)}))" for f in scene.forces]
    lines += ["world = scene.build()", f"world.step({round(scene.duration / scene.dt)})"]
    lines += ["print(world.statistics(), world.ledger)"]
    return "\n".join(lines)


def _fields(record: Any, skip: tuple[str, ...] = ()) -> str:
    known = [(f.name, getattr(record, f.name), f.default) for f in fields(record) if f.name not in skip]
    return ", ".join(f"{name}={value!r}" for name, value, default in known if value is not default and value != default)


def _shape(shape: Any) -> str:
    if isinstance(shape, ConvexHull):
        return f"ConvexHull({shape.vertices.tolist()})"
    if isinstance(shape, Compound):
        return f"Compound([{', '.join(f'({_shape(s)}, {_pose(p)})' for s, p in shape.parts)}])"
    if isinstance(shape, Sphere):
        return f"Sphere({shape.radius!r})"
    return repr(shape)


def _pose(pose: Pose) -> str:
    return f"Pose({tuple(pose.position)}, {tuple(pose.orientation)})"
