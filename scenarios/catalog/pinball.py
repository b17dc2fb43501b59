import math
from typing import Annotated

import numpy as np

from tumble.collision import Box, Capsule, ConvexHull, Cylinder, Sphere, TriangleMesh
from tumble.scenarios import Real, scenario
from tumble.sim import Actuator, CameraDef, Hinge, Scene, Slider

WIDE, LONG, LOW, WALL = 0.26, 0.78, -0.08, 0.04  # m: half the width, where the arch begins, the lower end, height of walls
BALL, MASS, STEEL = 0.0135, 0.081, {"friction": 0.2, "restitution": 0.3}  # m, kg
PLUNGER, PULLED = 0.05, 0.05  # kg; m, by which it is pulled back
ARM, ROUND, FLIPPER = 0.036, 0.009, 0.06  # m, m, kg: half the length of a flipper between its ends, their radius, its mass
RAISED = math.radians(55.0)  # by which flippers turn
LANE, PIVOTS = 0.239, (-0.115, 0.067)  # m: middle of the lane of the plunger; where the flippers are hinged
LEVEL = 0.15  # m, of the pivots
BUMPERS = ((-0.10, 0.66), (0.05, 0.70), (-0.02, 0.54), (-0.235, 0.75))
STRONG, HELD = 0.6, -0.1  # N m, of a flipper that is raised, and of one that is not


@scenario
def pinball(
    stiffness: Annotated[float, Real(unit="N/m", low=100, high=1500, help="of the spring of the plunger")] = 450.0,
    slope: Annotated[float, Real(unit="rad", low=0.03, high=0.3, help="of the table")] = 0.12,
    bounce: Annotated[float, Real(low=0, high=1, help="restitution of the bumpers")] = 0.9,
    beat: Annotated[float, Real(unit="s", low=0.2, high=5, help="from flip to flip, of both flippers")] = 0.5,
) -> Scene:
    """A pinball table: a plunger, an arch, bumpers, and flippers that flip by the clock.

    Floor and walls are one mesh of triangles, long and thin as programs make them: a ball that rolls over them does not stumble.
    The table lies flat in its picture, and gravity is aslant. The ball leaves the plunger as fast as the spring makes it, less
    what the slope and the sliding take; a flipper is up after sqrt(2 I a/T). Nothing but the flippers gives energy, which the
    books tell.
    """
    scene = Scene(dt=1 / 480, duration=8.0, gravity=(0, -9.81 * math.sin(slope), -9.81 * math.cos(slope)))
    scene.camera = CameraDef((0.0, -0.5, 1.28), (0.0, 0.37, 0.0), fov_degrees=35.0)  # all of the table
    scene.add(table(), kind="static", name="table", color="#2c5f6e", **STEEL)
    wall = {"kind": "static", "color": "#c9a66b", **STEEL}
    scene.add(Box((0.003, 0.5 * (0.74 - LOW), WALL / 2)), name="lane", position=(0.215, 0.5 * (0.74 + LOW), WALL / 2), **wall)
    for name, a, b in (("left", (-WIDE, 0.3), (-0.124, 0.163)), ("right", (0.212, 0.3), (0.076, 0.163))):
        middle, way = 0.5 * np.add(a, b), np.subtract(b, a)
        turn = 0.5 * math.atan2(way[1], way[0])
        scene.add(
            Box((0.5 * math.hypot(*way), 0.004, WALL / 2)), name=f"guide_{name}", position=(*middle, WALL / 2),
            orientation=(math.cos(turn), 0, 0, math.sin(turn)), **wall,
        )  # fmt: skip
    for k, (x, y) in enumerate(BUMPERS, 1):
        scene.add(
            Cylinder(0.03, WALL / 2), name=f"bumper_{k}", kind="static", position=(x, y, WALL / 2), friction=0.2, color="#c0392b"
        )
        scene.set_pair("ball", f"bumper_{k}", friction=0.2, restitution=bounce)
    for name, side in (("left", -1), ("right", 1)):
        corners = [(side * 0.094 - 0.024, 0.27), (side * 0.158 - 0.024, 0.335), (side * 0.158 - 0.024, 0.42)]
        hull = ConvexHull([(x, y, z) for x, y in corners for z in (0.0, WALL)])
        scene.add(hull, name=f"sling_{name}", kind="static", friction=0.2, color="#d9a52e")
        scene.set_pair("ball", f"sling_{name}", friction=0.2, restitution=bounce)
    scene.add(Sphere(BALL), name="ball", position=(LANE, 0.05, BALL), mass=MASS, color="#cfd6dd", finish="metal", **STEEL)
    scene.add(
        Box((0.012, 0.02, 0.01)), name="plunger", position=(LANE, 0.05 - BALL - 0.02, BALL), mass=PLUNGER, friction=0.0,
        color="#8a8f98",
    )  # fmt: skip
    scene.set_pair("ball", "plunger", friction=0.0, restitution=0.0)
    scene.add_joint(
        Slider(
            None, "plunger", name="spring", anchor=(LANE, 0.0, 0.0), axis=(0, 1, 0), stiffness=stiffness, rest=PULLED,
            limits=(-0.01, PULLED),
        )
    )  # fmt: skip
    for x, side, name in zip(PIVOTS, (1, -1), ("left", "right"), strict=True):
        angle = math.radians(-30.0) if side > 0 else math.radians(210.0)
        scene.add(
            Capsule(ROUND, ARM), name=f"flipper_{name}", mass=FLIPPER, color="#e8e2d0", friction=0.5, restitution=0.2,
            position=(x + ARM * math.cos(angle), LEVEL + ARM * math.sin(angle), BALL), orientation=lying(angle),
        )  # fmt: skip
        scene.add_joint(
            Hinge(None, f"flipper_{name}", name=f"pivot_{name}", anchor=(x, LEVEL, 0), axis=(0, 0, side), limits=(0.0, RAISED))
        )
        times, controls = clockwork(beat, scene.duration)
        scene.add_actuator(Actuator(f"flip_{name}", f"pivot_{name}", times=times, controls=controls))
    return scene


def lying(angle: float) -> tuple[float, float, float, float]:
    """The orientation of a capsule in the plane, at an angle from x."""
    c, s, half = math.cos(angle / 2), math.sin(angle / 2), math.sqrt(0.5)
    return (c * half, -s * half, c * half, s * half)  # about y by a right angle, then about z


def clockwork(beat: float, seconds: float) -> tuple[list[float], list[float]]:
    """Times and torques of a flipper: up for 0.15 s in each beat."""
    times, controls = [], []
    for k in range(1, math.ceil(seconds / beat) + 1):
        up, down = k * beat, k * beat + min(0.15, 0.5 * beat)
        times += [up - 0.001, up, down, down + 0.001]
        controls += [HELD, STRONG, STRONG, HELD]
    return times, controls


def table() -> TriangleMesh:
    """Floor, walls and arch."""
    arch = [(WIDE * math.cos(a), LONG + WIDE * math.sin(a)) for a in np.linspace(0.0, math.pi, 33).tolist()]
    rim = [(WIDE, LOW), *arch, (-WIDE, LOW)]
    n = len(rim)
    vertices = [(x, y, z) for z in (0.0, WALL) for x, y in rim] + [(0.0, 0.4, 0.0)]
    triangles = []
    for k in range(n):
        after = (k + 1) % n
        triangles += [(2 * n, k, after), (k, n + k, after), (after, n + k, n + after)]
    return TriangleMesh(vertices, triangles)


def launched(stiffness: float, slope: float) -> float:
    """Speed at which the ball leaves the plunger [m/s]: it slides all the way."""
    both = MASS + PLUNGER
    work = 0.5 * stiffness * PULLED**2 - PULLED * 9.81 * (both * math.sin(slope) + STEEL["friction"] * MASS * math.cos(slope))
    return math.sqrt(2 * work / both)


def raising() -> float:
    """Time in which a flipper gets up [s], without a ball."""
    length, r = 2 * ARM, ROUND
    tube, ball = math.pi * r * r * length, 4 / 3 * math.pi * r**3
    rod, ends = FLIPPER * tube / (tube + ball), FLIPPER * ball / (tube + ball)
    about = rod * (r * r / 4 + length**2 / 12) + ends * (0.4 * r * r + ARM**2 + 0.75 * ARM * r)  # its middle
    return math.sqrt(2 * RAISED * (about + FLIPPER * ARM**2) / STRONG)
