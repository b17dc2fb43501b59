import math
from typing import Annotated

from tumble import Box, ConstantForce, HalfSpace, Real, Scene, Sphere, Whole, scenario


@scenario
def rolling_balls(
    heading: Annotated[float, Real(unit="rad", help="of the force, from the x axis")] = math.pi / 3,
    force: Annotated[float, Real(unit="N", low=0, help="on the box, at its centre")] = 150.0,
    edge: Annotated[int, Whole(low=0, high=9, help="balls along an edge of the square")] = 5,
) -> Scene:
    """A sliding box is pulled away under balls, which roll.

    The scene "rolling" of leggedrobotics/SimBenchmark: a box of 20 x 20 x 1 m and 10 kg, 25 balls of 1 kg on it, friction
    0.4 below the box and 0.8 above it. The ball's surface keeps to the box: a_box = 7/2 a_ball, and
    F - mu M g = m_box a_box + n m a_ball makes a_box 0.7385 and a_ball 0.211 m/s^2, straight ahead in every heading. Friction
    takes 137.34 N of the 150 N, so an error of friction shows tenfold; with a pyramid in place of the cone the box turns off.
    """
    scene = Scene(dt=1 / 100, duration=4.0, friction_rule="min")
    scene.add(HalfSpace(), kind="static", name="floor", friction=0.4)
    scene.add(Box((10.0, 10.0, 0.5)), name="box", mass=10.0, position=(0, 0, 0.5), friction=0.8)
    for i in range(edge):
        for j in range(edge):
            place = (2.0 * i - (edge - 1), 2.0 * j - (edge - 1), 1.5)
            scene.add(Sphere(0.5), name=f"ball_{i + 1}_{j + 1}", mass=1.0, position=place, friction=0.8)
    pull = (force * math.cos(heading), force * math.sin(heading), 0.0)
    scene.add_force(ConstantForce(pull, bodies=("box",)))
    return scene
