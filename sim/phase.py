"""The phase of resting contacts inside a step.

A kick gives, at one instant, what steady forces give over a step: half of it for the time before, half for the time after.
At time t after it a body at rest has too much by the part 1 - 2 t/dt of that half, of which the place of the impact in the step
decides. An impact should not meet that: a block that rocks from one edge to the other would lose more or less of its speed,
by |a| dt/2, by where in the step it lands. So the contacts of its island take that part back before it, which leaves the
velocities of steady forces, and the island is kicked again after it for the rest of the step.
"""

from __future__ import annotations

import numpy as np

from collision.jit import inner, lean
from collision.linalg import add, axpy, cross, dot, load3, load9, mul, mul_t, scale, store3, sub
from sim import ledger
from sim.accounts import AGAIN, book_pair, book_work, to_reservoir
from sim.motion import apply_impulse, point_velocity
from sim.state import DYNAMIC
from sim.surfaces import surface_slip

LARGEST = 32  # contact points: of a larger island the kicks for each impact would cost more than the phase matters


@lean
def resting_island(bodies, contacts, joints, steady, i, j):
    """Label of the island of body i or j in the last kick, if its phase can and should be taken back; -1: none."""
    label = -1
    for k in range(contacts.count[0]):
        for side in range(2):
            m = contacts.body[k, side]
            if m in (i, j) and bodies.kind[m] == DYNAMIC and not steady[m] and contacts.impulse[k, 2] > 0.0:
                label = contacts.island[k]
        if label >= 0:
            break
    if label < 0:
        return -1
    size = 0
    for k in range(contacts.count[0]):
        size += contacts.island[k] == label
    for k in range(len(joints.island)):
        if joints.island[k] == label:
            return -1  # jointed bodies are kicked again after each impact, joints and all
    return label if size <= LARGEST else -1


@inner
def take_back(bodies, contacts, books, label, t, dt):
    """Take the phase at time t out of the velocities of an island whose bodies all stand at that time."""
    n = contacts.count[0]
    part = 1.0 - 2.0 * t / dt
    before, points = np.empty((n, 3)), np.empty((n, 3))
    for k in range(n):
        if contacts.island[k] == label:
            point = _moved_on(bodies, contacts, k, t)
            store3(points, k, point)
            store3(before, k, _slip(bodies, contacts, k, point))
    for k in range(n):
        if contacts.island[k] == label:
            f = mul_t(load9(contacts.frame, k), scale(-part, load3(contacts.impulse, k)))
            point = load3(points, k)
            for side in range(2):
                i, q = contacts.body[k, side], f if side == 1 else scale(-1.0, f)
                if bodies.kind[i] == DYNAMIC:
                    apply_impulse(bodies, i, q, point)
                else:
                    to_reservoir(books, scale(0.5, q), scale(0.5, cross(point, q)), AGAIN)
    for k in range(n):
        if contacts.island[k] == label:
            _book(bodies, contacts, books, k, load3(points, k), load3(before, k), -part)


@lean
def _moved_on(bodies, contacts, k, t):
    """Where contact k is at time t after the kick: it has gone along with the bodies."""
    v, count = (0.0, 0.0, 0.0), 0
    for side in range(2):
        i = contacts.body[k, side]
        if bodies.kind[i] == DYNAMIC:
            v, count = add(v, load3(bodies.v, i)), count + 1
    return axpy(t / count, v, load3(contacts.point, k))


@lean
def _slip(bodies, contacts, k, point):
    """Relative velocity at contact k, in its frame."""
    i, j = contacts.body[k, 0], contacts.body[k, 1]
    e = load9(contacts.frame, k)
    belt = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
    return mul(e, add(sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point)), belt))


@lean
def _book(bodies, contacts, books, k, point, before, part):
    """Works of what was taken back: normal ones are the phase itself, the others are taken back from where they stood."""
    i, j = contacts.body[k, 0], contacts.body[k, 1]
    e = load9(contacts.frame, k)
    after = _slip(bodies, contacts, k, point)
    p = scale(part, load3(contacts.impulse, k))
    normal = 0.5 * p[2] * (before[2] + after[2])
    slip = 0.5 * (p[0] * (before[0] + after[0]) + p[1] * (before[1] + after[1]))
    world = mul_t(e, p)
    driven = -dot(world, surface_slip(bodies, i, j, point, (e[6], e[7], e[8])))
    if bodies.kind[i] != DYNAMIC:
        driven += dot(world, point_velocity(bodies, i, point))
    if bodies.kind[j] != DYNAMIC:
        driven -= dot(world, point_velocity(bodies, j, point))
    book_work(books, ledger.CONTACT, 0.5 * normal, 0.5 * normal, AGAIN)
    book_work(books, ledger.FRICTION, -0.5 * slip, -0.5 * slip, AGAIN)
    book_work(books, ledger.EXTERNAL, 0.5 * driven, 0.5 * driven, AGAIN)
    book_pair(
        books, bodies.serial[i], bodies.serial[j], 0.5 * normal, 0.0, -0.5 * slip, 0.5 * driven, 0.5 * normal, -0.5 * slip, AGAIN
    )
