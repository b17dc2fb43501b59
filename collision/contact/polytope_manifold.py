"""Contact points of two polytopes: a patch on a face where a face takes part, else the one point of the witnesses."""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.contact.manifold import put, put_patch
from tumble.collision.distance.axes import NO_ROWS, best_axis
from tumble.collision.distance.clip import INSIDE_SLACK, face_patch, patch_capacity
from tumble.collision.distance.polytopes import polytope_query_far, relative, start_axis
from tumble.collision.distance.result import answer, inflated, slack_of, to_world, touching_limit, unlike
from tumble.collision.distance.sat import sat_boxes
from tumble.collision.geometry import BOX, SHARP, empty_geometry
from tumble.collision.kernels.jit import far, inner, lean, remote
from tumble.collision.linalg import IDENTITY, ZERO, add, axpy, dot, load3, mul, mul_t, neg, norm, orthonormal, scale, sub
from tumble.collision.shapes.support_points import EPS, aligned_face, extent
from tumble.collision.status import BEYOND_MARGIN, UNCERTAIN

# Faces whose normals differ by less [rad] are parallel: the warm axis, one of theirs a step ago, can not tell which.
ALIKE = 1e-5
RIM_WIDTH = 1e-3  # of the size: a point of a face this near to its edges may belong to them
PREFERENCE = 0.01  # of the depth: a face that is deeper by less than this goes before two edges
SAME_DEPTH = 1e-9  # of the thinner body: separations and overlaps that differ by less are as good as each other


@lean
def faced(g, a, b, r, t, n):
    """The faces of both polytopes that face each other most along n, and their separations; -1 and -inf where there is none."""
    face_a = aligned_face(g, a, n)
    face_b = aligned_face(g, b, neg(mul_t(r, n)))
    sep_a, sep_b = -math.inf, -math.inf
    if face_a >= 0:
        m = load3(g.normals, face_a)
        sep_a = dot(m, t) - extent(g, b, neg(mul_t(r, m))) - g.offsets[face_a]
    if face_b >= 0:
        m = load3(g.normals, face_b)
        sep_b = -dot(m, mul_t(r, t)) - extent(g, a, neg(mul(r, m))) - g.offsets[face_b]
    return face_a, sep_a, face_b, sep_b


@lean
def reference_side(g, a, ra, b, rb, face_a, sep_a, face_b, sep_b, slack, axis):
    """Whose face the patch lies on, A's (0) or B's (1): by their separations, by size, and by the axis of a step ago."""
    if g.radius[b] > g.radius[a]:  # the larger body keeps the reference: the points are vertices of the smaller one
        side = 0 if sep_a > sep_b + 0.5 * slack else 1
    else:
        side = 1 if sep_b > sep_a + 0.5 * slack else 0
    if face_a >= 0 and face_b >= 0 and abs(sep_a - sep_b) <= slack:
        off_a = unlike(mul(ra, load3(g.normals, face_a)), axis)
        off_b = unlike(neg(mul(rb, load3(g.normals, face_b))), axis)
        if off_a < math.inf:
            if off_b < 0.999 * off_a - ALIKE:
                side = 1
            elif off_a < 0.999 * off_b - ALIKE:
                side = 0
    return side


@lean
def _deep_enough(low, thin):
    """The gap that the deepest point of a face must have where bodies overlap by -``low`` [m]: a part of that may be missed, or
    SAME_DEPTH of ``thin``, the size of the thinner body."""
    return (1.0 - PREFERENCE) * low + SAME_DEPTH * thin if low < 0.0 else math.inf


@lean
def _patch(g, a, xa, ra, b, x, rb, face_a, sep_a, face_b, sep_b, side, low, slack, limit, size, rows, ids):
    """Put the patch on a face: of ``side``, or of the other one where the overlap is deepest beside that face.

    (Its points, 0 where no face has them; the gap of the deepest; normal; the face, its separation and its side.)
    """
    enough = _deep_enough(low, min(g.radius[a], g.radius[b]))
    for turn in (side, 1 - side):
        face, best = (face_b, sep_b) if turn == 1 else (face_a, sep_a)
        if not best >= low - slack:
            break
        count, least, normal = put_face(g, a, xa, ra, b, x, rb, face, turn, limit, slack + max(low, best), size, rows, ids)
        if count == 0:
            break
        if least <= enough:
            return count, least, normal, face, best, turn
    return 0, math.inf, ZERO, -1, -math.inf, side


@remote
def polytope_manifold(g, a, xa, ra, b, xb, rb, margin, axis, rows, ids):
    """Contact points of two polytopes: a patch on a face where a face takes part, else the one point of the witnesses.

    Faces are preferred: a face whose separation is within `slack` of the best axis is taken. Of the two best faces the
    one of the warm axis stays while it is within slack, else that of the larger body (A's on a tie) while within half.
    Where the bodies overlap a part of the depth is slack too, so that a body that rocks in place keeps its face. A face whose
    points do not reach the depth, since that lies beside it, is not taken.
    """
    r, t = relative(xa, ra, xb, rb)
    x = sub(xb, xa)
    size = g.radius[a] + g.radius[b] + norm(t)
    thin = min(g.radius[a], g.radius[b])
    slack = min(max(margin, 0.0), 2e-3 * thin) + SAME_DEPTH * thin + 64.0 * EPS * size
    limit = touching_limit(g, a, b, margin, size)
    guess = start_axis(g, a, b, ra, r, t, axis)
    boxes = g.kind[a] == BOX and g.kind[b] == BOX
    skins = g.skin[a] + g.skin[b]
    known = False  # whether `polytope_query` has run
    low, high, n, p, q, named = 0.0, math.inf, guess, x, x, NO_ROWS
    if boxes:
        face_a, sep_a, face_b, sep_b, sep_e, n_edge, edges = sat_boxes(g, a, b, r, t)
        sep_e -= skins
        low = max(sep_a - skins, sep_b - skins, sep_e)
        slack += min(-PREFERENCE * min(low, 0.0), 2e-3 * thin)
        if low > limit:
            n, _ = best_axis(g, r, face_a, sep_a - skins, face_b, sep_b - skins, sep_e, n_edge, size)
            return 0, to_world(ra, n), BEYOND_MARGIN
    else:
        low, high, n, p, q, named = skin_query(g, a, b, r, t, guess, limit, size)
        known = True
        slack += min(-PREFERENCE * min(low, 0.0), 2e-3 * thin)
        if low > limit:
            return 0, to_world(ra, n), BEYOND_MARGIN
        face_a, sep_a, face_b, sep_b = faced(g, a, b, r, t, n)
    sep_a, sep_b = sep_a - skins, sep_b - skins
    side = reference_side(g, a, ra, b, rb, face_a, sep_a, face_b, sep_b, slack, axis)
    count, least, normal, face, best, turn = _patch(
        g, a, xa, ra, b, x, rb, face_a, sep_a, face_b, sep_b, side, low, slack, limit, size, rows, ids
    )  # fmt: skip
    if count > 0:
        status = answer(low, high if known else max(low, least), normal, x, x, xa, size, slack_of(g, a, b), margin, 1)[0]
        lone = count == 1 and (known or at_rim(g, a, xa, ra, b, xb, rb, face, turn, rows))
        # lone: a corner at the rim of the face, whose normal may be nowhere near that of the pair. UNCERTAIN: apart, and
        # closest at edges or corners: no axis of a face has their distance
        if (lone or status == UNCERTAIN) and not known:
            low, high, n, p, q, named = skin_query(g, a, b, r, t, guess, limit, size)
            known = True
            if low > limit:
                return 0, to_world(ra, n), BEYOND_MARGIN
            status = answer(low, high, normal, x, x, xa, size, slack_of(g, a, b), margin, 1)[0]
        if not (lone and best < low - 64.0 * EPS * size + PREFERENCE * min(low, 0.0)):
            return count, normal, status
    if not known:
        low, high, n, p, q, named = skin_query(g, a, b, r, t, guess, limit, size)
    if low > limit:
        return 0, to_world(ra, n), BEYOND_MARGIN
    normal = to_world(ra, n)
    status = answer(low, high, normal, p, q, xa, size, slack_of(g, a, b), margin, 1)[0]
    middle, gap = mul(ra, scale(0.5, add(p, q))), 0.5 * (low + min(high, low + slack))
    put_witness(g, a, b, ra, rb, xa, normal, middle, gap, named, rows, ids)
    return 1, normal, status


@lean
def at_rim(g, a, xa, ra, b, xb, rb, f, side, rows):
    """Is the one point of a patch on face f of a box, A's (side 0) or B's, hardly inside the face?"""
    s, x, r = (a, xa, ra) if side == 0 else (b, xb, rb)
    y = mul_t(r, sub((rows[0, 0], rows[0, 1], rows[0, 2]), x))
    across = (f - g.face[s, 0]) // 2
    room = math.inf
    for k in range(3):
        if k != across:
            room = min(room, g.size[s, k] - abs(y[k]))
    return room < RIM_WIDTH * g.radius[s]


@lean
def skin_query(g, a, b, r, t, axis, margin, size):
    """Signed distance of polytopes with their skins, in A's frame: (low, high, n, p, q, features of the cores)."""
    reach = margin + (g.skin[a] + g.skin[b])
    low, high, n, p, q, named, _ = polytope_query_far(g, a, b, r, t, axis, reach, size)
    low, high, p, q = inflated(low, high, n, p, q, g.skin[a], g.skin[b])
    return low, high, n, p, q, named


@inner
def put_face(g, a, xa, ra, b, x, rb, f, side, limit, most, size, rows, ids):
    """Patch on face f of A (side 0) or B (side 1): (count, least gap, normal); no points if the least gap exceeds most."""
    outward = mul(ra if side == 0 else rb, load3(g.normals, f))
    normal = outward if side == 0 else neg(outward)
    xa_here, x = scale(g.skin[a], normal), axpy(-g.skin[b], normal, x)
    if side == 1:  # the body with the face goes first
        a, xa_here, ra, b, x, rb = b, x, rb, a, xa_here, ra
    cap = patch_capacity(g, f, b)
    work = np.empty((cap, 10))
    tags = np.empty((cap, 5), np.int64)
    count, least, _ = face_patch(g, a, xa_here, ra, b, x, rb, f, limit, size, INSIDE_SLACK, work, tags)
    if count == 0 or least > most:
        return 0, least, normal
    return put_patch(work, tags, count, neg(outward), xa, normal, side, rows, ids), least, normal


@lean
def put_witness(g, a, b, ra, rb, xa, n, middle, gap, named, rows, ids):
    """The one point of two edges, or of a vertex with an edge or a vertex."""
    tangent, _ = orthonormal(n)
    dir_a, dir_b = tangent, tangent
    along_a, across_a, along_b, across_b = SHARP, SHARP, SHARP, SHARP
    if named[1] >= 0:
        dir_a = to_world(ra, sub(load3(g.vertices, named[1]), load3(g.vertices, named[0])))
        along_a = 0.0
    elif named[0] < 0:
        along_a, across_a = 0.0, 0.0
    if named[3] >= 0:
        dir_b = to_world(rb, sub(load3(g.vertices, named[3]), load3(g.vertices, named[2])))
        along_b = 0.0
    elif named[2] < 0:
        along_b, across_b = 0.0, 0.0
    put(rows, ids, 0, add(xa, middle), gap, dir_a, along_a, across_a, dir_b, along_b, across_b, witness_id(g, a, b, named))


@lean
def witness_id(g, a, b, named):
    """Id from the vertex numbers of both features; those of an edge in order, whichever end the search came upon first."""
    name = 4 << 56
    for k in range(4):
        row, other = named[k], named[k ^ 1]
        if row >= 0:
            if other >= 0:
                row = max(row, other) if k & 1 else min(row, other)
            row -= g.vertex[a, 0] if k < 2 else g.vertex[b, 0]
            name |= (1 + row & 16383) << 14 * k
    return name


polytope_manifold_far = far(
    polytope_manifold,
    lambda: (empty_geometry(), 0, ZERO, IDENTITY, 0, ZERO, IDENTITY, 0.0, ZERO, np.zeros((8, 14)), np.zeros(8, np.int64)),
    returns=(0, (0.0,) * 3, 0),
)
