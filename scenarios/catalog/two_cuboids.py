import math
from typing import Annotated

from tumble import Box, Real, Scene, scenario


@scenario
def two_cuboids(
    lead: Annotated[
        float, Real(unit="s", low=0, high=10, help="time of flight before the centres are at their impact distance")
    ] = 0.5,
    restitution: Annotated[float, Real(low=0, high=1, help="Stronge's coefficient, of energy")] = 0.5,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.4,
) -> Scene:
    """Two tumbling cuboids collide in free space.

    A corner of the small one (1.2 kg) strikes the large one (12.5 kg). Each impact changes the momentum of the pair by
    rounding only, and the energy by what restitution and friction take, never up. The momentum is (-0.6, 0.36, 1.4)
    kg m/s throughout. With lead = 0 they start touching at a corner: of 6.86074343481 J the impact takes
    2.50357301635 J, and the small one leaves with (-0.922170173746, 0.773647626659, -1.11495760178) m/s (at e = 0.5,
    friction 0.4), by Mirtich's collision law with the slip direction turning during the impact.
    """
    scene = Scene(gravity=(0, 0, 0), duration=2.0)
    material = {"restitution": restitution, "friction": friction}
    motion = {"velocity": (0, 0, 0.4), "angular_velocity": (0.5, 0, -1.0)}
    scene.add(Box((0.25, 0.05, 0.125)), name="large", mass=12.5, **motion, **material)
    length = math.sqrt(6)
    half = 0.35  # of the turn of 0.7 rad about (1, 2, -1)
    turn = (math.cos(half), math.sin(half) / length, 2 * math.sin(half) / length, -math.sin(half) / length)
    # where the centre is when the lowest corner meets the point (0.15, 0.02, 0.125) of the large one
    center = (0.0878738258076, 0.122784295679, 0.268442417165)
    approach = (-0.5, 0.3, -3.4)
    start = tuple(c - lead * u for c, u in zip(center, approach, strict=True))
    motion = {"velocity": (-0.5, 0.3, -3.0), "angular_velocity": (2.0, -4.0, 1.0)}
    scene.add(Box((0.15, 0.1, 0.05)), name="small", mass=1.2, position=start, orientation=turn, **motion, **material)
    return scene
