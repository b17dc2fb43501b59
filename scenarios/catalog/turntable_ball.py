import math
from typing import Annotated

from tumble import Cylinder, Real, Scene, Sphere, scenario

RADIUS = 0.05  # m


@scenario
def turntable_ball(
    spin: Annotated[float, Real(unit="rad/s", help="of the platter")] = 7.0,
    speed: Annotated[float, Real(unit="m/s", low=0, high=1, help="of the ball that is thrown")] = 0.3,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 1.0,
) -> Scene:
    """A ball that rolls on a spinning platter goes round in circles, and one at rest stays.

    Rolling on a surface that turns at W, a solid ball moves in a circle at 2/7 W, wherever it is and however fast: as a charge
    in a magnetic field. With W = 7 rad/s it is back after pi seconds. A ball that is at rest, and turns so that it does not slip,
    stays at rest for ever. Neither flies off, as one expects at first.
    """
    scene = Scene(duration=3.5, dt=1 / 480)
    turning = {"kind": "kinematic", "angular_velocity": (0, 0, spin)}
    scene.add(Cylinder(0.8, 0.02), name="platter", position=(0, 0, -0.02), friction=friction, **turning)
    for name, x, v in (("thrown", 0.3, speed), ("still", -0.4, 0.0)):
        # the point of contact moves with the platter: v - R (w x up) = spin up x place
        rolling = {"velocity": (0, v, 0), "angular_velocity": ((spin * x - v) / RADIUS, 0, 0)}
        scene.add(Sphere(RADIUS), name=name, position=(x, 0, RADIUS), friction=friction, mass=0.5, **rolling)
    return scene


def circle(spin: float, speed: float) -> tuple[float, float]:
    """(radius of the circle [m], time of a turn [s])."""
    rate = 2 / 7 * spin
    return speed / rate, 2 * math.pi / rate
