"""When the next impact of a pair is: the first instant in the drift at which a gap closes faster than the threshold.

Pairs that are apart: conservative advancement on the certified distance (Mirtich, thesis 1996, 2.3.2). Along a fixed normal n
the gap can not close faster than c = -n.v + sum of |n x omega| r, plus a t with a bound a on what accelerations add. So it is
safe to advance by the time in which c t + a t^2/2 reaches the gap; close by, Newton's method on the gap, kept in a bracket,
takes over. Pairs that touch already (a rocking block about to land on its other edge): the points of the manifold at the end of
the drift; one that is under the surface and came fast has crossed it, and Newton finds when.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.contact.facets import BARRED, facet_normal, is_facet, is_level, reading_of
from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.jit import far, lean, remote
from tumble.collision.linalg import ZERO, add, cross, dot, load3, load9, mul, neg, orthonormal, store3, sub
from tumble.collision.narrowphase import distance_far as distance
from tumble.collision.narrowphase import level_distance_far as level_distance
from tumble.collision.narrowphase import manifold_far as manifold
from tumble.collision.status import BEYOND_MARGIN
from tumble.sim.contact.touching.impact_threshold import (
    FASTER,
    SINKING,
    SLOW_GAP,
    bounce_time,
    foreseen,
    free_limit,
    pair_size,
    slowest_impact,
    threshold,
)
from tumble.sim.contact.touching.manifolds import update_manifold
from tumble.sim.contact.touching.point_accelerations import contact_acceleration
from tumble.sim.contact.touching.swept_pairs import speculative_margin
from tumble.sim.flight.motion import frame_pose, geom_pose, motion_at
from tumble.sim.impact.staying_apart import bends, closing_bounds, closing_time, least_gap, turning_along
from tumble.sim.state import EXAMPLE

TOUCH = 1e-10  # gap, as part of the pair's size, up to which points count as touching at the same instant
# way of a turning surface, as part of the pair's size, below which a pair that leaves does not meet again in a drift
NO_RETURN = 0.1
# gap, as part of the pair's size, from which on a pair that left is looked at again; depth to which one may sink into a sheet
AWAY = 1e-4
TURNED_IN = 1e-5  # overlap at the end of a drift, as part of the size, from which on what was not followed counts by how it comes
MOST_SEARCH_STEPS = 200  # most advances of a search: each may take but a hundredth off the gap where a body tumbles fast
MOST_GROUND_STEPS = 20_000  # the same of a search against a ground: what has gone through a sheet does not overlap it at the end
EXACT_GAP = 1e-14  # gap, as part of the pair's size, at which an instant is found
MOST_HALVINGS = 30  # halvings of a drift in the search for when a sheet goes through a body, or a body turns into another
MOST_TOUCHES = 20  # slow touches of a pair in a drift after which only the end of the drift is looked at
# what a search finds: nothing meets; an impact; a touch, which may hide points that come fast; one at the rim of a facet
CLEAR, MEETS, TOUCHES, AT_RIM = range(4)


@lean
def velocity_at(point, x, v, w):
    """Velocity of a point of a body that is at x and moves at v and w."""
    return add(v, cross(w, sub(point, x)))


@remote
def _distance_at(bodies, forces, geoms, geometry, a, b, t, margin, axis):
    """What is seen of pieces a and b at time t: (status, gap, lower bound of it, normal, closing speed of the nearest points,
    of the centres, and the most that turning adds to it)."""
    i, j = geoms.body[a], geoms.body[b]
    xi, ri, vi, wi = motion_at(bodies, forces, i, t)
    xj, rj, vj, wj = motion_at(bodies, forces, j, t)
    xa, ra = frame_pose(xi, ri, load3(geoms.x, a), load9(geoms.rot, a))
    xb, rb = frame_pose(xj, rj, load3(geoms.x, b), load9(geoms.rot, b))
    if is_level(geometry, geoms.shape[b]):  # facets are the second of a pair: they come behind all bodies
        status, gap, lower, _, n, pb, pa, _ = level_distance(geometry, geoms.shape[b], xb, rb, geoms.shape[a], xa, ra, margin)
        n = neg(n)
    else:
        status, gap, lower, _, n, pa, pb, _ = distance(geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, margin, axis)
    middle = (0.5 * (pa[0] + pb[0]), 0.5 * (pa[1] + pb[1]), 0.5 * (pa[2] + pb[2]))
    closing = -dot(n, sub(velocity_at(middle, xj, vj, wj), velocity_at(middle, xi, vi, wi)))
    turning = turning_along(bodies, i, n, wi) + turning_along(bodies, j, n, wj)
    return status, gap, lower, n, closing, -dot(n, sub(vj, vi)), turning


@lean
def _barred(bodies, geoms, geometry, a, b, n):
    """Whether n, from piece a to b, is no normal of the ground that one of them is a facet of; grounds do not turn."""
    ra, rb = load9(bodies.rot, geoms.body[a]), load9(bodies.rot, geoms.body[b])
    return reading_of(geometry, geoms.shape[a], ra, geoms.shape[b], rb, n) == BARRED


@lean
def _stays_level(bodies, geoms, geometry, a, b, pull, spin, h, most):
    """Whether two pieces, one a facet of a ground, come no nearer than ``most`` along the facet's normal in a time h."""
    i, j = geoms.body[a], geoms.body[b]
    n = facet_normal(geometry, geoms.shape[a], load9(bodies.rot, i), geoms.shape[b], load9(bodies.rot, j))
    return (abs(dot(n, sub(load3(bodies.v, j), load3(bodies.v, i)))) + pull * h + spin) * h <= most


_PAIR = (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.geoms, empty_geometry(), 0, 0)
distance_at = far(_distance_at, lambda: (*_PAIR, 0.0, 0.0, ZERO), returns=(0, 0.0, 0.0, (0.0,) * 3, 0.0, 0.0, 0.0))


@remote
def _fastest_point(bodies, forces, geoms, pairs, geometry, n, t, margin, axis, limit, wait, part, rows, ids):
    """The deepest of the contact points of pair n at time t that close too fast: (found, gap, closing speed).

    Too fast is faster than ``part`` of each of three speeds: ``limit``; the threshold that the point's own acceleration gives in
    the time ``wait``; and, of what bore load in the last kick, FASTER times the speed with which that foresaw it to come back.
    """
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    i, j = geoms.body[a], geoms.body[b]
    xi, ri, vi, wi = motion_at(bodies, forces, i, t)
    xj, rj, vj, wj = motion_at(bodies, forces, j, t)
    xa, ra = frame_pose(xi, ri, load3(geoms.x, a), load9(geoms.rot, a))
    xb, rb = frame_pose(xj, rj, load3(geoms.x, b), load9(geoms.rot, b))
    count, normal, _ = manifold(geometry, geoms.shape[a], xa, ra, geoms.shape[b], xb, rb, margin, axis, rows, ids)
    found, gap, speed = False, math.inf, 0.0
    e, f = orthonormal(normal)
    for k in range(count):
        point = (rows[k, 0], rows[k, 1], rows[k, 2])
        closing = -dot(normal, sub(velocity_at(point, xj, vj, wj), velocity_at(point, xi, vi, wi)))
        if rows[k, 3] < gap and closing > part * max(limit, FASTER * foreseen(pairs, n, ids[k])):
            pressed = contact_acceleration(bodies, i, j, rows[k], e, f, normal, wait)[2] if wait > 0.0 else 0.0
            if closing > part * threshold(limit, pressed, wait):
                found, gap, speed = True, rows[k, 3], closing
    return found, gap, speed


fastest_point = far(
    _fastest_point,
    lambda: (
        EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.geoms, EXAMPLE.pairs, empty_geometry(), 0, 0.0, 0.0, ZERO, 0.0, 0.0, 0.0,
        np.zeros((8, 14)), np.zeros(8, np.int64),
    ), returns=(False, 0.0, 0.0),
)  # fmt: skip


@lean
def _awaited(bodies, forces, geoms, pairs, geometry, n, t, size, axis, limit, rows, ids):
    """Whether all points in which pair n meets at time t come no faster than the last kick foresaw: these are left to the next
    kick."""
    if pairs.arrives[n, 0] <= 0.0:
        return False
    found, _, _ = fastest_point(
        bodies, forces, geoms, pairs, geometry, n, t, 10.0 * TOUCH * size, axis, limit, 0.0, 1.0, rows, ids
    )  # fmt: skip
    return not found


@lean
def _speed_at_touch(
    bodies, forces, geoms, pairs, geometry, n, t, size, axis, slowest, wait, at_start, own, dt, least, rows, ids
):  # fmt: skip
    """(Speed of the fastest point of a pair that touches at time t, if that makes an impact; else 0; along which axis).

    ``at_start``: of the search; then points are looked for as for a kick: at a corner many normals fit, and what the kick made
    leave along one of them may close along another. ``own``: the axis is the normal of the facet itself.
    """
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    i, j = geoms.body[a], geoms.body[b]
    along = axis
    if at_start:
        normal, margin, limit = load3(pairs.axis, n), speculative_margin(bodies, i, j, dt), slowest
    else:
        if own:
            along = neg(facet_normal(geometry, geoms.shape[a], load9(bodies.rot, i), geoms.shape[b], load9(bodies.rot, j)))
        normal, margin, limit, wait = along, TOUCH * size, free_limit(bodies, i, j, along, dt, wait), 0.0
    found, gap, closing = fastest_point(
        bodies, forces, geoms, pairs, geometry, n, t, margin, normal, max(least, limit), wait, 1.0, rows, ids
    )  # fmt: skip
    return (closing, along) if found and gap <= TOUCH * size else (0.0, axis)


@lean
def _approach(bodies, forces, geoms, pairs, geometry, n, start, dt, bounds, size, wait, slowest, least, rows, ids):
    """Advance pair n from ``start`` while its pieces are apart: (CLEAR, MEETS, TOUCHES or AT_RIM; when; closing speed; axis).

    ``bounds`` are those of `closing_bounds`.
    """
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    i, j = geoms.body[a], geoms.body[b]
    axis = load3(pairs.axis, n)
    spin, alpha, pull, bound = bounds
    ground, level = is_facet(geometry, geoms.shape[b]), is_level(geometry, geoms.shape[b])
    t, stride, left = start, dt, False
    seen = distance_at(bodies, forces, geoms, geometry, a, b, t, bound * (dt - t), axis)
    pairs.clear[n, 0] = max(pairs.clear[n, 0], seen[2] + bound * t)
    for _ in range(MOST_GROUND_STEPS if ground else MOST_SEARCH_STEPS):
        status, gap, lower, axis, closing, centers, turning = seen
        rest = dt - t
        turns = spin * rest >= NO_RETURN * size
        if status == BEYOND_MARGIN or lower > bound * rest:
            return CLEAR, t, 0.0, axis
        rim = level or (ground and gap < SLOW_GAP * size and _barred(bodies, geoms, geometry, a, b, axis))
        if rim and gap <= TOUCH * size:
            return AT_RIM, t, 0.0, axis  # or beyond it, where its neighbours are: what is over it is seen by its own normal
        if rim and not level and _stays_level(bodies, geoms, geometry, a, b, pull, spin, rest, SLOW_GAP * size):
            return AT_RIM, t, 0.0, axis
        if gap <= TOUCH * size:
            result, speed, away = _in_touch(
                bodies, forces, geoms, pairs, geometry, n, start, t, dt, closing, turns, left, size, axis, wait, slowest, least,
                rows, ids,
            )  # fmt: skip
            if result != CLEAR:
                return result, t, speed, axis
            # it has bounced and leaves, and other points of bodies that turn so far may meet: also on the way that is left out
            away, seen = _leave(bodies, forces, geoms, geometry, a, b, t, dt, away, closing, size, bound, axis)
            t, left = t + away, True
            continue
        left = False
        if stride >= rest and not ground:
            then = distance_at(bodies, forces, geoms, geometry, a, b, dt, gap, axis)
            if _surely_apart(bodies, i, j, seen, then, rest, dt, size, bound, spin):
                return CLEAR, t, 0.0, axis
            stride = 0.5 * rest
        if gap < 1e-4 * size and closing <= 0.0 and not turns:
            return TOUCHES, t, 0.0, axis  # it has just left, or rolls: to advance by such a gap would not get anywhere
        if least > 0.0 and closing <= least and gap < SLOW_GAP * size and not turns:
            return TOUCHES, t, 0.0, axis  # of no interest, unless another point comes faster
        fastest = centers + pull * rest + min(spin, turning + alpha * rest)
        if fastest * rest <= lower:
            return CLEAR, t, 0.0, axis
        # a body that spins closes by a small part of its bound: near the surface Newton's method takes over all the same
        if (gap < 1e-3 * size and closing > 0.1 * fastest) or (gap < 1e-4 * size and closing > 0.0):
            found, when, speed, axis = _polish(bodies, forces, geoms, geometry, a, b, t, gap, closing, size, axis, dt)
            if found:
                return _met(bodies, forces, geoms, pairs, geometry, n, when, speed, size, axis, rim, least, wait, dt, rows, ids)
        ahead = max(lower / fastest, closing_time(lower, centers + turning, pull + alpha), 0.1 * EXACT_GAP * size / fastest)
        apart, ahead, stride, seen = _stride(
            bodies, forces, geoms, geometry, a, b, t, dt, ahead, stride, seen, axis, size, bounds
        )  # fmt: skip
        t += ahead
        if t >= dt:
            return CLEAR, t, 0.0, axis
        if not apart:
            stride = 4.0 * ahead
            seen = distance_at(bodies, forces, geoms, geometry, a, b, t, bound * (dt - t), axis)
    return TOUCHES, t, 0.0, axis


@lean
def _stride(bodies, forces, geoms, geometry, a, b, t, dt, ahead, stride, seen, axis, size, bounds):
    """Halve a stride until the pair is apart all along it, or it is no longer than ``ahead``; beside a ground none is tried.

    (Whether it is apart; how long to go on, the stride or ``ahead``; the stride to try next; what is seen at the end of this one,
    or was ``seen`` at time t.)
    """
    i, j, spin, bound = geoms.body[a], geoms.body[b], bounds[0], bounds[3]
    while stride > ahead and not is_facet(geometry, geoms.shape[b]):
        reach = bound * (dt - t - stride) + seen[1]
        then = distance_at(bodies, forces, geoms, geometry, a, b, t + stride, reach, axis)
        if _surely_apart(bodies, i, j, seen, then, stride, dt, size, bound, spin):
            return True, stride, 2.0 * stride, then
        stride *= 0.5
    return False, ahead, stride, seen


@lean
def _in_touch(
    bodies, forces, geoms, pairs, geometry, n, start, t, dt, closing, turns, left, size, axis, wait, slowest, least, rows, ids
):  # fmt: skip
    """What `_approach` says of a pair that touches at time t: (MEETS, TOUCHES, or CLEAR where it leaves; closing speed; how long
    it needs, as fast as it leaves, to be AWAY).

    ``turns``: its bodies turn so far in the rest of the drift that other points may meet. ``left``: it was not looked at on the
    way to t.
    """
    i, j = geoms.body[pairs.geoms[n, 0]], geoms.body[pairs.geoms[n, 1]]
    limit = max(least, free_limit(bodies, i, j, axis, dt, wait))
    fast = t > start and closing > limit  # without rotation the advance is exact
    if fast and not _awaited(bodies, forces, geoms, pairs, geometry, n, t, size, axis, limit, rows, ids):
        return MEETS, closing, 0.0
    if left:  # on the way that was left out another point has come
        found, _, fastest = fastest_point(
            bodies, forces, geoms, pairs, geometry, n, t, TOUCH * size, axis, slowest, 0.0, 1.0, rows, ids
        )  # fmt: skip
        if found and fastest > limit:
            return MEETS, fastest, 0.0
    away = -AWAY * size / closing if closing < 0.0 else math.inf
    if t > start or pairs.rests[n] == 1 or not turns or t + away >= dt:
        return TOUCHES, 0.0, 0.0
    found, deep, _ = fastest_point(
        bodies, forces, geoms, pairs, geometry, n, t, TOUCH * size, axis, slowest, 0.0, 1.0, rows, ids
    )  # fmt: skip
    if found and deep <= TOUCH * size:
        return TOUCHES, 0.0, 0.0
    return CLEAR, 0.0, away


@lean
def _leave(bodies, forces, geoms, geometry, a, b, t, dt, away, closing, size, bound, axis):
    """(How long, at most ``away``, a pair that touches at time t and leaves need not be looked at; what is seen then).

    Only for a short way of its turning does it go on to leave as fast as at t. What goes through a sheet is beyond it without an
    overlap, so the side on which it is counts as well.
    """
    away, ground, side = min(away, NO_RETURN * size / bound), is_facet(geometry, geoms.shape[b]), 0.0
    if ground:
        side = _side(bodies, forces, geoms, geometry, a, b, t)
    while True:
        when = t + away
        seen = distance_at(bodies, forces, geoms, geometry, a, b, when, bound * (dt - when), axis)
        through = ground and _side(bodies, forces, geoms, geometry, a, b, when) != side
        if not (through or seen[1] <= TOUCH * size) or -closing * away <= 2.0 * TOUCH * size:
            return away, seen
        away *= 0.5


@lean
def _surely_apart(bodies, i, j, seen, then, h, dt, size, bound, spin):
    """Whether bodies i and j, that stand as `distance_at` saw them now and a time h on, are apart all the time between."""
    if then[2] <= 0.0:
        return False
    bend, reach = bends(bodies, i, j, bound - spin, dt)
    return least_gap(bodies, i, j, seen[2], seen[3], then[2], then[3], h, bend, reach, bound) > EXACT_GAP * size


@lean
def _met(bodies, forces, geoms, pairs, geometry, n, t, speed, size, axis, rim, least, wait, dt, rows, ids):
    """What `_approach` says of a gap that closes at time t: an impact, unless it is at the rim of a facet, slow or awaited."""
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    normal = axis
    if is_facet(geometry, geoms.shape[b]) and not is_level(geometry, geoms.shape[b]):
        axis = distance_at(bodies, forces, geoms, geometry, a, b, t, math.inf, axis)[3]
        rim = _barred(bodies, geoms, geometry, a, b, axis)
    if rim:
        return AT_RIM, t, 0.0, axis
    limit = max(least, free_limit(bodies, geoms.body[a], geoms.body[b], normal, dt, wait))
    if speed > limit and not _awaited(bodies, forces, geoms, pairs, geometry, n, t, size, axis, limit, rows, ids):
        return MEETS, t, speed, axis
    return TOUCHES, t, 0.0, axis


@remote
def _next_impact(bodies, forces, geoms, pairs, geometry, n, dt, least, rows, ids):
    """Time and approach speed of the next impact of pair n before dt, (inf, 0) if there is none.

    Those slower than ``least`` are of no interest. All bodies must stand at the end of their flights. Leaves the manifold of
    that state in the table of pairs where it was needed.
    """
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    i, j = geoms.body[a], geoms.body[b]
    start = max(bodies.t0[i], bodies.t0[j])
    if start >= dt:
        return math.inf, 0.0
    size, slowest = pair_size(bodies, i, j), slowest_impact(bodies, i, j, dt)
    wait = 0.0 if least > 0.0 else bounce_time(bodies, pairs, n, i, j, dt)  # in a crowd what is pressed on counts as well
    bounds = closing_bounds(bodies, i, j, dt)
    bound = bounds[3]
    known = pairs.clear[n, 0] - pairs.clear[n, 1] * start  # from the last search in this drift and the flights since
    pairs.clear[n, 0], pairs.clear[n, 1] = known + bound * start, bound
    if bound <= max(least, min(slowest, SINKING * size / dt)) or known > bound * (dt - start):
        return math.inf, 0.0  # a pair at rest, or out of reach still
    ground = is_facet(geometry, geoms.shape[b])
    for _ in range(MOST_TOUCHES):
        result, t, speed, axis = _approach(
            bodies, forces, geoms, pairs, geometry, n, start, dt, bounds, size, wait, slowest, least, rows, ids
        )
        if result == CLEAR:
            return math.inf, 0.0
        if result == MEETS:
            store3(pairs.axis, n, axis)  # and at a corner, where many normals fit, acts along it
            return t, speed
        # the pair touches at t, or has touched slowly: which points are under the surface at the end, and came fast?
        if t == start or result == AT_RIM:
            at_start, own = t == start, t > start and not is_level(geometry, geoms.shape[b])
            speed, axis = _speed_at_touch(
                bodies, forces, geoms, pairs, geometry, n, t, size, axis, slowest, wait, at_start, own, dt, least, rows, ids
            )
            if speed > 0.0:
                return t, speed
        if not ground:
            break
        limit = max(least, slowest)
        if result == AT_RIM or bounds[0] * (dt - t) < NO_RETURN * size:
            # the end tells as of other bodies, but of what the ground has gone through by then
            until = _pierced(bodies, forces, geoms, geometry, a, b, t, dt, size, axis)
            if until >= dt:
                break
            when, speed = _crossed(
                bodies, forces, geoms, pairs, geometry, n, t, until, axis, size, 0.0, wait, limit, rows, ids
            )  # fmt: skip
            if speed > 0.0:
                return when, speed
        elif pairs.rests[n] == 1:  # of what turns so far no later instant tells; but what forces press on is no impact
            limit = max(least, free_limit(bodies, i, j, axis, dt, wait))
        start, speed = _sunk(bodies, forces, geoms, pairs, geometry, n, t, dt, size, axis, limit, bound, rows, ids)
        if speed > 0.0:
            return start, speed
        if start >= dt:
            break
    return _crossing(bodies, forces, geoms, pairs, geometry, n, t, dt, size, wait, slowest, least, rows, ids)


@lean
def _sunk(bodies, forces, geoms, pairs, geometry, n, t, dt, size, axis, slowest, bound, rows, ids):
    """Follow pair n, which turns and touches a ground at time t, to where it is deeper by AWAY: (when; how fast its fastest point
    is there).

    Where it does not get so deep it is followed to where it is as far away, or to the end of the drift, and has no speed. That
    end alone tells nothing of what has gone through a sheet by then.
    """
    a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
    way, low, high, deep = AWAY * size / bound, t, math.inf, AWAY * size
    floor = min(0.0, distance_at(bodies, forces, geoms, geometry, a, b, t, math.inf, axis)[1])
    side = _side(bodies, forces, geoms, geometry, a, b, t)
    while low < dt:
        when = min(low + way, dt) if high == math.inf else 0.5 * (low + high)
        through, gap, along = _beyond(bodies, forces, geoms, geometry, a, b, when, side, size, axis)
        if gap > deep and not through:
            return when, 0.0
        if gap >= floor - deep and not through:
            low, axis, way = when, along, 2.0 * way
        else:
            high = when
        if high < math.inf and ((gap >= floor - 2.0 * deep and not through) or not low < 0.5 * (low + high) < high):
            _, _, speed = fastest_point(  # of all that close: nor is what the last kick foresaw held by the next one
                bodies, forces, geoms, pairs, geometry, n, high, TOUCH * size, axis, slowest, 0.0, 0.0, rows, ids
            )  # fmt: skip
            return high, speed if speed > slowest else 0.0
    return dt, 0.0


@lean
def _polish(bodies, forces, geoms, geometry, a, b, t, gap, closing, size, axis, dt):
    """The instant near t at which a small gap closes: (found, time, approach speed, along which axis)."""
    low, high = t, math.inf
    for _ in range(30):
        step = gap / closing if closing > 0.0 else math.inf
        t_new = t + step
        if not (low <= t_new <= high):
            if high == math.inf:
                return False, 0.0, 0.0, axis
            t_new = 0.5 * (low + high)
        if t_new > dt:
            return False, 0.0, 0.0, axis
        if t_new == t:
            return True, t, closing, axis
        t = t_new
        _, gap, _, axis, closing, _, _ = distance_at(bodies, forces, geoms, geometry, a, b, t, math.inf, axis)
        if abs(gap) <= EXACT_GAP * size:
            return True, t, closing, axis
        if gap > 0.0:
            low = t
        else:
            high = t
    return high < math.inf, high if high < math.inf else t, closing, axis


@lean
def _crossing(bodies, forces, geoms, pairs, geometry, n, start, dt, size, wait, slowest, least, rows, ids):
    """For a pair in touch: when the deepest fast point of the final manifold crossed the surface.

    In a crowd (``least`` > 0) it may have been pressed on from rest, and crosses a level as much below what touches at the start
    as a crowd is left with: there it is fast. Else, where nothing bore load in the last kick, or where that was followed
    (contact_accelerations.py), what overlaps at the end and was not followed has turned in: it is not pressed on, and counts as
    it comes.
    """
    if not pairs.fresh[n]:
        update_manifold(bodies, geoms, pairs, geometry, n, dt)
    if pairs.points[n] == 0:
        return math.inf, 0.0
    deepest, followed = math.inf, pairs.arrives[n, 0] > 0.0 or pairs.rests[n] == 0
    for k in range(pairs.points[n]):
        deepest = min(deepest, pairs.rows[n, k, 3])
        if followed and pairs.rows[n, k, 3] < -TURNED_IN * size and foreseen(pairs, n, pairs.ids[n, k]) == 0.0:
            wait = 0.0
    level, axis = 0.0, load3(pairs.normal, n)
    if least > 0.0:
        if deepest > -SLOW_GAP * size:
            return math.inf, 0.0
        a, b = pairs.geoms[n, 0], pairs.geoms[n, 1]
        level = min(0.0, distance_at(bodies, forces, geoms, geometry, a, b, start, math.inf, axis)[1]) - SLOW_GAP * size
    if deepest > level - EXACT_GAP * size:
        return math.inf, 0.0
    limit = max(least, slowest)
    when, speed = _crossed(bodies, forces, geoms, pairs, geometry, n, start, dt, axis, size, level, wait, limit, rows, ids)
    if speed > 0.0 or deepest > level - TURNED_IN * size:
        return when, speed
    # it turns out again by the end: it came fast, if ever, where it was half as deep on its way in
    end, axis = _turned_in(bodies, forces, geoms, pairs, geometry, n, start, dt, axis, 0.5 * (level + deepest))
    return _crossed(bodies, forces, geoms, pairs, geometry, n, start, end, axis, size, level, wait, limit, rows, ids)


@lean
def _turned_in(bodies, forces, geoms, pairs, geometry, n, start, end, axis, depth):
    """When pair n, whose gap is above ``depth`` at time ``start`` and below it at ``end``, is just below it: (when, axis)."""
    a, b, low, high = pairs.geoms[n, 0], pairs.geoms[n, 1], start, end
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (low + high)
        _, gap, _, along, _, _, _ = distance_at(bodies, forces, geoms, geometry, a, b, middle, math.inf, axis)
        if gap < depth:
            high, axis = middle, along
        else:
            low = middle
    return high, axis


@lean
def _crossed(bodies, forces, geoms, pairs, geometry, n, start, end, axis, size, level, wait, limit, rows, ids):
    """When the point that is deepest at time ``end``, of those that come faster than ``limit``, had the gap ``level``."""
    found, gap, closing = fastest_point(
        bodies, forces, geoms, pairs, geometry, n, end, 0.0, axis, limit, wait, 1.0, rows, ids
    )  # fmt: skip
    if not found or gap > level - EXACT_GAP * size:
        return math.inf, 0.0
    t, low, high = end, start, end
    reach = 2.0 * closing * (end - start) + size
    when, speed = end, closing
    for _ in range(40):
        t = t + (gap - level) / closing
        if not (low <= t <= high):
            t = 0.5 * (low + high)
        found, gap, closing = fastest_point(
            bodies, forces, geoms, pairs, geometry, n, t, reach, axis, limit, wait, 0.5, rows, ids
        )  # fmt: skip
        if not found:
            low = t
            t = 0.5 * (low + high)
            gap, closing = level, 1.0
        else:
            when, speed = t, closing
            if abs(gap - level) <= EXACT_GAP * size or high - low <= 1e-15 * end:
                break
            if gap > level:
                low = t
            else:
                high = t
    return max(when, start), speed


@lean
def _side(bodies, forces, geoms, geometry, a, b, t):
    """1 where the middle of piece a is above the plane of facet b at time t, -1 where it is below."""
    x, rot, _, _ = motion_at(bodies, forces, geoms.body[a], t)
    xa, ra = frame_pose(x, rot, load3(geoms.x, a), load9(geoms.rot, a))
    xb, rb = geom_pose(bodies, geoms, b)
    up = facet_normal(geometry, geoms.shape[a], ra, geoms.shape[b], rb)
    return math.copysign(1.0, dot(up, sub(add(xa, mul(ra, load3(geometry.center, geoms.shape[a]))), xb)))


@lean
def _beyond(bodies, forces, geoms, geometry, a, b, t, side, size, axis):
    """(Whether piece a has come from that ``side`` of facet b to the other at time t, by its middle or by the shortest way out;
    gap; axis)."""
    _, gap, _, axis, _, _, _ = distance_at(bodies, forces, geoms, geometry, a, b, t, math.inf, axis)
    turn = load9(bodies.rot, geoms.body[b])
    up = facet_normal(geometry, geoms.shape[a], turn, geoms.shape[b], turn)
    ahead = gap < -AWAY * size and side * dot(axis, up) > 0.0  # the axis is from the piece to the facet
    return ahead or _side(bodies, forces, geoms, geometry, a, b, t) != side, gap, axis


@lean
def _pierced(bodies, forces, geoms, geometry, a, b, start, dt, size, axis):
    """The last instant at which piece a is on the side of facet b on which it touches at ``start``, if it goes through the facet;
    else dt.

    Contacts are asked for no later than that: for what is through a sheet by half, the shortest way out of it leads ahead.
    """
    side = _side(bodies, forces, geoms, geometry, a, b, start)
    if not _beyond(bodies, forces, geoms, geometry, a, b, dt, side, size, axis)[0]:
        return dt
    low, high, deep = start, dt, False
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (low + high)
        through, gap, along = _beyond(bodies, forces, geoms, geometry, a, b, middle, side, size, axis)
        if through:
            high = middle
        else:
            low, axis, deep = middle, along, gap < -AWAY * size
    return low if deep else dt


next_impact = far(
    _next_impact, lambda: (
        EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.geoms, EXAMPLE.pairs, empty_geometry(), 0, 0.0, 0.0, np.zeros((8, 14)),
        np.zeros(8, np.int64),
    ), returns=(0.0,) * 2,
)  # fmt: skip
