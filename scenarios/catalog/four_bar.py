import math
from typing import Annotated

from tumble import Box, Hinge, Real, Scene, scenario

JOINTS = {"crank": ((0.0, 0.0), (0.0, 0.3)), "coupler": ((0.0, 0.3), (1.1, 0.8)), "rocker": ((1.1, 0.8), (1.0, 0.0))}


@scenario
def four_bar(
    speed: Annotated[float, Real(unit="rad/s", help="of the crank")] = 6.0,
    torque: Annotated[float, Real(unit="N m", low=0, help="the most that the crank's motor gives")] = 20.0,
) -> Scene:
    """A crank goes round, a rocker to and fro: a closed loop of four hinges.

    Four hinges ask for twenty conditions, but three bars in space have only eighteen freedoms, and one is left: three
    conditions say what others said already. The motor keeps the speed of the crank where its torque suffices; its work
    is in the ledger.
    """
    scene = Scene(duration=5.0)
    for name, (a, b) in JOINTS.items():
        x, z = b[0] - a[0], b[1] - a[1]
        length, turn = math.hypot(x, z), math.atan2(x, z)
        middle, q = ((a[0] + b[0]) / 2, 0, (a[1] + b[1]) / 2), (math.cos(turn / 2), 0, math.sin(turn / 2), 0)
        scene.add(Box((0.02, 0.02, length / 2)), name=name, mass=2.0 * length, position=middle, orientation=q)
    at = {"axis": (0, 1, 0)}
    scene.add_joint(Hinge(None, "crank", name="motor", motor_speed=speed, motor_torque=torque, **at))
    scene.add_joint(Hinge("crank", "coupler", anchor=(0, 0, 0.3), **at))
    scene.add_joint(Hinge("coupler", "rocker", anchor=(1.1, 0, 0.8), **at))
    scene.add_joint(Hinge("rocker", None, anchor=(1, 0, 0), **at))
    return scene
