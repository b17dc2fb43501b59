"""Joints in impacts: an impulse on a jointed body goes through its joints at the same instant.

The law acts with the effective mass of the jointed bodies, K = J (M^-1 - M^-1 G^T (G M^-1 G^T)^-1 G M^-1) J^T, and joint impulses
restore G u = 0, which does no work. A stop that a free coordinate comes to takes its rate away, at its own instant
(stop_events.py). A rotor resists by p = -a (u' - u) on its coordinate. What rates rigid coordinates have
before an impact is rounding; it is taken away first.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import FOR_KERNELS, far, inner, kernel, lean
from tumble.collision.linalg import load3, scale, symmetric_inverse
from tumble.sim.contact.prepare import prepare
from tumble.sim.flight.motion import refresh_velocity
from tumble.sim.joints.kept_rows import AT_STOP, kept_row, stop_gap, struck_from
from tumble.sim.joints.rows import AT_LOW, DRIVE, LIMITS, frame_joint, is_dynamic, kicks, rigid_rows, row_axis, row_velocity
from tumble.sim.joints.velocity_solve import driven_by_block, give_block
from tumble.sim.ledger import entries as ledger
from tumble.sim.ledger.work import INSIDE_DRIFT, book_at_once
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
def joints_of(bodies, joints, numbers, number):
    """Joints of bodies with this ``number`` among ``numbers`` (n,): their island, or the kick that they had last."""
    links, n = np.empty(len(joints.kind), dtype=np.int64), 0
    for j in range(len(links)):
        i = joints.body[j, 0] if is_dynamic(bodies, joints.body[j, 0]) else joints.body[j, 1]
        if numbers[i] == number:
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


@lean
def rest_rotors(island, system, laws, u0, v):
    """Rotors resist changes of the rates that they have where the bodies move at v (n, 6)."""
    for n in range(len(island.owner)):
        k = len(island.rows) + n
        if laws.law[k] == SOFT_LAW:
            laws.lo[k, 0] = laws.hi[k, 0] * velocity_along(system, u0, v, k, 0)


@lean
def negligible(v):
    """The speed that rigid coordinates may keep beside velocities v (n, 6) of the bodies: it is rounding."""
    fastest = 0.0
    for i in range(len(v)):
        for r in range(6):
            fastest = max(fastest, abs(v[i, r]))
    return NEGLIGIBLE * fastest


@inner
def constrain(island, system, laws, u0, p, d):
    """Change the velocities d (n, 6) to the nearest, in the metric of the masses, that the joints allow.

    ``p`` holds the joints' impulses: the guess, and then the answer. ``u0``: offsets of all blocks. Rates of rows go to the
    targets of the laws.
    """
    first, last = len(island.rows), len(system.a)
    if last == first:
        return
    asked = Laws(
        laws.law[first:], laws.mu[first:], laws.lo[first:], laws.hi[first:], laws.load[first:], laws.c[first:], u0[first:]
    )
    newton(blocks_of(system, first, last), asked, d.copy(), negligible(d), 100, p, d)


@kernel(**FOR_KERNELS)
def _settle_joints(bodies, table, joints, books, links, together):
    """Give the joint impulses that end all motion which rigid coordinates forbid, and book what they take.

    ``together``: they act at the same instant as the impulses that were given since the last call, which left no such motion.
    Then their work is reckoned from the rates before both.
    """
    island, system, laws, v, p = _rigid_problem(bodies, table, joints, links, together)
    _act(bodies, joints, books, island, system, laws, p, v, together)


@kernel(**FOR_KERNELS)
def _meet_stops(bodies, table, joints, books, links, t, due, borne, dt):
    """The impact of free coordinates at their stops at time t: that of joint ``due`` (-1: none), and of any other that comes to
    one. It takes away the rates that would lead beyond; stops give nothing back. ``dt``: of a step.

    The coordinate of ``due`` is kept at its stop in flight from then on (joints/kept_rows.py) where it did not come, but would be
    pressed on. It is kept until the next step, too, where motors, springs or contacts (``borne``) act at the steps, which alone
    know whether they press.
    """
    island, system, laws, v, p = _rigid_problem(bodies, table, joints, links, False)
    owner, block, comes, was, slow = island.owner, island.block, False, np.zeros((len(island.owner), 2)), struck_from(0.0, dt)
    for n in range(len(owner)):
        j, s = owner[n], block[n]
        for r in range(2 if s == LIMITS else 0):
            gap, was[n, r] = stop_gap(bodies, joints, j, r, t), joints.before[j, 3 * s + r]
            if gap <= AT_STOP:
                laws.hi[n, r] = math.inf
                comes = comes or j == due or joints.before[j, 3 * s + r] < -slow
    if not comes:
        return
    stays = borne
    for j in links:
        stays = stays or kicks(joints, j)
    _act(bodies, joints, books, island, system, laws, p, v, False)
    for n in range(len(owner)):
        j, s = owner[n], block[n]
        for r in range(2 if s == LIMITS else 0):
            met = laws.hi[n, r] > 0.0 and j == due and joints.after[j, 3 * s + r] <= slow
            if met and (stays or was[n, r] >= -slow):
                joints.kept[j], joints.pace[j] = AT_LOW + r, 0.0


@inner
def _rigid_problem(bodies, table, joints, links, together):
    """(island, system, laws, v, p) of joints of which rigid coordinates alone are held, and rotors resist."""
    local = np.full(len(bodies.kind), -1, dtype=np.int64)
    island, system, laws, v, _, p = prepare(bodies, table, joints, links[:0], links, links[:0], local)
    leave_rigid_rows(joints, island, laws)
    _rest_rotors(island, laws, joints.after if together else joints.before)
    p[:] = 0.0
    return island, system, laws, v, p


@lean
def _rest_rotors(island, laws, rates):
    """Rotors resist changes of the ``rates`` that they have."""
    for n in range(len(island.owner)):
        k = len(island.rows) + n
        if laws.hi[k, 0] > 0.0 and island.block[n] == DRIVE:
            laws.lo[k, 0] = laws.hi[k, 0] * rates[island.owner[n], 3 * DRIVE]


@lean
def hold_kept(joints, island, laws):
    """What motors, friction and stops kept in the last kick stays at the pace that it has, which in an instant they could not
    change. Rotors resist."""
    _rest_rotors(island, laws, joints.before)
    for n in range(len(island.owner)):
        j, s, k = island.owner[n], island.block[n], len(island.rows) + n
        r = kept_row(joints, j, s)
        if r >= 0:
            laws.lo[k, r], laws.hi[k, r], laws.c[k, r] = -math.inf, math.inf, joints.before[j, 3 * s + r]


@inner
def _act(bodies, joints, books, island, system, laws, p, v, together):
    """Find the impulses, give them to the bodies, and book their works."""
    constrain(island, system, laws, laws.u0, p, v)
    give_joints(bodies, joints, books, island, laws, p, together)


@lean
def give_joints(bodies, joints, books, island, laws, p, together):
    """The impulses of joints to the bodies, and works to the books. ``together``: as in `settle_joints`."""
    owner, block, first = island.owner, island.block, len(island.rows)
    for n in range(len(owner)):
        give_block(bodies, joints, books, owner[n], block[n], scale(0.5, load3(p, first + n)), INSIDE_DRIFT, 0.5)
    for i in island.members:
        refresh_velocity(bodies, i)
    for n in range(len(owner)):
        j, s, k = owner[n], block[n], first + n
        point, frame = frame_joint(bodies, joints, j)
        driven = driven_by_block(bodies, joints, j, s, point, frame, load3(p, k))
        book_at_once(books, ledger.EXTERNAL, driven)
        for r in range(3):
            used, turns, e = row_axis(joints, j, s, r, frame)
            rotor, at = s == DRIVE and r == 0 and laws.law[k] == SOFT_LAW, 3 * s + r
            if not used or not (rotor or laws.hi[k, r] == math.inf):
                continue
            before = joints.after[j, at] if together else joints.before[j, at]
            after = row_velocity(bodies, joints, j, turns, e, point)
            work, entry = 0.5 * p[k, r] * (before + after), ledger.CONTACT
            if rotor:  # as in kicks: what the rotor has is counted there
                entry = ledger.INTEGRATOR
            elif s == DRIVE and r == 2:
                entry = ledger.EXTERNAL
            elif laws.lo[k, r] == 0.0:  # a stop that was met: a loss
                work, entry = -work, ledger.RESTITUTION
            book_at_once(books, entry, work)
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
meet_stops = far(
    _meet_stops,
    lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints, EXAMPLE.books, _ROWS, 0.0, -1, False, 0.0),
    returns=None,
)
linked_mass = far(_linked_mass, lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints, _ROWS), returns=(0.0,) * 9)
