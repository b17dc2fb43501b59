import math
from typing import Annotated

from tumble import Box, Hinge, Real, Scene, scenario


@scenario
def double_pendulum(
    upper: Annotated[float, Real(unit="rad", help="angle of the upper rod from the vertical")] = 2.0,
    lower: Annotated[float, Real(unit="rad", help="angle of the lower rod from the vertical")] = 2.5,
    length: Annotated[float, Real(unit="m", above=0, help="of each rod")] = 0.5,
) -> Scene:
    """Two rods, one hinged to the other: chaos that keeps its energy.

    Two runs that begin a hair apart are soon nowhere near each other, so it is not the path that can be compared for long,
    but the energy: its error is of order dt^2 and does not grow, however wild the motion.
    """
    scene = Scene(dt=1 / 1000, duration=10.0)
    top = (0.0, 0.0)
    rod = Box((0.025 * length, 0.025 * length, length / 2))
    names = (None, "upper", "lower")
    for k, angle in enumerate((upper, lower), 1):
        x, z = math.sin(angle), -math.cos(angle)
        middle = (top[0] + x * length / 2, 0, top[1] + z * length / 2)
        turn = (math.cos(angle / 2), 0, -math.sin(angle / 2), 0)
        scene.add(rod, name=names[k], mass=1.0, position=middle, orientation=turn)
        scene.add_joint(Hinge(names[k - 1], names[k], anchor=(top[0], 0, top[1]), axis=(0, 1, 0)))
        top = (top[0] + x * length, top[1] + z * length)
    return scene
