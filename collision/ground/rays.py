"""Rays on a ground: the first of its triangles on a half-line, from either side.

Source: Moeller and Trumbore, J. Graphics Tools 2 (1997) 21. The rim between two triangles belongs to both, so that no ray
slips through between them.
"""

from __future__ import annotations

import math

from tumble.collision.contact.facets import corners_of
from tumble.collision.geometry import FIELD
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import ZERO, cross, dot, neg, norm, scale, sub

SIDE_SLACK = 1e-12  # of the sides of a triangle


@lean
def triangle_ray(a, b, c, o, d, reach):
    """(t, unit normal against the ray) where the ray from o along d meets a triangle; (inf, 0) where it does not by ``reach``."""
    e, f = sub(b, a), sub(c, a)
    n = cross(e, f)
    down = -dot(n, d)
    if down == 0.0:
        return math.inf, ZERO
    x = sub(o, a)
    t = dot(n, x) / down
    if not 0.0 <= t <= reach:
        return math.inf, ZERO
    q = cross(x, d)
    u, v = dot(f, q) / down, -dot(e, q) / down
    if u < -SIDE_SLACK or v < -SIDE_SLACK or u + v > 1.0 + SIDE_SLACK:
        return math.inf, ZERO
    n = scale(1.0 / norm(n), n)
    return t, n if down > 0.0 else neg(n)


@lean
def slab(lo, hi, o, d, enter, leave):
    """What is left of the interval [enter, leave] of a line between two planes across an axis."""
    if d == 0.0:
        return (enter, leave) if lo <= o <= hi else (math.inf, -math.inf)
    a, b = (lo - o) / d, (hi - o) / d
    return max(enter, min(a, b)), min(leave, max(a, b))


@lean
def ground_ray(g, s, o, d, reach):
    """(hit, t, normal) of the ray from o along the unit vector d, all in the frame of ground s."""
    if g.ground[s, 0] == FIELD:
        return _field_ray(g, s, o, d, reach)
    first, node, best, normal = g.node[s, 0], g.node[s, 0], math.inf, ZERO
    limit = reach
    while node < g.node[s, 1]:
        enter, leave = 0.0, limit
        for k in range(3):
            enter, leave = slab(g.bounds[node, k], g.bounds[node, k + 3], o[k], d[k], enter, leave)
        if enter > leave * (1.0 + 1e-12):
            node = first + g.nodes[node, 0]
            continue
        for a in range(g.nodes[node, 1], g.nodes[node, 2]):
            t, n = _hit(g, s, int(g.order[g.triangle[s, 0] + a]), o, d, limit)
            if t < best:
                best = limit = t
                normal = n
        node += 1
    return best < math.inf, best, normal


@lean
def _hit(g, s, t, o, d, reach):
    a, b, c = corners_of(g, s, t)
    return triangle_ray(a, b, c, o, d, reach)


@lean
def _field_ray(g, s, o, d, reach):
    """Row by row of cells along x, of which the ray crosses a stretch along y."""
    cell, x0, y0, rows, side = g.size[s, 0], g.size[s, 1], g.size[s, 2], g.ground[s, 2], g.ground[s, 3]
    enter, leave = slab(x0, x0 + cell * (rows - 1), o[0], d[0], 0.0, reach)
    enter, leave = slab(y0, y0 + cell * (side - 1), o[1], d[1], enter, leave)
    if enter > leave:
        return False, math.inf, ZERO
    if leave == math.inf:  # straight down, or up
        i, j = _cell(o[0], x0, cell, rows), _cell(o[1], y0, cell, side)
        return _best_of_cells(g, s, max(0, i - 1), min(rows - 2, i + 1), max(0, j - 1), min(side - 2, j + 1), o, d, reach)
    i, last = _cell(o[0] + enter * d[0], x0, cell, rows), _cell(o[0] + leave * d[0], x0, cell, rows)
    step = 1 if last >= i else -1
    while True:
        a, b = slab(x0 + cell * i, x0 + cell * (i + 1), o[0], d[0], enter, leave)
        if a > b:
            a, b = enter, leave
        j, k = _cell(o[1] + a * d[1], y0, cell, side), _cell(o[1] + b * d[1], y0, cell, side)
        hit, t, n = _best_of_cells(g, s, i, i, max(0, min(j, k) - 1), min(side - 2, max(j, k) + 1), o, d, reach)
        if hit or i == last:
            return hit, t, n
        i += step


@lean
def _cell(x, low, cell, samples):
    return int(max(0.0, min(samples - 2.0, math.floor((x - low) / cell))))


@lean
def _best_of_cells(g, s, i0, i1, j0, j1, o, d, reach):
    best, normal = math.inf, ZERO
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            for half in range(2):
                t, n = _hit(g, s, 2 * (i * (g.ground[s, 3] - 1) + j) + half, o, d, min(best, reach))
                if t < best:
                    best, normal = t, n
    return best < math.inf, best, normal
