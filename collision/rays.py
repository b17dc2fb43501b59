"""Ray casts: the first point of a shape on a half-line.

Every convex shape cuts an interval [enter, leave] out of the line, found in closed form for each kind. The ray hits where
it enters; one that starts inside hits at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from collision.errors import MOST_LENGTH, InputError, check_number, check_point, check_vector
from collision.geometry import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, HALFSPACE, HULL, SPHERE, empty_geometry
from collision.jit import far, kernel, lean
from collision.linalg import IDENTITY, ZERO, axpy, cross, dot, load3, mul, mul_t, neg, norm, scale, store3, sub
from collision.pose import Pose, as_pose
from collision.shapes import Shape, convex_parts
from collision.shapeset import ShapeSet, set_of

MISS = (math.inf, -math.inf, ZERO)
ALL = (-math.inf, math.inf, ZERO)


@dataclass(frozen=True, eq=False)
class RayHit:
    """Where a ray meets a shape.

    distance [m] from the origin of the ray; point (3,) [m] and normal (3,) in world axes, the normal pointing out of
    the shape. inside: the ray starts in the shape or on its surface; distance is 0, and in the shape normal points back
    along the ray. part: which convex piece of a compound it is; shape: which of several shapes.
    """

    distance: float
    point: np.ndarray
    normal: np.ndarray
    inside: bool
    part: int
    shape: int = 0


@dataclass(frozen=True, eq=False)
class RayHits:
    """Where n rays meet shapes: `RayHit` in columns. A ray that misses has distance inf, part and shape -1 and nan elsewhere."""

    distance: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    part: np.ndarray
    shape: np.ndarray


def ray_cast(shape: Shape | ShapeSet, pose, origin, direction, reach: float = math.inf) -> RayHit | None:
    """Where the ray from ``origin`` along ``direction`` first meets the shape at that pose; None where it does not.

    Of a `ShapeSet`, at a list of poses, one for each of its shapes, the nearest is hit.
    direction: of any length but zero. ``reach`` [m]: how far the ray goes. A compound is hit at the nearest of its
    pieces. Hulls without volume: a flat polygon is hit from both sides, a segment or a point never. Raises InputError
    for what is not a shape, a pose or a number.
    """
    origin = np.array([check_point("origin", origin)])
    direction = np.array([check_vector("direction", direction)])
    found = ray_casts(shape, pose, origin, direction, reach)
    if found.part[0] < 0:
        return None
    distance, normal = float(found.distance[0]), found.normal[0]
    return RayHit(distance, found.point[0], normal, distance == 0.0, int(found.part[0]), int(found.shape[0]))


def ray_casts(shape: Shape | ShapeSet, pose, origins, directions, reach: float = math.inf) -> RayHits:
    """Many rays in one compiled call: origins and directions (n, 3), or one row for all. See `ray_cast`."""
    shapes, poses = _placed_shapes(shape, pose)
    reach = reach if reach == math.inf else check_number("reach", reach, least=0.0)
    origins, directions = _rows("origins", origins), _rows("directions", directions)
    beyond = np.abs(origins).max(axis=1) > MOST_LENGTH
    if beyond.any():
        check_point(f"origins[{beyond.argmax()}]", origins[beyond.argmax()])
    if len({len(origins), len(directions)} - {1}) > 1:
        raise InputError("directions", directions, f"must be as many as the origins ({len(origins)}), or one for all")
    length = np.sqrt(np.einsum("ij,ij->i", directions, directions))
    if not np.all((length > 1e-150) & (length < 1e150)):
        raise InputError("direction", directions[np.argmin(length)], "must have a length")
    origins, directions = np.broadcast_arrays(origins, directions / length[:, None])
    places = [p for s, pose in zip(shapes.shapes, poses, strict=True) for p in _places(s, pose)]
    g = shapes.geometry
    x = np.array([p.position for p in places]).reshape(-1, 3)
    r = np.array([p.matrix().ravel() for p in places]).reshape(-1, 9)
    n = len(origins)
    distance, normal, part = np.empty(n), np.empty((n, 3)), np.empty(n, np.int64)
    cast(g, x, r, np.ascontiguousarray(origins), np.ascontiguousarray(directions), reach, distance, normal, part)
    point = np.where(part[:, None] < 0, np.nan, origins + np.where(part < 0, 0.0, distance)[:, None] * directions)
    which = np.where(part < 0, -1, np.searchsorted(shapes.first, part, side="right") - 1)
    part = np.where(part < 0, -1, part - shapes.first[which])
    return RayHits(distance, point, normal, part, which)


def _placed_shapes(shape, pose) -> tuple[ShapeSet, list[Pose]]:
    """What rays are cast at, and where it stands."""
    if isinstance(shape, Shape):
        return set_of(shape), [as_pose("pose", pose)]
    if not isinstance(shape, ShapeSet):
        raise InputError("shape", shape, "must be a Shape or a ShapeSet")
    poses = [as_pose(f"pose[{k}]", p) for k, p in enumerate(pose)] if hasattr(pose, "__len__") else []
    if len(poses) != len(shape):
        raise InputError("pose", pose, f"must hold a pose for each of the {len(shape)} shapes")
    return shape, poses


def _places(shape: Shape, pose: Pose) -> list[Pose]:
    return [pose @ p if p != Pose() else pose for _, p in convex_parts(shape)]


def _rows(name: str, value) -> np.ndarray:
    try:
        rows = np.array(value, float)
    except (TypeError, ValueError):
        rows = np.empty(0)
    rows = rows[None] if rows.shape == (3,) else rows
    if rows.ndim != 2 or rows.shape[1] != 3 or not np.all(np.isfinite(rows)):
        raise InputError(name, value, "must be an (n, 3) array of finite numbers")
    return rows


@kernel
def cast(g, x, r, origins, directions, reach, distance, normal, part):
    """`ray` for many rays on all shapes of g, shape k at position x[k] and rotation r[k] (nine numbers); the nearest."""
    for i in range(len(origins)):
        distance[i] = math.inf
        part[i] = -1
        for k in range(3):
            normal[i, k] = math.nan
        limit = reach
        for s in range(len(g.kind)):
            rs = (r[s, 0], r[s, 1], r[s, 2], r[s, 3], r[s, 4], r[s, 5], r[s, 6], r[s, 7], r[s, 8])
            hit, t, n = ray(g, s, load3(x, s), rs, load3(origins, i), load3(directions, i), limit)
            if hit and t < distance[i]:
                distance[i] = limit = t
                part[i] = s
                store3(normal, i, n)


@kernel
def ray(g, shape, x, r, origin, direction, reach):
    """(hit, t, normal): where the ray from ``origin`` along the unit vector ``direction`` meets the shape at x, r.

    t [m] <= ``reach``; normal in world axes, out of the shape. A ray that starts inside hits at t = 0, its normal
    pointing back along it. A miss: (False, inf, 0).
    """
    d = mul_t(r, direction)
    o = mul_t(r, sub(origin, x))
    near = -dot(sub(o, load3(g.center, shape)), d)  # from where the line passes the shape: a start far away costs no digits
    if g.kind[shape] == HALFSPACE:
        near = 0.0
    o = axpy(near, d, o)
    enter, leave, n = interval(g, shape, o, d)
    enter += near
    leave += near
    if not (enter <= leave and leave >= 0.0 and enter <= reach):
        return False, math.inf, ZERO
    if enter <= 0.0:
        if enter == 0.0:
            return True, 0.0, mul(r, n)
        return True, 0.0, neg(direction)
    return True, enter, mul(r, n)


ray_far = far(ray, lambda: (empty_geometry(), 0, ZERO, IDENTITY, ZERO, ZERO, 0.0))


@lean
def interval(g, shape, o, d):
    """(enter, leave, normal at enter) of the line o + t d in the shape's frame; enter > leave: it misses."""
    kind = g.kind[shape]
    s0, s1, s2 = load3(g.size, shape)
    if kind == HALFSPACE:
        return through_plane((s0, s1, s2), g.size[shape, 3], o, d)
    if kind == SPHERE:
        return through_ball(s0, o, d)
    if kind == CAPSULE:
        return through_capsule(s0, s1, o, d)
    if kind == BOX:
        first = both(through_slab(0, s0, o, d), through_slab(1, s1, o, d))
        return both(first, through_slab(2, s2, o, d))
    if kind == HULL:
        return through_hull(g, shape, o, d)
    if kind == CYLINDER:
        return both(through_tube(s0, o, d), through_slab(2, s1, o, d))
    if kind == CONE:
        return both(through_nappe(s0, s1, o, d), through_plane((0.0, 0.0, -1.0), s1, o, d))
    if kind == ELLIPSOID:
        return through_ellipsoid((s0, s1, s2), o, d)
    return MISS


@lean
def both(a, b):
    """The interval that two have in common."""
    if a[0] >= b[0]:
        return a[0], min(a[1], b[1]), a[2]
    return b[0], min(a[1], b[1]), b[2]


@lean
def either(a, b):
    """The interval from the first to the last of two, either of which may be empty."""
    if a[0] > a[1]:
        return b
    if b[0] > b[1]:
        return a
    return min(a[0], b[0]), max(a[1], b[1]), a[2] if a[0] <= b[0] else b[2]


@lean
def through_plane(n, offset, o, d):
    """n.x <= offset"""
    height = dot(n, o) - offset
    slope = dot(n, d)
    if slope < 0.0:
        return -height / slope, math.inf, n
    if slope > 0.0:
        return -math.inf, -height / slope, ZERO
    return ALL if height <= 0.0 else MISS


@lean
def through_slab(axis, half, o, d):
    """|x_axis| <= half"""
    if d[axis] == 0.0:
        return ALL if abs(o[axis]) <= half else MISS
    sign = math.copysign(1.0, d[axis])
    n = (-sign if axis == 0 else 0.0, -sign if axis == 1 else 0.0, -sign if axis == 2 else 0.0)
    return (-sign * half - o[axis]) / d[axis], (sign * half - o[axis]) / d[axis], n


@lean
def through_ball(radius, o, d):
    """|x| <= radius"""
    b = dot(o, d)
    m = axpy(-b, d, o)  # foot of the perpendicular from the centre
    half2 = radius * radius - dot(m, m)
    if half2 < 0.0:
        return MISS
    half = math.sqrt(half2)
    p = axpy(-half, d, m)
    return -b - half, -b + half, scale(1.0 / norm(p), p)


@lean
def through_ellipsoid(radii, o, d):
    """A ball of radius 1 in coordinates x / radii."""
    a = (o[0] / radii[0], o[1] / radii[1], o[2] / radii[2])
    e = (d[0] / radii[0], d[1] / radii[1], d[2] / radii[2])
    length = norm(e)
    enter, leave, p = through_ball(1.0, a, scale(1.0 / length, e))
    if enter > leave:
        return MISS
    n = (p[0] / radii[0], p[1] / radii[1], p[2] / radii[2])
    return enter / length, leave / length, scale(1.0 / norm(n), n)


@lean
def through_tube(radius, o, d):
    """x^2 + y^2 <= radius^2"""
    a = d[0] * d[0] + d[1] * d[1]
    if a == 0.0:
        return ALL if o[0] * o[0] + o[1] * o[1] <= radius * radius else MISS
    across = math.sqrt(a)
    e = (d[0] / across, d[1] / across, 0.0)
    enter, leave, n = through_ball(radius, (o[0], o[1], 0.0), e)
    if enter > leave:
        return MISS
    return enter / across, leave / across, n


@lean
def through_capsule(radius, half, o, d):
    """A tube between two balls."""
    ends = MISS
    for z in (-half, half):
        ends = either(ends, through_ball_at(radius, z, o, d))
    enter, leave, n = both(through_tube(radius, o, d), through_slab(2, half, o, d))
    return either(ends, (enter, leave, n))


@lean
def through_ball_at(radius, z, o, d):
    """A ball about (0, 0, z)."""
    return through_ball(radius, (o[0], o[1], o[2] - z), d)


@lean
def through_nappe(radius, half, o, d):
    """x^2 + y^2 <= k^2 (half - z)^2 with z <= half, k = radius / (2 half): the cone without its base."""
    k = 0.5 * radius / half
    w = half - o[2]  # depth below the tip
    a = d[0] * d[0] + d[1] * d[1] - k * k * d[2] * d[2]
    b = o[0] * d[0] + o[1] * d[1] + k * k * w * d[2]
    # b^2 - a c, as a sum without cancellation (Lagrange's identity)
    u = (o[0] * d[2] + w * d[0], o[1] * d[2] + w * d[1])
    turn = o[0] * d[1] - o[1] * d[0]
    disc = k * k * (u[0] * u[0] + u[1] * u[1]) - turn * turn
    if disc < 0.0:
        return MISS
    c = o[0] * o[0] + o[1] * o[1] - k * k * w * w
    q = -(b + math.copysign(math.sqrt(disc), b))
    if q == 0.0:  # b = disc = 0: c = 0, or a line that touches along its whole length
        return (0.0, 0.0, (0.0, 0.0, 1.0)) if a > 0.0 else MISS
    t0 = c / q
    t1 = q / a if a != 0.0 else math.copysign(math.inf, q)
    if t0 > t1:
        t0, t1 = t1, t0
    if a >= 0.0:  # inside between the roots; parallel to the side one of them is infinite
        if w - 0.5 * (t0 + t1) * d[2] < 0.0:  # in the nappe above the tip
            return MISS
    elif d[2] > 0.0:  # steep: the line comes from below inside the cone, or leaves downward inside it
        t0, t1 = -math.inf, t0
    else:
        t0, t1 = t1, math.inf
    if t0 == -math.inf:
        return t0, t1, ZERO
    p = axpy(t0, d, o)
    rho = math.sqrt(p[0] * p[0] + p[1] * p[1])
    if rho == 0.0:
        return t0, t1, (0.0, 0.0, 1.0)
    n = (p[0] / rho, p[1] / rho, k)
    return t0, t1, scale(1.0 / norm(n), n)


@lean
def through_hull(g, shape, o, d):
    """Clipped by the planes of all faces; a flat polygon: where its plane is met, within its outline."""
    enter, leave, n = -math.inf, math.inf, ZERO
    if g.rank[shape] < 2:
        return MISS
    if g.rank[shape] == 2:
        return through_polygon(g, shape, o, d)
    for f in range(g.face[shape, 0], g.face[shape, 1]):
        a, b, m = through_plane(load3(g.normals, f), g.offsets[f], o, d)
        if a > enter:
            enter, n = a, m
        leave = min(leave, b)
    return enter, leave, n


@lean
def through_polygon(g, shape, o, d):
    """A flat hull, hit from either side."""
    f = g.face[shape, 0]
    n = load3(g.normals, f)
    slope = dot(n, d)
    if slope == 0.0:
        return MISS
    t = (g.offsets[f] - dot(n, o)) / slope
    p = axpy(t, d, o)
    first, stop = g.loop_start[f], g.loop_start[f + 1]
    for k in range(first, stop):
        a = load3(g.vertices, g.loops[k])
        b = load3(g.vertices, g.loops[k + 1 if k + 1 < stop else first])
        if dot(cross(sub(b, a), sub(p, a)), n) < 0.0:
            return MISS
    return t, t, n if slope < 0.0 else neg(n)
