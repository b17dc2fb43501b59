from typing import Annotated

from tumble import Box, HalfSpace, Real, Scene, Whole, scenario


@scenario
def kapla(
    floors: Annotated[int, Whole(low=1, high=30, help="storeys of 17 blocks")] = 6,
    friction: Annotated[float, Real(low=0, help="Coulomb's coefficient")] = 0.5,
) -> Scene:
    """A house of wooden blocks stands for ten minutes.

    The scene "kapla" of leggedrobotics/SimBenchmark: on each storey eight cross pieces of 5 x 25 x 10 cm carry the
    longitudinal pieces of 20 x 5 x 10 cm of two walls, 102 blocks of 10 kg in six storeys, for 60,000 steps of 0.01 s. All
    lie flat, so nothing may move; what a solver leaves over in each step adds up until the house falls.
    """
    scene = Scene(dt=1 / 100, duration=600.0)
    scene.add(HalfSpace(), kind="static", name="floor", friction=friction)
    across, along = Box((0.025, 0.125, 0.05)), Box((0.1, 0.025, 0.05))
    right, left = (0.1, 0.5, 0.9, 1.3), (0.1, 0.3, 0.7, 1.1, 1.3)
    for floor in range(floors):
        z = 0.2 * floor + 0.05
        for k in range(8):
            place = (0.2 * k, 0.0, z)
            scene.add(across, name=f"cross_{floor + 1}_{k + 1}", mass=10.0, position=place, friction=friction)
        for side, y, places in (("right", -0.1, right), ("left", 0.1, left)):
            for k, x in enumerate(places):
                place = (x, y, z + 0.1)
                scene.add(along, name=f"{side}_{floor + 1}_{k + 1}", mass=10.0, position=place, friction=friction)
    return scene
