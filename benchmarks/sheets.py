"""Bodies thrown at one triangle at 1 km/s, turning by hundreds of radians a second: python -m benchmarks.sheets --count 2000

Capsules, cylinders, cones, ellipsoids, boxes, plates, hulls, compounds, of 5 to 60 mm, at steps of 1/240 s in which they go 4 m,
from above and from below, through its middle: what friction turns aside is farther from the border than it comes in three steps.
None may come through. Those that stick and do not bounce (``--restitution 0 --friction 1``) whirl about what rests, and are
hardest; without these numbers restitution and friction are drawn.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from tumble.collision import Box, Capsule, Compound, Cone, ConvexHull, Cylinder, Ellipsoid, Pose, TriangleMesh
from tumble.sim import World

SPEED = 1000.0  # [m/s]
STEPS = 3
SHEET = TriangleMesh([(-30, -30, 0), (30, -30, 0), (0, 40, 0)], [(0, 1, 2)])


def some_shape(rng: np.random.Generator, form: str):
    """A shape of this form, of 5 to 60 mm."""
    a, b, c = 0.005 * 10 ** rng.uniform(0, 0.8, 3)
    corners = rng.normal(size=(8, 3))
    return {
        "capsule": lambda: Capsule(a, b),
        "cylinder": lambda: Cylinder(a, b),
        "cone": lambda: Cone(a, b),
        "ellipsoid": lambda: Ellipsoid((a, b, c)),
        "box": lambda: Box((a, b, c)),
        "plate": lambda: Box((a, b, 0.05 * min(a, b))),
        "hull": lambda: ConvexHull(a * (corners - corners.mean(axis=0))),  # its origin is within it
        "compound": lambda: Compound([(Cone(a, b), Pose()), (Box((c, 0.2 * a, 0.2 * a)), Pose((0.7 * c, 0, 0)))]),
    }[form]()


FORMS = ("capsule", "cylinder", "cone", "ellipsoid", "box", "plate", "hull", "compound")


def thrown(seed: int, form: str, restitution: float | None = None, friction: float | None = None) -> tuple[float, World]:
    """How far a body is beyond the sheet [m] after some steps; its world."""
    rng = np.random.default_rng((11, seed, FORMS.index(form)))
    way, turn = (-1.0) ** seed, rng.normal(size=4)
    e, mu = rng.choice([0.0, 0.0, 0.5, 1.0]), rng.choice([0.0, 0.5, 1.0, 1.0])
    law = {"restitution": e if restitution is None else restitution, "friction": mu if friction is None else friction}
    shape, aside, spin = some_shape(rng, form), rng.uniform(-100, 100, 2), rng.normal(scale=200.0, size=3)
    world = World()
    world.add(SHEET, kind="static", **law)
    body = world.add(
        shape,
        position=(0.1, 0.2, -2.1 * way),
        velocity=(*aside, SPEED * way),
        angular_velocity=spin,
        orientation=tuple(turn / np.linalg.norm(turn)),
        **law,
    )
    world.step(STEPS)
    return float(body.position[2] * way), world


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="throws of each form")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--forms", nargs="*", default=FORMS, choices=FORMS)
    parser.add_argument("--restitution", type=float)
    parser.add_argument("--friction", type=float)
    asked, through = parser.parse_args(), 0
    for form in asked.forms:
        begun, lost = time.process_time(), []
        for seed in range(asked.first, asked.first + asked.count):
            beyond, _ = thrown(seed, form, asked.restitution, asked.friction)
            if beyond >= 0.0:
                lost.append(seed)
        through += len(lost)
        took = (time.process_time() - begun) / asked.count
        print(f"{form}: {len(lost)} of {asked.count} through, {1e3 * took:.0f} ms each {lost[:20]}", flush=True)
    return 1 if through else 0


if __name__ == "__main__":
    sys.exit(main())
