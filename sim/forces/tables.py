"""Forces packed for the step: rows of numbers for each body or pair of bodies that one acts on, sorted by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from collision.pose import Pose
from sim import state as laws
from sim.errors import InputError
from sim.forces.definitions import (
    CentralGravity,
    ConstantForce,
    Drag,
    Force,
    FunctionForce,
    Medium,
    MutualGravity,
    Spring,
    TabulatedForce,
    UniformGravity,
)
from sim.forces.functions import Callback
from sim.state import DOP853, DYNAMIC, SLEEPING, USERS, Bodies, Forces, forces_of

if TYPE_CHECKING:
    from sim.world.body import Body

Row = tuple[int, int, int, list[float], int]  # kind, body, other body or -1, numbers, address


def check_bodies(force: Force, bodies: Sequence[Body]) -> None:
    """All bodies that a force names are there, and those that it moves are dynamic."""
    kinds = {body.name: body.kind for body in bodies}
    names = force.on() or ()
    for k, name in enumerate(names):
        field = ("a", "b")[k] if isinstance(force, Spring) else "bodies"
        if name not in kinds:
            raise InputError(field, name, f"there is no such body; there are {', '.join(kinds) or 'none'}")
    moved = [name for name in names if kinds[name] == "dynamic"]
    if names and (not moved if isinstance(force, Spring) else len(moved) < len(names)):
        still = next(name for name in names if kinds[name] != "dynamic")
        raise InputError(field, still, f"is {kinds[still]}: forces act on dynamic bodies")


def callbacks(forces: Sequence[Force]) -> dict[Force, Callback]:
    """The functions among the forces, compiled or wrapped."""
    out = {}
    for force in forces:
        if isinstance(force, FunctionForce):
            if force.function is None:
                raise InputError("function", force.name, "is known by name only: functions are not kept in files; give it again")
            out[force] = Callback(force.name, force.function)
    return out


def pack(
    forces: Sequence[Force],
    called: dict[Force, Callback],
    bodies: Bodies,
    names: Sequence[str],
    gravity: tuple[float, float, float],
    method: int,
    pushed: Sequence[int] = (),
) -> Forces:
    """The group of forces for these bodies; the uniform fields, the world's ``gravity`` among them, go to their rows.

    The bodies ``pushed`` have rows for what the user applies (world/applied_forces.py).
    """
    at = {name: i for i, name in enumerate(names)}
    dynamic, asleep = np.flatnonzero(bodies.kind == DYNAMIC), bodies.kind == SLEEPING
    falling = np.flatnonzero(bodies.mass > 0)
    bodies.gravity[falling] = gravity
    rows: list[Row] = []
    knots: list[np.ndarray] = []
    for force in forces:
        on = None if force.on() is None else [at[name] for name in force.on()]
        if isinstance(force, UniformGravity):
            for i in falling if on is None else on:
                bodies.gravity[i] += force.acceleration
        else:
            rows += _rows(force, dynamic if on is None else on, bodies, called, knots)
    rows += [(laws.CONSTANT, i, -1, [0.0] * USERS + [1.0], 0) for i in pushed]
    bodies.field[asleep], bodies.gravity[asleep] = bodies.gravity[asleep], 0.0
    return _sorted(rows, knots, bodies, method)


def _rows(force: Force, on: Sequence[int], bodies: Bodies, called: dict, knots: list[np.ndarray]) -> list[Row]:
    if isinstance(force, CentralGravity):
        return [(laws.CENTRAL, i, -1, [*force.center, force.gm, float(force.gradient)], 0) for i in on]
    if isinstance(force, MutualGravity):
        numbers = [force.constant, force.softening]
        return [(laws.MUTUAL, i, j, numbers, 0) for i, j in combinations(sorted(on), 2)]
    if isinstance(force, Drag):
        numbers = [force.linear, force.quadratic, force.spin_linear, force.spin_quadratic, *force.wind]
        return [(laws.DRAG, i, -1, numbers, 0) for i in on]
    if isinstance(force, Medium):
        return [(laws.MEDIUM, i, -1, resistance(force, bodies.mass[i], bodies.inertia[i]), 0) for i in on]
    if isinstance(force, Spring):
        return [_spring(force, list(on), bodies)]
    if isinstance(force, FunctionForce):
        return [(laws.FUNCTION, i, -1, [], called[force].address) for i in on]
    first, count = sum(map(len, knots)), 0
    if isinstance(force, TabulatedForce):
        zero = ((0.0, 0.0, 0.0),) * len(force.times)
        table = np.column_stack([force.times, force.forces or zero, force.torques or zero])
        knots.append(table)
        count = len(table)
    assert isinstance(force, ConstantForce | TabulatedForce)
    kind, f, torque = (laws.TABLE, (0, 0, 0), (0, 0, 0)) if count else (laws.CONSTANT, force.force, force.torque)
    out = []
    for i in on:
        arm = (0.0, 0.0, 0.0) if force.point is None else np.asarray(force.point) - bodies.center[i]
        out.append((kind, i, -1, [*f, *torque, float(force.frame == "body"), *arm, count], first))
    return out


def principal(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments (3,) and axes (3, 3), right-handed, of an inertia tensor.

    Where two moments are equal, the axes are those of the body after the shortest turn of z to the third: rounding has no say.
    """
    moments, axes = np.linalg.eigh(inertia)
    same = np.diff(moments) <= 1e-9 * moments[2]
    if same.all():
        return moments, np.eye(3)
    if same.any():
        k = 2 if same[0] else 0
        n = axes[:, k] * (1.0 if next(x for x in axes[::-1, k] if abs(x) > 1e-9) > 0 else -1.0)
        moments = np.array([moments[1], moments[1], moments[k]])
        v = np.array([-n[1], n[0], 0.0])
        axes = n[2] * np.eye(3) + np.array([[0, 0, n[0]], [0, 0, n[1]], [-n[0], -n[1], 0]]) + np.outer(v, v) / (1 + n[2])
    elif np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return moments, axes


def resistance(force: Medium, mass: float, inertia: np.ndarray) -> list[float]:
    """The numbers of :func:`sim.forces.laws.medium` for a body of this mass and inertia (3, 3).

    Half sides r of the box of the same mass and moments of inertia, of even density; the force by squares is that on a plate,
    rho/2 C A u^2 with C = 1, A the side across u; what is linear is Stokes' law for a ball of the mean r.
    """
    moments, axes = principal(inertia)
    x, y, z = r = np.sqrt(np.maximum(1.5 / mass * (moments.sum() - 2 * moments), 0.0))
    mean, viscous = r.mean(), np.pi * force.viscosity
    by_speed = 2 * force.density * np.array([y * z, z * x, x * y])
    by_rate = 0.5 * force.density * r * np.array([y**4 + z**4, z**4 + x**4, x**4 + y**4])
    turn = Pose.from_matrix(axes).orientation
    return [6 * viscous * mean, 8 * viscous * mean**3, *by_speed, *by_rate, *turn, *force.wind]


def _spring(force: Spring, on: list[int], bodies: Bodies) -> Row:
    ends = [force.anchor_a, force.anchor_b]
    if len(on) == 1:
        on.append(-1)
    elif bodies.kind[on[0]] != DYNAMIC:  # the first of a row is dynamic
        on, ends = on[::-1], ends[::-1]
    arms = [np.asarray(end) - (bodies.center[i] if i >= 0 else 0.0) for i, end in zip(on, ends, strict=True)]
    return laws.SPRING, on[0], on[1], [force.stiffness, force.damping, force.length, *arms[0], *arms[1], float(force.slack)], 0


def _sorted(rows: list[Row], knots: list[np.ndarray], bodies: Bodies, method: int) -> Forces:
    """The group, its rows and members sorted by clusters, clusters by their first body."""
    parent = np.arange(len(bodies.kind))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for _, i, j, _, _ in rows:
        if j >= 0 and bodies.kind[j] == DYNAMIC:
            a, b = sorted((root(i), root(j)))
            parent[b] = a
    roots = [root(row[1]) for row in rows]
    everyone = [root(i) for i in np.flatnonzero(bodies.kind == DYNAMIC)] if method == DOP853 else []
    order = sorted(range(len(rows)), key=lambda k: roots[k])
    used = sorted({*roots, *everyone})  # the adaptive method knows clusters only
    label = {r: c for c, r in enumerate(used)}
    members = sorted((label[root(i)], i) for i in range(len(parent)) if root(i) in label and bodies.kind[i] == DYNAMIC)
    stages = 12 if method == DOP853 else 4
    group = forces_of(len(parent), len(rows), len(used), len(members), sum(map(len, knots)), stages)
    group.method[0] = method
    for k, n in enumerate(order):
        kind, i, j, numbers, address = rows[n]
        group.kind[k], group.body[k], group.address[k] = kind, (i, j), address
        group.number[k, : len(numbers)] = numbers
    for k, (c, i) in enumerate(members):
        group.member[k], group.cluster[i] = i, c
    group.first_row[:] = np.searchsorted([label[roots[n]] for n in order], range(len(used) + 1))
    group.first_member[:] = np.searchsorted([c for c, _ in members], range(len(used) + 1))
    if knots:
        group.knots[:] = np.concatenate(knots)
    return group
