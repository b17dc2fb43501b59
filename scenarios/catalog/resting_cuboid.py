from typing import Annotated

from tumble import Box, HalfSpace, Real, Scene, Vector, scenario


@scenario
def resting_cuboid(
    half_extents: Annotated[tuple, Vector(unit="m", above=0, help="half of the edges")] = (0.2, 0.15, 0.1),
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.5,
) -> Scene:
    """A cuboid rests on the floor and stays where it is.

    Rest is not switched on here: the cuboid bounces imperceptibly, once a step, by micro-collisions whose impulses carry
    its weight (mean contact force = m g). It must not sink, creep, turn or warm up: within 1e-9 m after 10 s.
    """
    scene = Scene(duration=10.0)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction)
    scene.add(Box(half_extents), name="cuboid", position=(0, 0, half_extents[2]), friction=friction)
    return scene
