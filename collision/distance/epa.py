"""The depth of two polytopes: a polytope is grown without care (van den Bergen 2001), then proven.

The corners that the search of gjk.py ended with stand about the origin, in the Minkowski difference D = B - A. The face
nearest to the origin is replaced, until it lies on the boundary of D: along its normal the bodies overlap by
its height d. Separation along an axis is a lower bound of the signed distance, whatever the axis: -d at least.

The proof that the depth is no less than d needs only that the faces make up a closed surface. They do so by construction, since
each new face is joined to its neighbours along whole edges. No face comes nearer to the origin than its lowest corner along any
unit vector. If this height is d or more for all faces, the surface winds about the ball of radius d. Then the ball lies in D,
which is convex, and no axis overlaps by less. The surface itself need not be convex.

A surface is kept for the next query: with its corners where they are then, it may prove the depth once more.

The tables:

    faces (MOST_FACES, 4)    a normal n of any length, then n.x on the face and what rounding may add
    keys                     the square of the height, with the sign of the height
    links (MOST_FACES, 8)    0-2 the corners, counter-clockwise from outside; 3-5 the faces across the edges 0-1, 1-2, 2-0, each
                             as 4 * face + edge there; 6 the turn that made the face; 7 a list of free places
    points (MOST_POINTS, 4)  corners, with names as in gjk.py
"""

from __future__ import annotations

import math

from tumble.collision.distance.axes import best_axis
from tumble.collision.distance.gjk import NO_NAME, NO_NAMES, SETTLED, SHIFT, lowest, named_point
from tumble.collision.distance.sat import sat_boxes, separation_here
from tumble.collision.distance.segments import edge_points
from tumble.collision.geometry import BOX
from tumble.collision.kernels.jit import lean, stack_table, tight
from tumble.collision.linalg import (
    ZERO,
    add,
    axpy,
    cross,
    dot,
    load3,
    mul,
    mul_t,
    neg,
    norm,
    orthonormal,
    scale,
    store3,
    sub,
    transpose,
)
from tumble.collision.shapes.support_points import EPS

MOST_POINTS = 64
MOST_FACES = 2 * MOST_POINTS
MOST_KEPT = 38  # points of a surface that is kept: with the faces, three a number, ROW numbers
ROW = 64
SPARE = MOST_FACES - 1  # a place for what is written without need
SLIVER = 1e-12  # square of the sine of an angle: a face that is more slender stops the search
# Of size: what heights may be off. A normal is off by rounding over the sine of the angle, some 2^-52 / 1e-6. Faces that are
# higher than the depth by more than this need no second look.
ROUGH = 1e-8
LAST_POINT, LAST_FACE = MOST_POINTS - 1, MOST_FACES - 1  # as masks: what is taken from a table is known not to be negative then
PLANE_ERROR = 4.0  # EPS of size: what heights of planes may be off; a lower plane may have the origin in front of it
GONE = 1 << 30  # a turn that never comes
face_table = stack_table(MOST_FACES, 4)
key_table = stack_table(MOST_FACES, 1)
link_table = stack_table(MOST_FACES, 8, "int64")
point_table = stack_table(MOST_POINTS, 4)
name_table = stack_table(MOST_POINTS, 1, "int64")
across_table = stack_table(MOST_KEPT + 1, MOST_KEPT + 1, "int64")
edge_table = stack_table(MOST_FACES, 1, "int64")
no_surface = stack_table(1, 1, "int64")


@tight
def write_face(faces, links, keys, f, i, j, k, w, n, rough, slack, turn):
    """Face f with corners i, j, k, of which the last is at w, and the normal n of any length; False for a sliver.

    ``rough``: product of the squares of the edges that n is the cross product of.
    """
    square = dot(n, n)
    height = dot(n, w)
    store3(faces, f, n)
    faces[f, 3] = height + slack * (abs(n[0]) + abs(n[1]) + abs(n[2]))
    keys[f, 0] = height * abs(height) / square
    links[f, 0] = i
    links[f, 1] = j
    links[f, 2] = k
    links[f, 6] = turn
    return square > SLIVER * rough


@tight
def join(links, f, e, h, m):
    """Edge e of face f is edge m of face h."""
    links[f, 3 + e] = 4 * h + m
    links[h, 3 + m] = 4 * f + e


@tight
def start_tetrahedron(g, a, b, r, t, names, slack, faces, links, keys, points, named):
    """The faces of four named corners; False where they are flat."""
    for k in range(4):
        p, q = named_point(g, a, b, r, t, names[k])
        store3(points, k, sub(q, p))
        named[k, 0] = names[k]
    return four_faces(slack, faces, links, keys, points)


@tight
def four_faces(slack, faces, links, keys, points):
    """The faces of the first four points; False where they are flat."""
    w0, w1, w2, w3 = load3(points, 0), load3(points, 1), load3(points, 2), load3(points, 3)
    i, j = 1, 2
    if dot(cross(sub(w1, w0), sub(w2, w0)), sub(w3, w0)) > 0.0:
        i, j = 2, 1
        w1, w2 = w2, w1
    d1, d2, d3, d4, d5 = sub(w1, w0), sub(w2, w0), sub(w3, w0), sub(w3, w1), sub(w2, w1)
    s1, s2, s3, s4, s5 = dot(d1, d1), dot(d2, d2), dot(d3, d3), dot(d4, d4), dot(d5, d5)
    # seen from outside: 0 i j, 0 3 i, i 3 j, j 3 0
    ok = write_face(faces, links, keys, 0, 0, i, j, w0, cross(d1, d2), s1 * s2, slack, 0)
    ok = write_face(faces, links, keys, 1, 0, 3, i, w0, cross(d3, d1), s1 * s3, slack, 0) and ok
    ok = write_face(faces, links, keys, 2, i, 3, j, w3, cross(d4, d5), s4 * s5, slack, 0) and ok
    ok = write_face(faces, links, keys, 3, j, 3, 0, w0, cross(d2, d3), s2 * s3, slack, 0) and ok
    join(links, 0, 0, 1, 2)
    join(links, 0, 1, 2, 2)
    join(links, 0, 2, 3, 2)
    join(links, 1, 1, 2, 0)
    join(links, 2, 1, 3, 0)
    join(links, 3, 1, 1, 0)
    return ok


@lean
def four_corners(g, a, b, r, t, axis, size):
    """Names of four corners of B - A far apart; NO_NAMES where it is flat. ``axis``: unit vector to begin with."""
    flat = 1e-9 * size
    w, first, _ = lowest(g, a, b, r, t, axis)
    x, second, _ = lowest(g, a, b, r, t, neg(axis))
    e = sub(x, w)
    if norm(e) <= flat:
        return NO_NAMES
    u, v = orthonormal(scale(1.0 / norm(e), e))
    best, third, n = flat, NO_NAME, u
    for d in (u, neg(u), v, neg(v)):
        x, name, _ = lowest(g, a, b, r, t, d)
        if dot(d, sub(w, x)) > best:
            best, third, n = dot(d, sub(w, x)), name, cross(e, sub(x, w))
    n = scale(1.0 / norm(n), n)
    best, fourth = flat, NO_NAME
    for d in (n, neg(n)):
        x, name, _ = lowest(g, a, b, r, t, d)
        if dot(d, sub(w, x)) > best:
            best, fourth = dot(d, sub(w, x)), name
    return (first, second, third, fourth) if third >= 0 and fourth >= 0 else NO_NAMES


@tight
def grow(faces, links, keys, points, todo, near, new, w, count, turn, slack):
    """Replace the faces that see the point ``new`` at w by a fan; the number of faces, or -1 where that is no disc.

    Face ``near`` sees it. Edges are visited in the order of the outline, so that each new face is joined to the last one. New
    faces take the places of removed ones at once; these make up a list, from ``spare`` on by column 7.
    """
    todo[0, 0] = links[near, 5]
    todo[1, 0] = links[near, 4]
    todo[2, 0] = links[near, 3]
    links[near, 6] = GONE
    height = 3
    # a list of free places, by column 7: the one of the first face and two more
    spare = near
    links[near, 7] = count
    links[count, 7] = count + 1
    made, removed = 0, 1
    first, last = near, SPARE
    out = sub(load3(points, links[near, 0]), w)
    out_square = dot(out, out)
    while height > 0:
        height -= 1
        h = todo[height, 0] >> 2 & LAST_FACE
        e = todo[height, 0] & 3
        after = e + 1 if e < 2 else 0
        if links[h, 6] >= turn:
            return -1
        if dot(load3(faces, h), w) > faces[h, 3]:
            before = 3 - e - after
            links[h, 6] = GONE
            todo[height, 0] = links[h, 3 + before]
            todo[height + 1, 0] = links[h, 3 + after]
            height += 2
            links[h, 7] = spare
            spare = h
            removed += 1
            continue
        f = spare
        spare = links[f, 7] & LAST_FACE
        i, j = links[h, after] & LAST_POINT, links[h, e] & LAST_POINT
        into = sub(load3(points, j), w)
        into_square = dot(into, into)
        if not write_face(faces, links, keys, f, i, j, new, w, cross(out, into), out_square * into_square, slack, turn):
            return -1
        out, out_square = into, into_square
        join(links, f, 0, h, e)
        join(links, f, 2, last, 1)
        first = first if made > 0 else f
        last = f
        made += 1
    if made != removed + 2:
        return -1
    join(links, first, 2, last, 1)
    end_keys(keys, count + 2)
    return count + 2


@tight
def recall(g, a, b, r, t, slack, kept, row, faces, links, keys, points, named):
    """The faces of a surface that was kept, with the corners where they are now: (usable, points, faces)."""
    used, count = kept[row, 0] & 255, kept[row, 0] >> 8
    for k in range(used):
        name = kept[row, 1 + k]
        named[k, 0] = name
        p, q = named_point(g, a, b, r, t, name)
        store3(points, k, sub(q, p))
    usable = used > 0
    slot, left, packed = 1 + used, 0, 0
    for f in range(count):
        if left == 0:
            packed = kept[row, slot]
            slot += 1
            left = 3
        i, j, k = packed & 63, packed >> 6 & 63, packed >> 12 & 63
        packed >>= 18
        left -= 1
        w = load3(points, k)
        d, e = sub(load3(points, i), w), sub(load3(points, j), w)
        usable = write_face(faces, links, keys, f, i, j, k, w, cross(d, e), dot(d, d) * dot(e, e), slack, 0) and usable
    return usable, used, count


@tight
def keep(used, count, links, named, kept, row):
    """Write a surface to a row for the next query; one that is too large is not kept. Was it?"""
    if used > MOST_KEPT:
        return False
    kept[row, 0] = used | count << 8
    for k in range(used):
        kept[row, 1 + k] = named[k, 0]
    for f in range(0, count, 3):
        packed = 0
        for m in range(min(count - f, 3)):
            packed |= (links[f + m, 0] | links[f + m, 1] << 6 | links[f + m, 2] << 12) << 18 * m
        kept[row, 1 + used + f // 3] = packed
    return True


@tight
def join_all(links, count, across):
    """Find the neighbours of all faces by their corners. ``across``: a table of MOST_POINTS squared."""
    for f in range(count):
        for e in range(3):
            i, j = links[f, e], links[f, e + 1 if e < 2 else 0]
            across[i, j] = 4 * f + e
    for f in range(count):
        for e in range(3):
            i, j = links[f, e], links[f, e + 1 if e < 2 else 0]
            links[f, 3 + e] = across[j, i]


@lean
def known_depth(g, a, b, r, t, size, names, kept, row):
    """`quick_depth`, for two boxes `quick_boxes`. Not ``tight``: it would slow down the search of pairs that are apart."""
    if g.kind[a] == BOX and g.kind[b] == BOX:
        settled, low, high, n, p, q, corners = quick_boxes(g, a, b, r, t, size)
        return settled, low, high, n, p, q, 1, True, corners
    return quick_depth(g, a, b, r, t, size, names, kept, row)


@tight
def quick_depth(g, a, b, r, t, size, names, kept, row):
    """(settled, low, high, n, p, q, turns, grown, corners) of two polytopes that overlap, in A's frame; see the module.

    ``names``: four corners about the origin, or a negative one in front: then the surface in this row of ``kept`` is where to
    start. The surface at the end is written there, if it is another one (grown) and the row is not negative. corners: names of
    the nearest face; of boxes the ends of two edges, if it is these that touch. Not settled, but with corners: high, n and these
    are those of the surface.
    """
    faces, links, points, named, todo = face_table(), link_table(), point_table(), name_table(), edge_table()
    keys, across = key_table(), across_table()
    n, p, q = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    low, high = -math.inf, math.inf
    turns, corners = 0, NO_NAMES
    rounding = 4.0 * EPS * size
    grown = names[0] >= 0
    if grown:
        usable = start_tetrahedron(g, a, b, r, t, names, rounding, faces, links, keys, points, named)
        used, count = 4, 4
    else:
        usable, used, count = recall(g, a, b, r, t, rounding, kept, row, faces, links, keys, points, named)
    end_keys(keys, count)
    near = 0
    while usable and used < MOST_POINTS:
        turns += 1
        near = nearest(keys, count)
        n = load3(faces, near)
        w, name, _ = lowest(g, a, b, r, t, neg(n))
        i, j, k = links[near, 0] & LAST_POINT, links[near, 1] & LAST_POINT, links[near, 2] & LAST_POINT
        if dot(n, w) <= faces[near, 3] or name == named[i, 0] or name == named[j, 0] or name == named[k, 0]:
            break
        if not grown:
            join_all(links, count, across)
            grown = True
        store3(points, used, w)
        named[used, 0] = name
        count = grow(faces, links, keys, points, todo, near, used, w, count, turns, rounding)
        usable = count > 0
        used += 1
    if not usable or used == MOST_POINTS:
        return False, low, high, n, p, q, turns, grown, corners
    corners = named[i, 0], named[j, 0], named[k, 0], NO_NAME
    n = scale(-1.0 / norm(n), n)
    low = separation_here(g, a, b, r, t, n)
    close = SETTLED * EPS * size
    found, high, p, q = nearest_with_care(g, a, b, r, t, n, low, close, ROUGH * size, faces, links, keys, points, named, count)
    settled = found and high - low <= close and low < -4.0 * close
    if settled and grown and row >= 0:
        grown = keep(used, count, links, named, kept, row)
    return settled, low, high, n, p, q, turns, grown, corners


@tight
def nearest_with_care(g, a, b, r, t, n, low, close, rough, faces, links, keys, points, named, count):
    """(found, high, p, q) of the faces about as near as the nearest, whose heights are only roughly known: the greatest of their
    heights, and the places that touch on one that lies within ``close`` of ``low``.
    """
    reach = rough + max(-low, 0.0)
    reach *= reach
    found, high = False, -math.inf
    p, q = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for f in range(count):
        if keys[f, 0] <= reach:
            i, j, k = links[f, 0], links[f, 1], links[f, 2]
            m = load3(faces, f)
            m = scale(-1.0 / norm(m), m)
            height = max(dot(m, load3(points, i)), max(dot(m, load3(points, j)), dot(m, load3(points, k))))
            high = max(high, height)
            if height - low <= close and not found:
                found, p, q = on_face(g, a, b, r, t, n, named[i, 0], named[j, 0], named[k, 0])
                found = found and norm(axpy(-low, n, sub(q, p))) <= close
    return found, high, p, q


@tight
def end_keys(keys, count):
    """Make `nearest` pass over what it reads beyond the last face."""
    for m in range(3):
        keys[count + m, 0] = math.inf


@tight
def nearest(keys, count):
    """The face of the least key; four at a time, since each comparison waits for the one before."""
    f0, f1, f2, f3 = 0, 1, 2, 3
    k0, k1, k2, k3 = keys[0, 0], keys[1, 0], keys[2, 0], keys[3, 0]
    for f in range(4, count, 4):
        if keys[f, 0] < k0:
            k0, f0 = keys[f, 0], f
        if keys[f + 1, 0] < k1:
            k1, f1 = keys[f + 1, 0], f + 1
        if keys[f + 2, 0] < k2:
            k2, f2 = keys[f + 2, 0], f + 2
        if keys[f + 3, 0] < k3:
            k3, f3 = keys[f + 3, 0], f + 3
    if k1 < k0:
        k0, f0 = k1, f1
    if k3 < k2:
        k2, f2 = k3, f3
    return (f2 if k2 < k0 else f0) & LAST_FACE


@tight
def on_face(g, a, b, r, t, n, i, j, k):
    """(Whether the line through the origin along n passes between three named corners, the point of A there, that of B)."""
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


@lean
def no_more(top, n, p, q, size):
    """An upper bound of the signed distance, by the nearest plane of D, with the height -top and the normal n, and by two points.

    The ball of radius -top lies in D where all planes have the origin behind them. If one plane may have the origin in front, the
    bodies may be apart. Then no plane says how far, since the nearest place may be an edge or a corner, and a plane that is askew
    there may be far from the origin. So the distance of the two points is the bound. If B's point lies behind A's along n, it
    does so by no more than planes are off, and the distance counts as zero.
    """
    if top < -PLANE_ERROR * EPS * size:
        return top
    v = sub(q, p)
    along = dot(n, v)
    along, across = max(along, 0.0), norm(axpy(-along, n, v))
    return max(top, math.sqrt(along * along + across * across))


@tight
def quick_boxes(g, a, b, r, t, size):
    """(settled, low, high, n, p, q, corners) of two boxes that overlap or touch, by their fifteen axes."""
    face_a, sep_a, face_b, sep_b, sep_e, n, edges = sat_boxes(g, a, b, r, t)
    best = max(sep_a, sep_b, sep_e)
    n, which = best_axis(g, r, face_a, sep_a, face_b, sep_b, sep_e, n, size)
    corners = NO_NAMES
    if which == 2:
        tip = edges[1] * SHIFT + edges[3]
        corners = edges[0] * SHIFT + edges[2], tip, tip, NO_NAME
        p, q = edge_points(g.vertices, r, t, edges)
        found = norm(axpy(-best, n, sub(q, p))) <= SETTLED * EPS * size
    elif which == 0:
        found, p, q = on_box(g, a, b, r, t, n, best, size)
    else:
        found, q, p = on_box(g, b, a, transpose(r), neg(mul_t(r, t)), neg(mul_t(r, n)), best, size)
        p, q = add(mul(r, p), t), add(mul(r, q), t)
    high = no_more(best, n, p, q, size)
    return found and high - best <= 64.0 * EPS * size, best, high, n, p, q, corners


@lean
def on_box(g, a, b, r, t, n, sep, size):
    """A point on the face of box a with normal n, and the lowest point of box b over it: (found, of A, of B), in A's frame.

    If an edge or a face of B is level with A's face, all of its points are lowest. Then its edges are clipped to A's face. Where
    nothing of them lies over A's face, but the face of B covers it, a corner of A's face is taken.
    """
    m, slack = mul_t(r, n), PLANE_ERROR * EPS * size
    middle, d, e = t, ZERO, ZERO  # of the lowest feature of B, and its half edges
    for k in range(3):
        half, axis = g.size[b, k], (r[k], r[3 + k], r[6 + k])
        if abs(m[k]) * half <= slack:
            d, e = scale(half, axis), d
        else:
            middle = axpy(-math.copysign(half, m[k]), axis, middle)
    size_a = g.size[a, 0], g.size[a, 1], g.size[a, 2]
    for k in range(4):
        start, way = (add(middle, scale(1.0 - 2.0 * k, e)), d) if k < 2 else (add(middle, scale(5.0 - 2.0 * k, d)), e)
        low, high = -1.0, 1.0
        for i in range(3):
            x = start[i] - sep * n[i]
            if abs(way[i]) > slack:
                end = math.copysign(size_a[i] + slack, way[i])
                low, high = max(low, (-end - x) / way[i]), min(high, (end - x) / way[i])
        q = axpy(low, way, start)
        x = axpy(-sep, n, q)
        p = within(x, size_a)
        if low <= high and norm(sub(x, p)) <= SETTLED * EPS * size:
            return True, p, q
    p = math.copysign(size_a[0], n[0]), math.copysign(size_a[1], n[1]), math.copysign(size_a[2], n[2])
    y = mul_t(r, sub(axpy(sep, n, p), t))
    q = within(y, (g.size[b, 0], g.size[b, 1], g.size[b, 2]))
    return norm(sub(y, q)) <= SETTLED * EPS * size, p, add(mul(r, q), t)


@tight
def within(x, half):
    """The point of a box that is closest to x, in the frame of the box."""
    x, y, z = x
    return min(max(x, -half[0]), half[0]), min(max(y, -half[1]), half[1]), min(max(z, -half[2]), half[2])
