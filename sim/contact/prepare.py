"""The problem of an island, made of its contacts and joints: who takes part, how they are coupled, and what they bring along."""

from __future__ import annotations

import numpy as np

from tumble.collision.kernels.jit import far, inner, lean
from tumble.collision.linalg import load9, symmetric_product
from tumble.sim.contact.contact_blocks import prepare_contacts
from tumble.sim.contact.rolling_friction import prepare_moments
from tumble.sim.flight.motion import world_inverse_inertia
from tumble.sim.joints.rows import is_dynamic, load_block
from tumble.sim.joints.velocity_solve import list_blocks
from tumble.sim.solvers.problem import NO_INDICES, NO_ISLAND, NO_LAWS, NO_SYSTEM, Island, Laws, System
from tumble.sim.state import EXAMPLE


@inner
def _prepare(bodies, contacts, joints, rows, links, turning, local):
    """(island, system, laws, v*, v, p) of the contacts ``rows`` of a table, the joints ``links``, and the moments of the contacts
    ``turning`` (rolling_friction.py). The targets are zero.

    ``local`` must be all -1; it then holds each member's place.
    """
    owner, block, place = list_blocks(joints, links)
    m = len(rows) + len(owner) + len(turning)
    members, a, b = _members(bodies, contacts, joints, rows, owner, turning, local)
    n = len(members)
    island = Island(members, rows, links, owner, block, place, turning)
    system = System(
        np.empty(n), np.empty(n), np.empty((n, 3, 3)), np.empty((n, 3, 3)), a, b, np.zeros((m, 3, 6)), np.zeros((m, 3, 6))
    )
    laws = Laws(
        np.empty(m, dtype=np.int64), np.empty(m), np.zeros((m, 3)), np.zeros((m, 3)), np.full(m, -1), np.zeros((m, 3)),
        np.zeros((m, 3)),
    )  # fmt: skip
    vstar, v, p = np.empty((n, 6)), np.empty((n, 6)), np.empty((m, 3))
    prepare_again(bodies, contacts, joints, island, system, laws, vstar, p)
    return island, system, laws, vstar, v, p


@lean
def _prepare_again(bodies, contacts, joints, island, system, laws, vstar, p):
    """All of it but the targets, for the bodies as they are now."""
    _load_bodies(bodies, island.members, system, vstar)
    prepare_contacts(bodies, contacts, island.rows, system, laws, p)
    for n in range(len(island.owner)):
        load_block(bodies, joints, island.owner[n], island.block[n], len(island.rows) + n, system, laws, p)
    prepare_moments(bodies, contacts, island, system, laws, p)


@inner
def _members(bodies, contacts, joints, rows, owner, turning, local):
    """Dynamic bodies of these contacts and joints, and the local index of the two bodies of each (-1: not dynamic)."""
    m = len(rows) + len(owner)
    members = np.empty(2 * m, dtype=np.int64)
    ends = np.full((2, m + len(turning)), -1, dtype=np.int64)
    n = 0
    for k in range(m):
        for side in range(2):
            i = contacts.body[rows[k], side] if k < len(rows) else joints.body[owner[k - len(rows)], side]
            if is_dynamic(bodies, i):
                if local[i] < 0:
                    local[i] = n
                    members[n] = i
                    n += 1
                ends[side, k] = local[i]
    for k in range(len(turning)):
        ends[0, m + k], ends[1, m + k] = ends[0, turning[k]], ends[1, turning[k]]
    return members[:n], ends[0], ends[1]


@lean
def _load_bodies(bodies, members, system, v):
    """Masses and velocities of the members."""
    for k in range(len(members)):
        i = members[k]
        system.mass[k], system.inv_mass[k] = bodies.mass[i], bodies.inv_mass[i]
        j = symmetric_product(load9(bodies.rot, i), load9(bodies.inertia, i))
        w = world_inverse_inertia(bodies, i)
        for r in range(3):
            for s in range(3):
                system.inertia[k, r, s] = j[3 * r + s]
                system.inv_inertia[k, r, s] = w[3 * r + s]
            v[k, r] = bodies.v[i, r]
            v[k, 3 + r] = bodies.w[i, r]


_F3, _F6 = np.zeros((0, 3)), np.zeros((0, 6))
_TABLES = EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints
prepare_again = far(_prepare_again, lambda: (*_TABLES, NO_ISLAND, NO_SYSTEM, NO_LAWS, _F6, _F3), returns=None)
prepare = far(_prepare, lambda: (*_TABLES, *(NO_INDICES,) * 4), returns=(NO_ISLAND, NO_SYSTEM, NO_LAWS, _F6, _F6, _F3))
