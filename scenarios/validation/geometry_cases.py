"""Geometry: mass properties of polyhedra; distance and depth of cuboids."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tumble.collision import Box, ConvexHull, Pose, mass_properties, signed_distance
from tumble.scenarios.validation.answers.polyhedra import cuboid_depth, cuboid_distance, regular_solid
from tumble.scenarios.validation.answers.tops import turn
from tumble.scenarios.validation.case import Measure, case
from tumble.scenarios.validation.lab import angle, distance, pose_of

SOLIDS = ("tetrahedron", "cube", "octahedron", "icosahedron", "dodecahedron")


@case("V27", "Mass properties")
def masses() -> Iterator[Measure]:
    """Volume, centre and moments of inertia of the five Platonic solids with edges of 1 m, and of a tetrahedron with three
    edges of 0.3, 0.4 and 0.6 m at right angles, against closed forms. Also turned, and moved far from the origin, where large
    numbers cancel."""
    volume = inertia = turned = far = 0.0
    rng = np.random.default_rng(27)
    for name in SOLIDS:
        corners, v, k = regular_solid(name)
        m = mass_properties(ConvexHull(corners))
        volume = max(volume, abs(m.volume / v - 1))
        inertia = max(inertia, np.abs(m.inertia / (v * k) - np.eye(3)).max())
        moved = mass_properties(ConvexHull(corners + (1000, -500, 200)))
        far = max(far, np.abs(moved.inertia / (v * k) - np.eye(3)).max(), abs(moved.volume / v - 1))
        rot = turn(rng.normal(size=3), rng.uniform(0, 6))
        turned = max(turned, np.abs(np.linalg.eigvalsh(mass_properties(ConvexHull(corners @ rot.T)).inertia) / (v * k) - 1).max())
    yield Measure("volumes, relative", volume, 1e-12)
    yield Measure("moments of inertia, relative", inertia, 1e-12)
    yield Measure("turned: principal moments, relative", turned, 1e-12)
    yield Measure("moved by (1000, -500, 200) m, relative", far, 1e-9)
    a, b, c = edges = np.array((0.3, 0.4, 0.6))
    m = mass_properties(ConvexHull([(0, 0, 0), (a, 0, 0), (0, b, 0), (0, 0, c)]))
    mass = 1000 * a * b * c / 6
    # about the corner the integrals of x^2 and x y are m a^2/10 and m a b/20; Steiner's theorem takes them to the centre
    second = mass * np.outer(edges, edges) * (np.ones((3, 3)) + np.eye(3)) / 20 - mass * np.outer(edges, edges) / 16
    expected = np.trace(second) * np.eye(3) - second
    yield Measure("corner tetrahedron, relative", np.abs(1000 * m.inertia - expected).max() / np.abs(expected).max(), 1e-12)
    yield Measure("centre of that tetrahedron", distance(m.center, edges / 4), 1e-12, "m")


ASKEW, UPRIGHT = ((0.15, 0.1, 0.2), turn((1, 2, 3), 1.1)), ((0.25, 0.05, 0.125), np.eye(3), (0, 0, 0))
ON_EDGE = (0.3, 0.1, 0.1), turn((1, 0, 0), math.pi / 4)
CROSSING = (0.125, 0.4, 0.125), turn((0, 1, 0), math.pi / 4), (0, 0, -0.05)
PAIRS = {
    "apart": ((*ASKEW, (0.3, 0.5, 0.45)), UPRIGHT), "edges apart": ((*ON_EDGE, (0, 0, 0.3)), CROSSING),
    "inside": ((*ASKEW, (0.1, 0.12, 0.14)), UPRIGHT), "edges inside": ((*ON_EDGE, (0, 0, 0.25)), CROSSING),
}  # fmt: skip


def asked(a: tuple, b: tuple, moved: object = (0, 0, 0)):
    """The simulator's answer for cuboids (half extents, attitude, centre)."""
    (ha, ra, xa), (hb, rb, xb) = a, b
    poses = [Pose(tuple(np.asarray(x, float) + moved), pose_of(r)) for x, r in ((xa, ra), (xb, rb))]
    return signed_distance(Box(ha), poses[0], Box(hb), poses[1])


@case("V33", "Distance and depth of cuboids")
def cuboids() -> Iterator[Measure]:
    """Four pairs of cuboids, apart and overlapping, whose nearest points are on corners, faces or crossed edges. The known
    answers: the distance by least squares with bounds; the depth as the distance of the nearest face of the convex hull of all
    differences of corners."""
    far = normals = swapped = 0.0
    for name, (a, b) in PAIRS.items():
        found = asked(a, b)
        if name.endswith("apart"):
            expected = cuboid_distance(a, b)
        else:
            depth, way = cuboid_depth(a, b)
            expected = -depth
            normals = max(normals, angle(found.normal, way))
        yield Measure(name, abs(found.distance - expected), 1e-9, "m")
        far = max(far, abs(asked(a, b, (1e4, 0, 0)).distance - expected))
        swapped = max(swapped, abs(asked(b, a).distance - found.distance), distance(asked(b, a).normal, -found.normal))
    crossed = asked(*PAIRS["edges apart"])
    normals = max(normals, angle(crossed.normal, np.array((0, 0, -1.0))))
    off = abs(crossed.distance - (0.35 - 0.225 * 2**0.5))
    yield Measure("crossed edges: distance against 0.35 - 0.225 sqrt 2 m", off, 1e-9, "m")
    yield Measure("normals", normals, 1e-6, "rad")
    yield Measure("distances, all moved by 10 km", far, 1e-8, "m")
    yield Measure("distances and normals, the two swapped", swapped, 1e-9, "m")
    touching = signed_distance(Box((0.5, 0.5, 0.5)), Pose(), Box((0.5, 0.5, 0.5)), Pose((0.2, 0.1, 1.0)))
    yield Measure("touching faces: distance", abs(touching.distance), 1e-9, "m")
    yield Measure("touching faces: normal", angle(touching.normal, np.array((0, 0, 1.0))), 1e-6, "rad")
