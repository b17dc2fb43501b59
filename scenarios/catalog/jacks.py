import math
from typing import Annotated

import numpy as np

from tumble import Capsule, Compound, HalfSpace, Pose, Real, Scene, Whole, scenario

ARM, THICK = 0.1, 0.02  # m: from the middle to the centre of a tip, and its radius


@scenario
def jacks(
    count: Annotated[int, Whole(low=1, high=60, help="how many")] = 2,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.5,
    restitution: Annotated[float, Real(low=0, high=1, help="of each pair")] = 0.3,
    seed: Annotated[int, Whole(low=0, help="of the attitudes")] = 2,
) -> Scene:
    """Jacks, which are not convex, fall, hook into each other, and come to stand on three tips.

    A jack is three crossed capsules: a body of several convex ones. One that lies alone stands on three tips, with its middle at
    arm/sqrt(3) + radius = 77.735 mm at the defaults, whichever tips they are. On the way to it no energy is gained, and books
    close over impacts with several tips at once.
    """
    random = np.random.default_rng(seed)
    scene = Scene(duration=3.0, dt=1 / 480, seed=seed)
    material = {"friction": friction, "restitution": restitution}
    scene.add(HalfSpace(), kind="static", name="floor", rolling_friction=5e-4, **material)
    bar = Capsule(THICK, ARM)
    half = math.sqrt(0.5)
    turns = ((1, 0, 0, 0), (half, half, 0, 0), (half, 0, half, 0))
    shape = Compound([(bar, Pose(orientation=q)) for q in turns])
    for k in range(count):
        q = random.normal(size=4)
        place = (0.3 * (k % 2) - 0.15 * (count > 1), 0.05 * random.uniform(-1, 1), 0.25 + 0.26 * (k // 2))
        spin = tuple(random.uniform(-4, 4, 3))
        turn = tuple(q / np.linalg.norm(q))
        scene.add(shape, name=f"jack_{k + 1}", position=place, orientation=turn, angular_velocity=spin, **material)
    return scene
