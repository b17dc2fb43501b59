"""Rows of a contact manifold, and the choice of a few points out of many."""

from __future__ import annotations

from tumble.collision.distance.clip import GAP, NAME, OUT
from tumble.collision.geometry import SHARP
from tumble.collision.kernels.jit import lean
from tumble.collision.linalg import add, at, axpy, norm, orthonormal, set_at, store3, sub

ALIKE, AS_DEEP = 1e-6, 1e-8  # of how far the candidates are apart
MANIFOLD_POINTS = 8  # points of a manifold, where no other number is asked for


@lean
def put(rows, ids, k, x, gap, dir_a, along_a, across_a, dir_b, along_b, across_b, name):
    """Write point k: position, gap, tangent and curvatures of A, the same of B."""
    store3(rows, k, x)
    set_at(rows, k, 4, dir_a)
    set_at(rows, k, 9, dir_b)
    rows[k, 3] = gap
    rows[k, 7] = along_a
    rows[k, 8] = across_a
    rows[k, 12] = along_b
    rows[k, 13] = across_b
    ids[k] = name


@lean
def take_row(rows, ids, k, into, names, m):
    """Row k as row m of another table, or of the same."""
    for c in range(14):
        into[m, c] = rows[k, c]
    names[m] = ids[k]


@lean
def named_by_first(name, row):
    """Whether a point with this row has its name from the first body alone, so that it says which point it is on another face of
    the second one's ground too: a corner of the first body, the end of a line of it, or where it is round.

    All but these are named after features of both: of names from bit 56 on those of corners (0 and 2, see clip.py), of witnesses
    (4, polytope_manifold.py), of ends of lines and single points (8 and 9, patch.py) are of one body where the other has a face.
    """
    kind, face_a, face_b = name >> 56 & 15, row[7] == 0.0 and row[8] == 0.0, row[12] == 0.0 and row[13] == 0.0
    if kind == 2:  # a corner of the face that the other body's corners are clipped to: in its row that body counts as sharp
        return face_a
    round_a = 0.0 < row[7] < SHARP and 0.0 < row[8] < SHARP
    return (face_b or round_a) and (kind == 0 or kind == 4 or kind == 8 or kind == 9)  # noqa: PLR1714


@lean
def swap_rows(rows, count):
    """Make the rows of (B, A) those of (A, B): the curvatures change places. The normal turns about, but no row holds it."""
    for k in range(count):
        for i in range(4, 9):
            rows[k, i], rows[k, i + 5] = rows[k, i + 5], rows[k, i]


@lean
def bend_rows(rows, count, skin_a, skin_b):
    """Make the curvatures of cores those of their skins: radii of curvature grow by the radius of the skin."""
    for k in range(count if skin_a > 0.0 or skin_b > 0.0 else 0):
        for i in range(7, 9):
            rows[k, i] /= 1.0 + rows[k, i] * skin_a
            rows[k, i + 5] /= 1.0 + rows[k, i + 5] * skin_b


@lean
def choose_points(work, tags, count, most):
    """Rows of the points to keep, at most ``most``, into column 0 of tags; their number.

    The first point kept is the deepest, each further one the point that is furthest from all kept so far. Of points that are
    as deep, or as far, the first is taken, so that bodies that tremble keep their points. The rows come out ascending, so that a
    set that does not change keeps its order.
    """
    if count <= most:
        for i in range(count):
            tags[i, 0] = i
        return count
    least, wide = work[0, GAP], 0.0
    for i in range(1, count):
        least = min(least, work[i, GAP])
        wide = max(wide, norm(sub(at(work, i, OUT), at(work, 0, OUT))))
    first = 0
    while work[first, GAP] > least + AS_DEEP * wide:
        first += 1
    tags[0, 0] = first
    for i in range(count):  # column 0: the distance from all chosen
        work[i, 0] = norm(sub(at(work, i, OUT), at(work, first, OUT)))
    for k in range(1, most):
        far = 0.0
        for i in range(count):
            far = max(far, work[i, 0])
        best = 0
        while work[best, 0] < far - ALIKE * wide:
            best += 1
        tags[k, 0] = best
        for i in range(count):
            work[i, 0] = min(work[i, 0], norm(sub(at(work, i, OUT), at(work, best, OUT))))
    for i in range(1, most):  # insertion sort
        x = tags[i, 0]
        j = i
        while j > 0 and tags[j - 1, 0] > x:
            tags[j, 0] = tags[j - 1, 0]
            j -= 1
        tags[j, 0] = x
    return most


@lean
def put_patch(work, tags, count, toward, origin, n, side, rows, ids):
    """Rows for the points of a face on a vertex, edge or face, as `face_patch` leaves them.

    The points lie on the body that is not the reference, relative to ``origin``; ``toward``: unit vector from them to the
    plane of the reference face where the gap is positive. ``side``: 0 where the reference face is A's, 1 where it is
    B's. ``n``: normal from A to B. Returns the count.
    """
    kept = choose_points(work, tags, count, len(ids))
    tangent, _ = orthonormal(n)
    flat_a = 0.0 if side == 0 else SHARP
    flat_b = SHARP if side == 0 else 0.0
    for k in range(kept):
        i = tags[k, 0]
        gap = work[i, GAP]
        middle = add(origin, axpy(0.5 * gap, toward, at(work, i, OUT)))
        put(rows, ids, k, middle, gap, tangent, flat_a, flat_a, tangent, flat_b, flat_b, tags[i, NAME] | side << 60)
    return kept
