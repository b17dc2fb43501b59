"""When free coordinates of joints come to their stops: the first instant in the drift, on the flight of the bodies.

Between the start of a flight and its end a coordinate is close to the cubic through its values and rates there (Hermite). Where
that reaches the stop, the instant is a root of the coordinate itself, found within a bracket.

What comes to a stop loses its rate there (joint_impulses.py). If it would go beyond from rest, too, it comes again at once: it is
pressed on, and kept.
"""

from __future__ import annotations

import math

from tumble.collision.kernels.jit import far, inner, lean, remote
from tumble.collision.linalg import add, cross, dot, sub
from tumble.sim.flight.motion import motion_at
from tumble.sim.joints.kept_rows import AT_STOP, struck_from
from tumble.sim.joints.rows import AT_LOW, NOT_KEPT, place_at, unwrapped
from tumble.sim.state import EXAMPLE

LOOKS = 8  # places on a flight that comes near a stop at which the coordinate is read, to find the first crossing
MOST_CUTS = 100  # most cuts of the bracket of a crossing
NO_WAY = 1e-13  # [m or rad] an instant is found when the coordinate is so near to its stop; less is no way at all


@lean
def has_stops(joints, j):
    """Whether the free coordinate of joint j is bounded."""
    return joints.axis[j] >= 0 and (math.isfinite(joints.limit[j, 0]) or math.isfinite(joints.limit[j, 1]))


@inner
def find_stops(bodies, forces, joints, stops, touched, all):
    """Find when coordinates whose bodies are ``touched``, or all, next come to a stop: into ``stops``; inf: not in this drift."""
    for j in range(len(joints.kind)):
        a, b = joints.body[j, 0], joints.body[j, 1]
        if all or (a >= 0 and touched[a]) or (b >= 0 and touched[b]):
            stops[j] = math.inf
            if has_stops(joints, j):
                stops[j] = find_stop(bodies, forces, joints, j)


@lean
def first_stop(stops):
    """The joint whose coordinate comes to a stop first, -1: none; and when."""
    first, t = -1, math.inf
    for j in range(len(stops)):
        if stops[j] < t:
            first, t = j, stops[j]
    return first, t


@remote
def _find_stop(bodies, forces, joints, j):
    """When the free coordinate of joint j next comes to a stop that does not keep it; inf: not on this flight."""
    k = forces.link_of[j]
    if k < 0:
        return math.inf
    c, axis = forces.cluster[joints.body[j, 0] if _flies(forces, joints.body[j, 0]) else joints.body[j, 1]], joints.axis[j]
    start, end = bodies.t0[forces.member[forces.first_member[c]]], forces.ends[c]
    kept = joints.kept[j] - AT_LOW if joints.kept[j] != NOT_KEPT and forces.held[k, axis] == 1 else -1
    h, earliest, way = end - start, math.inf, (end - start) * struck_from(0.0, forces.clock[1])
    if not h > 0.0:
        return math.inf
    value, rate = _coordinate(bodies, forces, joints, j, start, joints.value[j] + start * joints.pace[j])
    last, last_rate = _coordinate(bodies, forces, joints, j, end, value + h * rate)
    for r in range(2):
        if not math.isfinite(joints.limit[j, r]) or r == kept:
            continue
        sense = 1.0 if r == 0 else -1.0
        # what is beyond its stop goes no further: a displacement takes it back (contact/overlap_correction.py)
        stop = min(joints.limit[j, r], value) if r == 0 else max(joints.limit[j, r], value)
        gap, d0 = sense * (value - stop), h * sense * rate
        gap_end, d1 = sense * (last - stop), h * sense * last_rate
        begin = start
        if gap <= AT_STOP:
            if d0 < -way or (d0 <= way and 3.0 * (gap_end - gap) - 2.0 * d0 - d1 < -NO_WAY):
                return start
            begin = start + h * _top(gap, d0, gap_end, d1)
        if min(gap_end, _least(gap, d0, gap_end, d1)) < -NO_WAY:
            earliest = min(
                earliest, _crossing(bodies, forces, joints, j, sense, stop, begin, end, value + (begin - start) * rate)
            )
    return earliest


find_stop = far(_find_stop, lambda: (EXAMPLE.bodies, EXAMPLE.forces, EXAMPLE.joints, 0), returns=0.0)


@lean
def _flies(forces, i):
    """Whether body i is of a cluster, which flies as a whole."""
    return i >= 0 and forces.cluster[i] >= 0


@lean
def _turns(g0, d0, g1, d1, sense):
    """Where the cubic with these ends and slopes turns, between 0 and 1: from a fall to a rise (``sense`` 1), or the other way
    (-1). 0 where it goes that way from the start, 1 where it never does."""
    a, b = g1 - g0 - d0, d1 - d0
    c2, c3 = 3.0 * a - b, b - 2.0 * a  # g0 + s (d0 + s (c2 + s c3))
    root = c2 * c2 - 3.0 * c3 * d0
    if root < 0.0 or sense * d0 >= 0.0:
        return 0.0 if sense * d0 >= 0.0 else 1.0
    down = sense * c2 + math.sqrt(root)
    return min(1.0, -sense * d0 / down) if down > 0.0 else 1.0


@lean
def _top(g0, d0, g1, d1):
    """Where a cubic that leaves zero first turns back, between 0 and 1; 1: it does not before."""
    return _turns(g0, d0, g1, d1, -1.0)


@lean
def _least(g0, d0, g1, d1):
    """The least value of the cubic where it turns, between 0 and 1; for one that leaves first, that of its end."""
    s = _turns(g0, d0, g1, d1, 1.0)
    a, b = g1 - g0 - d0, d1 - d0
    return g0 + s * (d0 + s * (3.0 * a - b + s * (b - 2.0 * a))) if 0.0 < s < 1.0 else g1


@lean
def _crossing(bodies, forces, joints, j, sense, stop, begin, end, expected):
    """When the coordinate, inside at ``begin``, goes through ``stop``; inf: it turns back before."""
    h = end - begin
    value, rate = _coordinate(bodies, forces, joints, j, begin, expected)
    low, high, t, there = begin, math.inf, begin, sense * (value - stop)
    if there <= NO_WAY:  # it turned back at once
        return begin
    for n in range(1, LOOKS + 1):
        t = begin + h * n / LOOKS
        value, rate = _coordinate(bodies, forces, joints, j, t, value + h / LOOKS * rate)
        there = sense * (value - stop)
        if there <= 0.0:
            high = t
            break
        low = t
    if high == math.inf:
        return math.inf
    for _ in range(MOST_CUTS):  # Newton's way, within a bracket that is halved where it leads out
        if abs(there) <= NO_WAY:
            return t
        t -= there / (sense * rate) if rate != 0.0 else 0.0
        if not low < t < high:
            t = 0.5 * (low + high)
            if not low < t < high:
                break
        value, rate = _coordinate(bodies, forces, joints, j, t, value)
        there = sense * (value - stop)
        if there > 0.0:
            low = t
        else:
            high = t
    return low


@lean
def _coordinate(bodies, forces, joints, j, t, expected):
    """The free coordinate of joint j at time t of the flight, the turn nearest to what is ``expected``, and its rate."""
    xi, ri, vi, wi = motion_at(bodies, forces, joints.body[j, 0], t)
    xj, rj, vj, wj = motion_at(bodies, forces, joints.body[j, 1], t)
    point, f, values = place_at(joints, j, xi, ri, xj, rj)
    axis = joints.axis[j]
    c = axis if axis < 3 else 6 + axis
    along = (f[c], f[c + 3], f[c + 6])
    if axis < 3:
        rate = dot(along, sub(add(vj, cross(wj, sub(point, xj))), add(vi, cross(wi, sub(point, xi)))))
    else:
        rate = dot(along, sub(wj, wi))
    return unwrapped(joints, j, values[axis], expected), rate
