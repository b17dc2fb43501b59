"""Support points and support functions of every kind of shape, and the smooth pieces that a curved one consists of.

The support function of a cylinder is the larger of those of its two rims, that of a cone the larger of those of its rim
and its apex, that of a polytope the largest of those of its vertices. A piece is named by a number: vertex rows; rim 0 at
-z and 1 at +z of a cylinder; rim 0 and apex 1 of a cone; 0 for an ellipsoid. Each is smooth in the direction, which is
what Newton's method needs. As in `tumble.collision.shapes.support_points`, capsules and spheres are their cores here.
"""

from __future__ import annotations

import math

from tumble.collision.geometry import CONE, CYLINDER, ELLIPSOID
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import dot, load3
from tumble.collision.shapes.support_points import core_vertex, support

NO_ANSWER = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@lean
def is_curved(kind):
    """Has a support function of its own, not one of vertices."""
    return kind >= CYLINDER


@lean
def is_revolved(kind):
    """A cylinder or a cone."""
    return CYLINDER <= kind <= CONE


@lean
def rim_point(radius, z, d):
    """Point of a circle at height z furthest along d; the middle where all of it is."""
    across = math.sqrt(d[0] * d[0] + d[1] * d[1])
    if across == 0.0:
        return (0.0, 0.0, z)
    return (radius * (d[0] / across), radius * (d[1] / across), z)


@lean
def ellipsoid_point(radii, d):
    """Point of an ellipsoid where the outward normal is along d."""
    x, y, z = radii[0] * d[0], radii[1] * d[1], radii[2] * d[2]
    h = math.sqrt(x * x + y * y + z * z)
    if h == 0.0:
        return (0.0, 0.0, radii[2])
    return (radii[0] * x / h, radii[1] * y / h, radii[2] * z / h)


@lean
def piece_point(g, s, piece, d):
    """Support point of one piece."""
    kind = g.kind[s]
    if kind == CYLINDER:
        return rim_point(g.size[s, 0], g.size[s, 1] if piece == 1 else -g.size[s, 1], d)
    if kind == CONE:
        if piece == 1:
            return (0.0, 0.0, g.size[s, 1])
        return rim_point(g.size[s, 0], -g.size[s, 1], d)
    if kind == ELLIPSOID:
        return ellipsoid_point(load3(g.size, s), d)
    return core_vertex(g, s, piece)


@lean
def support_piece(g, s, d):
    """(piece, point) of the shape's core that is furthest along d."""
    kind = g.kind[s]
    if kind == CYLINDER:
        piece = 1 if d[2] > 0.0 else 0
        return piece, piece_point(g, s, piece, d)
    if kind == CONE:
        piece = 1 if 2.0 * g.size[s, 1] * d[2] > g.size[s, 0] * math.sqrt(d[0] * d[0] + d[1] * d[1]) else 0
        return piece, piece_point(g, s, piece, d)
    if kind == ELLIPSOID:
        return 0, ellipsoid_point(load3(g.size, s), d)
    return support(g, s, d)


@lean
def reach(g, s, d):
    """max d.x over the core."""
    _, p = support_piece(g, s, d)
    return dot(d, p)


@lean
def piece_bend(g, s, piece, d):
    """Second derivative of the support function of a piece at the unit vector d: a matrix of radii of curvature [m]."""
    kind = g.kind[s]
    if kind == ELLIPSOID:  # h = |R d|: (R^2 - x x^T) / h with x = R^2 d / h
        a, b, c = g.size[s, 0], g.size[s, 1], g.size[s, 2]
        x = ellipsoid_point((a, b, c), d)
        h = dot(x, d)
        if h <= 0.0:
            return NO_ANSWER
        xy, xz, yz = -x[0] * x[1] / h, -x[0] * x[2] / h, -x[1] * x[2] / h
        return ((a * a - x[0] * x[0]) / h, xy, xz, xy, (b * b - x[1] * x[1]) / h, yz, xz, yz, (c * c - x[2] * x[2]) / h)
    if kind == CYLINDER or (kind == CONE and piece == 0):  # h = z d_z + r |d_xy|: r / |d_xy| along the rim
        across = math.sqrt(d[0] * d[0] + d[1] * d[1])
        if across < 1e-12:
            return NO_ANSWER
        x, y = -d[1] / across, d[0] / across
        f = g.size[s, 0] / across
        return (f * x * x, f * x * y, 0.0, f * x * y, f * y * y, 0.0, 0.0, 0.0, 0.0)
    return NO_ANSWER
