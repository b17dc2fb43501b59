"""Which bodies have come to rest, and which sleeping ones something touches. Falling asleep and waking are in world/sleep.py.

A sleeping body is of a kind of its own: it stands still, takes part in no solve, and meets moving bodies only. One that
meets a contact point or an impact must wake first: the step is undone, and taken again with its island awake.
"""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import add, cross, load3, load9, norm, scale
from tumble.sim.equations import angular_velocity
from tumble.sim.ledger.work import add_to_reservoir
from tumble.sim.state import DYNAMIC, KINEMATIC, SLEEPING

ROUSED = -1  # in Bodies.still: the island of this body must wake


@lean
def wakes_others(bodies, i):
    """Whether body i wakes what it touches: it is dynamic, or it or its surface is driven."""
    if bodies.kind[i] == DYNAMIC or bodies.runs[i]:
        return True
    return bodies.kind[i] == KINEMATIC and norm(load3(bodies.p, i)) + norm(load3(bodies.l, i)) > 0.0


@lean
def rouse(bodies, i, j):
    """Mark the sleeping ones of two bodies; True where there is one."""
    found = False
    if bodies.kind[i] == SLEEPING:
        bodies.still[i], found = ROUSED, True
    if bodies.kind[j] == SLEEPING:
        bodies.still[j], found = ROUSED, True
    return found


@lean
def rouse_touched(bodies, geoms, pairs):
    """Mark the sleeping bodies that moving ones have contact points with; True where there are any."""
    found = False
    for n in range(pairs.count[0]):
        i, j = geoms.body[pairs.geoms[n, 0]], geoms.body[pairs.geoms[n, 1]]
        if pairs.points[n] > 0 and (bodies.kind[i] == SLEEPING or bodies.kind[j] == SLEEPING):
            if wakes_others(bodies, i) or wakes_others(bodies, j):
                found = rouse(bodies, i, j) or found
            pairs.points[n] = 0
    return found


@inner
def count_still(bodies, contacts, forces, joints, books, settings):
    """Count the steps that each body has been still for; True where an island can fall asleep.

    Bodies that joints hold, that forces other than uniform gravity act on, or that a moving surface carries stay awake. What
    carries a sleeping body takes up its weight as before.
    """
    for i in range(len(bodies.kind)):
        if bodies.kind[i] == SLEEPING:
            f = scale(bodies.mass[i] * settings.dt, load3(bodies.field, i))
            add_to_reservoir(books, f, cross(load3(bodies.x, i), f))
        if bodies.kind[i] != DYNAMIC:
            continue
        v = scale(0.5 * bodies.inv_mass[i], add(load3(bodies.p, i), load3(bodies.p_before, i)))
        l = scale(0.5, add(load3(bodies.l, i), load3(bodies.l_before, i)))
        w = angular_velocity(load9(bodies.rot, i), load9(bodies.inv_inertia, i), l)
        free = forces.cluster[i] < 0 and joints.linked[i] < 0
        if free and norm(v) < settings.sleep_speed and norm(w) < settings.sleep_spin:
            bodies.still[i] += 1
        else:
            bodies.still[i] = 0
    for k in range(contacts.count[0]):
        for side in range(2):
            i, j = contacts.body[k, side], contacts.body[k, 1 - side]
            if bodies.kind[i] == DYNAMIC and (bodies.runs[j] or (bodies.kind[j] == KINEMATIC and wakes_others(bodies, j))):
                bodies.still[i] = 0
    ready = False
    for i in range(len(bodies.kind)):
        ready = ready or (bodies.kind[i] == DYNAMIC and bodies.still[i] >= settings.sleep_steps)
    if not ready:
        return False
    least = np.full(len(bodies.kind), settings.sleep_steps, dtype=np.int64)
    for i in range(len(bodies.kind)):
        if bodies.kind[i] == DYNAMIC:
            least[bodies.island[i]] = min(least[bodies.island[i]], bodies.still[i])
    ready = False
    for i in range(len(bodies.kind)):
        ready = ready or (bodies.kind[i] == DYNAMIC and least[bodies.island[i]] >= settings.sleep_steps)
    return ready
