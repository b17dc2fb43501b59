import math
from typing import Annotated

from tumble import Cylinder, Point, Real, Scene, scenario


@scenario
def heavy_top(
    tilt: Annotated[float, Real(unit="rad", low=0.01, high=3.0, help="of the axis from the vertical, at the start")] = math.pi
    / 6,
    spin: Annotated[float, Real(unit="rad/s", help="about the axis")] = 50.0,
) -> Scene:
    """A spinning disc on a tip does not fall: it nods and goes round.

    Lagrange's top, let go with its axis at rest. Gravity pulls the axis down until its going round holds it: it swings between
    the tilt at the start, where its path has cusps, and a larger one, both in closed form by an elliptic function (Goldstein,
    Classical Mechanics, chapter 5): 30 to 49.84 degrees at the defaults. The spin about the axis and the angular momentum about
    the vertical stay. Spin it slower and it nods deeper; at 0 it is a pendulum.
    """
    height, radius, mass = 0.06, 0.07, 0.5
    scene = Scene(duration=3.0, dt=1 / 480)
    axis = (0.0, math.sin(tilt), math.cos(tilt))
    across = 0.25 * mass * radius**2
    weight = {"mass": mass, "inertia": (across, across, 2 * across)}
    place, turn = tuple(height * a for a in axis), (math.cos(tilt / 2), -math.sin(tilt / 2), 0, 0)
    spins = tuple(spin * a for a in axis)
    scene.add(Cylinder(radius, 0.004), name="top", position=place, orientation=turn, angular_velocity=spins, **weight)
    scene.add_joint(Point(None, "top", anchor=(0, 0, 0)))
    return scene
