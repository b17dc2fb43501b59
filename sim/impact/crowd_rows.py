"""Contacts of a crowd as the sweeps read them, straight from the table (solvers/sweeps.py)."""

from __future__ import annotations

import math

from collision.kernels.jit import inner, lean
from collision.linalg import add, cross, load3, load9, mul, scale, sub
from sim.contact.surfaces import surface_slip
from sim.flight.motion import point_velocity


@lean
def _pack(bodies, contacts, k, i, j, ii, ij, light_i, light_j, u0, row):
    """The packed block of contact k of bodies i, j (sweeps.pack), ii and ij their inverse inertias; the target is zero."""
    point, e = load3(contacts.point, k), load9(contacts.frame, k)
    ra, rb = sub(point, load3(bodies.x, i)), sub(point, load3(bodies.x, j))
    for r in range(3):
        d = (e[3 * r], e[3 * r + 1], e[3 * r + 2])
        arm_a, arm_b = scale(-1.0, cross(ra, d)), cross(rb, d)
        turn_a, turn_b = mul(ii, arm_a), mul(ij, arm_b)
        for c in range(3):
            row[3 * r + c] = d[c]
            row[9 + 3 * r + c] = arm_a[c]
            row[18 + 3 * r + c] = arm_b[c]
            row[27 + 3 * r + c] = turn_a[c]
            row[36 + 3 * r + c] = turn_b[c]
        row[54 + r] = u0[r]
    light = light_i + light_j
    for r in range(3):
        for s in range(3):
            m = light if r == s else 0.0
            for c in range(3):
                m += row[9 + 3 * r + c] * row[27 + 3 * s + c] + row[18 + 3 * r + c] * row[36 + 3 * s + c]
            row[45 + 3 * r + s] = m
    mean, half = 0.5 * (row[45] + row[49]), 0.5 * (row[45] - row[49])
    row[57] = mean + math.sqrt(half * half + row[46] * row[46])


@inner
def load_rows(bodies, contacts, rows, first, last, local, inverse, light, a, b, packed):
    """Pack the contacts ``rows[first:last]``; what bodies that impulses do not move bring along is the offset."""
    for n in range(first, last):
        k = rows[n]
        i, j = contacts.body[k, 0], contacts.body[k, 1]
        a[n], b[n] = local[i], local[j]
        point, e = load3(contacts.point, k), load9(contacts.frame, k)
        offset = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
        ii = ij = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        li = lj = 0.0
        if a[n] >= 0:
            ii, li = load9(inverse, a[n]), light[a[n]]
        else:
            offset = sub(offset, point_velocity(bodies, i, point))
        if b[n] >= 0:
            ij, lj = load9(inverse, b[n]), light[b[n]]
        else:
            offset = add(offset, point_velocity(bodies, j, point))
        _pack(bodies, contacts, k, i, j, ii, ij, li, lj, mul(e, offset), packed[n])
