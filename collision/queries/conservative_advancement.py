"""Time of impact of two moving, turning shapes: conservative advancement that can not step over a contact.

At a time t the shapes are apart along the normal n. How far they still are at t + s, along that same n, is bounded from
below by

    S(s) = n.(c_b - c_a) + s n.(v_b - v_a) - h_b(-(n + s n x w_b)) - h_a(n + s n x w_a) - s^2 (w_a^2 r_a + w_b^2 r_b) / 2

less the radii of round shapes and what rounding may add until then, with c the centres about which they turn, h the support
functions of the cores about them and r their radii: a point at r has n.r(t + s) = n.r + s r.(n x w) + at most s^2 w^2 r / 2
(Taylor). S is concave, so
S(0) > 0 and S(s) > 0 prove that nothing touches from t to t + s, whatever happens in between. Each step goes to just
before the root of S, which is right to second order: the steps converge quadratically. Steps of the bounding spheres,
which are exact for spheres, come first. Rounding grows with the way that was made, and is part of S.

A shape of revolution is the same however it spins about its axis: what counts is what turns the axis. That may precess, so
that in place of w^2 stands |w across the axis| (|w across| + |w along|).

Conservative advancement: Mirtich (1996), section 2.3.2; the bound by one supporting plane: Catto (2013).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import product

import numpy as np

from tumble.collision.errors import InputError, check_number, check_point, check_vector
from tumble.collision.geometry import CAPSULE, CONE, CYLINDER, ELLIPSOID, HALFSPACE, SPHERE
from tumble.collision.ground.ground_impacts import slices_over_ground
from tumble.collision.hints import Numbers, PoseLike
from tumble.collision.kernels.jit import kernel, lean
from tumble.collision.linalg import ZERO, add, axpy, cross, dot, load3, matmul, mul, mul_t, neg, norm, scale, sub
from tumble.collision.narrowphase import distance_far
from tumble.collision.pose import Pose, as_pose
from tumble.collision.queries.impact_of_compounds import MANY_MOVING, slices
from tumble.collision.shapes.definitions import Compound, ConvexHull, HalfSpace, Shape, convex_parts
from tumble.collision.shapes.ground import Ground
from tumble.collision.shapes.shapeset import set_of, stocked
from tumble.collision.shapes.support_functions import reach
from tumble.collision.shapes.support_points import EPS, core_radius, inflation, is_polytope

HIT, MISS, INSIDE, UNFINISHED = range(4)  # how a search for an impact ends; what a distance is, status.py numbers
FASTEST = 1e30  # m/s, rad/s: their squares must stay in the range of a double
LONGEST_DURATION = 1e30  # s
SOON = 1e-300  # s: stands for none
STRIDES, STRIDE = 2_000, 0.1  # of the smaller shape
MOST_BISECTIONS = 20  # of the last step to an instant at which an uncertain pair has touched
MOST_ADVANCES = 100_000  # steps: a tenth of a second. Most searches take ten, a fast spin beside a body hundreds a turn


class ImpactStatus(IntEnum):
    """Outcome of a search for an impact.

    OVERLAPPING: deeper than the tolerance from the start. UNCERTAIN: the search could not be finished; nothing touches
    until `Impact.time`, and by `Impact.latest` they have touched, if that is known.
    """

    HIT = HIT
    MISS = MISS
    OVERLAPPING = INSIDE
    UNCERTAIN = UNFINISHED

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Motion:
    """A shape on its way: a pose at time 0, a constant velocity and a constant angular velocity.

    velocity [m/s] is that of ``center``, a point fixed to the shape, in its own frame [m]; angular_velocity [rad/s] is in
    world axes. Raises InputError for anything else.
    """

    pose: Pose = Pose()
    velocity: Numbers = (0.0, 0.0, 0.0)
    angular_velocity: Numbers = (0.0, 0.0, 0.0)
    center: Numbers = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", as_pose("pose", self.pose))
        object.__setattr__(self, "center", check_point("center", self.center))
        for name in ("velocity", "angular_velocity"):
            value = check_vector(name, getattr(self, name))
            if max(map(abs, value)) > FASTEST:
                raise InputError(name, value, f"must not be beyond {FASTEST:g}")
            object.__setattr__(self, name, value)

    @classmethod
    def between(cls, start: PoseLike, end: PoseLike, duration: float = 1.0, center: Numbers = (0.0, 0.0, 0.0)) -> Motion:
        """The motion from one pose to another in ``duration`` [s], turning the shorter way about one axis."""
        duration = check_number("duration", duration, above=0.0)
        center = check_vector("center", center)
        start, end = as_pose("start", start), as_pose("end", end)
        moved = end.apply(center) - start.apply(center)
        w, *axis = (end @ start.inverse()).orientation
        half = math.atan2(math.hypot(*axis), abs(w))
        turn = np.array(axis) * math.copysign(2.0 * half / math.sin(half), w) if half > EPS else np.zeros(3)
        return cls(start, tuple(moved / duration), tuple(turn / duration), center)

    def after(self, time: float) -> Motion:
        """What is left of the motion from a time [s] on."""
        return self if time == 0.0 else Motion(self.at(time), self.velocity, self.angular_velocity, self.center)

    def at(self, time: float) -> Pose:
        """The pose at a time [s]."""
        angle = math.hypot(*self.angular_velocity) * time
        half = math.sin(0.5 * angle) / (angle / time) if angle != 0.0 else 0.0
        turn = Pose((0, 0, 0), (math.cos(0.5 * angle), *(half * w for w in self.angular_velocity)))
        turned = Pose((0, 0, 0), (turn @ Pose((0, 0, 0), self.pose.orientation)).orientation)
        there = self.pose.apply(self.center) + time * np.array(self.velocity)
        return Pose(there - turned.apply(self.center), turned.orientation)


@dataclass(frozen=True, eq=False)
class Impact:
    """When two moving shapes first touch.

    time [s]: nothing touches before it; with HIT the shapes are then no further apart than the tolerance; with MISS it
    is the duration. latest [s]: by then they have touched, to twice the tolerance; inf where that is not known, as of a
    MISS. With UNCERTAIN the first touch is between the two, if there is one. point (3,) [m]: midway between the closest
    points there; normal (3,): unit vector from A to B, in world axes. distance [m]: of the shapes at that time.
    iterations: distances that were measured.
    """

    status: ImpactStatus
    time: float
    point: np.ndarray
    normal: np.ndarray
    distance: float
    iterations: int
    latest: float


def time_of_impact(
    a: Shape,
    motion_a: Motion | PoseLike,
    b: Shape,
    motion_b: Motion | PoseLike,
    duration: float = 1.0,
    tolerance: float | None = None,
) -> Impact:
    """The first time in [0, duration] at which shapes a and b touch.

    A pose in place of a motion: the shape rests. ``tolerance`` [m]: shapes that come this close have touched; 1e-9 of
    their size where not given, and never less than rounding. So the time is right to the tolerance over the speed of
    approach. Shapes that touch at the start are a HIT at 0 where they go on to overlap, and no hit where they part or
    slide along each other. A half-space may move but not turn. Ground rests, and is a thin sheet of triangles: what starts in
    touch with it and slides along is a HIT where it comes to another triangle. Raises InputError for what is none of these.
    """
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, Shape):
            raise InputError(name, shape, "must be a Shape")
    motions = {}
    for name, motion, shape in (("motion_a", motion_a, a), ("motion_b", motion_b, b)):
        if not isinstance(motion, Motion):  # it is at rest
            motion = Motion(as_pose(name, motion))
        if isinstance(shape, HalfSpace) and any(motion.angular_velocity):
            raise InputError(name, motion.angular_velocity, "a half-space can not turn; a large Box can")
        motions[name] = motion
    duration, tolerance = checked_limits(duration, tolerance)
    moving = motions["motion_a"], motions["motion_b"]
    if isinstance(a, Ground) or isinstance(b, Ground):
        parts = _over_ground((a, b), moving, duration)
    elif len(convex_parts(a)) * len(convex_parts(b)) > MANY_MOVING:
        parts = _of_compounds((a, b), moving, duration)
    else:
        pieces = [dict(_moving_pieces(shape, motion)) for shape, motion in zip((a, b), moving, strict=True)]
        return _first(*pieces, list(product(*pieces)), duration, tolerance)
    count = 0
    for begin, span, pieces, pairs in parts:
        found = _first(*pieces, pairs, span, tolerance)
        count += found.iterations
        if found.status != MISS:
            return replace(found, time=begin + found.time, iterations=count, latest=begin + found.latest)
    return Impact(ImpactStatus.MISS, duration, np.zeros(3), np.zeros(3), math.inf, count, math.inf)


def checked_limits(duration: float, tolerance: float | None) -> tuple[float, float]:
    """How long, and how closely, an impact is looked for, as kernels take it."""
    duration = check_number("duration", duration, above=0.0)
    if duration > LONGEST_DURATION:
        raise InputError("duration", duration, f"must not be more than {LONGEST_DURATION:g} s")
    return duration, -1.0 if tolerance is None else check_number("tolerance", tolerance, above=0.0)


def _of_compounds(shapes: tuple, motions: tuple, duration: float) -> Iterator[tuple]:
    """Slices of the time: when each begins, how long it lasts [s], the pieces of both shapes, which of them may meet."""
    for begin, span, pairs in slices(set_of(*shapes), motions, duration):
        sides = zip(shapes, motions, pairs.T, strict=True)
        pieces = [dict(_moving_pieces(shape, motion.after(begin), set(rows.tolist()))) for shape, motion, rows in sides]
        yield begin, span, pieces, pairs.tolist()


def _over_ground(shapes: tuple, motions: tuple, duration: float) -> Iterator[tuple]:
    """The same of two shapes of which one is ground."""
    side = 0 if isinstance(shapes[0], Ground) else 1
    ground, rest, shape, motion = shapes[side], motions[side], shapes[1 - side], motions[1 - side]
    if isinstance(shape, Ground):
        raise InputError("b", shape, "is ground, as the other one is: one of them must be a shape that can move")
    if any(rest.velocity) or any(rest.angular_velocity):
        raise InputError(f"motion_{'ab'[side]}", rest, "ground rests: let the other shape move")
    at, turn = rest.pose, tuple(rest.pose.matrix().ravel().tolist())
    for begin, span, corners in slices_over_ground(shape, motion, ground, at, duration):
        plates = {k: (ConvexHull(c), at.position, turn, ZERO, ZERO, ZERO) for k, c in enumerate(corners)}
        moving = dict(_moving_pieces(shape, motion.after(begin)))
        pieces = (moving, plates) if side == 1 else (plates, moving)
        yield begin, span, pieces, list(product(*pieces))


def _first(pieces_a: dict, pieces_b: dict, pairs: list, duration: float, tolerance: float) -> Impact:
    """The first impact of some pairs of pieces, which `_moving_pieces` gives by number."""
    best, latest = None, math.inf
    for i, j in pairs:
        shape_a, *place_a = pieces_a[i]
        shape_b, *place_b = pieces_b[j]
        g, row_a, row_b = stocked(shape_a, shape_b)
        until = min(duration, max(latest, SOON))  # later ones do not matter
        status, t, p, n, d, count, last = impact(g, row_a, *place_a, row_b, *place_b, until, tolerance)
        found = Impact(ImpactStatus(status), float(t), np.array(p), np.array(n), float(d), int(count), float(last))
        if found.status == INSIDE:
            return found
        latest = min(latest, found.latest)
        if best is None or (found.status != MISS and (best.status == MISS or found.time < best.time)):
            best = found
    return best if best.status != UNFINISHED else replace(best, latest=latest)


def _moving_pieces(shape: Shape, motion: Motion, rows: set | None = None):
    """(number, (convex piece, position, rotation, velocity, angular velocity, centre in the frame of the piece)) as kernels take
    them, of all pieces or of some."""
    for k, (piece, place) in enumerate(convex_parts(shape)):
        if rows is not None and k not in rows:
            continue
        pose, center = motion.pose, motion.center
        if isinstance(shape, Compound):
            pose, center = pose @ place, tuple(map(float, place.inverse().apply(center)))
        rotation = tuple(pose.matrix().ravel().tolist())
        yield k, (piece, pose.position, rotation, motion.velocity, motion.angular_velocity, center)


@lean
def turning(w, t):
    """Rotation matrix of the rotation vector w t (Rodrigues)."""
    angle = norm(w) * t
    if angle == 0.0:
        return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    x, y, z = scale(1.0 / norm(w), w)
    s, h = math.sin(angle), math.sin(0.5 * angle)
    c = 2.0 * h * h  # 1 - cos
    return (
        1.0 - c * (y * y + z * z), c * x * y - s * z, c * x * z + s * y,
        c * x * y + s * z, 1.0 - c * (x * x + z * z), c * y * z - s * x,
        c * x * z - s * y, c * y * z + s * x, 1.0 - c * (x * x + y * y),
    )  # fmt: skip


@lean
def radius_about(g, s, center):
    """Radius of a ball about a local point that holds the core of the shape."""
    if not is_polytope(g.kind[s]):
        return core_radius(g, s) + norm(center)
    most = 0.0
    for k in range(g.vertex[s, 0], g.vertex[s, 1]):
        most = max(most, norm(sub(load3(g.vertices, k), center)))
    return most


@lean
def reach_about(g, s, r, center, d):
    """Support function of the core at rotation r about its centre; for a half-space along its normal only."""
    if g.kind[s] == HALFSPACE:
        return norm(d) * (g.size[s, 3] - dot(load3(g.size, s), center))
    local = mul_t(r, d)
    return reach(g, s, local) - dot(local, center)


@lean
def gap_bound(g, a, ra, wa, ca, b, rb, wb, cb, n, gap, closing, bend, s):
    """S(s), see the module; ``gap`` = n.(c_b - c_a) and what does not change, ``closing`` = n.(v_b - v_a), ``bend`` by s^2."""
    da = axpy(s, cross(n, wa), n)
    db = neg(axpy(s, cross(n, wb), n))
    return gap + s * (closing - s * bend) - reach_about(g, a, ra, ca, da) - reach_about(g, b, rb, cb, db)


@lean
def proven_step(g, a, ra, wa, ca, rad_a, b, rb, wb, cb, rad_b, n, gap, closing, rest, tolerance):
    """A time just before the root of S: until then nothing touches. It is inf where S has no root in ``rest``, 0 where S(0) <= 0.

    ``rad_a``, ``rad_b``: radii about the centres. The root lies between lo, where S > 0, and hi, where it is not. The chord
    between them lies below S, which is concave, so its root is not beyond that of S.
    """
    wa, bend_a = turn_of(g, a, ra, wa, ca)
    wb, bend_b = turn_of(g, b, rb, wb, cb)
    bend = of_radius(0.5 * bend_a, rad_a) + of_radius(0.5 * bend_b, rad_b)
    s_hi = gap_bound(g, a, ra, wa, ca, b, rb, wb, cb, n, gap, closing, bend, rest)
    if s_hi > 0.0:
        return math.inf
    s_lo = gap_bound(g, a, ra, wa, ca, b, rb, wb, cb, n, gap, closing, bend, 0.0)
    if s_lo <= 0.0:
        return 0.0
    lo, hi = 0.0, rest
    while hi > 0.0:  # from a rest that is far too long down to the order of the root
        s = 0.125 * hi
        value = gap_bound(g, a, ra, wa, ca, b, rb, wb, cb, n, gap, closing, bend, s)
        if value > 0.0:
            lo, s_lo = s, value
            break
        hi, s_hi = s, value
    enough = 1e-3 * s_lo
    if enough < tolerance:  # the last step
        enough = 0.1 * tolerance
    for k in range(60):
        if s_lo <= enough:
            break
        s = lo + (hi - lo) * s_lo / (s_lo - s_hi) if k % 2 == 0 else 0.5 * (lo + hi)
        value = gap_bound(g, a, ra, wa, ca, b, rb, wb, cb, n, gap, closing, bend, s)
        if value > 0.0:
            lo, s_lo = s, value
        else:
            hi, s_hi = s, value
    return lo


@lean
def balls_touch(x, v, radius):
    """Time until |x + v t| = radius, from outside; inf where that never happens."""
    vv = dot(v, v)
    xv = dot(x, v)
    if xv >= 0.0 or vv == 0.0:
        return math.inf
    foot = axpy(-xv / vv, v, x)  # closest approach
    half = radius * radius - dot(foot, foot)
    if half < 0.0:
        return math.inf
    return max((dot(x, x) - radius * radius) / (math.sqrt(half * vv) - xv), 0.0)


@lean
def turn_of(g, s, r, w, center):
    """(angular velocity that matters for the shape at rotation r, factor in place of w^2): see the module."""
    kind = g.kind[s]
    round_about_z = kind == CYLINDER or kind == CONE or kind == CAPSULE or kind == SPHERE  # noqa: PLR1714
    if kind == ELLIPSOID:
        round_about_z = g.size[s, 0] == g.size[s, 1]
    if not round_about_z or center[0] != 0.0 or center[1] != 0.0:
        return w, dot(w, w)
    axis = (r[2], r[5], r[8])
    along = dot(axis, w)
    across = axpy(-along, axis, w)
    rest = norm(across)
    return across, rest * (rest + abs(along))


@lean
def of_radius(factor, radius):
    """A factor times the radius of a shape: 0 of a half-space, whose radius is inf, but which does not turn."""
    return factor * radius if factor > 0.0 else 0.0


@lean
def search(g, a, xa, ra, va, wa, ca, b, xb, rb, vb, wb, cb, duration, tolerance):
    """(status, time, point, normal, distance, iterations) for shapes a and b of the geometry g.

    x, r: position and rotation at time 0; v, w: velocity of the centre and angular velocity in world axes; c: the centre
    in the frame of the shape. A tolerance below 0 stands for 1e-9 of the size. See `time_of_impact`.
    """
    # all of it happens about A's centre: far from the origin of the world no digit is lost
    offset_a, offset_b = mul(ra, ca), mul(rb, cb)
    x0, v = add(sub(xb, xa), sub(offset_b, offset_a)), sub(vb, va)
    middle_a = add(xa, offset_a)
    rad_a, rad_b = radius_about(g, a, ca), radius_about(g, b, cb)
    inflated = inflation(g, a) + inflation(g, b)
    balls = rad_a + rad_b + inflated
    size = inflated + (rad_a if rad_a < math.inf else 0.0) + (rad_b if rad_b < math.inf else 0.0)
    speed = norm(v) + of_radius(norm(wa), rad_a) + of_radius(norm(wb), rad_b)
    start, drift = 64.0 * EPS * (size + norm(x0)), 64.0 * EPS * speed  # rounding, and what a second of the way adds
    fine = 1e-9 * size
    wanted = fine if tolerance < 0.0 else tolerance
    t, departing, count = 0.0, False, 0
    n, p, d = ZERO, ZERO, 0.0
    first_p, first_n, first_d = p, n, d
    while count < MOST_ADVANCES:
        x = axpy(t, v, x0)
        rounding = start + drift * t
        tolerance = max(wanted, 8.0 * rounding)
        if balls < math.inf and norm(x) - balls > tolerance:
            t += balls_touch(x, v, balls)
            if t >= duration:
                return MISS, duration, p, n, math.inf, count
            x = axpy(t, v, x0)
            rounding = start + drift * t
            tolerance = max(wanted, 8.0 * rounding)
        qa, qb = matmul(turning(wa, t), ra), matmul(turning(wb, t), rb)
        place_a, place_b = neg(mul(qa, ca)), sub(x, mul(qb, cb))
        status, d, lower, upper, n, point_a, point_b, _ = distance_far(g, a, place_a, qa, b, place_b, qb, math.inf, n)
        count += 1
        p = add(axpy(t, va, middle_a), scale(0.5, add(point_a, point_b)))
        if lower <= tolerance:
            if t == 0.0 and upper < -tolerance:
                return INSIDE, 0.0, p, n, d, count
            if departing:
                return HIT, 0.0, first_p, first_n, first_d, count
            if t > 0.0 or upper - lower > tolerance:
                return (HIT if upper <= 2.0 * tolerance else UNFINISHED), t, p, n, d, count
        # at the start a touch does not count until it gets deeper, by more than a search can tell
        floor = rounding
        if t == 0.0 and lower <= tolerance:
            departing = True
            first_p, first_n, first_d = p, n, d
            floor = min(lower, 0.0) - 3.0 * min(tolerance, max(fine, 8.0 * rounding))
        else:
            departing = False
        gap, closing = dot(n, x) - inflated - floor, dot(n, v) - drift
        step = proven_step(g, a, qa, wa, ca, rad_a, b, qb, wb, cb, rad_b, n, gap, closing, duration - t, tolerance)
        if step == math.inf:
            return MISS, duration, p, n, d, count
        if t + step == t:
            return UNFINISHED, t, p, n, d, count
        t += step
    return UNFINISHED, t, p, n, d, count


@lean
def touched(g, a, xa, ra, va, wa, ca, b, xb, rb, vb, wb, cb, t, tolerance):
    """Are the shapes at the time t certainly no further apart than twice the tolerance, or what stands for one that is none?"""
    offset_a, offset_b = mul(ra, ca), mul(rb, cb)
    x = axpy(t, sub(vb, va), add(sub(xb, xa), sub(offset_b, offset_a)))
    qa, qb = matmul(turning(wa, t), ra), matmul(turning(wb, t), rb)
    place_a, place_b = neg(mul(qa, ca)), sub(x, mul(qb, cb))
    _, _, _, upper, _, _, _, _ = distance_far(g, a, place_a, qa, b, place_b, qb, math.inf, ZERO)
    return upper <= 2.0 * tolerance


@lean
def last_instant(g, a, side_a, b, side_b, t, duration, tolerance):
    """A time after t at which the shapes have certainly touched: steps that double, then halves; inf where none is found.

    For the first STRIDES steps they are so short that nothing moves by more than a part of the smaller shape.
    """
    size, small = 0.0, math.inf
    for s in (a, b):
        if g.kind[s] != HALFSPACE:
            size += g.radius[s]
            small = min(small, g.radius[s])
    wanted = 1e-9 * size if tolerance < 0.0 else tolerance
    (xa, ra, va, wa, ca), (xb, rb, vb, wb, cb) = side_a, side_b
    speed = max(norm(sub(vb, va)) + (norm(wa) + norm(wb)) * size, 1e-30)
    step, least, strides = max(wanted / speed, 4.0 * EPS * t), 4.0 * EPS * t, 0
    before = t
    while True:
        strides += 1
        last = min(before + step, duration)
        if touched(g, a, xa, ra, va, wa, ca, b, xb, rb, vb, wb, cb, last, wanted):
            break
        if not last < duration:
            return math.inf
        before = last
        step *= 2.0
        if strides < STRIDES:
            step = max(min(step, STRIDE * small / speed), least)
    for _ in range(MOST_BISECTIONS):
        middle = 0.5 * (before + last)
        if touched(g, a, xa, ra, va, wa, ca, b, xb, rb, vb, wb, cb, middle, wanted):
            last = middle
        else:
            before = middle
    return last


@kernel
def impact(g, a, xa, ra, va, wa, ca, b, xb, rb, vb, wb, cb, duration, tolerance):
    """The result of `search`, and a time by which the shapes have touched. Where the search can not tell that, steps in time find
    it."""
    status, t, p, n, d, count = search(g, a, xa, ra, va, wa, ca, b, xb, rb, vb, wb, cb, duration, tolerance)
    latest = math.inf if status == MISS else t
    if status == UNFINISHED:
        latest = last_instant(g, a, (xa, ra, va, wa, ca), b, (xb, rb, vb, wb, cb), t, duration, tolerance)
    return status, t, p, n, d, count, latest
