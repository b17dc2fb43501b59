from typing import Annotated

from tumble import Box, Real, Scene, Vector, scenario


@scenario
def tumbling_box(
    half_extents: Annotated[tuple, Vector(unit="m", above=0, help="half of the edges")] = (0.25, 0.05, 0.125),
    density: Annotated[float, Real(unit="kg/m^3", above=0, help="of the box")] = 1000.0,
    spin: Annotated[tuple, Vector(unit="rad/s", help="angular velocity at the start, along the axes of the box")] = (
        1.0,
        2.0,
        3.0,
    ),
) -> Scene:
    """A box tumbles in free space.

    Nothing acts on it, so momentum, angular momentum and energy must stay what they are while the angular velocity
    wanders. At the defaults (12.5 kg) the energy is 1.90755208333 J, |L| = 1.04389410287 kg m^2/s, and the angular
    velocity in body axes repeats every 3.18664502152 s; after 10 s it is (2.7099898383, 3.0424487449, 0.95555512249).
    Euler's equations have this closed solution in Jacobi's elliptic functions (Landau and Lifshitz, Mechanics, par. 37).
    """
    scene = Scene(gravity=(0, 0, 0), duration=10.0)
    scene.add(Box(half_extents), name="box", density=density, angular_velocity=spin)
    return scene
