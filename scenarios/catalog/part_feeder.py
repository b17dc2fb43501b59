from typing import Annotated

from tumble import Box, Path, Real, Scene, Whole, scenario


@scenario
def part_feeder(
    parts: Annotated[int, Whole(low=1, high=20, help="on the tray")] = 3,
    stroke: Annotated[float, Real(unit="m", above=0, high=0.05, help="of the tray, to and fro")] = 0.01,
    period: Annotated[float, Real(unit="s", above=0.02, help="of a stroke and its return")] = 0.2,
    friction: Annotated[float, Real(low=0, help="of a part on the tray")] = 0.2,
) -> Scene:
    """A tray that goes forth slowly and jerks back moves parts forward.

    On the slow stroke friction carries the parts along; on the quick return it is too weak to take them back, and the tray slides
    away under them. What a part does follows from Coulomb's law alone: its acceleration is friction times g against the slip, or
    the tray's where that is less. Without friction it stays where it is, and with much of it it only goes to and fro.
    """
    scene = Scene(duration=2.0, dt=1 / 960)
    # forth in four fifths of the period, back in one: joined by cubics, so the speed is continuous
    parts_of_period = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
    along = (0.0, 0.2, 0.5, 0.8, 1.0, 0.5, 0.0)
    times, positions = tuple(p * period for p in parts_of_period), tuple((stroke * x, 0, -0.01) for x in along)
    path = Path(times=times, positions=positions, loop=True)
    scene.add(Box((0.4, 0.1, 0.01)), name="tray", kind="kinematic", path=path, position=(0, 0, -0.01), friction=friction)
    for k in range(parts):
        place = (0.06 * k - 0.1, 0, 0.006)
        scene.add(Box((0.015, 0.01, 0.006)), name=f"part_{k + 1}", position=place, density=2700.0, friction=friction)
    return scene
