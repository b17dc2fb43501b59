"""The interval [enter, leave] that a convex shape cuts out of a line o + t d, d a unit vector, all in the frame of the shape.

In closed form for each kind. The surface of a polytope with a skin is made of balls about its vertices, tubes about its
edges, and its faces, moved out. For round shapes with a skin Newton's method finds the ends, by the distance, which is convex
along the line: started from outside it never steps past an end.
"""

from __future__ import annotations

import math

from tumble.collision.distance.overlap import over_face
from tumble.collision.geometry import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, HALFSPACE, HULL, SPHERE
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, axpy, dot, load3, neg, norm, scale, sub
from tumble.collision.pairs.point_distance import point_curved
from tumble.collision.shapes.support_points import EPS, is_polytope

MISS = (math.inf, -math.inf, ZERO)
WHOLE_LINE = (-math.inf, math.inf, ZERO)
ROOT_STEPS = 100  # of Newton's method: six are the rule, fifty where the line grazes the shape


@lean
def interval(g, shape, o, d):
    """(enter, leave, normal at enter) of the line o + t d in the shape's frame; enter > leave: it misses."""
    kind = g.kind[shape]
    s0, s1, s2 = load3(g.size, shape)
    if g.skin[shape] > 0.0:
        return through_skin(g, shape, o, d)
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
    return WHOLE_LINE if height <= 0.0 else MISS


@lean
def through_slab(axis, half, o, d):
    """|x_axis| <= half"""
    if d[axis] == 0.0:
        return WHOLE_LINE if abs(o[axis]) <= half else MISS
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
        return WHOLE_LINE if o[0] * o[0] + o[1] * o[1] <= radius * radius else MISS
    across = math.sqrt(a)
    e = (d[0] / across, d[1] / across, 0.0)
    enter, leave, n = through_ball(radius, (o[0], o[1], 0.0), e)
    return enter / across, leave / across, n


@lean
def through_capsule(radius, half, o, d):
    """A tube between two balls."""
    ends = MISS
    for z in (-half, half):
        ends = either(ends, through_ball(radius, (o[0], o[1], o[2] - z), d))
    return either(ends, both(through_tube(radius, o, d), through_slab(2, half, o, d)))


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
    if g.rank[shape] < 2:
        return MISS
    if g.rank[shape] == 2:
        return through_polygon(g, shape, o, d)
    found = WHOLE_LINE
    for f in range(g.face[shape, 0], g.face[shape, 1]):
        found = both(found, through_plane(load3(g.normals, f), g.offsets[f], o, d))
    return found


@lean
def through_polygon(g, shape, o, d):
    """A flat hull, hit from either side."""
    f = g.face[shape, 0]
    n = load3(g.normals, f)
    slope = dot(n, d)
    if slope == 0.0:
        return MISS
    t = (g.offsets[f] - dot(n, o)) / slope
    if not over_face(g.normals, g.loop_start, g.loops, g.vertices, f, axpy(t, d, o), 0.0):
        return MISS
    return t, t, n if slope < 0.0 else neg(n)


@lean
def through_skin(g, shape, o, d):
    """A shape with a ball added to it."""
    if is_polytope(g.kind[shape]):
        return through_rounded(g, shape, g.skin[shape], o, d)
    enter, n = enter_skin(g, shape, o, d)
    if enter == math.inf:
        return MISS
    leave, _ = enter_skin(g, shape, o, neg(d))
    return enter, -leave, n


@lean
def through_rounded(g, shape, radius, o, d):
    """A polytope with a ball added: from the first to the last of its balls, tubes and faces."""
    found = MISS
    for k in range(g.vertex[shape, 0], g.vertex[shape, 1]):
        found = either(found, through_ball(radius, sub(o, load3(g.vertices, k)), d))
    for k in range(g.edge[shape, 0], g.edge[shape, 1]):
        u = load3(g.vertices, g.edges[k, 0])
        found = either(found, through_edge(radius, sub(o, u), sub(load3(g.vertices, g.edges[k, 1]), u), d))
    for f in range(g.face[shape, 0], g.face[shape, 1]):
        n = load3(g.normals, f)
        slope = dot(n, d)
        if slope != 0.0:
            t = (g.offsets[f] + radius - dot(n, o)) / slope
            if over_face(g.normals, g.loop_start, g.loops, g.vertices, f, axpy(t, d, o), 0.0):
                found = either(found, (t, t, n))
    return found


@lean
def through_edge(radius, o, e, d):
    """A tube about the segment from the origin to e, without its ends."""
    length = norm(e)
    e = scale(1.0 / length, e)
    slope = dot(e, d)
    across = axpy(-slope, e, d)
    a = norm(across)
    if a < 1e-12:
        return MISS  # along it: the balls at its ends are as wide
    height = dot(e, o)
    enter, leave, n = through_ball(radius, axpy(-height, e, o), scale(1.0 / a, across))
    enter, leave = enter / a, leave / a
    if slope != 0.0:  # what is cut off at the ends lies in the balls there
        s, t = -height / slope, (length - height) / slope
        enter, leave = max(enter, min(s, t)), min(leave, max(s, t))
    elif not 0.0 <= height <= length:
        return MISS
    return enter, leave, n


@lean
def enter_skin(g, shape, o, d):
    """(t, normal) where a line enters a round shape with its skin; (inf, 0) where it does not."""
    t, last, _ = through_ball(g.radius[shape] * (1.0 + 1e-9), o, d)
    fine = 2.0 * EPS * (g.radius[shape] + norm(o))
    n = ZERO
    for _ in range(ROOT_STEPS if t <= last else 0):
        c = axpy(t, d, o)
        low, _, n, _ = point_curved(g, shape, c, c)
        gap = low - g.skin[shape]
        if gap <= fine:
            return t, n
        slope = dot(n, d)
        if slope >= 0.0 or t - gap / slope > last:
            return math.inf, ZERO
        if t - gap / slope == t:
            return t, n
        t -= gap / slope
    return (t, n) if t <= last else (math.inf, ZERO)
