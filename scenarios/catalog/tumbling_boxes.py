import math
from typing import Annotated

import numpy as np

from tumble import Box, Real, Scene, Whole, scenario


@scenario
def tumbling_boxes(
    count: Annotated[int, Whole(low=1, high=10_000, help="how many")] = 1000,
    spin: Annotated[float, Real(unit="rad/s", low=0, help="typical angular velocity at the start")] = 5.0,
    seed: Annotated[int, Whole(low=0, help="of the attitudes and spins")] = 1,
) -> Scene:
    """Boxes tumble in empty space, too far apart to touch.

    Nothing but free rotation, many times over: each box keeps its angular momentum to the last digits and its energy as well
    as the integrator does. It measures what the free flight of a body costs.
    """
    edge = math.ceil(count ** (1 / 3))
    scene = Scene(gravity=(0, 0, 0), duration=5.0, seed=seed)
    random = np.random.default_rng(seed)
    shape = Box((0.3, 0.1, 0.2))
    for n in range(count):
        cell = np.array((n % edge, n // edge % edge, n // edge**2)) - (edge - 1) / 2
        turn = random.normal(size=4)
        turn, spins = tuple(turn / np.linalg.norm(turn)), tuple(spin * random.normal(size=3))
        scene.add(shape, name=f"box_{n + 1}", position=tuple(cell), orientation=turn, angular_velocity=spins)
    return scene
