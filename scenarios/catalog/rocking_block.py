import math
from typing import Annotated

from tumble import Box, HalfSpace, Real, Scene, scenario


@scenario
def rocking_block(
    tilt: Annotated[float, Real(unit="rad", low=0, high=0.24, help="at which it is let go")] = 0.15,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.9,
) -> Scene:
    """A slender block rocks from edge to edge until it stands.

    Each time it passes the upright it lands on its other edge, with 1 - 3/2 sin^2 alpha of its speed, where tan alpha is width
    to height: angular momentum about the new edge is kept, the rest is lost though nothing bounces (Housner 1963). Swings get
    smaller and quicker, for it has no period of its own: what makes earthquakes hard on columns.
    """
    half_width, half_height = 0.05, 0.2
    scene = Scene(duration=4.0, dt=1 / 480)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction)
    c, s = math.cos(tilt), math.sin(tilt)
    place = (half_width * c - half_height * s, 0, half_width * s + half_height * c)
    turn = (math.cos(tilt / 2), 0, -math.sin(tilt / 2), 0)
    scene.add(Box((half_width, 0.1, half_height)), name="block", position=place, orientation=turn, friction=friction)
    return scene
