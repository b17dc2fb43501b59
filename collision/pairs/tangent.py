"""Newton's method for the closest pair of points, in the plane that is tangent to the normal: `newton` where each body has two
active pieces at most.

At a critical point of the separation s the difference w = q - p of the support points is s n. In a basis (u, v) across n the
unknowns are a turn d of n and the weights of the second pieces, with a the difference of A's two pieces and b that of B's:

    (w.u, w.v) - (H + s) d - l a + m b = 0,    n.a + d.a = 0,    n.b + d.b = 0,

H being the second derivative of both support functions. An edge of one body leaves one unknown of the turn, edges of both bodies
leave none.
"""

from __future__ import annotations

import math

from tumble.collision.geometry import BOX, CONE, CYLINDER, ELLIPSOID
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, add, axpy, dot, load3, mul, mul_t, neg, norm, orthonormal, scale, sub
from tumble.collision.shapes.support_functions import is_curved, piece_point, support_piece
from tumble.collision.shapes.support_points import EPS

TANGENT_STEPS = 16  # of Newton's method for a critical axis
NO_PIECE = -1  # in place of a second piece


@lean
def bent_piece(g, s, piece, d, u, v):
    """The support point of a piece along the unit vector d, and its radii of curvature across, all in the shape's frame [m].

    `piece_bend` as a form: (point, uu, uv, vv).
    """
    kind = g.kind[s]
    if kind == ELLIPSOID:
        e = load3(g.size, s)
        ed, eu, ev = times(e, d), times(e, u), times(e, v)
        f = 1.0 / norm(ed)
        xu, xv = f * dot(ed, eu), f * dot(ed, ev)
        return scale(f, times(e, ed)), f * (dot(eu, eu) - xu * xu), f * (dot(eu, ev) - xu * xv), f * (dot(ev, ev) - xv * xv)
    if kind == CYLINDER or (kind == CONE and piece == 0):
        across = math.sqrt(d[0] * d[0] + d[1] * d[1])
        z = g.size[s, 1] if piece == 1 else -g.size[s, 1]
        if across < 1e-12:
            return (0.0, 0.0, z), 0.0, 0.0, 0.0
        x, y = d[0] / across, d[1] / across
        radius = g.size[s, 0]
        f = radius / across
        tu, tv = x * u[1] - y * u[0], x * v[1] - y * v[0]
        return (radius * x, radius * y, z), f * tu * tu, f * tu * tv, f * tv * tv
    return piece_point(g, s, piece, d), 0.0, 0.0, 0.0


@lean
def times(a, b):
    """Product of the components."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


@lean
def bent_pair(g, s, first, second, weight, d, u, v):
    """`bent_piece` of two pieces mixed, ``weight`` that of the second: (point, second less first, uu, uv, vv)."""
    x, uu, uv, vv = bent_piece(g, s, first, d, u, v)
    if second < 0:
        return x, ZERO, uu, uv, vv
    y, yuu, yuv, yvv = bent_piece(g, s, second, d, u, v)
    e = sub(y, x)
    return axpy(weight, e, x), e, uu + weight * (yuu - uu), uv + weight * (yuv - uv), vv + weight * (yvv - vv)


@lean
def two_pieces(pieces, weights, count, side):
    """The pieces of one body in a simplex: (at most two, first, second or NO_PIECE, weight of the second)."""
    first, second = pieces[side], NO_PIECE
    share, total = 0.0, weights[0]
    for k in range(1, count):
        piece = pieces[2 * k + side]
        total += weights[k]
        if piece == first:
            continue
        if second >= 0 and piece != second:
            return False, first, second, 0.0
        second = piece
        share += weights[k]
    return True, first, second, share / total if total > 0.0 else 0.5


@lean
def active(g, s, d, first, second):
    """The second piece of a shape with one known: another one that reaches further along d."""
    if second < 0 and (is_curved(g.kind[s]) or g.kind[s] == BOX):
        piece, _ = support_piece(g, s, d)
        if piece != first:
            return piece
    return second


@lean
def kept_pieces(first, second, weight):
    """Two pieces without one whose weight is none."""
    if second >= 0 and weight < 0.0:
        return first, NO_PIECE, 0.0
    if second >= 0 and weight > 1.0:
        return second, NO_PIECE, 0.0
    return first, second, weight


@lean
def turn_across(uu, uv, vv, gu, gv, ca, cb, au, av, bu, bv, edge_a, edge_b):
    """The turn that solves the module's equations: (found, du, dv, det); ``edge_a``, ``edge_b``: has a body a second piece?

    det: the determinant of the equations of both edges, or of H + s where there is no edge.
    """
    if not edge_a and not edge_b:
        det = uu * vv - uv * uv
        du, dv = vv * gu - uv * gv, uu * gv - uv * gu
    elif edge_a and edge_b:
        det = au * bv - av * bu
        du, dv = av * cb - bv * ca, bu * ca - au * cb
    else:
        eu, ev, c = (au, av, ca) if edge_a else (bu, bv, cb)
        ee = eu * eu + ev * ev
        if not ee > 0.0:
            return False, 0.0, 0.0, 0.0
        # d = -c e / ee + x f with f = (-ev, eu)
        du, dv = -c * eu / ee, -c * ev / ee
        over = uu * ev * ev - 2.0 * uv * eu * ev + vv * eu * eu
        x = (-ev * (gu - uu * du - uv * dv) + eu * (gv - uv * du - vv * dv)) / over
        return True, du - x * ev, dv + x * eu, 1.0
    if det == 0.0:
        return False, 0.0, 0.0, 0.0
    return True, du / det, dv / det, det


@lean
def tangent_newton(g, a, b, r, t, n, a0, a1, la, b0, b1, lb, size):
    """From the axis n and the pieces of both bodies (first, second or NO_PIECE, weight of the second) to a critical point.

    Returns (found, n, p, q, (a0, a1, la, b0, b1, lb), u, v, ea, eb, ha, hb): the points, the basis across n, the differences of
    the pieces, and the radii of curvature of both bodies, all in A's frame.
    """
    tiny = 4.0 * EPS * size
    found = False
    p, q, ea, eb, u, v = n, n, ZERO, ZERO, n, n
    ha, hb = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    last = math.inf
    for _ in range(TANGENT_STEPS):
        u, v = orthonormal(n)
        back, ub, vb = neg(mul_t(r, n)), mul_t(r, u), mul_t(r, v)
        more = active(g, a, n, a0, a1)
        if more != a1:
            a1, la = more, 0.0
        more = active(g, b, back, b0, b1)
        if more != b1:
            b1, lb = more, 0.0
        p, ea, auu, auv, avv = bent_pair(g, a, a0, a1, la, n, u, v)
        q, eb, buu, buv, bvv = bent_pair(g, b, b0, b1, lb, back, ub, vb)
        q, eb = add(mul(r, q), t), mul(r, eb)
        ha, hb = (auu, auv, avv), (buu, buv, bvv)
        w = sub(q, p)
        s, gu, gv, ca, cb = dot(n, w), dot(w, u), dot(w, v), dot(n, ea), dot(n, eb)
        off = abs(gu) + abs(gv) + abs(ca) + abs(cb)
        if off <= tiny and 0.0 <= la <= 1.0 and 0.0 <= lb <= 1.0:
            found = True
            break
        if not off < 64.0 * last:
            break
        last = off
        uu, uv, vv = auu + buu + s, auv + buv, avv + bvv + s
        au, av, bu, bv = dot(ea, u), dot(ea, v), dot(eb, u), dot(eb, v)
        solvable, du, dv, det = turn_across(uu, uv, vv, gu, gv, ca, cb, au, av, bu, bv, a1 >= 0, b1 >= 0)
        if not solvable:
            break
        ru, rv = gu - uu * du - uv * dv, gv - uv * du - vv * dv
        if a1 >= 0 and b1 >= 0:  # la a - lb b = rest
            la += (ru * bv - rv * bu) / det
            lb += (ru * av - rv * au) / det
        elif a1 >= 0:
            la += (ru * au + rv * av) / (au * au + av * av)
        elif b1 >= 0:
            lb -= (ru * bu + rv * bv) / (bu * bu + bv * bv)
        turn = math.sqrt(du * du + dv * dv)
        if not turn < 4.0:
            break
        f = 0.5 / turn if turn > 0.5 else 1.0
        n = axpy(f * dv, v, axpy(f * du, u, n))
        n = scale(1.0 / norm(n), n)
        a0, a1, la = kept_pieces(a0, a1, la)
        b0, b1, lb = kept_pieces(b0, b1, lb)
    return found, n, p, q, (a0, a1, la, b0, b1, lb), u, v, ea, eb, ha, hb
