import math
from typing import Annotated

from tumble import Box, HalfSpace, Real, Scene, Whole, scenario


@scenario
def pyramid(
    rows: Annotated[int, Whole(low=1, high=40, help="boxes in the lowest row")] = 5,
    half: Annotated[float, Real(unit="m", above=0, help="half edge of a box")] = 0.1,
    spacing: Annotated[float, Real(unit="m", low=0, help="gap between the boxes of a row")] = 0.02,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.5,
    slope: Annotated[float, Real(unit="rad", low=0, high=1.5, help="tilt of the ground along the rows, by gravity")] = 0.0,
) -> Scene:
    """A wall of boxes in the shape of a pyramid stands.

    Each box rests on two, so loads spread sideways and the contact forces have many solutions of which the motion shows
    none: nothing may move. Ten rows are 55 boxes. On a slope it holds together where the friction is above its tangent, and
    slides off below.
    """
    step = 2 * half + spacing
    gravity = (9.81 * math.sin(slope), 0.0, -9.81 * math.cos(slope))
    scene = Scene(gravity=gravity, duration=5.0)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction)
    for row in range(rows):
        for i in range(rows - row):
            x = (i - (rows - row - 1) / 2) * step
            scene.add(Box((half,) * 3), name=f"box_{row + 1}_{i + 1}", position=(x, 0, (2 * row + 1) * half), friction=friction)
    return scene
