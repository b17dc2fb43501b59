"""Contacts of a crowd as the sweeps read them, straight from the table into their lanes (solvers/lanes.py)."""

from __future__ import annotations

import math

from collision.kernels.jit import lean
from collision.linalg import add, cross, load3, load9, mul, scale, sub
from sim.contact.surfaces import surface_slip
from sim.flight.motion import point_velocity
from sim.solvers.lanes import ARM_A, ARM_B, AXES, FAST, IMPULSE, LANES, MU, OFFSET, OWN, STICK, TURN_A, TURN_B


@lean
def _pack(bodies, contacts, k, i, j, ii, ij, light_i, light_j, u0, row, lane):
    """Contact k of bodies i, j, ii and ij their inverse inertias, in a lane of the row of its group; the target is zero."""
    point, e = load3(contacts.point, k), load9(contacts.frame, k)
    ra, rb = sub(point, load3(bodies.x, i)), sub(point, load3(bodies.x, j))
    for r in range(3):
        d = (e[3 * r], e[3 * r + 1], e[3 * r + 2])
        arm_a, arm_b = scale(-1.0, cross(ra, d)), cross(rb, d)
        turn_a, turn_b = mul(ii, arm_a), mul(ij, arm_b)
        for c in range(3):
            row[LANES * (AXES + 3 * r + c) + lane] = d[c]
            row[LANES * (ARM_A + 3 * r + c) + lane] = arm_a[c]
            row[LANES * (ARM_B + 3 * r + c) + lane] = arm_b[c]
            row[LANES * (TURN_A + 3 * r + c) + lane] = turn_a[c]
            row[LANES * (TURN_B + 3 * r + c) + lane] = turn_b[c]
        row[LANES * (OFFSET + r) + lane] = u0[r]
    light = light_i + light_j
    ss, st, tt = _own(row, lane, 0, 0, light), _own(row, lane, 0, 1, 0.0), _own(row, lane, 1, 1, light)
    mean, half = 0.5 * (ss + tt), 0.5 * (ss - tt)
    row[LANES * OWN + lane] = _own(row, lane, 0, 2, 0.0)
    row[LANES * (OWN + 1) + lane] = _own(row, lane, 1, 2, 0.0)
    row[LANES * (OWN + 2) + lane] = _own(row, lane, 2, 2, light)
    row[LANES * (OWN + 3) + lane], row[LANES * (OWN + 4) + lane] = ss, tt
    row[LANES * (OWN + 5) + lane] = mean + math.sqrt(half * half + st * st)


@lean
def _own(row, lane, r, s, m):
    """Along axis r, how fast a unit impulse along axis s makes the contact move [1/kg]; m: without turning."""
    for c in range(3):
        first = row[LANES * (ARM_A + 3 * r + c) + lane] * row[LANES * (TURN_A + 3 * s + c) + lane]
        m += first + row[LANES * (ARM_B + 3 * r + c) + lane] * row[LANES * (TURN_B + 3 * s + c) + lane]
    return m


@lean
def _pack_normal(bodies, contacts, k, i, j, ii, ij, light, row, lane):
    """The part of `_pack` that displacements along the normal read."""
    point, e = load3(contacts.point, k), load9(contacts.frame, k)
    d = (e[6], e[7], e[8])
    arm_a = scale(-1.0, cross(sub(point, load3(bodies.x, i)), d))
    arm_b = cross(sub(point, load3(bodies.x, j)), d)
    turn_a, turn_b = mul(ii, arm_a), mul(ij, arm_b)
    for c in range(3):
        row[LANES * (AXES + 6 + c) + lane] = d[c]
        row[LANES * (ARM_A + 6 + c) + lane] = arm_a[c]
        row[LANES * (ARM_B + 6 + c) + lane] = arm_b[c]
        row[LANES * (TURN_A + 6 + c) + lane] = turn_a[c]
        row[LANES * (TURN_B + 6 + c) + lane] = turn_b[c]
    row[LANES * (OWN + 2) + lane] = _own(row, lane, 2, 2, light)


@lean
def load_bodies(contacts, rows, first, last, local, a, b):
    """The two bodies of the contacts ``rows[first:last]`` in the problem, -1 for what impulses do not move."""
    for n in range(first, last):
        a[n], b[n] = local[contacts.body[rows[n], 0]], local[contacts.body[rows[n], 1]]


@lean
def _moved_by(inverse, light, i):
    """Inverse inertia and inverse mass of body i of a problem, zero for what impulses do not move (-1)."""
    if i < 0:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.0
    return load9(inverse, i), light[i]


@lean
def load_normals(bodies, contacts, rows, inverse, light, a, b, groups):
    """Put what displacements along the normals of contacts read into their lanes."""
    for n in range(len(rows)):
        k = rows[n]
        ii, li = _moved_by(inverse, light, a[n])
        ij, lj = _moved_by(inverse, light, b[n])
        g, lane = groups.place[n] // LANES, groups.place[n] % LANES
        _pack_normal(bodies, contacts, k, contacts.body[k, 0], contacts.body[k, 1], ii, ij, li + lj, groups.table[g], lane)


@lean
def load_lanes(bodies, contacts, rows, first, last, inverse, light, a, b, groups):
    """Put the contacts ``rows[first:last]`` into their lanes; what bodies that impulses do not move bring along is the offset."""
    for n in range(first, last):
        k = rows[n]
        i, j = contacts.body[k, 0], contacts.body[k, 1]
        point, e = load3(contacts.point, k), load9(contacts.frame, k)
        offset = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
        ii, li = _moved_by(inverse, light, a[n])
        ij, lj = _moved_by(inverse, light, b[n])
        if a[n] < 0:
            offset = sub(offset, point_velocity(bodies, i, point))
        if b[n] < 0:
            offset = add(offset, point_velocity(bodies, j, point))
        g, lane = groups.place[n] // LANES, groups.place[n] % LANES
        _pack(bodies, contacts, k, i, j, ii, ij, li, lj, mul(e, offset), groups.table[g], lane)


@lean
def load_laws(groups, first, last, mu, c, p, stick, fast):
    """Friction, targets and impulses to start from of contacts that are in their lanes."""
    for n in range(first, last):
        row, lane = groups.table[groups.place[n] // LANES], groups.place[n] % LANES
        row[LANES * MU + lane] = mu[n]
        for r in range(3):
            row[LANES * (OFFSET + r) + lane] -= c[n, r]
            row[LANES * (IMPULSE + r) + lane] = p[n, r]
        row[LANES * STICK + lane], row[LANES * (STICK + 1) + lane] = stick[n, 0], stick[n, 1]
        row[LANES * FAST + lane] = 1.0 if fast[n] else 0.0
