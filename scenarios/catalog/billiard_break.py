import math
from typing import Annotated

import numpy as np

from tumble import Box, HalfSpace, Real, Scene, Sphere, Whole, scenario


@scenario
def billiard_break(
    speed: Annotated[float, Real(unit="m/s", above=0, help="of the cue ball")] = 8.0,
    restitution: Annotated[float, Real(low=0, high=1, help="of ball on ball")] = 0.95,
    friction: Annotated[float, Real(low=0, help="of a ball on the cloth")] = 0.2,
    jitter: Annotated[float, Real(unit="m", low=0, high=1e-3, help="each ball of the rack is off by up to so much")] = 0.0,
    seed: Annotated[int, Whole(low=0, help="of the jitter")] = 1,
) -> Scene:
    """A cue ball strikes a rack of fifteen balls.

    Struck in the middle, and racked without jitter, everything is its own mirror image, so what follows must be too: each ball
    and its counterpart move alike until rounding has grown, tenfold every few impacts. With a jitter of a micrometre no two
    breaks are alike. Momentum is what the cloth and the cushions leave of it, and no impact gives energy.
    """
    radius, mass = 0.028575, 0.17
    length, width, high = 2.54, 1.27, 0.037
    scene = Scene(duration=2.0, seed=seed)
    scene.add(HalfSpace(), kind="static", name="cloth", friction=friction, color="#1f6b45")
    cushion = {"kind": "static", "friction": 0.2, "restitution": 0.8, "color": "#174f34"}
    for name, x, y, sx, sy in (
        ("east", 1, 0, 0.05, width / 2), ("west", -1, 0, 0.05, width / 2),
        ("north", 0, 1, length / 2 + 0.1, 0.05), ("south", 0, -1, length / 2 + 0.1, 0.05),
    ):  # fmt: skip
        place = (x * (length / 2 + 0.05), y * (width / 2 + 0.05), high / 2)
        scene.add(Box((sx, sy, high / 2)), name=name, position=place, **cushion)
    ball = {"mass": mass, "friction": 0.06, "restitution": restitution}
    scene.set_pair("cue", "cloth", friction=friction, restitution=0.0)
    scene.add(Sphere(radius), name="cue", position=(-length / 4, 0, radius), velocity=(speed, 0, 0), color="#f4f1e6", **ball)
    random = np.random.default_rng(seed)
    apart = 2 * radius + 1e-5 + 2 * jitter  # they do not touch: impacts follow each other
    n = 0
    for row in range(5):
        for k in range(row + 1):
            n += 1
            off = jitter * random.uniform(-1, 1, 2)
            place = (length / 4 + row * apart * math.sqrt(3) / 2 + off[0], (k - row / 2) * apart + off[1], radius)
            scene.set_pair(f"ball_{n}", "cloth", friction=friction, restitution=0.0)
            scene.add(Sphere(radius), name=f"ball_{n}", position=place, **ball)
    return scene
