"""Accelerations of contacts whose bodies turn, found by flying ahead.

The kick asks of a contact u'_n = -h/2 a_n and, where it sticks, u'_t = -h/2 a_t, with the accelerations a of the coming
flight. Those of the instant do for bodies that do not turn. Where they turn, the gap at the end is off by h^3 times the rate of
a: a rolling ellipsoid then arrives above or below the surface, and each step takes or gives energy. So a is found as
joints find theirs (joints/velocity_solve.py): the island is flown to the end of the coming drift with what the solve gave,
and what the gap is there corrects the guess,

    u'_n  <-  u'_n - (g_end - min(g, 0))/h,        a_n = -2 (u'_n + max(g, 0)/h)/h,
    a_t = (u_t(end) - u'_t)/h,

Newton's method on the gap at the end. The slip at the end is turned back with the normal, from where it is then to where it
was. With gaps that are zero at the steps the work of a lasting contact is that of a constraint: it comes back.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.contact.manifold import named_by_first
from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.jit import far, lean, remote
from tumble.collision.linalg import ZERO, add, cross, dot, load3, load9, mul, norm, sub, turned_with
from tumble.collision.narrowphase import manifold_far as manifold
from tumble.sim.contact.ground.faces import same_facets
from tumble.sim.contact.surfaces import surface_slip
from tumble.sim.contact.touching.impact_threshold import FASTER, normal_target, slowest_impact
from tumble.sim.flight.end_pose import Ends, end_motion, end_pose
from tumble.sim.flight.motion import frame_pose, point_velocity
from tumble.sim.ledger.work import MEAN_GIVEN
from tumble.sim.sorted_lists import is_pair
from tumble.sim.state import EXAMPLE, POINTS, ROWS, SLIDING_FRICTION

# [rad] a turn in a flight, or an angle of an arm to the normal, that is smaller moves a gap by no more than rounding.
NO_TURN = 1e-9
# A body turns on if it turns, in the middle of a kick, at more than this part of what the kick changes its turning by.
TURNS_ON = 1e-2
CONTACT_GAP = 1e-3  # gap, as part of the smaller body, up to which a point is one that touches
STEEP = 0.9  # cosine of how far a normal may turn in a flight
HASTE = 2.0  # a gap can not change faster in a flight than by so many times the speed of its bodies at the end
GAP_ROUNDING = 4e-15  # rounding of a gap, as part of where the pair is and how large


@lean
def turns(bodies, forces, contacts, rows, local, vstar, v, h, mode):
    """Whether a body of the island, or a driven one that it touches, turns in a way that moves a gap.

    To turn about the normal at the contact moves none, as with balls. What rests turns to and fro with each kick, but hardly on,
    and does not count: under forces that change with the velocity, the end of the flight says less of the mean slip than the mean
    of the forces does, which is known (flight/clusters.py).
    """
    for row in rows:
        n, point = load3(contacts.frame[row], 2), load3(contacts.point, row)
        for side in range(2):
            i = contacts.body[row, side]
            k, w, fro = local[i], load3(bodies.w, i), ZERO
            if k >= 0 and _pushed(forces, i):
                w = (vstar[k, 3], vstar[k, 4], vstar[k, 5]) if mode == MEAN_GIVEN else (v[k, 3], v[k, 4], v[k, 5])
                fro = (v[k, 3] - vstar[k, 3], v[k, 4] - vstar[k, 4], v[k, 5] - vstar[k, 5])
            elif k >= 0:
                w = _leaves(vstar, v, mode, k, 3)
            arm = sub(point, load3(bodies.x, i))
            on = norm(w) * h > NO_TURN and norm(w) > TURNS_ON * norm(fro)
            if on and norm(cross(arm, n)) > NO_TURN * norm(arm):
                return True
    return False


@lean
def _leaves(vstar, v, mode, k, c):
    """Velocity (c = 0) or angular velocity (c = 3) of member k after the kick; see fly_members in flight/end_pose.py."""
    f, g = (1.0, 0.0) if mode == MEAN_GIVEN else (2.0, 1.0)
    return (f * v[k, c] - g * vstar[k, c], f * v[k, c + 1] - g * vstar[k, c + 1], f * v[k, c + 2] - g * vstar[k, c + 2])


@lean
def _pushed(forces, i):
    """Forces other than uniform gravity and those of joints act on body i."""
    c = forces.cluster[i]
    return c >= 0 and forces.first_row[c] < forces.first_row[c + 1]


@remote
def _revise(
    bodies, geoms, forces, geometry, contacts, rows, floor, local, ends, vstar, v, p, t, end, dt, mode, found, ids, arrives,
):  # fmt: skip
    """Give contacts ``rows`` the accelerations that the flight from t to ``end`` shows; by how much a target moved at most [m/s].

    A row that bears nothing and does not close has what it asks for, and keeps its acceleration. If it were asked for exactly
    what it has, it would take over a part of the load of others at the same place. It does not keep one that asks for more than
    the flight shows: a line that rolls over a ridge would be held at one end, and turn.
    ``floor``: gaps below zero that are left as they are [m]. ``found``, ``ids``: room for a manifold. ``arrives``: of the rows
    that are followed it becomes the normal velocity at the end of the flight [m/s].
    """
    h, worst, k = end - t, 0.0, 0
    while k < len(rows):
        first = k
        a, b = contacts.pair[rows[k], 0], contacts.pair[rows[k], 1]
        while k < len(rows) and is_pair(contacts.pair, rows[k], a, b):
            k += 1
        i, j = contacts.body[rows[first], 0], contacts.body[rows[first], 1]
        if local[i] < 0 and local[j] < 0:
            continue
        xi, ri = end_pose(bodies, forces, i, local, ends, t, end)
        xj, rj = end_pose(bodies, forces, j, local, ends, t, end)
        vi, wi = end_motion(bodies, forces, i, local, ends, t, end)
        vj, wj = end_motion(bodies, forces, j, local, ends, t, end)
        xa, ra = frame_pose(xi, ri, load3(geoms.x, a), load9(geoms.rot, a))
        xb, rb = frame_pose(xj, rj, load3(geoms.x, b), load9(geoms.rot, b))
        size = min(bodies.radius[i], bodies.radius[j])
        margin, touching = 0.1 * size, 0
        for m in range(first, k):
            margin = max(margin, 2.0 * contacts.gap[rows[m]])
            touching += _touches(contacts, rows[m], p[m, 2], size)
        normal = load3(contacts.frame[rows[first]], 2)
        fresh = False
        for m in range(first, k):
            row = rows[m]
            if not fresh:
                count, n, _ = manifold(geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, margin, normal, found, ids)
                fresh = True
            normal = load3(contacts.frame[row], 2)
            id = contacts.id[row]
            s, own = _point_of(found, ids, count, id, touching == 1)
            known, gap_end, place = s >= 0, found[s, 3], (found[s, 0], found[s, 1], found[s, 2])
            if not own and geoms.face[b] >= 0:
                alone, fresh = _alone(geoms, contacts, rows, m), False
                known, own, gap_end, place, n = _on_ground(
                    geoms, geometry, a, b, xa, ra, xj, rj, margin, normal, id, alone, found, ids
                )
            if not known or not _touches(contacts, row, p[m, 2], size) or dot(n, normal) < STEEP:
                continue  # it does not touch, or another feature has its name: the acceleration of the instant has to do
            worst = max(worst, _correct(
                bodies, contacts, local, vstar, v, mode, row, p[m, 2], floor[m], (xi, vi, wi), (xj, vj, wj), n, place, gap_end,
                own, h, dt, arrives, m,
            ))  # fmt: skip
    return worst


@lean
def _touches(contacts, row, load, size):
    """Whether a contact touches, or the kick has slowed it down to arrive."""
    return load > 0.0 or contacts.gap[row] <= CONTACT_GAP * size


@lean
def _point_of(found, ids, count, id, alone):
    """(Which point of a manifold has this name, True); or else (which one has the least gap, False), of a pair that meets nowhere
    else (``alone``). -1: there is none."""
    best = -1
    for s in range(count):
        if ids[s] == id:
            return s, True
        if alone and (best < 0 or found[s, 3] < found[best, 3]):
            best = s
    return best, False


@lean
def _correct(
    bodies, contacts, local, vstar, v, mode, row, load, floor, one, two, n, place, gap_end, own, h, dt, arrives, m
):  # fmt: skip
    """Give one contact the accelerations that a flight shows which takes it to ``place``, with the normal n and ``gap_end``; by
    how much its target moves [m/s]. ``one``, ``two``: place, velocity, angular velocity of its bodies there. ``own``: it is the
    same feature there; the slip of another one says nothing of its own."""
    i, j = contacts.body[row, 0], contacts.body[row, 1]
    (xi, vi, wi), (xj, vj, wj) = one, two
    e, point, gap = load9(contacts.frame, row), load3(contacts.point, row), contacts.gap[row]
    normal, size = (e[6], e[7], e[8]), min(bodies.radius[i], bodies.radius[j])
    # velocity of the point as it leaves
    u = sub(_leaving(bodies, local, vstar, v, mode, j, point), _leaving(bodies, local, vstar, v, mode, i, point))
    u = mul(e, add(u, surface_slip(bodies, i, j, point, normal)))
    slip = sub(add(vj, cross(wj, sub(place, xj))), add(vi, cross(wi, sub(place, xi))))
    slip = add(slip, surface_slip(bodies, i, j, place, n))
    known_to = GAP_ROUNDING * (size + norm(point))
    fastest = norm(u) + norm(sub(vj, vi)) + (norm(wi) + norm(wj)) * size
    if abs(gap_end - gap) > HASTE * (h * fastest + known_to):
        return 0.0  # no point of these bodies closes so fast: another feature has its name
    if not own and dot(n, slip) < -FASTER * max(u[2], slowest_impact(bodies, i, j, dt)):
        return 0.0  # it strikes there, and to lift it here would throw it
    off = gap_end - floor
    if abs(off) <= known_to:
        off = 0.0
    b_n = u[2] - off / h
    a_n = -2.0 * (b_n + max(gap, 0.0) / h) / h
    arrives[m] = dot(n, slip)
    slip = turned_with(n, normal, slip)
    a_s, a_t = (dot(slip, (e[0], e[1], e[2])) - u[0]) / h, (dot(slip, (e[3], e[4], e[5])) - u[1]) / h
    if not own:
        a_s, a_t = contacts.accel[row, 0], contacts.accel[row, 1]
    if load <= 0.0 and b_n <= u[2] and a_n <= contacts.accel[row, 2]:
        return 0.0
    worst = 0.0
    if contacts.slides[row] != SLIDING_FRICTION:
        worst = 0.5 * h * (abs(a_s - contacts.accel[row, 0]) + abs(a_t - contacts.accel[row, 1]))
    contacts.accel[row, 0], contacts.accel[row, 1], contacts.accel[row, 2] = a_s, a_t, a_n
    wanted = normal_target(bodies, contacts, row, h, dt, False)
    if load > 0.0 or wanted > u[2]:  # else it leaves as it may, or comes as an impact
        worst = max(worst, abs(wanted - u[2]))
    return worst


@lean
def _alone(geoms, contacts, rows, m):
    """Whether row m is the only one between its piece and this ground, of which each facet is a piece."""
    a, b = contacts.pair[rows[m], 0], contacts.pair[rows[m], 1]
    for k in range(len(rows)):
        if k != m and contacts.pair[rows[k], 0] == a and same_facets(geoms, b, contacts.pair[rows[k], 1]):
            return False
    return True


@lean
def _on_ground(geoms, geometry, a, b, xa, ra, xj, rj, margin, axis, id, alone, found, ids):
    """Where a point that piece a had with facet b is at the end, on any facet of that ground, or where piece a is deepest there
    if that is its only point: (there is one, it is the same, gap, place, normal)."""
    known, depth, place, normal = False, math.inf, ZERO, axis
    for g in range(len(geoms.body)):
        if geoms.face[g] >= 0 and same_facets(geoms, b, g) and _within(geoms, a, g, margin):
            xb, rb = frame_pose(xj, rj, load3(geoms.x, g), load9(geoms.rot, g))
            count, n, _ = manifold(geometry, geoms.shape[a], xa, ra, geoms.shape[g], xb, rb, margin, axis, found, ids)
            s, own = _point_of(found, ids, count, id, alone)
            if own and named_by_first(id, found[s]):
                return True, True, found[s, 3], (found[s, 0], found[s, 1], found[s, 2]), n
            s = _point_of(found, ids, count, -1, alone)[0]  # the deepest, not a point of the other body that has this name
            if s >= 0 and found[s, 3] < depth:
                known, depth, place, normal = True, found[s, 3], (found[s, 0], found[s, 1], found[s, 2]), n
    return known, False, depth, place, normal


@lean
def _within(geoms, a, g, margin):
    """Whether the boxes of two pieces in the drift are no further apart than this."""
    found = True
    for c in range(3):
        found = found and geoms.lo[a, c] <= geoms.hi[g, c] + margin and geoms.lo[g, c] <= geoms.hi[a, c] + margin
    return found


@lean
def _leaving(bodies, local, vstar, v, mode, i, point):
    """Velocity, after the kick, of the material point of body i at ``point``."""
    k = local[i]
    if k < 0:
        return point_velocity(bodies, i, point)
    return add(_leaves(vstar, v, mode, k, 0), cross(_leaves(vstar, v, mode, k, 3), sub(point, load3(bodies.x, i))))


_T, _T3, _T6, _I = np.zeros(0), np.zeros((0, 3)), np.zeros((0, 6)), np.zeros(0, np.int64)
revise = far(
    _revise,
    lambda: (
        EXAMPLE.bodies, EXAMPLE.geoms, EXAMPLE.forces, empty_geometry(), EXAMPLE.contacts, _I, _T, _I,
        Ends(_T3, np.zeros((0, 3, 3)), _T3, _T3), _T6, _T6, _T3, 0.0, 0.0, 0.0, 0,
        np.zeros((POINTS, ROWS)), np.zeros(POINTS, np.int64), _T,
    ), returns=0.0,
)  # fmt: skip
