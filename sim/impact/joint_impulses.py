"""Joints in impacts: an impulse on a jointed body goes through its joints at the same instant.

The law acts with the effective mass of the jointed bodies, K = J (M^-1 - M^-1 G^T (G M^-1 G^T)^-1 G M^-1) J^T, and joint impulses
restore G u = 0, which does no work. A rotor resists by p = -a (u' - u) on its coordinate. What rates rigid coordinates have
before an impact is rounding; it is taken away first.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.linalg import load3, scale, symmetric_inverse
from tumble.sim.contact.prepare import prepare
from tumble.sim.flight.motion import refresh_velocity
from tumble.sim.joints.rows import DRIVE, frame_joint, is_dynamic, rigid_rows, row_axis, row_velocity
from tumble.sim.joints.velocity_solve import driven_by_block, give_block
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.work import INSIDE_DRIFT, book_work
from tumble.sim.solvers.block_laws import SOFT_LAW
from tumble.sim.solvers.newton import newton_far as newton
from tumble.sim.solvers.problem import Laws, add_impulses, blocks_of, inverse_effective_mass, velocity_along
from tumble.sim.state import EXAMPLE

NEGLIGIBLE = 1e-13  # part of the fastest velocity that rigid coordinates may keep after an impact
# Part of the mobility without joints: where joints hold a point what is left of its mobility is rounding, which is smaller.
HOLDS = 1e-10


@inner
def linked_joints(bodies, joints, touched):
    """Joints of all bodies that joints connect with those that are touched."""
    hit = np.zeros(len(bodies.kind), dtype=np.bool_)
    for i in range(len(touched)):
        if touched[i] and joints.linked[i] >= 0:
            hit[joints.linked[i]] = True
    links, n = np.empty(len(joints.kind), dtype=np.int64), 0
    for j in range(len(links)):
        i = joints.body[j, 0] if is_dynamic(bodies, joints.body[j, 0]) else joints.body[j, 1]
        if hit[joints.linked[i]]:
            links[n] = j
            n += 1
    return links[:n]


@inner
def joints_of_island(bodies, joints, label):
    """Joints of bodies with this label."""
    links, n = np.empty(len(joints.kind), dtype=np.int64), 0
    for j in range(len(links)):
        i = joints.body[j, 0] if is_dynamic(bodies, joints.body[j, 0]) else joints.body[j, 1]
        if bodies.island[i] == label:
            links[n] = j
            n += 1
    return links[:n]


@lean
def leave_rigid_rows(joints, island, laws):
    """Leave the rigid rows of joints, equalities without bounds, and those of rotors, which give way by their inertia."""
    rigid_rows(joints, island, laws)
    for n in range(len(island.owner)):
        k, rotor = len(island.rows) + n, joints.armature[island.owner[n]]
        if island.block[n] == DRIVE and rotor > 0.0:
            laws.law[k], laws.lo[k, 0], laws.hi[k, 0] = SOFT_LAW, 0.0, rotor


@inner
def constrain(island, system, laws, u0, p, d):
    """Change the velocities d (n, 6) to the nearest, in the metric of the masses, that the joints allow.

    ``p`` holds the joints' impulses: the guess, and then the answer. ``u0``: offsets of all blocks.
    """
    first, last = len(island.rows), len(system.a)
    if last == first:
        return
    fastest = 0.0
    for i in range(len(d)):
        for r in range(6):
            fastest = max(fastest, abs(d[i, r]))
    still = np.zeros((last - first, 3))
    asked = Laws(laws.law[first:], laws.mu[first:], laws.lo[first:], laws.hi[first:], still, u0[first:])
    newton(blocks_of(system, first, last), asked, d.copy(), NEGLIGIBLE * fastest, 100, p, d)


@kernel(**FOR_KERNELS)
def _settle_joints(bodies, table, joints, books, links, together):
    """Joint impulses that end all motion which rigid coordinates forbid.

    ``together``: they act together with the impulses that were given since the last call, which found no such motion: their work
    is that of both. What they take is booked.
    """
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    island, system, laws, v, _, p = prepare(bodies, table, joints, links[:0], links, links[:0], local)
    leave_rigid_rows(joints, island, laws)
    owner, block, lo, hi = island.owner, island.block, laws.lo, laws.hi
    for n in range(len(owner)):
        if hi[n, 0] > 0.0 and block[n] == DRIVE:  # of a rotor, against its rate before the impact
            rates = joints.after if together else joints.before
            lo[n, 0] = hi[n, 0] * rates[owner[n], 3 * DRIVE]
    p[:] = 0.0
    constrain(island, system, laws, laws.u0, p, v)
    for n in range(len(owner)):
        give_block(bodies, joints, books, owner[n], block[n], scale(0.5, load3(p, n)), INSIDE_DRIFT, 0.5)
    for i in island.members:
        refresh_velocity(bodies, i)
    for n in range(len(owner)):
        j = owner[n]
        point, frame = frame_joint(bodies, joints, j)
        driven = driven_by_block(bodies, joints, j, block[n], point, frame, load3(p, n))
        book_work(books, ledger.EXTERNAL, driven, 0.0, INSIDE_DRIFT)
        for r in range(3):
            used, turns, e = row_axis(joints, j, block[n], r, frame)
            rotor = block[n] == DRIVE and r == 0 and laws.law[n] == SOFT_LAW
            if used and (rotor or lo[n, r] == -math.inf):
                at = 3 * block[n] + r
                before, after = (
                    joints.after[j, at] if together else joints.before[j, at],
                    row_velocity(bodies, joints, j, turns, e, point),
                )
                entry = ledger.INTEGRATOR if rotor else ledger.CONTACT  # as in kicks: what the rotor has is counted there
                book_work(books, entry, 0.5 * p[n, r] * (before + after), 0.0, INSIDE_DRIFT)
                joints.after[j, at] = after


@kernel(**FOR_KERNELS)
def _linked_mass(bodies, table, joints, links):
    """K of the first contact of the table, in its frame: velocity by unit impulses, joints included, nine numbers [1/kg].

    Joints may hold the point in some direction: what K is there is rounding, of either sign, and an impulse by its inverse has no
    bounds. So d^2/(k + d) is added to each of its eigenvalues k, with d = HOLDS of the trace without joints: d where joints hold,
    and nothing that shows elsewhere.
    """
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    island, system, laws, _, v, p = prepare(bodies, table, joints, np.arange(1), links, links[:0], local)
    leave_rigid_rows(joints, island, laws)
    laws.u0[:] = 0.0
    point = blocks_of(system, 0, 1)
    k, least = np.zeros((3, 3)), 0.0
    for r in range(3):
        p[:] = 0.0
        p[0, r] = 1.0
        v[:] = 0.0
        add_impulses(point, p[:1], v)
        least += HOLDS * inverse_effective_mass(system, 0, r)
        constrain(island, system, laws, laws.u0, p[1:], v)
        for s in range(3):
            k[s, r] = velocity_along(system, laws.u0, v, 0, s)
    xy, xz, yz = 0.5 * (k[0, 1] + k[1, 0]), 0.5 * (k[0, 2] + k[2, 0]), 0.5 * (k[1, 2] + k[2, 1])
    more = symmetric_inverse((k[0, 0] + least, xy, xz, xy, k[1, 1] + least, yz, xz, yz, k[2, 2] + least))
    f = least * least
    xy, xz, yz = xy + f * more[1], xz + f * more[2], yz + f * more[5]
    return (k[0, 0] + f * more[0], xy, xz, xy, k[1, 1] + f * more[4], yz, xz, yz, k[2, 2] + f * more[8])


_ROWS = np.zeros(0, np.int64)
settle_joints = far(
    _settle_joints, lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints, EXAMPLE.books, _ROWS, True), returns=None
)
linked_mass = far(_linked_mass, lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints, _ROWS), returns=(0.0,) * 9)
