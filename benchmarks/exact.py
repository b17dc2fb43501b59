"""Signed distance of two small convex hulls in rational arithmetic: no rounding at all.

Slow (tens of milliseconds for hulls of eight vertices), and independent of the kernels. Two ways:

    signed_square       apart, the least distance over all pairs of a vertex, edge or triangle of one and the other;
                        overlapping, the greatest separation over all normals of faces and of pairs of edges
    square_by_hull      the distance of the origin from the surface of the hull of all differences of vertices: for hulls of
                        up to twenty vertices, some tenths of a second

Squares are compared, so that no root is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

Vector = tuple[Fraction, Fraction, Fraction]  # or whole numbers, which are quicker
Ratio = tuple[Fraction, Fraction]  # numerator, denominator


def sub(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def dot(a: Vector, b: Vector) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def placed(vertices: np.ndarray, position, quaternion) -> list[Vector]:
    """World vertices, exactly: the rotation of q / |q| is rational in q."""
    w, x, y, z = map(Fraction, map(float, quaternion))
    s = 2 / (w * w + x * x + y * y + z * z)
    rows = (
        (1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)),
    )
    p = tuple(map(Fraction, map(float, position)))
    local = [tuple(map(Fraction, map(float, v))) for v in vertices]
    return [tuple(dot(row, v) + c for row, c in zip(rows, p, strict=True)) for v in local]


def separation(a: list[Vector], b: list[Vector], n: Vector) -> Fraction:
    """min over B of n.x - max over A of n.x; n of any length."""
    return min(dot(n, v) for v in b) - max(dot(n, v) for v in a)


def greatest_separation(a: list[Vector], b: list[Vector], edges_a, edges_b, faces_a, faces_b) -> tuple[int, Fraction]:
    """(sign, square) of the greatest separation along the normals of faces and of pairs of edges."""
    da = [sub(a[j], a[i]) for i, j in edges_a]
    db = [sub(b[j], b[i]) for i, j in edges_b]
    normals = [cross(sub(v[j], v[i]), sub(v[k], v[i])) for v, faces in ((a, faces_a), (b, faces_b)) for i, j, k in faces]
    normals += [cross(u, v) for u in da for v in db]
    best: Fraction | None = None
    for n in normals:
        square = dot(n, n)
        if square == 0:
            continue
        for m in (n, tuple(-c for c in n)):
            s = separation(a, b, m)
            value = (s * abs(s)) / square  # grows with s / |n|
            if best is None or value > best:
                best = value
    return (0 if best == 0 else 1 if best > 0 else -1), abs(best)


def square_to_segment(p: Vector, a: Vector, b: Vector) -> Ratio:
    """Square of the distance of a point from a segment."""
    d, x = sub(b, a), sub(p, a)
    along, dd = dot(x, d), dot(d, d)
    if along <= 0:
        return dot(x, x), 1
    if along >= dd:
        y = sub(p, b)
        return dot(y, y), 1
    return dot(x, x) * dd - along * along, dd


def square_over_triangle(p: Vector, a: Vector, b: Vector, c: Vector) -> Ratio | None:
    """Square of the height of a point over a triangle; None where its foot lies outside."""
    n = cross(sub(b, a), sub(c, a))
    nn = dot(n, n)
    if nn == 0 or any(dot(cross(sub(v, u), n), sub(p, u)) > 0 for u, v in ((a, b), (b, c), (c, a))):
        return None
    return dot(n, sub(p, a)) ** 2, nn


def square_between_segments(a: Vector, b: Vector, c: Vector, d: Vector) -> Ratio | None:
    """Square of the distance of two segments where their common perpendicular meets both; None elsewhere."""
    u, v, w = sub(b, a), sub(d, c), sub(c, a)
    uu, vv, uv, wu, wv = dot(u, u), dot(v, v), dot(u, v), dot(w, u), dot(w, v)
    det = uu * vv - uv * uv
    s, t = wu * vv - wv * uv, wu * uv - wv * uu
    if det == 0 or not (0 <= s <= det and 0 <= t <= det):
        return None
    return dot(w, cross(u, v)) ** 2, det


def squares(a: list[Vector], b: list[Vector], edges_a, edges_b, faces_a, faces_b) -> Iterator[Ratio]:
    """Squares of distances of features of two hulls that are apart, the quick ones first: none is less than that of the hulls."""
    yield from ((dot(d, d), 1) for d in (sub(p, q) for p in a for q in b))
    sides = (a, b, edges_b, faces_b), (b, a, edges_a, faces_a)
    yield from (square_to_segment(p, other[i], other[j]) for points, other, edges, _ in sides for p in points for i, j in edges)
    found = [(square_between_segments, (a[i], a[j], b[k], b[m])) for i, j in edges_a for k, m in edges_b]
    found += [
        (square_over_triangle, (p, other[i], other[j], other[k]))
        for points, other, _, faces in sides
        for p in points
        for i, j, k in faces
    ]
    yield from (ratio for square, corners in found if (ratio := square(*corners)) is not None)


def least_distance(a: list[Vector], b: list[Vector], *lists) -> Fraction:
    """Square of the distance of two hulls that are apart."""
    return min(Fraction(*ratio) for ratio in squares(a, b, *lists))


def features(vertices: np.ndarray) -> tuple[list, list]:
    """All pairs and triples of vertices that are edges or triangles of the hull, or lie inside it: more do no harm."""
    n = len(vertices)
    return list(combinations(range(n), 2)), list(combinations(range(n), 3))


def interleaved(first: tuple, second: tuple) -> list:
    """Edges of one and the other, faces of one and the other."""
    return [part for pair in zip(first, second, strict=True) for part in pair]


def signed_square(va, pose_a, vb, pose_b) -> tuple[int, Fraction]:
    """(sign, square) of the signed distance of the hulls of two sets of points at poses (position, quaternion)."""
    a, b = placed(va, *pose_a), placed(vb, *pose_b)
    lists = interleaved(features(va), features(vb))
    sign, square = greatest_separation(a, b, *lists)
    if sign <= 0:
        return sign, square
    return 1, least_distance(a, b, *lists)


def lower_is_proven(a: list[Vector], b: list[Vector], normal, lower: Fraction) -> bool:
    """Does the separation along a normal (any three numbers) prove the lower bound of the signed distance?"""
    n = direction(normal)
    s = separation(a, b, n)
    return s * abs(s) >= lower * abs(lower) * dot(n, n)


def upper_is_proven(a: list[Vector], b: list[Vector], normal, upper: Fraction) -> bool:
    """Do features of the bodies, among the vertices foremost along a normal, prove an upper bound that is not negative?"""
    n = direction(normal)
    chosen = []
    for points, along in ((a, [dot(n, v) for v in a]), (b, [-dot(n, v) for v in b])):
        top, size = max(along), (max(max(map(abs, v)) for v in points) or 1) * max(map(abs, n))
        order = sorted(range(len(points)), key=lambda k: -along[k])
        chosen.append([points[k] for k in order if (top - along[k]) * 10**9 <= size][:8])
    lists = interleaved(*map(features, chosen))
    square = upper * upper
    return any(n * square.denominator <= square.numerator * d for n, d in squares(*chosen, *lists))


def direction(normal) -> Vector:
    """Whole numbers in the ratio of three given ones."""
    return whole([tuple(map(Fraction, map(float, normal)))])[0][0]


def whole(points: list[Vector]) -> tuple[list[Vector], int]:
    """The points times the least whole number that makes them whole, and that number."""
    factor = math.lcm(*(c.denominator for p in points for c in p))
    return [tuple(int(c * factor) for c in p) for p in points], factor


def hull_of(points: list[Vector]) -> list[tuple[Vector, Vector, Vector]] | None:
    """Triangles of the hull of whole points, counter-clockwise from outside; None where they lie in one plane.

    Point by point: those triangles that a point lies in front of, or in the plane of, give way to a fan.
    """
    first = points[0]
    second = next((p for p in points if p != first), None)
    third = next((p for p in points if second and any(cross(sub(second, first), sub(p, first)))), None)
    if third is None:
        return None
    n = cross(sub(second, first), sub(third, first))
    fourth = next((p for p in points if dot(n, sub(p, first))), None)
    if fourth is None:
        return None
    if dot(n, sub(fourth, first)) > 0:
        second, third = third, second
    faces = {}

    def add(a, b, c):
        n = cross(sub(b, a), sub(c, a))
        faces[a, b, c] = n, dot(n, a)

    for corners in ((first, second, third), (first, fourth, second), (second, fourth, third), (third, fourth, first)):
        add(*corners)
    for p in points:
        heights = {corners: dot(n, p) - offset for corners, (n, offset) in faces.items()}
        if max(heights.values()) <= 0:
            continue
        seen = [corners for corners, height in heights.items() if height >= 0]
        edges = {(c[i], c[(i + 1) % 3]) for c in seen for i in range(3)}
        for corners in seen:
            del faces[corners]
        for a, b in edges:
            if (b, a) not in edges:
                add(a, b, p)
    return list(faces)


def square_by_hull(va, pose_a, vb, pose_b) -> tuple[int, Fraction] | None:
    """(sign, square) of the signed distance as `signed_square`; None where the differences lie in one plane."""
    points, factor = whole([sub(q, p) for q in placed(vb, *pose_b) for p in placed(va, *pose_a)])
    faces = hull_of(list(dict.fromkeys(points)))
    if faces is None:
        return None
    planes = {corners: cross(sub(corners[1], corners[0]), sub(corners[2], corners[0])) for corners in faces}
    heights = {corners: dot(n, corners[0]) for corners, n in planes.items()}
    if min(heights.values()) >= 0:
        square = min(Fraction(h * h, dot(planes[corners], planes[corners])) for corners, h in heights.items())
        return (-1 if square else 0), square / factor**2
    origin = (0, 0, 0)
    found = []
    for (a, b, c), height in heights.items():
        if height < 0:
            over = square_over_triangle(origin, a, b, c)
            found += [over] if over is not None else [square_to_segment(origin, u, v) for u, v in ((a, b), (b, c), (c, a))]
    return 1, min(Fraction(*ratio) for ratio in found) / factor**2


def square_of_flat(va, pose_a, vb, pose_b) -> tuple[int, Fraction]:
    """The same where the differences lie in one plane: no depth, and the distance is that of two features."""
    square = least_distance(a := placed(va, *pose_a), b := placed(vb, *pose_b), *interleaved(features(a), features(b)))
    return (1 if square else 0), square


def holds(bounds: tuple[float, float], sign: int, square: Fraction) -> bool:
    """Does lower <= sign sqrt(square) <= upper hold, exactly?"""
    value = sign * square
    lower, upper = (Fraction(x) * abs(Fraction(x)) for x in bounds)
    return lower <= value <= upper
