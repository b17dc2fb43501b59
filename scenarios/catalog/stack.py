from typing import Annotated

from tumble import Box, HalfSpace, Real, Scene, Whole, scenario


@scenario
def stack(
    boxes: Annotated[int, Whole(low=1, high=200, help="how many")] = 10,
    half: Annotated[float, Real(unit="m", above=0, help="half edge of a box")] = 0.1,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.5,
    top_density: Annotated[float, Real(unit="kg/m^3", above=0, help="of the uppermost box; the others have 1000")] = 1000.0,
) -> Scene:
    """A stack of boxes stands.

    The lowest contact carries all the weight: n m g. Nothing falls asleep here, so a solver that stops too early makes
    the stack shiver and fall. It must stand: the top at its height within 1e-6 m, no sideways drift. Put a heavy box on
    top (top_density=1e6) to make it hard.
    """
    scene = Scene(duration=5.0)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction)
    for i in range(boxes):
        density = top_density if i == boxes - 1 else 1000.0
        scene.add(Box((half,) * 3), name=f"box_{i + 1}", density=density, position=(0, 0, (2 * i + 1) * half), friction=friction)
    return scene
