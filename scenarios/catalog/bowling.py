import math
from typing import Annotated

import numpy as np

from tumble import Box, Compound, ConvexHull, HalfSpace, Pose, Real, Scene, Sphere, scenario

LANE, WIDTH, RADIUS, BALL, PIN = 18.29, 1.0541, 0.1085, 6.8, 1.53  # m: foul line to head pin, width of the lane, ball; kg
APART = 0.3048  # m: between pins
THICK = 0.3  # m: of the bed of the lane
# (height, radius) [m] of a pin from the base to the top of the belly and neck, and of its head; each part is convex
BELLY = (
    (0.0, 0.0258), (0.019, 0.0358), (0.057, 0.0496), (0.086, 0.0565), (0.114, 0.0605), (0.149, 0.0580), (0.184, 0.0468),
    (0.216, 0.0326),
)  # fmt: skip
NECK = ((0.184, 0.0468), (0.216, 0.0326), (0.235, 0.0250), (0.254, 0.0228))
HEAD = (
    (0.235, 0.0225), (0.254, 0.0228), (0.292, 0.0283), (0.330, 0.0323), (0.343, 0.0323), (0.362, 0.0270), (0.375, 0.0150),
    (0.381, 0.0060),
)  # fmt: skip


@scenario
def bowling(
    speed: Annotated[
        float, Real(unit="m/s", above=0, high=15, help="of the ball at the foul line, which does not turn forward")
    ] = 8.0,
    hook: Annotated[
        float, Real(unit="rad/s", low=-60, high=60, help="its turning about the way it goes, which takes it to the left")
    ] = 6.0,
    aim: Annotated[float, Real(unit="m", low=-0.41, high=0.41, help="where it starts, to the left of the middle")] = -0.36,
    friction: Annotated[float, Real(above=0, high=1, help="of ball on lane")] = 0.1,
) -> Scene:
    """A ball slides, then rolls, down a lane into ten pins.

    While it slides, friction is m g f and keeps its direction, so that the ball goes along a parabola, and a hook takes it to
    the side; once it rolls it goes straight on. From the foul line until it rolls it takes 2/7 of the speed with which it slips,
    by f g, and what is left is 5/7 of its speed, and to the side 2/7 of that of the hook. Between the pins 1 and 3, askew, it
    strikes all ten, as bowlers know; straight on the head pin it leaves some.
    """
    scene = Scene(dt=1 / 480, duration=4.0)
    scene.add(HalfSpace(offset=-THICK), kind="static", name="pit", friction=0.5, restitution=0.1)
    bed = {"kind": "static", "friction": friction, "color": "#d9a95f"}
    half = 0.5 * (LANE + 1.5)
    scene.add(Box((half, 0.5 * WIDTH, 0.5 * THICK)), name="lane", position=(half - 0.3, 0, -0.5 * THICK), **bed)
    wall = {"kind": "static", "friction": 0.3, "color": "#5d4a3a"}
    for y, side in ((0.5 * WIDTH + 0.32, "left"), (-0.5 * WIDTH - 0.32, "right")):
        at = (half - 0.3, y, 0.06 - 0.5 * THICK)
        scene.add(Box((half, 0.04, 0.5 * THICK + 0.06)), name=f"wall_{side}", position=at, **wall)
    curtain = {"kind": "static", "friction": 0.5, "color": "#6d7686"}
    scene.add(Box((0.05, 0.5 * WIDTH + 0.4, 0.5)), name="curtain", position=(2 * half + 0.6, 0, 0.3), **curtain)
    scene.add(
        Sphere(RADIUS), name="ball", position=(0, aim, RADIUS), velocity=(speed, 0, 0), angular_velocity=(-hook, 0, 0), mass=BALL,
        friction=friction, restitution=0.6, color="#27407a",
    )  # fmt: skip
    scene.set_pair("ball", "lane", friction=friction, restitution=0.0)
    shape = pin()
    number = 0
    for row in range(4):
        for k in range(row + 1):
            number += 1
            at = (LANE + row * APART * math.sqrt(0.75), (k - 0.5 * row) * APART, 0.0)
            scene.add(shape, name=f"pin_{number}", position=at, mass=PIN, friction=0.3, restitution=0.6, color="#f3efe6")
    return scene


def pin() -> Compound:
    """A pin of convex parts, standing on z = 0."""
    return Compound([(_turned(profile), Pose()) for profile in (BELLY, NECK, HEAD)])


def _turned(profile: tuple[tuple[float, float], ...], sides: int = 32) -> ConvexHull:
    angles = 2 * math.pi * np.arange(sides) / sides
    return ConvexHull(np.array([(r * math.cos(a), r * math.sin(a), z) for z, r in profile for a in angles.tolist()]))


def rolls(speed: float, hook: float, friction: float) -> tuple[float, np.ndarray, np.ndarray]:
    """(time from which it rolls [s], place (2,) then, from where it set out [m], velocity (2,) from then on [m/s])."""
    slip = np.array((speed, -RADIUS * hook))  # of the lowest point: a turn about -x moves it to the right
    time = 2 / 7 * float(np.linalg.norm(slip)) / (friction * 9.81)
    push = -friction * 9.81 * slip / np.linalg.norm(slip)
    start = np.array((speed, 0.0))
    return time, start * time + push * time**2 / 2, start + push * time
