import math
from typing import Annotated

from tumble import Box, CentralGravity, Real, Scene, scenario


@scenario
def kepler_orbit(
    eccentricity: Annotated[float, Real(low=0, high=0.9, help="of the ellipse")] = 0.3,
    period: Annotated[float, Real(unit="s", above=0, help="of the orbit")] = 5.0,
) -> Scene:
    """A tumbling cuboid goes round a centre of gravity on Kepler's ellipse.

    Half axis 1 m, from the point next to the centre. After each period it is back to where it began, and the ellipse does not
    turn: a method that loses or gains energy spirals, one that is only of first order draws a rosette. Energy and angular
    momentum about the centre stay. It turns as if it were free.
    """
    gm = 4 * math.pi**2 / period**2
    near = 1 - eccentricity
    scene = Scene(gravity=(0, 0, 0), duration=2 * period)
    speed = math.sqrt(gm * (1 + eccentricity) / near)
    moon = Box((0.08, 0.02, 0.05))
    scene.add(moon, name="moon", position=(near, 0, 0), velocity=(0, speed, 0), angular_velocity=(1, 2, 3))
    scene.add_force(CentralGravity(gm=gm))
    return scene
