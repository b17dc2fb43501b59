"""The impulse of the forces on a recorded run, from what was recorded: the theorem of momentum as a check that knows no step.

Each force is computed at the samples by code that the step does not share, and integrated between them by a cubic spline. A bound
of the error is given as well: the difference from the spline through every second sample, which is larger than the error.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from tumble.sim.errors import InputError
from tumble.sim.flight.methods.integrators import INTEGRATORS
from tumble.sim.forces import force_definitions as forces
from tumble.sim.forces.force_definitions import Force, Spring
from tumble.sim.forces.force_tables import principal
from tumble.sim.ledger.diagnostics import rotations, unheard
from tumble.sim.recording.run import Run
from tumble.sim.words import few

LARGEST_FORCE = 1e150  # N of a force whose integral is taken: its square can be summed

Functions = dict[str, Callable[..., Any]]


@unheard
def impulse(run: Run, functions: Functions | None = None) -> tuple[np.ndarray, np.ndarray, float]:
    """What forces and gravity gave to the momentum of all bodies since the first sample, up to each.

    (T, 3) [kg m/s]; (T,) [kg m/s] how far that may be off; and the sum of the magnitudes [kg m/s], a scale. ``functions``: those
    that are forces, by name, for no file holds them. InputError where a force can not be known: its function is missing, or
    a body that it acts on was not recorded.
    """
    bodies = {body.name: body for body in run.scene.bodies if body.kind == "dynamic"}
    mass = {name: body.mass_properties()[0] for name, body in bodies.items()}
    steady, varying = sum(mass.values()) * np.array(run.scene.gravity), np.zeros((len(run), 3))
    total = float(np.linalg.norm(steady)) * run.duration
    for force in run.scene.forces:
        on = [name for name in (force.on() or bodies) if name in bodies]
        if isinstance(force, forces.UniformGravity):
            part = sum(mass[name] for name in on) * np.array(force.acceleration)
        elif isinstance(force, forces.ConstantForce) and force.frame == "world":
            part = len(on) * np.array(force.force)
        else:
            part = np.zeros(3)
            pull = _pull(run, force, on, functions or {})
            varying += pull
            total += float(np.linalg.norm(pull, axis=1).max(initial=0.0)) * run.duration
        steady = steady + part
        total += float(np.linalg.norm(part)) * run.duration
    if not np.abs(varying).max(initial=0.0) < LARGEST_FORCE:  # nan: of bodies that were taken out
        raise InputError("run", run.scene.name, "has a force that is not finite at all samples")
    t = run.times - run.times[0]
    order = INTEGRATORS[run.attributes["integrator"]].order
    gained, open_by = integrated(run.times, varying, order if _flew(run) else 2)
    if order <= 2 and not _flew(run):  # an impact cuts a step in two, each of which is off by the change of the force in it
        changes = np.linalg.norm(np.diff(varying, axis=0), axis=1) * np.diff(run.times)
        open_by = open_by + np.concatenate([[0.0], np.cumsum(changes)])
    return steady * t[:, None] + gained, open_by, total


def _flew(run: Run) -> bool:
    """Whether nothing touched and no joint held: then forces act by the integrator alone, else by kick and drift, of order 2."""
    counters = json.loads(run.attributes.get("statistics", "{}"))
    return not run.scene.joints and counters.get("impacts") == counters.get("solves") == 0


def integrated(t: np.ndarray, f: np.ndarray, order: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """The integral of samples f (T, 3) from the first on, and (T,) how far it may be off, both added up.

    What a method of order 2 made is as far from the integral as the trapezoidal rule, but for a factor: that counts tenfold.
    """
    if len(t) < 2 or not f.any():
        return np.zeros_like(f), np.zeros(len(t))
    from scipy.interpolate import CubicSpline

    fine = np.diff(CubicSpline(t, f).antiderivative()(t), axis=0)
    some = np.unique([*range(0, len(t), 2), len(t) - 1])
    open_by = 2.0 * np.linalg.norm(fine - np.diff(CubicSpline(t[some], f[some]).antiderivative()(t), axis=0), axis=1)
    if order <= 2:
        open_by += 10.0 * np.linalg.norm(fine - 0.5 * np.diff(t)[:, None] * (f[1:] + f[:-1]), axis=1)
    return np.vstack([np.zeros(3), np.cumsum(fine, axis=0)]), np.concatenate([[0.0], np.cumsum(open_by)])


def _pull(run: Run, force: Force, on: list[str], functions: Functions) -> np.ndarray:
    """(T, 3) [N] the sum of a force over the bodies that it acts on, at each sample; what bodies do to each other cancels."""
    if isinstance(force, forces.MutualGravity) or (isinstance(force, Spring) and len(on) == 2):
        return np.zeros((len(run), 3))
    missing = [name for name in force.on() or on if name not in run.names]
    if missing:
        raise InputError("run", run.scene.name, f"has a force on bodies that were not recorded: {few(missing)}")
    if isinstance(force, Spring):
        return _spring(run, force)
    return sum((_on_one(run, force, name, functions) for name in on), np.zeros((len(run), 3)))


def _on_one(run: Run, force: Force, name: str, functions: Functions) -> np.ndarray:
    i = run.index(name)
    mass, center, inertia = run.bodies[i].mass_properties()
    x, turn = _point(run, i, center), rotations(run.orientations[:, i].astype(float))
    v, w = run.velocities[:, i].astype(float), run.angular_velocities[:, i].astype(float)
    if isinstance(force, forces.CentralGravity):
        d = x - force.center
        r2 = (d * d).sum(axis=1)[:, None]
        out = -force.gm * mass * d / r2**1.5
        if force.gradient:  # V = -GM/(2 r^3) (tr J - 3 d.J d/r^2), and its gradient
            j = turn @ np.array(inertia) @ turn.transpose(0, 2, 1)
            jd = np.einsum("tij,tj->ti", j, d)
            djd, trace = (d * jd).sum(axis=1)[:, None], np.trace(j, axis1=1, axis2=2)[:, None]
            out -= 1.5 * force.gm / r2**2.5 * ((trace - 5 * djd / r2) * d + 2 * jd)
        return out
    if isinstance(force, forces.Drag):
        u = v - force.wind
        return -(force.linear + force.quadratic * np.linalg.norm(u, axis=1)[:, None]) * u
    if isinstance(force, forces.Medium):  # in the axes of the moments of inertia, on the half sides of the box that has them
        moments, axes = principal(np.array(inertia))
        side = np.sqrt(np.maximum(1.5 / mass * (moments.sum() - 2 * moments), 0.0))
        u = np.einsum("tij,ti->tj", turn @ axes, v - force.wind)
        across = np.array([side[1] * side[2], side[2] * side[0], side[0] * side[1]])
        f = 6 * np.pi * force.viscosity * side.mean() * u + 2 * force.density * across * np.abs(u) * u
        return -np.einsum("tij,tj->ti", turn @ axes, f)
    if isinstance(force, forces.TabulatedForce):
        table = np.array(force.forces or np.zeros((len(force.times), 3)))
        f = np.column_stack([np.interp(run.times, force.times, column, left=0.0, right=0.0) for column in table.T])
        return np.einsum("tij,tj->ti", turn, f) if force.frame == "body" else f
    if isinstance(force, forces.ConstantForce):
        return turn @ np.array(force.force)
    assert isinstance(force, forces.FunctionForce)
    if force.name not in functions:
        raise InputError("functions", force.name, "is a force that a function gives, which no recording holds: give it again")
    given = zip(run.times, x, run.orientations[:, i], v, w, strict=True)
    return np.array([functions[force.name](float(t), *(tuple(map(float, a)) for a in rest))[0] for t, *rest in given], float)


def _spring(run: Run, force: Spring) -> np.ndarray:
    """On the one of its ends that is dynamic."""
    (a, va), (b, vb) = _end(run, force.a, force.anchor_a), _end(run, force.b, force.anchor_b)
    d = b - a
    length = np.linalg.norm(d, axis=1)[:, None]
    n = np.divide(d, length, out=np.zeros_like(d), where=length > 0)
    change = ((vb - va) * n).sum(axis=1)[:, None]
    pull = (force.stiffness * (length - force.length) + force.damping * change) * n
    if force.slack:
        pull = np.where(length > force.length, pull, 0.0)
    return pull if run.bodies[run.index(force.a)].kind == "dynamic" else -pull


def _end(run: Run, name: str | None, anchor: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Where an end of a spring is, and how fast it moves: (T, 3) each."""
    if name is None:
        return np.broadcast_to(anchor, (len(run), 3)), np.zeros((len(run), 3))
    i = run.index(name)
    body = run.bodies[i]
    center = body.mass_properties()[1] if body.kind == "dynamic" else np.zeros(3)
    at = _point(run, i, anchor)
    return at, run.velocities[:, i] + np.cross(run.angular_velocities[:, i], at - _point(run, i, center))


def _point(run: Run, i: int, point: Any) -> np.ndarray:
    """(T, 3) a point of the frame of body i in the world."""
    turn = rotations(run.orientations[:, i].astype(float))
    return run.positions[:, i] + np.einsum("tij,j->ti", turn, np.array(point, float))
