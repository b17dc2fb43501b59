import math
from typing import Annotated

import numpy as np

from tumble import ConvexHull, HalfSpace, Real, Scene, Whole, scenario


@scenario
def arch(
    stones: Annotated[int, Whole(low=3, high=61, help="voussoirs")] = 15,
    radius: Annotated[float, Real(unit="m", above=0, help="of the middle line")] = 1.0,
    thickness: Annotated[float, Real(low=0.02, high=1, help="of the ring, as part of the radius")] = 0.2,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient of the joints")] = 0.6,
) -> Scene:
    """A dry arch of wedge-shaped stones carries itself.

    A semicircle stands where a line of thrust fits into it, for rings thicker than 0.1075 of the radius (Heyman, "The Stone
    Skeleton", 1966), and where friction holds the joints. With the thickness at 0.1 it opens hinges and comes down, with the
    friction at 0.2 stones slide out.
    """
    inner, outer, depth = radius * (1 - thickness / 2), radius * (1 + thickness / 2), 0.25 * radius
    scene = Scene(duration=5.0)
    scene.add(HalfSpace(), kind="static", name="ground", friction=friction)
    angles = np.linspace(0.0, math.pi, stones + 1)
    rim = np.column_stack((np.cos(angles), np.zeros(stones + 1), np.sin(angles)))
    rim[0], rim[-1] = (1, 0, 0), (-1, 0, 0)  # the springings lie flat on the ground
    aside = np.array((0, depth / 2, 0))
    for k in range(stones):
        corners = [r * rim[m] + y for m in (k, k + 1) for r in (inner, outer) for y in (-aside, aside)]
        scene.add(ConvexHull(corners), name=f"stone_{k + 1}", density=2000.0, friction=friction)
    return scene
