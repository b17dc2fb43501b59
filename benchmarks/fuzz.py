"""Random and degenerate pairs of hulls, each answer verified afterwards: python -m benchmarks.fuzz --pairs 1000000

Hulls of 1 to 200 vertices: balls, plates, needles, lattices, boxes, flat polygons, segments; sizes in a ratio of up to 1e4;
up to 1e6 m from the origin; turned or with parallel faces; at gaps of 0, +-1e-15, +-1e-12, +-1e-8, +-1e-4, +-1 of the smaller
size. The verification shares no code with the queries: plain sweeps over all vertices and faces.

    lower    no greater than the separation along the normal
    upper    apart: no less than the distance of the witness points, which must lie in the bodies; overlapping: no less
             than the separation along any normal of a face, and along some normals of pairs of edges
    sample   pairs of at most 150 differences of vertices against rational arithmetic (exact.py): the interval must hold the
             exact value
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

from benchmarks.exact import holds, square_by_hull
from benchmarks.peers.families import matrices
from tumble.collision import Box, ConvexHull, InputError, PairCache, ShapeSet, signed_distances
from tumble.collision.kernels.jit import inner, kernel
from tumble.collision.shapes.shapeset import pack
from tumble.collision.status import OVERLAPPING, UNCERTAIN, Status

EPS = np.finfo(float).eps
GAPS = (0.0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-8, -1e-8, 1e-4, -1e-4, 1.0, -1.0, 0.1, -0.1)
FORMS = ("ball", "plate", "thin plate", "needle", "thin needle", "lattice", "box", "flat", "segment", "cluster")
BLOCK = 2000
SMALLEST_CROSS = 1e-21  # [m^2] a cross product below it has no direction
HULLS = 120
VERIFIED = 256.0  # EPS of size + distance from the origin: the tolerance of house rules, see docs/numerics.md


def random_hull(rng: np.random.Generator) -> Box | ConvexHull:
    """A hull of some form and size."""
    form = FORMS[rng.integers(len(FORMS))]
    count = int(min(4 + rng.exponential(12), 200)) if rng.random() < 0.9 else int(rng.integers(4, 200))
    v = rng.normal(size=(count, 3))
    v /= np.linalg.norm(v, axis=1)[:, None]
    if form == "plate":
        v *= (1, 1, 0.02)
    elif form == "thin plate":
        v *= (1, 1, 10 ** rng.uniform(-7, -2))
    elif form == "needle":
        v *= (1, 0.02, 0.02)
    elif form == "thin needle":
        v *= (1, *10 ** rng.uniform(-6, -2, 2))
    elif form == "lattice":
        v = rng.integers(-2, 3, size=(count, 3)).astype(float)
    elif form == "flat":
        v[:, 2] = 0
    elif form == "segment":
        v = v[:2]
    elif form == "cluster":  # corners almost in one place
        v = v[rng.integers(0, 4, count)] + rng.normal(size=(count, 3)) * 10 ** rng.uniform(-9, -2)
    scale = 10 ** rng.uniform(-2, 2)
    if form == "box":
        return Box(tuple(scale * 10 ** rng.uniform(-2, 0, 3)))
    return ConvexHull(v * scale + (rng.normal(size=3) * scale if rng.random() < 0.3 else 0))


def some_hulls(rng: np.random.Generator, count: int) -> list:
    """``count`` hulls; clouds that are refused as too nearly degenerate are drawn again."""
    hulls = []
    while len(hulls) < count:
        shape = random_hull(rng)
        try:
            pack((shape,))
        except InputError:
            continue
        hulls.append(shape)
    return hulls


def some_pairs(rng: np.random.Generator, n: int):
    """(shapes, a, b, x, q, y, p): pairs at the gaps of the module's text, as near as rounding lets them."""
    shapes = ShapeSet(some_hulls(rng, HULLS))
    radius = shapes.geometry.radius
    a, b = rng.integers(0, HULLS, (2, n))
    q, p = (v / np.linalg.norm(v, axis=1)[:, None] for v in rng.normal(size=(2, n, 4)))
    level = rng.random(n) < 0.4  # parallel faces
    q[level] = (1, 0, 0, 0)
    quarter = np.array([(1, 0, 0, 0), (1, 0, 0, 1), (0, 0, 1, 0), (1, 1, 1, 1), (1, 1e-9, 0, 0)], float)
    p[level] = (quarter / np.linalg.norm(quarter, axis=1)[:, None])[rng.integers(0, 5, level.sum())]
    x = np.zeros((n, 3))
    far = rng.random(n) < 0.3
    x[far] = rng.normal(size=(far.sum(), 3)) * 10 ** rng.uniform(0, 6, (far.sum(), 1))
    y = x + rng.normal(size=(n, 3)) * (radius[a] + radius[b])[:, None]
    gap = rng.choice(GAPS, n) * np.maximum(np.minimum(radius[a], radius[b]), 1e-3)
    for _ in range(3):
        found = signed_distances(shapes, a, b, x, q, y, p)
        y = y + (gap - found.distance)[:, None] * found.normal
    return shapes, a, b, x, q, y, p


@inner
def placed(vertices, span, rot, at):
    """Vertices of one body in world axes, from the point that ``at`` is given from."""
    out = np.empty((span[1] - span[0], 3))
    for i in range(len(out)):
        for c in range(3):
            out[i, c] = at[c]
            for d in range(3):
                out[i, c] += rot[c, d] * vertices[span[0] + i, d]
    return out


@inner
def extent(points, n):
    """(least, greatest) height of points along n."""
    low, top = np.inf, -np.inf
    for i in range(len(points)):
        h = points[i, 0] * n[0] + points[i, 1] * n[1] + points[i, 2] * n[2]
        low = min(low, h)
        top = max(top, h)
    return low, top


@inner
def outside(normals, offsets, faces, rot, at, point):
    """How far a point in world axes is out of a body by its face planes, negative inside."""
    local = np.zeros(3)
    for d in range(3):
        for c in range(3):
            local[d] += rot[c, d] * (point[c] - at[c])
    worst = -np.inf
    for f in range(faces[0], faces[1]):
        h = -offsets[f]
        for d in range(3):
            h += normals[f, d] * local[d]
        worst = max(worst, h)
    return worst


@inner
def greatest_separation(world_a, world_b, normals, faces_a, faces_b, rot_a, rot_b, dice):
    """The greatest separation along the normals of all faces, and along cross products of some pairs of directions.

    The directions are those between two vertices of one body, which ``dice`` draws.
    """
    best = -np.inf
    m = np.empty(3)
    of_a, of_b = faces_a[1] - faces_a[0], faces_b[1] - faces_b[0]
    for e in range(of_a + of_b + len(dice)):
        if e < of_a + of_b:
            for c in range(3):
                m[c] = 0.0
                for d in range(3):
                    if e < of_a:
                        m[c] += rot_a[c, d] * normals[faces_a[0] + e, d]
                    else:
                        m[c] -= rot_b[c, d] * normals[faces_b[0] + e - of_a, d]
        else:
            j = e - of_a - of_b
            u = world_a[dice[j, 0] % len(world_a)] - world_a[dice[j, 1] % len(world_a)]
            v = world_b[dice[j, 2] % len(world_b)] - world_b[dice[j, 3] % len(world_b)]
            m[0] = u[1] * v[2] - u[2] * v[1]
            m[1] = u[2] * v[0] - u[0] * v[2]
            m[2] = u[0] * v[1] - u[1] * v[0]
        length = np.sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2])
        if length < SMALLEST_CROSS or length == 0.0:
            continue
        low, top = extent(world_a, m)
        least, most = extent(world_b, m)
        best = max(best, max(least / length - top / length, low / length - most / length))
    return best


@kernel
def sweep(vertices, span, normals, offsets, faces, a, b, rot_a, rot_b, between, normal, point_a, point_b, dice, out):
    """Facts about each answer, by plain loops in world axes relative to A's position.

    out (n, 5): separation along the normal, how far point_a is out of A and point_b out of B by their face planes, the
    greatest separation along the normals of faces (and of some pairs of vertices' directions), spare.
    """
    origin = np.zeros(3)
    for k in range(len(a)):
        i, j = a[k], b[k]
        world_a = placed(vertices, span[i], rot_a[k], origin)
        world_b = placed(vertices, span[j], rot_b[k], between[k])
        out[k, 0] = extent(world_b, normal[k])[0] - extent(world_a, normal[k])[1]
        out[k, 1] = outside(normals, offsets, faces[i], rot_a[k], origin, point_a[k])
        out[k, 2] = outside(normals, offsets, faces[j], rot_b[k], between[k], point_b[k])
        out[k, 3] = greatest_separation(world_a, world_b, normals, faces[i], faces[j], rot_a[k], rot_b[k], dice)


def plane_errors(g) -> np.ndarray:
    """How far the vertices of each shape are out of its own face planes [m]: thin bodies are merged from nearly flat faces."""
    out = np.zeros(len(g.kind))
    for k, (vertex, face) in enumerate(zip(g.vertex, g.face, strict=True)):
        if g.rank[k] == 3:
            out[k] = (g.vertices[slice(*vertex)] @ g.normals[slice(*face)].T - g.offsets[slice(*face)]).max()
    return 2 * np.maximum(out, 0.0)


def faults(pairs, found, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Which answers are wrong, by the fact that they contradict."""
    shapes, a, b, x, q, y, p = pairs
    g = shapes.geometry
    between = y - x
    dice = rng.integers(0, 1 << 30, (32, 4))
    out = np.zeros((len(a), 5))
    sweep(g.vertices, g.vertex, g.normals, g.offsets, g.face, a, b, matrices(q), matrices(p), between,
          found.normal, found.point_a - x, found.point_b - x, dice, out)  # fmt: skip
    size = g.radius[a] + g.radius[b] + np.linalg.norm(between, axis=1)
    slack = 32 * EPS * size
    tolerance = VERIFIED * EPS * (size + np.linalg.norm(x, axis=1))
    certain = found.status != UNCERTAIN
    loose = plane_errors(g)
    witness = np.linalg.norm(found.point_b - found.point_a - found.distance[:, None] * found.normal, axis=1)
    return {
        "interval out of order": ~((found.lower <= found.distance) & (found.distance <= found.upper)),
        "not finite": ~np.isfinite(found.point_a + found.point_b + found.normal).all(axis=1),
        "normal not unit": np.abs(np.linalg.norm(found.normal, axis=1) - 1) > 8 * EPS,
        "lower bound above the separation": found.lower > out[:, 0] + slack,
        "interval wide though certain": certain & (found.upper - found.lower > tolerance),
        "witness points off the distance": certain & (witness > tolerance + 1e-9 * size),
        "witness of A outside": certain & (g.rank[a] == 3) & (out[:, 1] > 1e-9 * size + tolerance + loose[a]),
        "witness of B outside": certain & (g.rank[b] == 3) & (out[:, 2] > 1e-9 * size + tolerance + loose[b]),
        "upper bound below a separation": out[:, 3] > found.upper + slack,
    }


def exact_faults(pairs, found, most: int) -> tuple[int, list[int]]:
    """(number compared with rational arithmetic, rows whose interval misses the exact value)."""
    shapes, a, b, x, q, y, p = pairs
    g = shapes.geometry
    count = g.vertex[:, 1] - g.vertex[:, 0]
    small = np.flatnonzero(count[a] * count[b] <= 150)
    compared, wrong = 0, []
    for k in small:
        if compared == most:
            break
        va, vb = (g.vertices[slice(*g.vertex[s[k]])] for s in (a, b))
        truth = square_by_hull(va, (x[k], q[k]), vb, (y[k], p[k]))
        if truth is not None:
            compared += 1
            if not holds((found.lower[k], found.upper[k]), *truth):
                wrong.append(int(k))
    return compared, wrong


def run(count: int, seed: int, exact: int = 4, show=print, first: int = 0) -> dict:
    """Verify ``count`` pairs; the counts of all outcomes. ``exact``: pairs of each block compared with exact arithmetic.

    ``first``: number of the first block, to go on where an earlier run ended.
    """
    statuses, wrong = Counter(), Counter()
    compared = longest = done = 0
    slowest = 0.0
    begun = time.perf_counter()
    block = first
    while done < count:
        rng = np.random.default_rng((seed, block))
        pairs = some_pairs(rng, min(BLOCK, count - done))
        n = len(pairs[1])
        start = time.perf_counter()
        found = signed_distances(*pairs)
        slowest = max(slowest, time.perf_counter() - start)
        cache = PairCache(n)
        signed_distances(*pairs[:5], pairs[5] + rng.normal(size=(n, 3)) * 1e-3, pairs[6], cache=cache)
        for name, answers in (("cold", found), ("warm", signed_distances(*pairs, cache=cache))):
            for fault, rows in faults(pairs, answers, rng).items():
                for k in np.flatnonzero(rows):
                    wrong[f"{name}: {fault}"] += 1
                    show(f"block {block} pair {k} {name}: {fault}; {Status(int(answers.status[k])).name} {answers.distance[k]!r}")
            statuses.update(f"{name} {Status(int(s)).name}" for s in answers.status)
        checked, misses = exact_faults(pairs, found, exact)
        compared += checked
        for k in misses:
            wrong["cold: exact value outside the interval"] += 1
            show(f"block {block} pair {k}: exact value outside [{found.lower[k]!r}, {found.upper[k]!r}]")
        longest = max(longest, int(found.iterations.max()))
        done += n
        block += 1
        if block % 50 == 0:
            show(f"{done} pairs, {sum(wrong.values())} wrong, {time.perf_counter() - begun:.0f} s")
    return {
        "pairs": done,
        "wrong": dict(wrong),
        "statuses": dict(statuses),
        "uncertain": statuses["cold UNCERTAIN"] / done,
        "overlapping": statuses[f"cold {Status(OVERLAPPING).name}"] / done,
        "exact": compared,
        "iterations": longest,
        "slowest block": slowest,
        "seconds": time.perf_counter() - begun,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exact", type=int, default=4, help="pairs of each 2000 that are compared with rational arithmetic")
    parser.add_argument("--first", type=int, default=0, help="block of 2000 pairs to begin with")
    options = parser.parse_args()
    found = run(options.pairs, options.seed, options.exact, lambda *a: print(*a, flush=True), options.first)
    for key, value in found.items():
        print(f"{key:15} {value}")


if __name__ == "__main__":
    main()
