"""Construction of hulls, and bodies of many pieces, beside coal.

Coal has no compounds: the pieces of a body are registered with a broad phase of its own (a dynamic tree of boxes), and two of
these are asked for their distance. That leaves out moving the pieces to where the body is, which tumble does in each call.
"""

from __future__ import annotations

import coal
import numpy as np

from benchmarks.calls import best
from benchmarks.peers.with_coal import native
from tumble.collision import Box, Compound, ConvexHull, Pose, signed_distance
from tumble.collision.shapes.shapeset import packed

CORNERS = (1000, 10_000, 100_000)
PIECES = 500
GAPS = (5.0, 2.1, 0.5)  # m, between centres of bodies of 2 m
OFF = 1e-5  # m: a difference that is more than a tolerance


def hulls(rng: np.random.Generator) -> list[tuple[str, float, float, str]]:
    """(what, tumble [s], coal [s], difference) of hulls of points on a ball; tumble's are ready to be asked about."""
    rows = []
    for n in CORNERS:
        points = rng.normal(size=(n, 3))
        points /= np.linalg.norm(points, axis=1)[:, None]
        corners = coal.StdVec_Vec3s()
        for point in points:
            corners.append(point)
        rounds = 5 if n < CORNERS[-1] else 2
        ours = best(lambda p=points: packed(ConvexHull(p)), rounds)
        theirs = best(lambda c=corners: coal.Convex.convexHull(c, True, "Qt"), rounds)
        lost = n - coal.Convex.convexHull(corners, True, "Qt").num_points
        rows.append((f"hull of {n:,} corners, built", ours, theirs, f"{lost} corners lost"))
    return rows


def manager(parts: list, shift: np.ndarray) -> tuple:
    """A broad phase of coal's with the pieces of a body, and these, which it does not keep alive."""
    found = coal.DynamicAABBTreeCollisionManager()
    pieces = [coal.CollisionObject(native(shape), coal.Transform3s(np.eye(3), pose.position + shift)) for shape, pose in parts]
    for piece in pieces:
        found.registerObject(piece)
    found.setup()
    return found, pieces


def compounds(rng: np.random.Generator) -> list[tuple[str, float, float, str]]:
    """The same of two bodies of many small boxes."""
    parts = [(Box((0.02, 0.02, 0.02)), Pose(x)) for x in rng.uniform(-1, 1, (PIECES, 3))]
    one, other = Compound(parts), Compound(parts[::-1])
    rows = []
    for gap in GAPS:
        (a, kept_a), (b, kept_b) = manager(parts, np.zeros(3)), manager(parts[::-1], np.array([gap, 0.0, 0.0]))
        found = {}

        def ours(gap=gap, found=found):
            found["ours"] = signed_distance(one, Pose(), other, Pose((gap, 0.0, 0.0))).distance

        def theirs(a=a, b=b, found=found):
            answer = coal.DistanceCallBackDefault()
            a.distance(b, answer)
            found["theirs"] = answer.data.result.min_distance

        ours()
        times = best(ours, 15), best(theirs, 15)
        off = abs(found["ours"] - found["theirs"])
        rows.append(
            (f"two bodies of {PIECES} boxes, {gap} m", *times, f"{off:.0e} m" + (", the first overlap" if off > OFF else ""))
        )
        del kept_a, kept_b
    return rows


def table() -> list[str]:
    """Lines of Markdown."""
    rng = np.random.default_rng(0)
    lines = ["", "Construction and bodies of many pieces, a call each [ms]:", ""]
    lines += ["| what | tumble | coal | times as fast | coal's difference |", "|---|---|---|---|---|"]
    for what, ours, theirs, off in hulls(rng) + compounds(rng):
        lines.append(f"| {what} | {1e3 * ours:.2f} | {1e3 * theirs:.2f} | {theirs / ours:.2g} | {off} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
