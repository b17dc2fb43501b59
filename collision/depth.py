"""The short way to the depth of two polytopes: a polytope is grown without care, then proven.

The corners that the search of quick.py ended with stand about the origin, in the Minkowski difference D = B - A. As in
epa.py the face nearest to the origin is replaced, until it lies on the boundary of D: along its normal the bodies overlap by
its height d. Separation along an axis is a lower bound of the signed distance, whatever the axis: -d at least.

The proof that it is no more than that takes nothing for granted but that the faces make up a closed surface, which they do
by construction: each new one is joined to its neighbours along whole edges. No face comes nearer to the origin than its
lowest corner along any unit vector. If that is d or more for all of them, the surface winds about the ball of radius d: so
the ball lies in D, which is convex, and no axis overlaps by less. The surface itself need not be convex.

Tables: faces (MOST_FACES, 4): unit normal, height of the lowest corner; links (MOST_FACES, 7): three corners,
counter-clockwise from outside, the faces across the edges 0-1, 1-2, 2-0, as 4 * face + edge there, and the turn that made it;
points (MOST_POINTS, 3) with names as in quick.py.
"""

from __future__ import annotations

import math

from numba import types

from collision.jit import lean, stack_table, tight
from collision.linalg import add, axpy, cross, dot, load3, neg, norm, scale, store3, sub
from collision.quick import CLOSE, lowest, named_point
from collision.support import EPS

MOST_POINTS = 64
MOST_FACES = 2 * MOST_POINTS
GONE = 1 << 30  # a turn that never comes
face_table = stack_table(MOST_FACES, 4)
link_table = stack_table(MOST_FACES, 8, types.int64)
point_table = stack_table(MOST_POINTS, 4)
name_table = stack_table(MOST_POINTS, 1, types.int64)
edge_table = stack_table(MOST_FACES, 1, types.int64)


@tight
def write_face(faces, links, f, i, j, k, a, b, c, n, turn):
    """Face f with corners i, j, k at a, b, c and the normal n of any length; False for a sliver."""
    square = dot(n, n)
    n = scale(1.0 / math.sqrt(square), n)
    store3(faces, f, n)
    faces[f, 3] = min(dot(n, a), min(dot(n, b), dot(n, c)))
    links[f, 0] = i
    links[f, 1] = j
    links[f, 2] = k
    links[f, 6] = turn
    return square > 0.0


@tight
def join(links, f, e, h, m):
    """Edge e of face f is edge m of face h."""
    links[f, 3 + e] = 4 * h + m
    links[h, 3 + m] = 4 * f + e


@tight
def start_tetrahedron(g, a, b, r, t, names, faces, links, points, named):
    """The faces of four named corners; False where they are flat."""
    for k in range(4):
        p, q = named_point(g, a, b, r, t, names[k])
        store3(points, k, sub(q, p))
        named[k, 0] = names[k]
    w0, w1, w2, w3 = load3(points, 0), load3(points, 1), load3(points, 2), load3(points, 3)
    i, j = 1, 2
    if dot(cross(sub(w1, w0), sub(w2, w0)), sub(w3, w0)) > 0.0:
        i, j = 2, 1
        w1, w2 = w2, w1
    # seen from outside: 0 i j, 0 3 i, i 3 j, j 3 0
    ok = write_face(faces, links, 0, 0, i, j, w0, w1, w2, cross(sub(w1, w0), sub(w2, w0)), 0)
    ok = write_face(faces, links, 1, 0, 3, i, w0, w3, w1, cross(sub(w3, w0), sub(w1, w0)), 0) and ok
    ok = write_face(faces, links, 2, i, 3, j, w1, w3, w2, cross(sub(w3, w1), sub(w2, w1)), 0) and ok
    ok = write_face(faces, links, 3, j, 3, 0, w2, w3, w0, cross(sub(w3, w2), sub(w0, w2)), 0) and ok
    join(links, 0, 0, 1, 2)
    join(links, 0, 1, 2, 2)
    join(links, 0, 2, 3, 2)
    join(links, 1, 1, 2, 0)
    join(links, 2, 1, 3, 0)
    join(links, 3, 1, 1, 0)
    return ok


@tight
def grow(faces, links, points, todo, near, new, w, count, turn, rounding):
    """Replace the faces that see the point ``new`` at w by a fan; the number of faces, or -1 where that is no disc.

    Face ``near`` sees it. Faces across edges are visited in the order of the outline, so that each new face is joined to the last.
    """
    todo[0, 0] = links[near, 5]
    todo[1, 0] = links[near, 4]
    todo[2, 0] = links[near, 3]
    links[near, 6] = GONE
    height = 3
    free0, free1 = near, -1
    made = 0
    removed = 1
    # places of removed faces are taken at once
    waiting = 1
    spare = near
    first, last = -1, -1
    out = sub(load3(points, links[near, 0]), w)
    while height > 0:
        height -= 1
        h = todo[height, 0] >> 2
        e = todo[height, 0] & 3
        after = e + 1 if e < 2 else 0
        if links[h, 6] >= turn:
            return -1
        if dot(load3(faces, h), w) - faces[h, 3] > rounding:
            before = 3 - e - after
            links[h, 6] = GONE
            todo[height, 0] = links[h, 3 + before]
            todo[height + 1, 0] = links[h, 3 + after]
            height += 2
            # keep a list of free places in the corners of removed faces
            links[h, 7] = spare
            spare = h
            waiting += 1
            removed += 1
            continue
        if waiting > 0:
            f = spare
            waiting -= 1
            spare = links[f, 7]
        else:
            f = count
            count += 1
        i, j = links[h, after], links[h, e]
        x, y = load3(points, i), load3(points, j)
        into = sub(y, w)
        if not write_face(faces, links, f, i, j, new, x, y, w, cross(out, into), turn):
            return -1
        out = into
        join(links, f, 0, h, e)
        if made > 0:
            join(links, f, 2, last, 1)
        else:
            first = f
        last = f
        made += 1
    if made != removed + 2:
        return -1
    join(links, first, 2, last, 1)
    return count


@tight
def quick_depth(g, a, b, r, t, size, names):
    """(settled, low, high, n, p, q, turns) of two polytopes that overlap; see the module. n, p, q are in A's frame.

    ``names``: four corners about the origin.
    """
    faces, links, points, named, todo = face_table(), link_table(), point_table(), name_table(), edge_table()
    n, p, q = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    low, high = -math.inf, math.inf
    turns = 0
    if not start_tetrahedron(g, a, b, r, t, names, faces, links, points, named):
        return False, low, high, n, p, q, turns
    used, count = 4, 4
    rounding = 4.0 * EPS * size
    while used < MOST_POINTS:
        turns += 1
        near = 0
        least = faces[0, 3]
        for f in range(1, count):
            if faces[f, 3] < least:
                least = faces[f, 3]
                near = f
        n = neg(load3(faces, near))
        w, name, low = lowest(g, a, b, r, t, n)
        high = -least
        i, j, k = links[near, 0], links[near, 1], links[near, 2]
        if high - low <= rounding or name == named[i, 0] or name == named[j, 0] or name == named[k, 0]:
            break
        store3(points, used, w)
        named[used, 0] = name
        count = grow(faces, links, points, todo, near, used, w, count, turns, rounding)
        if count < 0:
            return False, low, high, n, p, q, turns
        used += 1
    if not (high - low <= CLOSE * EPS * size and low < -64.0 * EPS * size):
        return False, low, high, n, p, q, turns
    for f in range(count):
        if faces[f, 3] + high <= CLOSE * EPS * size:
            i, j, k = links[f, 0], links[f, 1], links[f, 2]
            inside, p, q = on_face(g, a, b, r, t, n, named[i, 0], named[j, 0], named[k, 0])
            if inside:
                return norm(axpy(-low, n, sub(q, p))) <= CLOSE * EPS * size, low, high, n, p, q, turns
    return False, low, high, n, p, q, turns


@tight
def on_face(g, a, b, r, t, n, i, j, k):
    """Does the line through the origin along n pass three named corners inside? And the points of A and of B where it does."""
    p0, q0 = named_point(g, a, b, r, t, i)
    p1, q1 = named_point(g, a, b, r, t, j)
    p2, q2 = named_point(g, a, b, r, t, k)
    w0, w1, w2 = sub(q0, p0), sub(q1, p1), sub(q2, p2)
    l0, l1, l2 = -dot(n, cross(w1, w2)), -dot(n, cross(w2, w0)), -dot(n, cross(w0, w1))
    s = 1.0 / (l0 + l1 + l2)
    l0, l1, l2 = s * l0, s * l1, s * l2
    least = -1e-15
    inside = l0 >= least and l1 >= least and l2 >= least
    l0, l1, l2 = max(l0, 0.0), max(l1, 0.0), max(l2, 0.0)
    p = axpy(l2, p2, add(scale(l0, p0), scale(l1, p1)))
    q = axpy(l2, q2, add(scale(l0, q0), scale(l1, q1)))
    return inside, p, q
