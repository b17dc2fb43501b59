import math
from typing import Annotated

from tumble import Box, Compound, Cylinder, Gear, Hinge, Pose, Real, Scene, Whole, scenario

MODULE, THICK = 0.01, 0.03  # m: diameter of a wheel by its teeth; of a wheel
MASS = 2.0  # kg, of each axle


@scenario
def gear_train(
    stages: Annotated[int, Whole(low=1, high=5, help="pairs of wheels")] = 3,
    small: Annotated[int, Whole(low=6, high=60, help="teeth of the driving wheel of each pair")] = 12,
    large: Annotated[int, Whole(low=6, high=90, help="teeth of the driven wheel")] = 30,
    torque: Annotated[float, Real(unit="N m", help="on the first axle")] = 0.05,
) -> Scene:
    """A train of gears: each pair of wheels turns slower than the last, and stronger.

    The speeds are in proportion of the teeth, exactly and for ever; and the motor feels the inertia of each axle by the square of
    its speed: the angle of the first is T t^2/2 over the sum of I_k (small/large)^2k. The teeth are drawn, and do not touch: a
    gear joint has no backlash.
    """
    scene = Scene(duration=4.0, integrator="exact")
    apart = 0.5 * MODULE * (small + large)
    for k in range(stages + 1):
        parts = []
        if k > 0:
            parts += _wheel(large, (k - 1) * 1.5 * THICK, k)
        if k < stages:
            parts += _wheel(small, k * 1.5 * THICK, k + (large % 2))
        if len(parts) > 1:
            parts.append((Cylinder(0.2 * MODULE * small, 0.75 * THICK), _flat((0, (k - 0.5) * 1.5 * THICK, 0))))
        name = f"axle_{k + 1}"
        scene.add(
            Compound(parts), name=name, position=(k * apart, 0, 0), mass=MASS, inertia=(0.01, 0.02, 0.01), mask=0,
            center_of_mass=(0, 0, 0), color=("#b08d57", "#8a9299")[k % 2],
        )  # fmt: skip
        motor = {"motor_speed": math.copysign(1e6, torque), "motor_torque": abs(torque)} if k == 0 else {}
        scene.add_joint(Hinge(None, name, anchor=(k * apart, 0, 0), axis=(0, 1, 0), name=f"bearing_{k + 1}", **motor))
        if k > 0:
            wheels = {"center_a": ((k - 1) * apart, 0, 0), "center_b": (k * apart, 0, 0), "teeth_a": small, "teeth_b": large}
            scene.add_joint(Gear(f"axle_{k}", name, name=f"mesh_{k}", axis_a=(0, 1, 0), axis_b=(0, 1, 0), **wheels))
    return scene


def _wheel(teeth: int, y: float, phase: int) -> list[tuple[Cylinder | Box, Pose]]:
    """A disc in the plane y with its teeth, of which one points along x, or half way between two."""
    radius = 0.5 * MODULE * teeth
    parts: list[tuple[Cylinder | Box, Pose]] = [(Cylinder(radius - MODULE, THICK / 2), _flat((0, y, 0)))]
    for n in range(teeth):
        angle = 2 * math.pi * (n + 0.5 * (phase % 2)) / teeth
        at = (radius * math.cos(angle), y, -radius * math.sin(angle))
        turn = (math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0)
        parts.append((Box((1.1 * MODULE, THICK / 2, 0.3 * MODULE * math.pi / 2)), Pose(at, turn)))
    return parts


def _flat(at: tuple[float, float, float]) -> Pose:
    """An axis along y."""
    return Pose(at, (math.sqrt(0.5), math.sqrt(0.5), 0, 0))
