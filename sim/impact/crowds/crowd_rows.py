"""The problem of crowds as the sweeps read it: contacts straight from the table into their lanes (solvers/lanes.py)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import owning_group
from tumble.collision.kernels.jit import inner, lean
from tumble.collision.linalg import add, cross, load3, load9, mul, scale, store3, sub
from tumble.sim.contact.contact_blocks import target_contacts
from tumble.sim.contact.surfaces import surface_slip
from tumble.sim.flight.motion import point_velocity
from tumble.sim.ledger.work import KICK
from tumble.sim.solvers.block_laws import clip_contact
from tumble.sim.solvers.crowd_targets import soft_targets
from tumble.sim.solvers.lanes import (
    ARM_A,
    ARM_B,
    DIRECTIONS,
    FRICTION,
    IMPULSE,
    LANES,
    NO_GROUPS,
    OFFSET,
    OWN_MATRIX,
    SLIDES,
    STICK,
    TURN_A,
    TURN_B,
    Groups,
)


@owning_group
class Crowd(NamedTuple):
    """All islands that move in crowds: n bodies, contacts one island after the other, with room for those that turn in."""

    members: np.ndarray  # (n,) int64 bodies
    local: np.ndarray  # (bodies,) int64 the place of each body here, -1: none
    light: np.ndarray  # (n + 1,) inverse masses; the last row is that of what no impulse moves
    inverse: np.ndarray  # (n, 3, 3) inverse inertias
    before: np.ndarray  # (n + 1, 6) velocities before the kick
    v: np.ndarray  # (n + 1, 8) those in the middle of it, and what lanes.py keeps beside them
    rows: np.ndarray  # (k,) int64 rows of the table
    a: np.ndarray  # (k,) int64 first member of each contact, -1: not moved by impulses
    b: np.ndarray  # (k,) int64 second one
    mu: np.ndarray  # (k,) friction
    c: np.ndarray  # (k, 3) targets
    p: np.ndarray  # (k, 3) impulses
    stick: np.ndarray  # (k, 2) targets, should a contact stick
    fast: np.ndarray  # (k,) bool
    groups: Groups


_I, _F1, _F3 = np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 3))
NO_CROWD = Crowd(
    _I, _I, _F1, np.zeros((1, 3, 3)), np.zeros((1, 6)), np.zeros((1, 8)), _I, _I, _I, _F1, _F3, _F3, np.zeros((1, 2)),
    np.zeros(1, np.bool_), NO_GROUPS,
)  # fmt: skip


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
            row[LANES * (DIRECTIONS + 3 * r + c) + lane] = d[c]
            row[LANES * (ARM_A + 3 * r + c) + lane] = arm_a[c]
            row[LANES * (ARM_B + 3 * r + c) + lane] = arm_b[c]
            row[LANES * (TURN_A + 3 * r + c) + lane] = turn_a[c]
            row[LANES * (TURN_B + 3 * r + c) + lane] = turn_b[c]
        row[LANES * (OFFSET + r) + lane] = u0[r]
    light = light_i + light_j
    ss, st, tt = _own(row, lane, 0, 0, light), _own(row, lane, 0, 1, 0.0), _own(row, lane, 1, 1, light)
    mean, half = 0.5 * (ss + tt), 0.5 * (ss - tt)
    row[LANES * OWN_MATRIX + lane] = _own(row, lane, 0, 2, 0.0)
    row[LANES * (OWN_MATRIX + 1) + lane] = _own(row, lane, 1, 2, 0.0)
    row[LANES * (OWN_MATRIX + 2) + lane] = _own(row, lane, 2, 2, light)
    row[LANES * (OWN_MATRIX + 3) + lane], row[LANES * (OWN_MATRIX + 4) + lane] = ss, tt
    row[LANES * (OWN_MATRIX + 5) + lane] = mean + math.sqrt(half * half + st * st)


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
        row[LANES * (DIRECTIONS + 6 + c) + lane] = d[c]
        row[LANES * (ARM_A + 6 + c) + lane] = arm_a[c]
        row[LANES * (ARM_B + 6 + c) + lane] = arm_b[c]
        row[LANES * (TURN_A + 6 + c) + lane] = turn_a[c]
        row[LANES * (TURN_B + 6 + c) + lane] = turn_b[c]
    row[LANES * (OWN_MATRIX + 2) + lane] = _own(row, lane, 2, 2, light)


@lean
def load_bodies(contacts, crowd, first, last):
    """The two bodies of the contacts ``first`` to ``last``."""
    for n in range(first, last):
        k = crowd.rows[n]
        crowd.a[n], crowd.b[n] = crowd.local[contacts.body[k, 0]], crowd.local[contacts.body[k, 1]]


@lean
def _moved_by(crowd, i):
    """Inverse inertia and inverse mass of a member, zero for what impulses do not move (-1)."""
    if i < 0:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.0
    return load9(crowd.inverse, i), crowd.light[i]


@lean
def load_normals(bodies, contacts, crowd, count):
    """Put what displacements along the normals of ``count`` contacts read into their lanes."""
    groups = crowd.groups
    for n in range(count):
        k = crowd.rows[n]
        ii, li = _moved_by(crowd, crowd.a[n])
        ij, lj = _moved_by(crowd, crowd.b[n])
        g, lane = groups.place[n] // LANES, groups.place[n] % LANES
        _pack_normal(bodies, contacts, k, contacts.body[k, 0], contacts.body[k, 1], ii, ij, li + lj, groups.table[g], lane)


@lean
def load_lanes(bodies, contacts, crowd, first, last):
    """Put contacts ``first`` to ``last`` into their lanes; the offset is what bodies that impulses do not move bring along."""
    a, b, groups = crowd.a, crowd.b, crowd.groups
    for n in range(first, last):
        k = crowd.rows[n]
        i, j = contacts.body[k, 0], contacts.body[k, 1]
        point, e = load3(contacts.point, k), load9(contacts.frame, k)
        offset = surface_slip(bodies, i, j, point, (e[6], e[7], e[8]))
        ii, li = _moved_by(crowd, a[n])
        ij, lj = _moved_by(crowd, b[n])
        if a[n] < 0:
            offset = sub(offset, point_velocity(bodies, i, point))
        if b[n] < 0:
            offset = add(offset, point_velocity(bodies, j, point))
        g, lane = groups.place[n] // LANES, groups.place[n] % LANES
        _pack(bodies, contacts, k, i, j, ii, ij, li, lj, mul(e, offset), groups.table[g], lane)


@lean
def load_laws(crowd, first, last):
    """Friction, targets and impulses to start from of contacts that are in their lanes."""
    groups, mu, c, p, stick, fast = crowd.groups, crowd.mu, crowd.c, crowd.p, crowd.stick, crowd.fast
    for n in range(first, last):
        row, lane = groups.table[groups.place[n] // LANES], groups.place[n] % LANES
        row[LANES * FRICTION + lane] = mu[n]
        for r in range(3):
            row[LANES * (OFFSET + r) + lane] -= c[n, r]
            row[LANES * (IMPULSE + r) + lane] = p[n, r]
        row[LANES * STICK + lane], row[LANES * (STICK + 1) + lane] = stick[n, 0], stick[n, 1]
        row[LANES * SLIDES + lane] = 1.0 if fast[n] else 0.0


@inner
def target_some(bodies, contacts, settings, crowd, first, stop):
    """Put the contacts [first, stop) into their lanes, with what they ask for, and impulses of the last kick to begin with."""
    h, rows, c = settings.dt, crowd.rows[first:stop], crowd.c[first:stop]
    load_lanes(bodies, contacts, crowd, first, stop)
    target_contacts(bodies, contacts, rows, h, h, KICK, True, crowd.mu[first:stop], c)
    soft_targets(bodies, contacts, rows, settings.skin, h, c, crowd.stick[first:stop], crowd.fast[first:stop])
    for m in range(first, stop):
        store3(crowd.p, m, load3(contacts.impulse, crowd.rows[m]))
        clip_contact(crowd.p, crowd.mu[m], m)
    load_laws(crowd, first, stop)
