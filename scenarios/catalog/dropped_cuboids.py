import math
from typing import Annotated

import numpy as np

from tumble import Box, HalfSpace, Real, Scene, Whole, scenario


@scenario
def dropped_cuboids(
    count: Annotated[int, Whole(low=1, high=1000, help="how many cuboids")] = 6,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.3,
    restitution: Annotated[float, Real(low=0, high=1, help="Stronge's coefficient, of energy")] = 0.3,
    speed: Annotated[float, Real(unit="m/s", low=0, help="sideways at the start, towards the middle")] = 2.5,
    seed: Annotated[int, Whole(low=0, help="of the sizes and attitudes")] = 3,
) -> Scene:
    """Cuboids are thrown on a floor, where they bounce, slide, tip over and come to rest.

    Everything at once: impacts of corners and edges with friction, sliding by Coulomb's law, tipping over an edge, rest
    by micro-collisions. The energy only falls, by friction and restitution; the ledger says by how much each. After a
    few seconds nothing moves, and nothing is inside anything else.
    """
    scene = Scene(duration=3.0, seed=seed)
    material = {"friction": friction, "restitution": restitution}
    scene.add(HalfSpace(), kind="static", name="floor", **material)
    random = np.random.default_rng(seed)
    away = 1.0 + 0.08 * count  # radius of the ring they come from
    for i in range(count):
        half = random.uniform(0.07, 0.22, 3)
        turn = random.normal(size=4)
        angle = 2 * math.pi * i / count
        outward, aside = np.array((math.cos(angle), math.sin(angle), 0)), np.array((-math.sin(angle), math.cos(angle), 0))
        place, turn = tuple(away * outward + (0, 0, 0.45 + 0.12 * (i % 6))), tuple(turn / np.linalg.norm(turn))
        way = tuple(speed * (0.25 * aside - outward))  # past the middle, so that not all meet at once
        motion = {"velocity": way, "angular_velocity": tuple(2 * random.normal(size=3))}
        scene.add(Box(tuple(half)), name=f"cuboid_{i + 1}", position=place, orientation=turn, **motion, **material)
    return scene
