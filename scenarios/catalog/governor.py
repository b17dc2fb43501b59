import math
from typing import Annotated

from tumble import Box, Compound, Cylinder, General, Hinge, Pose, Real, Scene, Slider, Sphere, scenario

LENGTH, BALL, SLEEVE, LINK = 0.3, 1.0, 2.0, 0.05  # m, kg: of arms and links; of a ball, of the sleeve, of a link
TILT = 0.45  # rad: of the arms at the start


@scenario
def governor(
    speed: Annotated[float, Real(unit="rad/s", above=0, high=40, help="that the spindle is brought to")] = 12.0,
    damping: Annotated[float, Real(unit="N s/m", low=0, help="of the sleeve")] = 15.0,
) -> Scene:
    """Watt's governor: the faster the spindle turns, the higher its balls fly and lift the sleeve.

    Two arms with balls hang from the top of a spindle, two links from them carry a sleeve: closed loops of hinges. With light
    links it comes to rest where cos(tilt) = (m + M) g/(m w^2 l), whatever it began with; below the speed at which that is 1 it
    hangs down. The motor keeps its speed while the balls fly out, and its work is in the ledger.
    """
    scene = Scene(dt=1 / 480, duration=8.0)
    top, axis = 2 * LENGTH, {"axis": (0, 1, 0)}
    scene.add(Cylinder(0.015, LENGTH), name="spindle", position=(0, 0, LENGTH), mass=1.0, mask=0, color="#8a9299")
    motor = {"motor_speed": speed, "motor_torque": 20.0}
    scene.add_joint(Hinge(None, "spindle", anchor=(0, 0, 0), axis=(0, 0, 1), name="motor", **motor))
    low = top - 2 * LENGTH * math.cos(TILT)
    rim = Compound([(Cylinder(0.05, 0.03), Pose()), (Cylinder(0.07, 0.005), Pose((0, 0, -0.03)))])
    scene.add(rim, name="sleeve", position=(0, 0, low), mass=SLEEVE, mask=0, color="#b08d57")
    scene.add_joint(Slider("spindle", "sleeve", axis=(0, 0, 1), anchor=(0, 0, low), damping=damping, name="guide"))
    for side, word in ((1.0, "right"), (-1.0, "left")):
        x, z = side * LENGTH * math.sin(TILT), top - LENGTH * math.cos(TILT)
        ball, arm = f"ball_{word}", f"link_{word}"
        half = side * TILT / 2
        rod = Compound([(Sphere(0.05), Pose()), (Box((0.006, 0.006, LENGTH / 2)), Pose((0, 0, LENGTH / 2)))])
        scene.add(
            rod, name=ball, position=(x, 0, z), orientation=(math.cos(half), 0, -math.sin(half), 0), mass=BALL,
            center_of_mass=(0, 0, 0), inertia=(1e-3, 1e-3, 1e-3), mask=0, color="#a33b2e",
        )  # fmt: skip
        scene.add(
            Box((0.006, 0.006, LENGTH / 2)), name=arm, position=(x / 2, 0, (z + low) / 2),
            orientation=(math.cos(half), 0, math.sin(half), 0), mass=LINK, mask=0, color="#8a9299",
        )  # fmt: skip
        scene.add_joint(Hinge("spindle", ball, anchor=(0, 0, top), name=f"top_{word}", **axis))
        scene.add_joint(Hinge(ball, arm, anchor=(x, 0, z), name=f"pin_{word}", **axis))
        free = ("x", "turn_x", "turn_y", "turn_z")  # the other hinges hold it in the plane already
        scene.add_joint(General(arm, "sleeve", anchor=(0, 0, low), axis_y=(1, 0, 0), free=free, name=f"foot_{word}", **axis))
    return scene
