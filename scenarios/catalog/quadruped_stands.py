import math
from typing import Annotated

from tumble import Box, Capsule, HalfSpace, Hinge, Real, Scene, scenario

LEG, THICK, BENT = 0.25, 0.03, 0.6  # m: of thigh and shin, their radius; rad by which a thigh leans forward, a shin back


@scenario
def quadruped_stands(
    stiffness: Annotated[float, Real(unit="N m/rad", above=0, help="of hips and knees")] = 150.0,
    load: Annotated[float, Real(unit="kg", above=0, high=60, help="of the trunk")] = 12.0,
    drop: Annotated[float, Real(unit="m", low=0, high=0.2, help="above the ground, at the start")] = 0.05,
) -> Scene:
    """A machine on four legs drops on its feet, gives in its springy joints, and stands.

    Each leg has a hip and a knee, which springs and dampers hold bent. It lands, sinks, and comes to rest; then the ground
    carries its weight, each knee holds what statics ask for, and nothing moves.
    """
    scene = Scene(dt=1 / 480, duration=4.0)
    scene.add(HalfSpace(), kind="static", name="ground", friction=0.9)
    height = 2 * LEG * math.cos(BENT) + THICK + drop
    scene.add(Box((0.35, 0.15, 0.06)), name="trunk", position=(0, 0, height), mass=load, color="#3f6d8e")
    for x, fore in ((0.27, "front"), (-0.27, "hind")):
        for y, side in ((0.19, "left"), (-0.19, "right")):
            hip = (x, y, height)
            knee = (x + LEG * math.sin(BENT), y, height - LEG * math.cos(BENT))
            foot = (x, y, height - 2 * LEG * math.cos(BENT))
            held = {"axis": (0, 1, 0), "stiffness": stiffness, "damping": 0.04 * stiffness, "limits": (-0.8, 0.8)}
            above = "trunk"
            for part, joint, a, b in (("thigh", "hip", hip, knee), ("shin", "knee", knee, foot)):
                name, tilt = f"{part}_{fore}_{side}", math.atan2(b[0] - a[0], b[2] - a[2])
                scene.add(
                    Capsule(THICK, LEG / 2), name=name, position=tuple((p + q) / 2 for p, q in zip(a, b, strict=True)),
                    orientation=(math.cos(tilt / 2), 0, math.sin(tilt / 2), 0), mass=0.6, friction=0.9, color="#c8862b",
                )  # fmt: skip
                scene.add_joint(Hinge(above, name, anchor=a, name=f"{joint}_{fore}_{side}", **held))
                above = name
    return scene
