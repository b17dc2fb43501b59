from typing import Annotated

import numpy as np

from tumble import Cylinder, Point, Pose, Real, Scene, Slider, Universal, scenario

BASE, TOP, HEIGHT = 1.0, 0.6, 1.0  # m: radii of the feet and of the heads of the legs, height at the start
APART = 0.25  # rad, half of the angle between two legs of a pair


@scenario
def stewart_platform(
    roll: Annotated[float, Real(unit="rad", low=-0.3, high=0.3, help="about x, of the pose that it goes to")] = 0.2,
    pitch: Annotated[float, Real(unit="rad", low=-0.3, high=0.3, help="about y")] = -0.1,
    lift: Annotated[float, Real(unit="m", low=0.3, high=0.6, help="by which it rises")] = 0.4,
    time: Annotated[float, Real(unit="s", above=0.5, help="that the way takes")] = 2.0,
) -> Scene:
    """A platform on six legs that grow: any pose is six lengths.

    Each leg stands on a universal joint, is drawn out by a motor along a slider, and carries the platform by a ball joint: 13
    bodies, 18 joints, six freedoms. The motors stop at the lengths of the pose wanted, so the platform comes to stand in
    that pose, to rounding, though nobody solved for it.
    """
    scene = Scene(dt=1 / 480, duration=1.5 * time)
    up = np.array([0, 0, HEIGHT])
    scene.add(Cylinder(TOP, 0.03), name="platform", position=tuple(up), density=600.0, mask=0, color="#a33b2e")
    for k, (foot, head) in enumerate(zip(*corners(), strict=True), 1):
        way = head + up - foot
        length = np.linalg.norm(way)
        along = way / length
        turn = _turned(along)
        low, high = f"leg_{k}", f"rod_{k}"
        for name, begin, end, radius, color in ((low, 0.0, 0.6, 0.04, "#8a9299"), (high, 0.25, 1.0, 0.025, "#b08d57")):
            at, half = tuple(foot + 0.5 * (begin + end) * way), 0.5 * (end - begin) * length
            scene.add(Cylinder(radius, half), name=name, position=at, orientation=turn, mass=1.5, mask=0, color=color)
        across = np.cross(along, (0, 0, 1))
        across /= np.linalg.norm(across)
        far = length_of(foot, head, roll, pitch, lift) - length
        motor = {"motor_speed": far / time, "motor_force": 2e4, "limits": (min(0.0, far), max(0.0, far))}
        scene.add_joint(
            Universal(None, low, anchor=tuple(foot), axis=tuple(across), axis_b=tuple(np.cross(along, across)), name=f"foot_{k}")
        )
        scene.add_joint(Slider(low, high, axis=tuple(along), anchor=tuple(foot + way / 2), name=f"drive_{k}", **motor))
        scene.add_joint(Point(high, "platform", anchor=tuple(head + up), name=f"head_{k}"))
    return scene


def corners() -> tuple[np.ndarray, np.ndarray]:
    """(6, 3) each [m]: the feet on the ground, and the heads in the frame of the platform."""
    pairs = 2 * np.pi / 3 * np.repeat(np.arange(3), 2)
    sides = np.tile([-1.0, 1.0], 3)
    ring = lambda radius, angle: np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(6)])  # noqa: E731
    return ring(BASE, pairs + sides * APART), ring(TOP, pairs + sides * (np.pi / 3 - APART))


def length_of(foot: np.ndarray, head: np.ndarray, roll: float, pitch: float, lift: float) -> float:
    """Of the leg between them once the platform is turned and lifted [m]."""
    turn = Pose.from_euler_xyz((roll, pitch, 0.0)).matrix()
    return float(np.linalg.norm(turn @ head + (0, 0, HEIGHT + lift) - foot))


def _turned(along: np.ndarray) -> tuple[float, ...]:
    """The shortest turn of the z axis into a direction."""
    q = np.array([1 + along[2], -along[1], along[0], 0.0])
    return tuple(q / np.linalg.norm(q))
