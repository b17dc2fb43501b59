from typing import Annotated

import numpy as np

from tumble import Box, ConvexHull, HalfSpace, Real, Scene, Whole, scenario

KINDS = 12  # different hulls
CORNERS = (6, 8, 12, 20, 30)


@scenario
def pile(
    count: Annotated[int, Whole(low=1, high=5000, help="how many hulls")] = 60,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.5,
    restitution: Annotated[float, Real(low=0, high=1, help="of each pair")] = 0.0,
    seed: Annotated[int, Whole(low=0, help="of the shapes and attitudes")] = 5,
) -> Scene:
    """Rubble of many shapes is poured into a bin.

    Convex hulls of 6 to 30 corners fall between four walls, one layer after the other, and come to rest on each other. The
    contacts form one large island, the heaviest load for a solver; where it leaves something unsolved, overlap tells.
    """
    random = np.random.default_rng(seed)
    side = max(2, round((count / 2) ** (1 / 3)))  # hulls along a wall: the bin is about twice as deep as wide when all are in
    cell = 0.32
    half = side * cell / 2
    layers = -(-count // side**2)
    rim = 0.25 * layers * cell + 0.2  # m; they lie closer than they start
    scene = Scene(duration=4.0, seed=seed)
    material = {"friction": friction, "restitution": restitution}
    scene.add(HalfSpace(), kind="static", name="floor", **material)
    thick = 0.1  # each wall ends at the side of the next one
    for k, name in enumerate(("east", "north", "west", "south")):
        out, along = ((1, 0), (0, 1), (-1, 0), (0, -1))[k], ((0, -1), (1, 0), (0, 1), (-1, 0))[k]
        place = [(half + thick / 2) * out[r] + thick / 2 * along[r] for r in range(2)]
        size = [half + thick / 2, thick / 2] if k % 2 else [thick / 2, half + thick / 2]
        wall = Box((*size, rim / 2))
        scene.add(wall, kind="static", name=name, position=(*place, rim / 2), color="#8a8a92", **material)
    shapes = []
    for k in range(KINDS):
        points = random.normal(size=(CORNERS[k % len(CORNERS)], 3))
        points *= random.uniform(0.09, 0.15) / np.linalg.norm(points, axis=1)[:, None]
        shapes.append(ConvexHull(points * random.uniform(0.7, 1.0, 3)))
    for n in range(count):
        layer, at = divmod(n, side**2)
        place = np.array((at % side - (side - 1) / 2, at // side - (side - 1) / 2, layer + 0.6)) * cell
        turn = random.normal(size=4)
        turn = tuple(turn / np.linalg.norm(turn))
        scene.add(shapes[n % KINDS], name=f"hull_{n + 1}", position=tuple(place), orientation=turn, **material)
    return scene
