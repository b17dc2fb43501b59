"""Surfaces: coefficients of two that touch, combined by a rule or given for the pair; surfaces that move, as a conveyor's.

A surface that moves has a velocity field fixed in the body. Only its part along the surface is felt: the contact's slip is
that of the bodies plus it. Its work on the other body, p.v_surface, is external.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, add, cross, dot, load3, load9, mul, scale, sub
from tumble.sim.flight.motion import point_velocity

GEOMETRIC, MINIMUM, MAXIMUM, AVERAGE, PRODUCT = range(5)


@lean
def combined(rule, a, b):
    """The coefficient of a pair from those of its two surfaces."""
    if rule == GEOMETRIC:
        return math.sqrt(a * b)
    if rule == MINIMUM:
        return min(a, b)
    if rule == MAXIMUM:
        return max(a, b)
    return 0.5 * (a + b) if rule == AVERAGE else a * b


@lean
def coefficient(bodies, i, j, column):
    """A coefficient of the contact of bodies i and j: the pair's own where it has one, else by the rule."""
    own = bodies.exceptions[bodies.surface[i], bodies.surface[j], column]
    if not math.isnan(own):
        return own
    return combined(bodies.rules[column], bodies.material[i, column], bodies.material[j, column])


@lean
def surface_velocity(bodies, i, point):
    """Velocity of the surface of body i against its material, at a point of the world."""
    rot = load9(bodies.rot, i)
    origin = sub(load3(bodies.x, i), mul(rot, load3(bodies.center, i)))
    return add(mul(rot, load3(bodies.surface_v, i)), cross(mul(rot, load3(bodies.surface_w, i)), sub(point, origin)))


@lean
def surface_slip(bodies, i, j, point, normal):
    """What moving surfaces add to the velocity of body j against body i at a contact; along the contact plane."""
    u = ZERO
    if bodies.runs[i]:
        u = sub(u, surface_velocity(bodies, i, point))
    if bodies.runs[j]:
        u = add(u, surface_velocity(bodies, j, point))
    if bodies.runs[i] or bodies.runs[j]:
        return sub(u, scale(dot(u, normal), normal))
    return u


@lean
def contact_velocity(bodies, table, k):
    """Velocity (3,) [m/s] of body b against body a at contact k of a table, in its frame; surfaces that move among it."""
    i, j, point = table.body[k, 0], table.body[k, 1], load3(table.point, k)
    e = load9(table.frame, k)
    u = sub(point_velocity(bodies, j, point), point_velocity(bodies, i, point))
    return mul(e, add(u, surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))))


@lean
def surface_turn(bodies, i, j, normal):
    """What moving surfaces add to the spin of body j against body i about the normal [rad/s]."""
    w = 0.0
    if bodies.runs[i]:
        w -= dot(normal, mul(load9(bodies.rot, i), load3(bodies.surface_w, i)))
    if bodies.runs[j]:
        w += dot(normal, mul(load9(bodies.rot, j), load3(bodies.surface_w, j)))
    return w


@lean
def surface_acceleration(bodies, i, point, w, wander):
    """Rate of the surface's velocity where the contact is; the body turns by w, the contact wanders over it by ``wander``."""
    rot = load9(bodies.rot, i)
    return add(cross(w, surface_velocity(bodies, i, point)), cross(mul(rot, load3(bodies.surface_w, i)), wander))
