"""What a shape shows to one side: the flat, the line or the point that can touch, and how the surface bends there.

A surface bends by two curvatures [1/m], one along a direction and one across it; `SHARP` stands for that of a corner. They are

    a face                  0 and 0
    an edge                 0 and SHARP
    the side of a cylinder  0 and 1/r
    the side of a cone      0 and its curvature there
    a rim                   |sin a|/r along itself, with a the angle between normal and axis, and SHARP
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.distance.clip import incident_face
from tumble.collision.geometry import CAPSULE, CONE, CYLINDER, ELLIPSOID, SHARP, empty_geometry
from tumble.collision.kernels.jit import far, hypot, lean
from tumble.collision.linalg import IDENTITY, ZERO, add, axpy, cross, dot, load3, mul, mul_t, norm, orthonormal, scale, sub
from tumble.collision.shapes.support_functions import is_revolved, support_piece
from tumble.collision.shapes.support_points import aligned_face, inflation, is_polytope

ONE_POINT, SEGMENT, POLYGON, DISC = range(4)
RIM_POINTS = 8  # of a flat round base
# Names of what goes round with the lowest point of a rim: that point itself, at -z and at +z, and the others, from these on.
LOWEST, BESIDE = 16, 40
ALONG_NORMAL = 1e-9  # [rad] a normal this close to that of a flat or a line belongs to it
EVEN_RIM = 1e-6  # of the radius: height within which all of a rim counts as equally high
ON_EDGE = 1e-7  # of the size: a point this close to an edge or a corner is on it
# Columns of a row of corners: position, direction of curvature, along it and across.
DIR, ALONG, ACROSS = 3, 6, 7
FEATURE_COLUMNS = 8


@lean
def put_corner(work, tags, k, x, d, along, across, name):
    for i in range(3):
        work[k, i] = x[i]
        work[k, DIR + i] = d[i]
    work[k, ALONG] = along
    work[k, ACROSS] = across
    tags[k] = name


@lean
def rim_direction(d):
    """Unit tangent of a rim about z where the normal is d."""
    across = hypot(d[0], d[1])
    if across == 0.0:
        return (1.0, 0.0, 0.0)
    return (-d[1] / across, d[0] / across, 0.0)


@lean
def corner_capacity(g, s):
    """Rows that `facing` may fill."""
    most = RIM_POINTS
    if is_polytope(g.kind[s]):
        for f in range(g.face[s, 0], g.face[s, 1]):
            most = max(most, g.loop_start[f + 1] - g.loop_start[f])
    return most


@lean
def _facing(g, s, x, r, n, limit, work, tags):
    """The feature of shape s at (x, r) that faces along the unit vector n: (form, corners, its normal, offset).

    A skin is left out: it moves the feature along n, which the caller does by x.
    Corners go to ``work``, their numbers to ``tags``. A flat is chosen where one is not too far askew, even if only an edge of it
    touches, since the gaps of its other corners show that they stand off. normal . x = offset on a POLYGON or a DISC.
    ``limit``: up to this gap a base that is all but even stands with all of its rim, on points that stay in place. Otherwise
    the points go round with the lowest one.
    """
    d = mul_t(r, n)
    kind = g.kind[s]
    if kind == CAPSULE:
        bend = 1.0 / g.size[s, 0]
        e, _ = orthonormal(n)
        for k in range(2):
            end = (0.0, 0.0, g.size[s, 1] if k == 1 else -g.size[s, 1])
            put_corner(work, tags, k, axpy(g.size[s, 0], n, add(mul(r, end), x)), e, bend, bend, k)
        return SEGMENT, 2, n, 0.0
    if is_revolved(kind):
        return facing_revolved(g, s, x, r, d, limit, work, tags)
    if is_polytope(kind):
        f = incident_face(g, s, d)
        first = g.vertex[s, 0]
        e, _ = orthonormal(n)
        if f >= 0:
            start = g.loop_start[f]
            count = g.loop_start[f + 1] - start
            for k in range(count):
                row = g.loops[start + k]
                put_corner(work, tags, k, add(mul(r, load3(g.vertices, row)), x), e, SHARP, SHARP, row - first)
            m = mul(r, load3(g.normals, f))
            if dot(m, n) > 0.1:
                return POLYGON, count, m, g.offsets[f] + dot(m, x)
        elif g.vertex[s, 1] - first == 2:
            for k in range(2):
                put_corner(work, tags, k, add(mul(r, load3(g.vertices, first + k)), x), e, SHARP, SHARP, k)
            return SEGMENT, 2, n, 0.0
    _, p = support_piece(g, s, d)
    e, along, across, name = bend_at(g, s, r, d, p)
    put_corner(work, tags, 0, axpy(inflation(g, s) - g.skin[s], n, add(mul(r, p), x)), e, along, across, name)
    return ONE_POINT, 1, n, 0.0


@lean
def facing_revolved(g, s, x, r, d, limit, work, tags):
    """The base (DISC) or the side (SEGMENT) of a cylinder or a cone towards d, in its frame; see `facing`."""
    radius, half = g.size[s, 0], g.size[s, 1]
    across = hypot(d[0], d[1])
    out = (d[0] / across, d[1] / across) if across > 0.0 else (1.0, 0.0)
    tangent = mul(r, (-out[1], out[0], 0.0))
    bend = across / radius
    cone = g.kind[s] == CONE
    if abs(d[2]) <= across or cone and d[2] > 0.0:
        for k in range(2):
            if k == 1 and cone:
                put_corner(work, tags, k, axpy(half, (r[2], r[5], r[8]), x), tangent, SHARP, SHARP, LOWEST + k)
            else:
                p = (radius * out[0], radius * out[1], half if k == 1 else -half)
                put_corner(work, tags, k, add(mul(r, p), x), tangent, bend, SHARP, LOWEST + k)
        return SEGMENT, 2, (0.0, 0.0, 0.0), 0.0
    z = half if d[2] > 0.0 else -half
    top = 1 if d[2] > 0.0 else 0
    # A base that stands on all of its rim has points fixed to it. Else its lowest point has a name of its own, that of the end of
    # the side there, and the others keep their distance from it: as the disc rolls all go round with it, and none is passed.
    stands = 2.0 * radius * across <= min(limit, EVEN_RIM * radius)
    for k in range(RIM_POINTS):
        angle = k * (2.0 * math.pi / RIM_POINTS)
        c, f = math.cos(angle), math.sin(angle)
        if stands:
            p, bow, tag = (radius * c, radius * f, z), SHARP, RIM_POINTS * top + k
        else:
            p = (radius * (c * out[0] - f * out[1]), radius * (c * out[1] + f * out[0]), z)
            bow, tag = (bend, LOWEST + top) if k == 0 else (SHARP, BESIDE + RIM_POINTS * top + k)
        put_corner(work, tags, k, add(mul(r, p), x), tangent, bow, SHARP, tag)
    m = (r[2], r[5], r[8]) if z > 0.0 else (-r[2], -r[5], -r[8])
    return DISC, RIM_POINTS, m, dot(m, x) + half


@lean
def side_bend(g, s, r, x, p):
    """(direction, along, across) inside a SEGMENT of shape s at (x, r), at the surface point p."""
    kind = g.kind[s]
    axis = (r[2], r[5], r[8])
    if kind in (CAPSULE, CYLINDER):
        return axis, 0.0, 1.0 / g.size[s, 0]
    if kind == CONE:
        radius, half = g.size[s, 0], g.size[s, 1]
        y = mul_t(r, sub(p, x))
        slant = hypot(2.0 * half, radius)
        away = hypot(y[0], y[1])
        e = (-radius * y[0] / away, -radius * y[1] / away, 2.0 * half) if away > 0.0 else (0.0, 0.0, 1.0)
        e = mul(r, e)
        bend = 2.0 * half / (slant * away) if away > 0.0 else SHARP
        return scale(1.0 / norm(e), e), 0.0, min(bend, SHARP)
    u, v = load3(g.vertices, g.vertex[s, 0]), load3(g.vertices, g.vertex[s, 0] + 1)
    e = mul(r, sub(v, u))
    return scale(1.0 / norm(e), e), 0.0, SHARP


@lean
def _bend_at(g, s, r, d, p):
    """(direction in world axes, along, across, number of the feature) at the point p of the core with normal d, both local."""
    kind = g.kind[s]
    world = mul(r, d)
    any_way, _ = orthonormal(scale(1.0 / norm(world), world))
    if kind == ELLIPSOID:
        e, along, across = ellipsoid_bend(load3(g.size, s), d, p)
        return mul(r, e), along, across, 0
    if is_revolved(kind):
        radius, half = g.size[s, 0], g.size[s, 1]
        across = hypot(d[0], d[1])
        if across <= ALONG_NORMAL and (kind == CYLINDER or d[2] < 0.0):
            return any_way, 0.0, 0.0, 32
        inside = abs(p[2]) < half * (1.0 - ON_EDGE)
        slope = d[2]
        if kind == CONE:
            slant = hypot(2.0 * half, radius)
            slope = d[2] * (2.0 * half / slant) - across * (radius / slant)
            if p[2] >= half * (1.0 - ON_EDGE):
                return any_way, SHARP, SHARP, 17
        if inside and abs(slope) <= 1e3 * ALONG_NORMAL:
            e, along, bend = side_bend(g, s, r, (0.0, 0.0, 0.0), mul(r, p))
            return e, along, bend, 33
        return mul(r, rim_direction(d)), across / radius, SHARP, 34 if p[2] < 0.0 else 35
    if kind == CAPSULE:
        bend = 1.0 / g.size[s, 0]
        if abs(p[2]) < g.size[s, 1] * (1.0 - ON_EDGE):
            return (r[2], r[5], r[8]), 0.0, bend, 2
        return any_way, bend, bend, 1 if p[2] > 0.0 else 0
    if not is_polytope(kind):
        return any_way, 1.0 / g.size[s, 0], 1.0 / g.size[s, 0], 0
    return polytope_bend(g, s, r, d, p, any_way)


bend_at = far(_bend_at, lambda: (empty_geometry(), 0, IDENTITY, ZERO, ZERO), returns=(ZERO, 0.0, 0.0, 0))
facing = far(
    _facing,
    lambda: (empty_geometry(), 0, ZERO, IDENTITY, ZERO, 0.0, np.zeros((0, FEATURE_COLUMNS)), np.zeros(0, np.int64)),
    returns=(0, 0, ZERO, 0.0),
)


@lean
def polytope_bend(g, s, r, d, p, any_way):
    """`bend_at` for a polytope: the face with that normal, else the edge or vertex that the point is on."""
    f = aligned_face(g, s, d)
    if f >= 0 and norm(cross(load3(g.normals, f), d)) <= ALONG_NORMAL and dot(load3(g.normals, f), d) > 0.0:
        return any_way, 0.0, 0.0, 64 + f - g.face[s, 0]
    near = ON_EDGE * g.radius[s]
    for k in range(g.vertex[s, 0], g.vertex[s, 1]):
        if norm(sub(load3(g.vertices, k), p)) <= near:
            return any_way, SHARP, SHARP, k - g.vertex[s, 0]
    best, edge = math.inf, -1
    for k in range(g.edge[s, 0], g.edge[s, 1]):
        u = load3(g.vertices, g.edges[k, 0])
        e = sub(load3(g.vertices, g.edges[k, 1]), u)
        y = sub(p, u)
        f = min(max(dot(y, e) / dot(e, e), 0.0), 1.0)
        away = norm(axpy(-f, e, y))
        if away < best:
            best, edge = away, k
    if edge < 0 or best > 1e3 * near:
        return any_way, SHARP, SHARP, 63
    e = mul(r, sub(load3(g.vertices, g.edges[edge, 1]), load3(g.vertices, g.edges[edge, 0])))
    return scale(1.0 / norm(e), e), 0.0, SHARP, 1 << 20 | edge - g.edge[s, 0]


@lean
def ellipsoid_bend(radii, d, p):
    """Principal direction and curvatures (along it, across) where the normal is d: D x bends by D / |D x| (D = R^-2)."""
    dd = (1.0 / (radii[0] * radii[0]), 1.0 / (radii[1] * radii[1]), 1.0 / (radii[2] * radii[2]))
    steep = norm((dd[0] * p[0], dd[1] * p[1], dd[2] * p[2]))
    s, t = orthonormal(d)
    ss = (dd[0] * s[0] * s[0] + dd[1] * s[1] * s[1] + dd[2] * s[2] * s[2]) / steep
    st = (dd[0] * s[0] * t[0] + dd[1] * s[1] * t[1] + dd[2] * s[2] * t[2]) / steep
    tt = (dd[0] * t[0] * t[0] + dd[1] * t[1] * t[1] + dd[2] * t[2] * t[2]) / steep
    angle = 0.5 * math.atan2(2.0 * st, ss - tt)
    c, f = math.cos(angle), math.sin(angle)
    half = hypot(0.5 * (ss - tt), st)
    mean = 0.5 * (ss + tt)
    # d = cross(s, t): across is d x e, the other principal direction
    return add(scale(c, s), scale(f, t)), mean + half, mean - half
