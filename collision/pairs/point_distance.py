"""A point against one shape: signed distance in closed form, or by the one root of a convex function."""

from __future__ import annotations

import math

from tumble.collision.geometry import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID
from tumble.collision.kernels.jit import hypot, lean
from tumble.collision.linalg import dot, load3, mul_t, norm, scale, sub
from tumble.collision.shapes.support_functions import reach

POINT_STEPS = 60  # steps for the root; ten are the rule


@lean
def radial(c, guess):
    """Unit vector from the z axis to c, and the distance; towards ``guess`` for a point on the axis."""
    across = hypot(c[0], c[1])
    if across > 0.0:
        return c[0] / across, c[1] / across, across
    length = hypot(guess[0], guess[1])
    if length > 0.0:
        return guess[0] / length, guess[1] / length, 0.0
    return 1.0, 0.0, 0.0


@lean
def profile_side(rho, z, r0, z0, r1, z1, n_rho, n_z):
    """(height over its line, closest point) of the point (rho, z) and the segment (r0, z0)-(r1, z1) with the outward normal n."""
    height = (rho - r0) * n_rho + (z - z0) * n_z
    e_r, e_z = r1 - r0, z1 - z0
    u = ((rho - r0) * e_r + (z - z0) * e_z) / (e_r * e_r + e_z * e_z)
    if u <= 0.0:
        return height, r0, z0
    if u >= 1.0:
        return height, r1, z1
    return height, rho - height * n_rho, z - height * n_z


@lean
def nearer(best, best_r, best_z, rho, z, q_r, q_z):
    """The closer of two points of the profile to (rho, z)."""
    d = hypot(rho - q_r, z - q_z)
    if d < best:
        return d, q_r, q_z
    return best, best_r, best_z


@lean
def point_revolved(kind, radius, half, c, guess):
    """(signed distance, outward normal, closest point) of a point and a cylinder or a cone, by its profile, a polygon."""
    cx, cy, rho = radial(c, guess)
    z = c[2]
    if kind == CYLINDER:
        h0, q0, y0 = profile_side(rho, z, 0.0, half, radius, half, 0.0, 1.0)
        h1, q1, y1 = profile_side(rho, z, 0.0, -half, radius, -half, 0.0, -1.0)
        h2, q2, y2 = profile_side(rho, z, radius, -half, radius, half, 1.0, 0.0)
        n0, m0, n1, m1, n2, m2 = 0.0, 1.0, 0.0, -1.0, 1.0, 0.0
        if z < 0.0:  # that of the two ends which is nearer
            h0, q0, y0, n0, m0 = h1, q1, y1, n1, m1
    else:
        slant = hypot(2.0 * half, radius)
        n2, m2 = 2.0 * half / slant, radius / slant
        h0, q0, y0 = profile_side(rho, z, 0.0, -half, radius, -half, 0.0, -1.0)
        h2, q2, y2 = profile_side(rho, z, radius, -half, 0.0, half, n2, m2)
        n0, m0 = 0.0, -1.0
    if max(h0, h2) <= 0.0:
        if h0 >= h2:
            return h0, (0.0, 0.0, m0), (c[0], c[1], z - h0 * m0)
        return h2, (n2 * cx, n2 * cy, m2), ((rho - h2 * n2) * cx, (rho - h2 * n2) * cy, z - h2 * m2)
    best, q, y = nearer(math.inf, 0.0, 0.0, rho, z, q0, y0)
    best, q, y = nearer(best, q, y, rho, z, q2, y2)
    n_r, n_z = rho - q, z - y
    if best > 0.0:
        n_r, n_z = n_r / best, n_z / best
    if h0 > 0.0 and q == q0 and y == y0 and q0 == rho:  # over a flat: its normal exactly
        n_r, n_z, best = n0, m0, h0
    elif h2 > 0.0 and h2 >= best * (1.0 - 1e-15):
        n_r, n_z, best = n2, m2, h2
    elif best == 0.0:
        n_r, n_z = n2, m2
    return best, (n_r * cx, n_r * cy, n_z), (q * cx, q * cy, y)


@lean
def ellipsoid_root(a, b, c, fa, fb, fc, x, y, z, low):
    """The t > low with (a x/(t + fa))^2 + (b y/(t + fb))^2 + (c z/(t + fc))^2 = 1.

    One over the root of the left side is concave and rises: Newton's method climbs from the left without overshooting
    (Conn, Gould, Toint 2000, Trust-Region Methods, 7.3.2).
    """
    t = low
    for _ in range(POINT_STEPS):
        u, v, w = quotient(a * x, t + fa), quotient(b * y, t + fb), quotient(c * z, t + fc)
        f = u * u + v * v + w * w
        slope = quotient(u * u, t + fa) + quotient(v * v, t + fb) + quotient(w * w, t + fc)
        if not (f > 1.0 and slope > 0.0):
            break
        t_new = t + f * (math.sqrt(f) - 1.0) / slope
        if not t_new > t:
            break
        t = t_new
    return t


@lean
def quotient(x, y):
    """x / y; zero where x is."""
    return x / y if x != 0.0 else 0.0


@lean
def point_ellipsoid(radii, c, guess):
    """Point against an ellipsoid: (signed distance, outward normal, closest point of the surface).

    The foot is q_i = e_i^2 x_i / (t + e_i^2) with the largest t that puts it on the surface (Eberly 2013, Distance from a
    point to an ellipse, an ellipsoid). t counts from the pole -e^2 of the shortest axis, so that small digits stay.
    """
    a, b, d = radii
    x, y, z = abs(c[0]), abs(c[1]), abs(c[2])
    least = min(a, b, d)
    fa, fb, fd = (a - least) * (a + least), (b - least) * (b + least), (d - least) * (d + least)
    t = max(a * x - fa, b * y - fb, d * z - fd)
    free = 0.0  # what the foot has along the shortest axis where the point has nothing
    if t <= 0.0:
        t = 0.0
        u, v, w = quotient(a * x, fa), quotient(b * y, fb), quotient(d * z, fd)
        free = math.sqrt(max(1.0 - u * u - v * v - w * w, 0.0))
    if free == 0.0:
        t = ellipsoid_root(a, b, d, fa, fb, fd, x, y, z, t)
    qx, qy, qz = quotient(a * a * x, t + fa), quotient(b * b * y, t + fb), quotient(d * d * z, t + fd)
    if free > 0.0:
        if d == least:
            qz = d * free
        elif b == least:
            qy = b * free
        else:
            qx = a * free
    q = (signed(qx, c[0], guess[0]), signed(qy, c[1], guess[1]), signed(qz, c[2], guess[2]))
    n = (q[0] / (a * a), q[1] / (b * b), q[2] / (d * d))
    n = scale(1.0 / norm(n), n)
    return dot(n, sub(c, q)), n, q


@lean
def signed(size, c, guess):
    """size with the sign of c, of the guess where c is zero."""
    if c != 0.0:
        return math.copysign(size, c)
    return math.copysign(size, guess)


@lean
def point_segment(half, c, guess):
    """Point against the segment of half length ``half`` along z: (distance, direction to the point, closest point)."""
    q = (0.0, 0.0, min(max(c[2], -half), half))
    d = sub(c, q)
    length = norm(d)
    if length > 0.0:
        return length, scale(1.0 / length, d), q
    x, y, _ = radial(c, guess)
    return 0.0, (x, y, 0.0), q


@lean
def point_curved(g, s, c, guess):
    """Point c against the core of a capsule, a cylinder, a cone or an ellipsoid, in its frame.

    Returns (low, high, outward normal, closest point): the truth lies in [low, high] but for rounding, low from the
    support plane of the normal, high from the closest point.
    """
    kind = g.kind[s]
    if kind == CAPSULE:
        d, n, q = point_segment(g.size[s, 1], c, guess)
    elif kind == ELLIPSOID:
        d, n, q = point_ellipsoid(load3(g.size, s), c, guess)
    else:
        d, n, q = point_revolved(kind, g.size[s, 0], g.size[s, 1], c, guess)
    low = dot(n, c) - reach(g, s, n)
    high = math.copysign(norm(sub(c, q)), d)
    return min(low, d), max(high, d), n, q


@lean
def point_depth(g, s, c):
    """Signed distance of a point that is inside the core of a shape; a positive number, not the distance, outside.

    Upper bound of the signed distance of any body that holds the point, since a larger body is nowhere less deep.
    """
    kind = g.kind[s]
    if kind == CYLINDER:
        return max(hypot(c[0], c[1]) - g.size[s, 0], abs(c[2]) - g.size[s, 1])
    if kind == CONE:
        radius, half = g.size[s, 0], g.size[s, 1]
        side = (2.0 * half * hypot(c[0], c[1]) + radius * (c[2] - half)) / hypot(2.0 * half, radius)
        return max(side, -half - c[2])
    if kind == ELLIPSOID:
        d, _, _ = point_ellipsoid(load3(g.size, s), c, c)
        return d
    if kind == BOX:
        return max(abs(c[0]) - g.size[s, 0], abs(c[1]) - g.size[s, 1], abs(c[2]) - g.size[s, 2])
    if g.rank[s] < 3:
        return math.inf
    return nearest_face(g, s, c)[0]


@lean
def nearest_face(g, s, c):
    """The face of a polytope whose plane a point lies highest over, or least deep under: (height, face)."""
    best, top = -1, -math.inf
    for f in range(g.face[s, 0], g.face[s, 1]):
        h = g.normals[f, 0] * c[0] + g.normals[f, 1] * c[1] + g.normals[f, 2] * c[2] - g.offsets[f]
        if h > top:
            best, top = f, h
    return top, best


@lean
def depth_bound(g, a, b, r, t, p, q):
    """Upper bound of the signed distance of cores from points p of A and q of B that are inside the other; else inf."""
    d = min(point_depth(g, b, mul_t(r, sub(p, t))), point_depth(g, a, q))
    return d if d < 0.0 else math.inf
