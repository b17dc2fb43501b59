import math
from typing import Annotated

from tumble import Box, Hinge, Real, Scene, scenario


@scenario
def pendulum(
    angle: Annotated[float, Real(unit="rad", low=-3.14159, high=3.14159, help="from the vertical, at the start")] = math.pi / 2,
    length: Annotated[float, Real(unit="m", above=0, help="of the rod")] = 1.0,
    friction: Annotated[float, Real(unit="N m", low=0, help="of the hinge")] = 0.0,
) -> Scene:
    """A rod swings on a hinge.

    Without friction it swings for ever: the error of its energy is of order dt^2 and does not grow. The period is that of
    the elliptic integral, 4 K(sin(angle/2)) sqrt(2 length/(3 g)) for a thin rod. With friction each half swing is a little
    smaller than the one before, and it comes to rest where friction can hold it.
    """
    scene = Scene(duration=10.0)
    half = length / 2
    rod = Box((0.02 * length, 0.02 * length, half))
    place, turn = (half * math.sin(angle), 0, -half * math.cos(angle)), (math.cos(angle / 2), 0, -math.sin(angle / 2), 0)
    scene.add(rod, name="rod", mass=1.0, position=place, orientation=turn)
    scene.add_joint(Hinge(None, "rod", anchor=(0, 0, 0), axis=(0, 1, 0), friction=friction))
    return scene
