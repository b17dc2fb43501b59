"""One-shot and incremental contact manifolds side by side: the table of docs/collision.md. ``python tools/manifold_ways.py``."""

from __future__ import annotations

import math
import time

import numpy as np

from tumble.collision import Box, ConvexHull, Cylinder, IncrementalManifold, Pose, contact_manifold

FLOOR = Box((5, 5, 0.5))
ANGLE = 1e-3  # rad of perturbation
MARGIN = 0.01  # m: gap up to which points count, in all ways
CALLS = 200


def _about(axis: tuple[float, float, float], angle: float) -> tuple[float, ...]:
    return (math.cos(angle / 2), *(math.sin(angle / 2) * x for x in axis))


def _octagon() -> ConvexHull:
    ring = [(0.5 * math.cos(k * math.pi / 4), 0.5 * math.sin(k * math.pi / 4)) for k in range(8)]
    return ConvexHull([(x, y, z) for x, y in ring for z in (-0.5, 0.5)])


# what lies on a floor whose top is z = 0.5: name, shape, orientation, height of its middle
CASES = (
    ("box on its face", Box((0.5, 0.5, 0.5)), (1.0, 0.0, 0.0, 0.0), 0.5),
    ("box on its face, 1e-9 rad askew", Box((0.5, 0.5, 0.5)), _about((1, 0, 0), 1e-9), 0.5),
    ("box on an edge", Box((0.5, 0.5, 0.5)), _about((1, 0, 0), math.pi / 4), math.sqrt(0.5)),
    ("octagonal prism", _octagon(), (1.0, 0.0, 0.0, 0.0), 0.5),
    ("cylinder on its base", Cylinder(0.5, 0.5), (1.0, 0.0, 0.0, 0.0), 0.5),
    ("cylinder on its side", Cylinder(0.5, 0.5), _about((1, 0, 0), math.pi / 2), 0.5),
)


def slide(orientation, height: float):
    """A slow slide in a straight line that rocks by 1e-7 rad, as a solver leaves a body that rests."""
    rng = np.random.default_rng(0)
    for k in range(CALLS):
        rock = Pose((0, 0, 0), _about((1, 0, 0), 1e-7 * rng.normal())) @ Pose((0, 0, 0), _about((0, 1, 0), 1e-7 * rng.normal()))
        yield Pose((1e-4 * k, 0, 0.5 + height), (rock @ Pose((0, 0, 0), orientation)).orientation)


def follow(update, orientation, height: float) -> tuple[int, int, int]:
    """(points at the end, calls in which points jumped, calls in which ids changed), after the first twenty calls."""
    jumps = changes = 0
    last = None
    for k, pose in enumerate(slide(orientation, height)):
        found = update(Pose(), pose)
        if k > 20:
            same = len(found.points) == len(last.points)
            jumps += not same or max(np.linalg.norm(last.points - x, axis=1).min() for x in found.points) > 0.01
            changes += set(found.ids) != set(last.ids)
        last = found
    return len(last.points), jumps, changes


def compare(name: str, shape, orientation, height: float) -> dict[str, dict[str, float]]:
    """For each way: points at the first call and at the last, jumps, changes of ids, error of position [m], cost [s]."""
    pose = Pose((0, 0, 0.5 + height), orientation)
    truth = contact_manifold(FLOOR, Pose(), shape, pose, MARGIN).points
    ways = {
        "one-shot": lambda: lambda *poses: contact_manifold(FLOOR, poses[0], shape, poses[1], MARGIN),
        "incremental": lambda: IncrementalManifold(FLOOR, shape, MARGIN).update,
        "perturbed": lambda: IncrementalManifold(FLOOR, shape, MARGIN, ANGLE).update,
    }
    out = {}
    for way, make in ways.items():
        first = make()(Pose(), pose).points
        later, jumps, changes = follow(make(), orientation, height)
        update = make()
        begun = time.perf_counter()
        for _ in range(50):
            update(Pose(), pose)
        cost = (time.perf_counter() - begun) / 50
        if name == "cylinder on its base":
            off = np.abs(np.hypot(first[:, 0], first[:, 1]) - 0.5)
        else:
            off = [np.linalg.norm(truth - x, axis=1).min() for x in first]
        out[way] = {"first": len(first), "later": later, "jumps": jumps, "changes": changes, "off": max(off), "cost": cost}
    return out


def row(name: str, shape, orientation, height: float) -> str:
    """A line of the table."""
    ways = compare(name, shape, orientation, height)
    one, inc, per = (ways[k] for k in ("one-shot", "incremental", "perturbed"))
    points = f"{one['first']} | {inc['first']}, {inc['later']} | {per['first']}, {per['later']}"
    return f"| {name} | {points} | {one['jumps']}, {inc['jumps']}, {per['jumps']} | {_power(per['off'])} |"


def _power(x: float) -> str:
    """An upper bound of a length: the next power of ten."""
    return "0" if x == 0.0 else f"1e{math.ceil(math.log10(x))}"


if __name__ == "__main__":
    for case in CASES:
        print(row(*case))
        ways = compare(*case)
        print({way: f"{1e6 * found['cost']:.0f} us, {found['changes']} changes of ids" for way, found in ways.items()})
