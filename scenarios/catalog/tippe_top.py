import math
from typing import Annotated

from tumble import HalfSpace, Real, Scene, Sphere, scenario


@scenario
def tippe_top(
    spin: Annotated[float, Real(unit="rad/s", help="about the vertical, at the start")] = 160.0,
    tilt: Annotated[float, Real(unit="rad", low=0, high=3.1, help="of its axis at the start")] = 0.1,
    friction: Annotated[float, Real(low=0, help="of the floor: without it, it does not turn over")] = 0.3,
) -> Scene:
    """A top with its centre of mass below the middle turns over and spins on its head.

    A ball whose centre of mass lies below its middle. Spun fast, it slides at the floor, and friction lifts the centre of mass
    while the spin slows: energy of spin becomes height, and friction takes the rest. Jellett's number, the angular momentum
    along the line from the centre of mass to the point of contact, does not change all the while, whatever the friction
    (Jellett 1872; Cohen, Am. J. Phys. 45 (1977) 12).
    """
    radius, below, mass = 0.02, 0.004, 0.02
    scene = Scene(duration=3.0, dt=1 / 960)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction)
    own = 0.4 * mass * radius**2
    weight = {"mass": mass, "inertia": (own, own, own), "center_of_mass": (0, 0, -below)}
    place = {"position": (0, 0, radius), "orientation": (math.cos(tilt / 2), 0, math.sin(tilt / 2), 0)}
    scene.add(Sphere(radius), name="top", angular_velocity=(0, 0, spin), friction=friction, **place, **weight)
    return scene
