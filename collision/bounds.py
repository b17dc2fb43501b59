"""Axis-aligned bounding boxes of shapes at a pose."""

from __future__ import annotations

import math

from tumble.collision.geometry import BOX, CAPSULE, CONE, CYLINDER, ELLIPSOID, GROUND, HALFSPACE, SPHERE
from tumble.collision.kernels.jit import kernel, lean
from tumble.collision.linalg import add, dot, load3, mul, reach_t, sub, transpose


@lean
def _vector_length(x, y, z):
    return math.sqrt(x * x + y * y + z * z)


@kernel
def aabb(g, shape, x, r):
    """(lo, hi), the corners of the box around shape number ``shape`` of geometry ``g`` at position x, rotation r.

    Tight to rounding; of a ground it is the box around a ball. A half-space is infinite, but
    bounded on the one side where its normal lies along an axis.
    """
    kind = g.kind[shape]
    if kind == HALFSPACE:
        return _halfspace(g, shape, x, r)
    if kind in (SPHERE, GROUND):
        radius = g.size[shape, 0] if kind == SPHERE else g.radius[shape]
        h = (radius, radius, radius)
    elif kind == BOX:
        h = reach_t(transpose(r), load3(g.size, shape))
    elif kind == ELLIPSOID:
        a, b, c = load3(g.size, shape)
        h = (
            _vector_length(r[0] * a, r[1] * b, r[2] * c),
            _vector_length(r[3] * a, r[4] * b, r[5] * c),
            _vector_length(r[6] * a, r[7] * b, r[8] * c),
        )
    elif kind == CAPSULE:
        radius, half = g.size[shape, 0], g.size[shape, 1]
        h = (radius + abs(r[2]) * half, radius + abs(r[5]) * half, radius + abs(r[8]) * half)
    elif kind == CYLINDER:
        radius, half = g.size[shape, 0], g.size[shape, 1]
        h = (
            _disc_reach(radius, r[2]) + abs(r[2]) * half,
            _disc_reach(radius, r[5]) + abs(r[5]) * half,
            _disc_reach(radius, r[8]) + abs(r[8]) * half,
        )
    elif kind == CONE:
        return _grown(_cone(g, shape, x, r), g.skin[shape])
    else:
        return _grown(_hull(g, shape, x, r), g.skin[shape])
    return _grown((sub(x, h), add(x, h)), g.skin[shape])


@kernel
def _grown(box, skin):
    """A box with a skin around what is in it."""
    s = (skin, skin, skin)
    return sub(box[0], s), add(box[1], s)


@kernel
def _disc_reach(radius, axis):
    """Reach of a disc along a world axis, ``axis`` being that component of the disc's unit normal."""
    return radius * math.sqrt(max(0.0, 1.0 - axis * axis))


@kernel
def _cone(g, shape, x, r):
    radius, half = g.size[shape, 0], g.size[shape, 1]
    tip = (r[2] * half, r[5] * half, r[8] * half)
    d = (_disc_reach(radius, r[2]), _disc_reach(radius, r[5]), _disc_reach(radius, r[8]))
    lo = (min(tip[0], -tip[0] - d[0]), min(tip[1], -tip[1] - d[1]), min(tip[2], -tip[2] - d[2]))
    hi = (max(tip[0], -tip[0] + d[0]), max(tip[1], -tip[1] + d[1]), max(tip[2], -tip[2] + d[2]))
    return add(x, lo), add(x, hi)


@kernel
def _hull(g, shape, x, r):
    first, stop = g.vertex[shape, 0], g.vertex[shape, 1]
    lo = mul(r, load3(g.vertices, first))
    hi = lo
    for i in range(first + 1, stop):
        v = mul(r, load3(g.vertices, i))
        lo = (min(lo[0], v[0]), min(lo[1], v[1]), min(lo[2], v[2]))
        hi = (max(hi[0], v[0]), max(hi[1], v[1]), max(hi[2], v[2]))
    s = g.slack[shape]
    return sub(add(x, lo), (s, s, s)), add(add(x, hi), (s, s, s))


@kernel
def _halfspace(g, shape, x, r):
    n = mul(r, load3(g.size, shape))
    offset = g.size[shape, 3] + dot(n, x)
    lo0, hi0 = _ends(n[0], n[1], n[2], offset)
    lo1, hi1 = _ends(n[1], n[2], n[0], offset)
    lo2, hi2 = _ends(n[2], n[0], n[1], offset)
    return (lo0, lo1, lo2), (hi0, hi1, hi2)


@kernel
def _ends(along, across, beside, offset):
    """Where a half-space ends along a world axis, of which its normal has the component ``along``, and these of the others."""
    if across != 0.0 or beside != 0.0:
        return -math.inf, math.inf
    return (-math.inf, offset) if along > 0.0 else (-offset, math.inf)
