from typing import Annotated

from tumble import HalfSpace, Real, Scene, Sphere, Whole, scenario


@scenario
def bouncing_balls(
    edge: Annotated[int, Whole(low=1, high=30, help="balls along an edge of the square")] = 7,
    height: Annotated[float, Real(unit="m", above=0.1, help="of the centres at the start")] = 5.0,
    restitution: Annotated[float, Real(low=0, high=1, help="of the balls on the floor")] = 1.0,
) -> Scene:
    """Balls bounce side by side, for ever.

    The scene "bouncing" of leggedrobotics/SimBenchmark: 49 balls of 10 kg and 0.2 m fall from 5 m for 20 s. With
    restitution 1 the energy m g h stays 24034.5 J; the benchmark squares what it is off by. Impacts are located in time, so
    the error is that of rounding whatever the step is.
    """
    spacing = 0.5
    width = (edge - 1) * spacing
    scene = Scene(dt=1 / 100, duration=20.0)
    material = {"friction": 0.0, "restitution": restitution}
    scene.add(HalfSpace(), kind="static", name="floor", **material)
    for i in range(edge):
        for j in range(edge):
            place = (i * spacing - width / 2, j * spacing - width / 2, height)
            scene.add(Sphere(0.1), name=f"ball_{i + 1}_{j + 1}", mass=10.0, position=place, **material)
    return scene
