import math
from typing import Annotated

from tumble import Box, Capsule, Drive, Ellipsoid, HalfSpace, Real, Scene, Wheel, Whole, scenario

RADIUS, CHASSIS, WHEEL = 0.15, 30.0, 1.5  # m; kg, without its wheels; kg, of a wheel
MOTOR = 4.0  # N m s/rad: by how much the torque of a motor falls with its speed
ALONG, ACROSS = (0.45, 0.0, -0.45), 0.35  # m, where the wheels are


@scenario
def rover(
    speed: Annotated[float, Real(unit="m/s", low=0, high=3, help="at which its motors give no torque")] = 0.8,
    bumps: Annotated[int, Whole(low=0, high=12, help="in its way")] = 5,
    height: Annotated[float, Real(unit="m", above=0, high=0.1, help="of each")] = 0.04,
    stiffness: Annotated[float, Real(unit="N/m", above=0, help="of each suspension")] = 3000.0,
) -> Scene:
    """A rover on six wheels, each sprung and driven, goes over bumps.

    At rest each spring gives by the sixth part of the weight of the chassis over its stiffness. On its way the wheels climb each
    bump one after the other, the springs take it, and the trunk stays nearly level. The tyres are crowned, and touch at one point
    each; the torque of a motor falls with its speed.
    """
    scene = Scene(dt=1 / 480, duration=6.0)
    scene.add(HalfSpace(), kind="static", name="ground", friction=0.9)
    sag = CHASSIS * 9.81 / 6 / stiffness
    scene.add(Box((0.6, 0.22, 0.08)), name="chassis", position=(0, 0, RADIUS + 0.12), mass=CHASSIS, color="#c8862b")
    for x, place in zip(ALONG, ("front", "middle", "hind"), strict=True):
        for y, side in ((ACROSS, "left"), (-ACROSS, "right")):
            name, at = f"wheel_{place}_{side}", (x, y, RADIUS)
            scene.add(
                Ellipsoid((RADIUS, RADIUS, 0.06)), name=name, position=at, orientation=(math.sqrt(0.5), math.sqrt(0.5), 0, 0),
                mass=WHEEL, friction=0.9, color="#3a3f44",
            )  # fmt: skip
            axes = {"anchor": at, "axis": (0, 1, 0), "axis_y": (0, 0, 1)}
            spring = {"stiffness": stiffness, "damping": 250.0, "rest": -sag, "limits": (-0.1, 0.1)}
            scene.add_joint(Wheel("chassis", name, name=f"spring_{place}_{side}", **axes, **spring))
            motor = {"motor_speed": 1e6, "motor_force": MOTOR * speed / RADIUS, "damping": MOTOR}
            scene.add_joint(Drive("chassis", name, name=f"motor_{place}_{side}", driven="turn_x", **axes, **motor))
    round_ = 0.15  # m: the bumps are tops of logs
    for k in range(bumps):
        at = (1.2 + 0.7 * k, 0.2 * (-1) ** k, height - round_)
        half = math.sqrt(0.5)
        scene.add(
            Capsule(round_, 0.6), name=f"bump_{k + 1}", kind="static", position=at, orientation=(half, half, 0, 0), friction=0.9,
            color="#6b5b45",
        )  # fmt: skip
    return scene
