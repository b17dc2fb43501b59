import math
from typing import Annotated

import numpy as np

from tumble import Cylinder, HalfSpace, Real, Scene, Whole, scenario

RADIUS, HALF = 0.012, 0.001  # m


@scenario
def coins(
    count: Annotated[int, Whole(low=1, high=60, help="how many")] = 3,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.4,
    restitution: Annotated[float, Real(low=0, high=1, help="of each pair")] = 0.4,
    rolling_friction: Annotated[float, Real(unit="m", low=0, help="arm of the moment against rolling")] = 3e-4,
    seed: Annotated[int, Whole(low=0, help="of how they are tossed")] = 3,
) -> Scene:
    """Coins are tossed on a table: they ring, roll, run round on their edges, and lie flat.

    Impacts on an edge far from the centre turn speed into spin, many of them in the last moments, quicker and quicker. In the end
    each lies flat on one side, its middle half its thickness above the table, or on another coin. No energy is gained on the way.
    """
    random = np.random.default_rng(seed)
    scene = Scene(duration=2.0, dt=1 / 960, seed=seed)
    material = {"friction": friction, "restitution": restitution, "rolling_friction": rolling_friction}
    scene.add(HalfSpace(), kind="static", name="table", **material)
    copper = {"density": 8900.0, "color": "#c98b3c", **material}
    across = math.ceil(math.sqrt(count))
    for k in range(count):
        q = random.normal(size=4)
        i, j = k % across, k // across
        place = (0.05 * (i - (across - 1) / 2), 0.05 * (j - (across - 1) / 2), 0.05 + 0.01 * k)
        thrown = {"velocity": tuple(random.uniform(-0.1, 0.1, 3)), "angular_velocity": tuple(random.uniform(-15, 15, 3))}
        turn = tuple(q / np.linalg.norm(q))
        scene.add(Cylinder(RADIUS, HALF), name=f"coin_{k + 1}", position=place, orientation=turn, **thrown, **copper)
    return scene
