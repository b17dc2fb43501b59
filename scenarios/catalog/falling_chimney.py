import math
from typing import Annotated

from tumble import Box, Fixed, Hinge, Real, Scene, Whole, scenario

HEIGHT, HALF = 20.0, 0.7  # m


@scenario
def falling_chimney(
    tilt: Annotated[float, Real(unit="rad", low=0.01, high=1.5, help="from the vertical, at which it is let go")] = math.pi / 18,
    parts: Annotated[int, Whole(low=1, high=30, help="that it is made of, fixed to each other")] = 9,
) -> Scene:
    """A chimney topples about its foot, and would break a third of the way up.

    It falls as a rod on a hinge. Its upper part would fall faster by itself than it is made to, its lower part slower, so the
    joints bend: at the height h by h (H - h)^2 in proportion, most at H/3, where real ones break. The tip
    goes down faster than free fall once sin^2 of the tilt is above 2/3. Read the joints' torques.
    """
    scene = Scene(duration=4.0, dt=1 / 240)
    half = HEIGHT / parts / 2
    up = (math.sin(tilt), 0.0, math.cos(tilt))
    q = (math.cos(tilt / 2), 0, math.sin(tilt / 2), 0)
    for k in range(parts):
        at = tuple((2 * k + 1) * half * u for u in up)
        scene.add(Box((HALF, HALF, half)), name=f"part_{k + 1}", density=1500.0, position=at, orientation=q, color="#9c4a38")
        if k == 0:
            scene.add_joint(Hinge(None, "part_1", anchor=(0, 0, 0), axis=(0, 1, 0), name="foot"))
        else:
            anchor = tuple(2 * k * half * u for u in up)
            scene.add_joint(Fixed(f"part_{k}", f"part_{k + 1}", anchor=anchor, name=f"joint_{k}"))
    return scene
